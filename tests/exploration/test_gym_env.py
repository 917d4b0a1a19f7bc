"""The Gymnasium environment: Gymnasium's own checks, and equality with the MDP."""

from __future__ import annotations

import pickle
from typing import Any

import cloudpickle
import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

import curiograph as cg
from curiograph.exploration.gym_env import ExplorationEnv
from curiograph.graph.toys import cycle, grid, library

ENV_ID = "curiograph/Exploration-v0"
pytestmark = pytest.mark.filterwarnings("error")

ONE_WAY = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("b", "d"), ("a", "e")], directed=True)
SEVERAL = [library(), grid(3, 3), ONE_WAY]


def edges(subgraph: cg.Graph) -> float:
    """A user's reward; at module level so that it can be pickled."""
    return subgraph.num_edges


# ---- gymnasium's contract -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["igt", "cpt", edges])
@pytest.mark.parametrize("graph", [grid(3, 3), ONE_WAY, SEVERAL], ids=["one", "directed", "several"])
def test_check_env(graph: Any, reward: Any) -> None:
    assert check_env(gymnasium.make(ENV_ID, graph=graph, reward=reward, steps=5).unwrapped) is None


@pytest.mark.parametrize("library_used", [pickle, cloudpickle])
def test_pickled_episode_continues_identically(library_used: Any) -> None:
    env = gymnasium.make(ENV_ID, graph=SEVERAL, reward=edges, steps=6)
    env.reset(seed=2)
    env.step(int(np.argmax(env.unwrapped.action_masks())))
    copy = library_used.loads(library_used.dumps(env))
    for original, restored in zip(rollout_on(env), rollout_on(copy), strict=True):
        assert pickle.dumps(original) == pickle.dumps(restored)


def rollout_on(env: gymnasium.Env) -> list[Any]:
    """Run the rest of the episode, always to the first candidate, and reset once more."""
    seen: list[Any] = []
    while not (seen and seen[-1][2]):
        seen.append(env.step(int(np.argmax(env.unwrapped.action_masks()))))
    return [*seen, env.reset()]


# ---- the episode is that of the core --------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["igt", "cpt", edges])
@pytest.mark.parametrize("graph", [library(), grid(4, 4), ONE_WAY], ids=["library", "grid", "directed"])
def test_rewards_equal_those_of_explore(graph: cg.Graph, reward: Any) -> None:
    start = graph.label(0)
    walk = cg.explore(graph, "greedy", reward, start=start, steps=4, seed=1)
    env = ExplorationEnv(graph, reward, 4)
    env.reset(options={"start": start})
    results = [env.step(graph.position(node)) for node in walk.nodes[1:]]
    assert [r[1] for r in results] == walk.rewards
    assert [r[2] for r in results] == [False, False, True]
    assert [r[4]["value"] for r in results] == walk.rewards
    assert env.walk == walk.nodes
    assert sum(r[1] for r in results) == walk.total


def test_observation_describes_the_walk() -> None:
    env = ExplorationEnv([cycle(4), cycle(6)], steps=4)
    env.reset(options={"graph": 0, "start": 1})
    observation, _, _, _, info = env.step(2)
    assert observation["visited"].tolist() == [0, 1, 2, 0, 0, 0]
    assert observation["action_mask"].tolist() == [0, 0, 0, 1, 0, 0]
    assert env.action_masks().tolist() == [False, False, False, True, False, False]
    assert (observation["last"], observation["graph"]) == (2, 0)
    assert (info["node"], info["graph"], info["value"], info["illegal_action"]) == (2, 0, 0.0, False)
    assert env.candidates == [3]


# ---- starts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"start": "musik"}, cg.UnknownNodeError, "music"),
        ({"graph": 2}, cg.SettingError, "0 to 1"),
        ({"graph": "first"}, cg.SettingError, "'first'"),
        ({"begin": 3}, cg.errors.UnknownNameError, "'begin'"),
        ({"graph": 1, "start": "d"}, cg.errors.WalkError, "no out-neighbors"),
    ],
)
def test_bad_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    env = ExplorationEnv([library(), ONE_WAY])
    with pytest.raises(error, match=message):
        env.reset(options={"graph": 0} | options)


# ---- illegal actions and bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [0, 2, 4, -1, 10**9])
def test_illegal_action_ends_the_episode(action: Any) -> None:
    env = ExplorationEnv(cycle(4), steps=4)
    before, _ = env.reset(options={"start": 0})
    after, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated, info["illegal_action"]) == (0.0, True, False, True)
    assert after["visited"].tolist() == before["visited"].tolist()
    with pytest.raises(cg.errors.WalkError, match="call reset"):
        env.step(1)
    assert env.reset()[1]["illegal_action"] is False


@pytest.mark.parametrize("convert", [int, np.int64, np.uint8, np.array, lambda a: np.array([a]), torch.tensor])
def test_arrays_and_tensors_of_one_integer_are_actions(convert: Any) -> None:
    env = gymnasium.make(ENV_ID, graph=cycle(4), steps=4)
    env.reset(options={"start": 0})
    assert env.step(convert(1))[4]["node"] == 1


@pytest.mark.parametrize("action", [1.0, True, None, "1", np.array([1, 2]), np.array([1.0]), torch.tensor(1.0), 2**70])
def test_other_types_are_no_actions(action: Any) -> None:
    env = ExplorationEnv(cycle(4), steps=4)
    env.reset(options={"start": 0})
    with pytest.raises(cg.SettingError, match="give one whole number"):
        env.step(action)
    assert env.step(1)[1:3] == (0.0, False), "the episode goes on"


def test_step_needs_an_episode() -> None:
    env = ExplorationEnv(cycle(3), steps=2)
    for use in (lambda: env.step(0), env.action_masks, lambda: env.candidates):
        with pytest.raises(cg.errors.WalkError, match="call reset"):
            use()
    with pytest.raises(gymnasium.error.ResetNeeded):
        gymnasium.make(ENV_ID, graph=cycle(3)).step(0)
    env.reset(options={"start": 0})
    assert env.step(1)[2]
    with pytest.raises(cg.errors.WalkError, match="over"):
        env.step(2)


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"graph": "links.tsv"}, cg.GraphError, "str"),
        ({"steps": 1}, cg.SettingError, "2 nodes or more"),
        ({"steps": 2.5}, cg.SettingError, "2.5"),
        ({"render_mode": "rgb_array"}, cg.errors.UnknownNameError, "'rgb_array'"),
    ],
)
def test_bad_settings(kwargs: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ExplorationEnv(**{"graph": cycle(3)} | kwargs)


# ---- rendering ------------------------------------------------------------------------------------------------------


def test_ansi_is_one_line() -> None:
    env = gymnasium.make(ENV_ID, graph=cycle(4), steps=4, render_mode="ansi")
    env.reset(options={"start": 0})
    env.step(1)
    assert env.render() == "igt 0 after 2 of 4 nodes: 0 -> 1; next: 2"
    env.step(2)
    env.step(3)
    assert env.render() == "igt 1 after 4 of 4 nodes: 0 -> 1 -> 2 -> 3; next: nowhere"
