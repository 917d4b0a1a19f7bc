"""The benchmark suite: frozen tasks, results against definitions, and checks of outside agents."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import curiograph as cg
from curiograph.leaderboard import suite as suite_module
from curiograph.leaderboard.gym_policy import replay_walks
from curiograph.leaderboard.suite import measure_references, read_reference
from curiograph.leaderboard.tasks import Task, list_generated_tasks

SMALL = {
    "igt-ws-12": Task(name="igt-ws-12", group="families", reward="igt", steps=6, episodes=3, ceiling=["beam:64"],
                      family="ws", nodes=12, graphs=2),
    "cpt-er-12": Task(name="cpt-er-12", group="sizes", reward="cpt", steps=4, episodes=2, ceiling=["beam:64"],
                      family="er", nodes=12, graphs=3),
}  # fmt: skip


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> cg.Suite:
    """A suite of two small tasks."""
    stored = {name: measure_references(task, {}) for name, task in SMALL.items()}
    monkeypatch.setattr(suite_module, "read_reference", lambda version: stored)
    return cg.Suite(version="v1", tasks=tuple(SMALL.values()), networks={})


def test_stored_references_cover_all_tasks_of_v1() -> None:
    stored = read_reference("v1")
    for task in list_generated_tasks():
        found = stored[task.name]
        assert found["ceiling_by"] == task.ceiling
        for column in ("random", "greedy", "ceiling"):
            assert len(found[column]) == task.graphs
        assert np.mean(found["ceiling"]) > np.mean(found["greedy"]) > np.mean(found["random"])
    networks = {name.partition("-")[2] for name, found in stored.items() if found["group"] == "real"}
    assert len(networks) == 16
    assert len(stored) == 32 + 2 * 16


def test_tasks_are_the_frozen_ones() -> None:
    suite = cg.suite("v1").select("families")
    assert len(suite.tasks) == len(suite.quick.tasks) == 8
    for task in suite.tasks:
        walks = suite.load_walks(task.name)  # raises if the graphs or starts differ
        graphs = walks.stack.graphs
        assert [graph.num_nodes for graph in graphs] == [50] * 10
        assert np.bincount(walks.graph_of).tolist() == [20] * 10
    greedy = suite.select("igt-rg-50").evaluate("greedy", repeats=1).tasks[0]
    assert greedy.mean == pytest.approx(greedy.greedy)


def test_test_graphs_are_no_training_graphs() -> None:
    walks = cg.suite("v1").load_walks("igt-ba-50")
    seen = {graph.indices.tobytes() for graph in cg.generate_split("ba", train=30, val=10, test=10, seed=0).train}
    assert not seen & {graph.indices.tobytes() for graph in walks.stack.graphs}


def test_results_follow_their_definitions(small: cg.Suite) -> None:
    result = small.evaluate("beam:2", repeats=1)
    for task, found in zip(small.tasks, result.tasks, strict=True):
        returns = {}
        for agent in ("random", "greedy", "beam:2", "beam:64"):
            walks = small.load_walks(task.name)
            ended = cg.agents.registry.as_agent(agent).run(walks)  # type: ignore[attr-defined]
            returns[agent] = ended.returns.reshape(task.graphs, task.episodes).mean(axis=1)
        means = {agent: float(values.mean()) for agent, values in returns.items()}
        assert found.walks == task.graphs * task.episodes
        assert found.mean == pytest.approx(means["beam:2"])
        assert found.sem == pytest.approx(returns["beam:2"].std(ddof=1) / math.sqrt(task.graphs))
        assert (found.random, found.greedy) == (pytest.approx(means["random"]), pytest.approx(means["greedy"]))
        attainable = means["beam:64"] - means["random"]
        assert found.share == pytest.approx((means["beam:2"] - means["random"]) / attainable)
        assert found.microseconds > 0
        assert found.relative_time == found.microseconds / found.reference_microseconds
    ceiling = small.evaluate("beam:64", repeats=1)
    assert [task.share for task in ceiling.tasks] == [pytest.approx(1), pytest.approx(1)]
    row = ceiling.row()
    assert (row["families igt"], row["sizes cpt"], row["tasks"]) == (pytest.approx(1), pytest.approx(1), 2)
    assert "families cpt" not in row
    assert len(ceiling.to_frame()) == 2


def test_results_are_saved_and_loaded(small: cg.Suite, tmp_path: Path) -> None:
    result = small.evaluate("greedy", repeats=1)
    undefined = replace(result, tasks=[replace(result.tasks[0], share=math.nan, share_sem=math.nan), *result.tasks[1:]])
    undefined.save(tmp_path / "greedy.json")
    loaded = cg.SuiteResult.load(tmp_path / "greedy.json")
    assert str(loaded.to_dict()) == str(undefined.to_dict())
    assert loaded.row()["lowest task"] == "cpt-er-12"
    for text in ("{}", "[]", '{"tasks": []}', '{"tasks": [{"task": "a"}]}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(cg.FileFormatError, match=r"bad\.json"):
            cg.SuiteResult.load(tmp_path / "bad.json")


def test_gymnasium_policy_earns_what_the_same_agent_earns(small: cg.Suite) -> None:
    class First(cg.Agent):
        name = "first"

        def scores(self, exploration: cg.Exploration) -> Any:
            return -exploration.candidates.nodes.astype(float)

    def policy(observation: dict[str, Any]) -> int:
        return int(observation["action_mask"].argmax())

    agent, adapted = small.evaluate(First(), repeats=1), small.evaluate(policy, repeats=1)
    assert adapted.agent == "policy"
    assert [task.mean for task in adapted.tasks] == [task.mean for task in agent.tasks]
    assert small.evaluate(cg.GymPolicy(policy, name="mine"), repeats=1).agent == "mine"


def test_objects_with_scores_and_names_are_accepted(small: cg.Suite) -> None:
    class Scorer:
        name = "scorer"

        def scores(self, exploration: cg.Exploration) -> Any:
            return exploration.candidate_values

    assert small.evaluate(Scorer(), repeats=1).tasks[0].mean == pytest.approx(small.evaluate("greedy").tasks[0].greedy)


def test_invalid_walks_are_rejected(small: cg.Suite) -> None:
    class Cheat(cg.Agent):
        name = "cheat"

        def scores(self, exploration: cg.Exploration) -> Any:
            return np.zeros(len(exploration.candidates.nodes))

    class Rewarded(Cheat):
        def run(self, exploration: cg.Exploration) -> Any:
            ended = super().run(exploration)
            return replace(ended, rewards=ended.rewards + 100)

    class Short(Cheat):
        def run(self, exploration: cg.Exploration) -> Any:
            return exploration

    class Jumping(Cheat):
        def run(self, exploration: cg.Exploration) -> Any:
            ended = super().run(exploration)
            ended.nodes[0, 1] = ended.nodes[0, 0]
            return ended

    class Nothing(Cheat):
        def run(self, exploration: cg.Exploration) -> Any:
            return None

    assert small.evaluate(Rewarded(), repeats=1).tasks[0].mean < 50
    for cheat, message in (
        (Short(), "stops walk 0 after 1 of 6 nodes"),
        (Jumping(), "which is not a candidate"),
        (Nothing(), "run must return the finished exploration"),
        (lambda observation: int(observation["last"]), "which is not a candidate"),
    ):
        with pytest.raises(cg.AgentError, match=message):
            small.evaluate(cheat, repeats=1)
    with pytest.raises(cg.UnknownNameError, match="3 is not an agent"):
        small.evaluate(3)


def test_replayed_walks_have_the_same_rewards() -> None:
    walks = cg.begin([cg.generate("er", 20, seed=1)], [[0, 3, 5]], "cpt", 6, seed=2)
    ended = cg.agents.registry.as_agent("greedy").run(walks)  # type: ignore[attr-defined]
    again = replay_walks(walks, ended.nodes, ended.lengths, "greedy")
    assert np.allclose(again.rewards, ended.rewards)


def test_other_graphs_are_rejected(small: cg.Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curiograph.leaderboard.tasks._SEED", 5)
    with pytest.raises(cg.GraphError, match="igt-ws-12: its graphs or starts differ"):
        small.evaluate("greedy")


def test_real_networks_need_the_original_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    assert cg.suite("v1").networks == {}
    with pytest.raises(cg.UnknownNameError, match="give the folder of the real networks"):
        cg.suite("v1").select("real")
    with pytest.raises(cg.FileFormatError, match="has no edge lists"):
        cg.suite("v1", data=tmp_path)
    names = list(dict.fromkeys(n.partition("-")[2] for n, s in read_reference("v1").items() if s["group"] == "real"))
    folder = tmp_path / "real-networks"
    folder.mkdir()
    for name in names[1:]:
        (folder / f"{name}.tsv").write_text("0\t1\n1\t2\n")
    with pytest.raises(cg.GraphError, match=f"the network {names[0]} of suite v1 is missing"):
        cg.suite("v1", data=tmp_path)
    (folder / f"{names[0]}-directed.tsv").write_text("0\t1\n1\t2\n")
    suite = cg.suite("v1", data=tmp_path)
    assert len(suite.select("real").tasks) == 32
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path))
    assert cg.suite("v1").networks == suite.networks
    with pytest.raises(cg.GraphError, match="has changed"):
        suite.load_walks(f"igt-{names[0]}")


def test_unknown_names_are_listed() -> None:
    with pytest.raises(cg.UnknownNameError, match="version is 'v9'; the choices are v1"):
        cg.suite("v9")
    with pytest.raises(cg.UnknownNameError, match="no task 'igt-xy-50'; the groups are families"):
        cg.suite("v1").select("igt-xy-50")


@pytest.mark.parametrize("observation", ["walk", "subgraph"])
def test_policies_of_every_observation_walk(observation):
    policy = cg.GymPolicy(lambda seen: seen["action_mask"].argmax(), name="first", observation=observation)
    walk = cg.explore(cg.generate("ws", nodes=20, seed=0), policy, start=3, steps=6)
    assert len(walk.nodes) == 6
