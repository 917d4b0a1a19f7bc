"""The native vector environment against gymnasium's SyncVectorEnv over single environments."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import curiograph as cg
from curiograph.exploration.gym_env import ExplorationEnv
from curiograph.exploration.gym_vector_env import ExplorationVectorEnv
from curiograph.graph.toys import cycle, grid, library

ENV_ID = "curiograph/Exploration-v0"
pytestmark = pytest.mark.filterwarnings("error", "ignore:.*action mask is all 0")

ONE_WAY = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("b", "d"), ("a", "e")], directed=True)
STAR = cg.Graph.from_edges([(0, i) for i in range(1, 40)])


def sample_graph(rng: np.random.Generator) -> cg.Graph:
    """Rings of different sizes with a chord; at module level so that it can be pickled."""
    size = int(rng.integers(5, 12))
    return cg.Graph.from_edges([*((i, (i + 1) % size) for i in range(size)), (0, size // 2)])


GRAPHS = {
    "one": library(),
    "several": [library(), ONE_WAY, cg.Graph.from_edges([tuple(edge) for edge in ("ab", "bc", "cd", "da", "de")])],
    "sampler": sample_graph,
    "star": STAR,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "walk": {},
    "subgraph": {"observation": "subgraph", "reward": "igt+0.5*cpt"},
    "cropped": {"observation": "subgraph", "max_nodes": 6, "max_edges": 12},
}


def make_kwargs(graph: str, observation: str) -> dict[str, Any]:
    sizes = {"max_nodes": 12} if graph == "sampler" and observation == "walk" else {}
    return {"graph": GRAPHS[graph], "steps": 5, **SETTINGS[observation], **sizes}


def choose_actions(rng: np.random.Generator, mask: Any, illegal: float = 0.1) -> Any:
    """Draw a random legal action for each environment, and now and then an illegal one."""
    actions = np.array([rng.choice(np.flatnonzero(row)) if row.any() else 0 for row in mask])
    return np.where(rng.random(len(mask)) < illegal, rng.integers(0, mask.shape[1], len(mask)), actions)


# ---- equality with single environments ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("observation", SETTINGS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_equal_to_single_environments(graph: str, observation: str, mode: AutoresetMode) -> None:
    kwargs = make_kwargs(graph, observation)
    envs = ExplorationVectorEnv(4, **kwargs, autoreset_mode=mode)
    single = SyncVectorEnv([lambda: ExplorationEnv(**kwargs)] * 4, autoreset_mode=mode)
    rng = np.random.default_rng(1)
    ours, expected = envs.reset(seed=7), single.reset(seed=7)
    ended = 0
    for _ in range(25):
        check_equal(ours, expected)
        assert ours[0] in envs.observation_space
        actions = choose_actions(rng, ours[0]["action_mask"])
        ours, expected = envs.step(actions), single.step(actions)
        ended += int(ours[2].sum())
        if mode is AutoresetMode.DISABLED and ours[2].any():
            check_equal(ours, expected)
            ours, expected = (each.reset(options={"reset_mask": ours[2].copy()}) for each in (envs, single))
    assert ended > 4, "too few episodes to test resets"
    assert envs.observation_space == single.observation_space
    assert envs.action_space == single.action_space
    assert envs.np_random_seed == single.np_random_seed == (7, 8, 9, 10)


def check_equal(ours: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    """Compare results of reset or step, with types."""
    assert data_equivalence(ours[0], expected[0])
    for a, b in zip(ours[1:-1], expected[1:-1], strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    compare_infos(ours[-1], expected[-1])


def compare_infos(ours: dict[str, Any], expected: dict[str, Any]) -> None:
    assert set(ours) == set(expected)
    for key, value in expected.items():
        if isinstance(value, dict):
            compare_infos(ours[key], value)
        elif key == "final_obs":
            assert all(a is b is None or data_equivalence(a, b) for a, b in zip(ours[key], value, strict=True))
        else:
            assert np.asarray(ours[key]).tolist() == np.asarray(value).tolist(), key


# ---- gymnasium's contract -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", SETTINGS)
def test_make_vec_is_native_and_fits_its_spaces(observation: str) -> None:
    """Gymnasium has no checker of vector environments; these are the properties its documentation asks for."""
    # labels of different types are more than SyncVectorEnv can hold in one array
    kwargs = make_kwargs("several", observation) | {"graph": [library(), cycle(6), ONE_WAY]}
    envs = gymnasium.make_vec(ENV_ID, num_envs=3, **kwargs)
    assert isinstance(envs, ExplorationVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert envs.spec is not None
    assert repr(envs) == "ExplorationVectorEnv(curiograph/Exploration-v0, num_envs=3)"
    results: list[tuple[Any, ...]] = []
    for _ in range(2):
        envs.action_space.seed(3)
        results.append(envs.reset(seed=3))
        results += [envs.step(envs.action_space.sample()) for _ in range(6)]
    for result in results:
        assert result[0] in envs.observation_space
        for key, space in envs.single_observation_space.items():
            for i in range(3):
                value = result[0][key][i]
                assert (np.int64(value) if isinstance(space, gymnasium.spaces.Discrete) else value) in space
    half = len(results) // 2
    for first, second in zip(results[:half], results[half:], strict=True):
        assert pickle.dumps(first) == pickle.dumps(second), "the same seed must give the same bytes"
    # what a call returned does not change with the next call
    before = envs.reset(seed=0)
    stored = pickle.dumps(before)
    envs.step(np.argmax(before[0]["action_mask"], axis=1))
    assert pickle.dumps(before) == stored
    envs.close()


def test_all_zero_mask_of_an_ended_episode_is_warned_of_once() -> None:
    for mode, expected in (("NextStep", 1), ("SameStep", 0)):
        envs = ExplorationVectorEnv(2, cycle(4), steps=3, autoreset_mode=mode)
        observation, _ = envs.reset(seed=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(6):
                assert mode == "NextStep" or observation["action_mask"].any(axis=1).all()
                observation, *_ = envs.step(torch.from_numpy(observation["action_mask"]).argmax(dim=1))
        assert sum('"SameStep"' in str(each.message) for each in caught) == expected


# ---- the observation "subgraph" -------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
def test_edges_are_those_of_networkx(directed: bool) -> None:
    rng = np.random.default_rng(0)
    pairs = {(int(a), int(b)) for a, b in rng.integers(0, 25, (120, 2)) if a != b}
    graph = cg.Graph.from_edges(sorted(pairs), directed=directed, nodes=range(25))
    other = graph.to_networkx()
    env = ExplorationEnv(graph, steps=6, observation="subgraph")
    _, info = env.reset(seed=0)
    for _ in range(5):
        observation, _, terminated, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        places = info["nodes"][info["nodes"] >= 0].tolist()
        assert places == [*env.walk, *env.candidates]
        inner = other.subgraph(places).to_directed()
        found = observation["edges"][:, observation["edge_mask"] == 1].T.tolist()
        assert sorted((places[a], places[b]) for a, b in found) == sorted(inner.edges)
        either = other.to_undirected()
        links = [len(set(either[u]) & set(env.walk)) for u in places]
        np.testing.assert_allclose(np.expm1(observation["nodes"][: len(places), 4]), links, rtol=1e-5)
        if terminated:
            break


def test_cropped_observation_offers_a_random_subset_of_the_candidates() -> None:
    env = ExplorationEnv(STAR, steps=4, observation="subgraph", max_nodes=8, max_edges=9)
    offered = []
    for seed in range(300):
        _, info = env.reset(seed=seed, options={"start": 0})
        offered += info["nodes"][info["action_mask"] == 1].tolist()
        assert info["action_mask"].sum() == 7
    counts = np.bincount(offered, minlength=40)[1:]
    assert counts.sum() == 2100
    # each of 39 leaves is offered in 7 of 39 episodes: 54, with a standard deviation of 6.6
    assert counts.min() > 54 - 5 * 6.6
    assert counts.max() < 54 + 5 * 6.6


def test_cropped_edges_keep_those_of_visited_nodes() -> None:
    complete = cg.Graph.from_edges([(a, b) for a in range(9) for b in range(a)])
    env = ExplorationEnv(complete, steps=5, observation="subgraph", max_edges=8)
    _, info = env.reset(seed=0)
    for _ in range(2):
        observation, _, _, _, info = env.step(int(np.argmax(info["action_mask"])))
    edges = observation["edges"].T.tolist()
    assert {tuple(edge) for edge in edges[:6]} == {(a, b) for a in range(3) for b in range(3) if a != b}
    assert all(a < 3 <= b for a, b in edges[6:])


def test_policy_acts_on_graphs_of_any_size() -> None:
    env = ExplorationEnv(cycle(5), steps=4, observation="subgraph", max_nodes=16)
    for graph in (cycle(4), cg.generate("ba", nodes=300, seed=0), ONE_WAY):
        observation, info = env.reset(seed=0, options={"graph": graph})
        assert observation in env.observation_space
        assert info["graph"] == 1
        assert env.graph is graph
        terminated = False
        while not terminated:
            observation, _, terminated, _, info = env.step(int(np.argmax(info["action_mask"])))
            assert observation in env.observation_space


# ---- graphs: samplers and options -----------------------------------------------------------------------------------


def test_sampler_is_called_once_per_episode_with_the_generator_of_the_environment() -> None:
    seen = []

    def sample(rng: np.random.Generator) -> cg.Graph:
        seen.append(rng)
        return cycle(int(rng.integers(4, 9)))

    env = ExplorationEnv(sample, steps=3, max_nodes=8)
    seen.clear()
    sizes = []
    for _ in range(20):
        env.reset(seed=None if sizes else 0)
        sizes.append(len(env.graph))
    assert len(seen) == 20
    assert all(rng is env.np_random for rng in seen)
    assert set(sizes) == {4, 5, 6, 7, 8}


def test_vector_environment_returns_from_another_graph_to_its_own() -> None:
    envs = ExplorationVectorEnv(3, [cycle(4), cycle(6)], steps=4)
    envs.reset(seed=0)
    other = cycle(5)
    mask = np.array([False, True, False])
    walks_before = envs.step(np.argmax(envs.action_masks(), axis=1))[0]["visited"]
    observation, info = envs.reset(options={"graph": other, "reset_mask": mask})
    assert info["graph"].tolist() == [0, 2, 0]
    assert info["_graph"].tolist() == [False, True, False]
    np.testing.assert_array_equal(observation["visited"][[0, 2]], walks_before[[0, 2]])
    for _ in range(4):
        observation, *_ = envs.step(np.argmax(observation["action_mask"], axis=1))
    assert 2 not in observation["graph"]


# ---- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"observation": "edges"}, cg.errors.UnknownNameError, "'edges'"),
        ({"max_nodes": 3}, cg.SettingError, "max_nodes=9"),
        ({"observation": "subgraph", "max_nodes": 4, "steps": 6}, cg.SettingError, "raise max_nodes or lower steps"),
        ({"observation": "subgraph", "max_edges": 0}, cg.SettingError, "max_edges is 0"),
        ({"graph": lambda rng: None}, cg.GraphError, "NoneType"),
        ({"graph": lambda rng: cg.Graph.from_edges([], nodes=[1])}, cg.GraphError, "no edges"),
        ({"num_envs": 0}, cg.SettingError, "num_envs is 0"),
        ({"autoreset_mode": "later"}, ValueError, "'later'"),
    ],
)
def test_bad_settings(kwargs: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ExplorationVectorEnv(**{"num_envs": 2, "graph": grid(3, 3)} | kwargs)


def test_bad_calls() -> None:
    envs = ExplorationVectorEnv(2, cycle(4), steps=4, autoreset_mode="Disabled")
    with pytest.raises(cg.errors.WalkError, match="call reset"):
        envs.step(np.array([0, 0]))
    with pytest.raises(cg.errors.WalkError, match="without reset_mask"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(options={"start": 0})
    for actions in (np.array([1]), np.array([1.0, 3.0]), [True, True], None):
        with pytest.raises(cg.SettingError, match="2 environments"):
            envs.step(actions)
    with pytest.raises(cg.SettingError, match="reset_mask"):
        envs.reset(options={"reset_mask": np.ones(3, bool)})
    with pytest.raises(cg.SettingError, match="seed is"):
        envs.reset(seed=[1])
    _, rewards, terminated, _, info = envs.step([0, 1])
    assert (rewards.tolist(), terminated.tolist()) == ([0.0, 0.0], [True, False])
    assert info["illegal_action"].tolist() == [True, False]
    with pytest.raises(cg.errors.WalkError, match="environment 0 is over"):
        envs.step([1, 2])
