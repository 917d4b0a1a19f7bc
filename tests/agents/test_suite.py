"""The benchmark suite: frozen tasks, results against definitions, and checks of outside agents."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import curiograph as cg
from curiograph.agents.agent_names import as_agent
from curiograph.agents.suite import SuiteResult, begin_task, cluster_returns, hash_task, read_tasks


def test_stored_tasks():
    tasks = read_tasks()
    assert len(tasks) == 32 + 2 * 16
    assert [sum(task["group"] == group for task in tasks.values()) for group in ("families", "sizes", "lengths")] == [
        8, 16, 8,
    ]  # fmt: skip
    for name, task in tasks.items():
        for column in ("random", "greedy", "ceiling"):
            assert len(task[column]) == (task["episodes"] if task["group"] == "real" else task["graphs"])
        assert np.all(np.array(task["ceiling"]) >= task["random"]), name


@pytest.mark.parametrize("name", [name for name, task in read_tasks().items() if task["group"] == "families"])
def test_tasks_are_the_frozen_ones(name):
    task = read_tasks()[name]
    graphs, walks = begin_task(task, Path())
    assert hash_task(graphs, walks) == task["hash"]
    assert [graph.num_nodes for graph in graphs] == [50] * 10
    assert np.bincount(walks.graph_of).tolist() == [20] * 10
    for agent in ("random", "greedy"):
        returns = cluster_returns(task, as_agent(agent).run(walks).returns)
        assert returns.tolist() == pytest.approx(task[agent], abs=1e-8)


def test_test_graphs_are_no_training_graphs():
    graphs, _ = begin_task(read_tasks()["igt-ba-50"], Path())
    seen = {graph.indices.tobytes() for graph in cg.generate_split("ba", train=30, val=10, test=10, seed=0).train}
    assert not seen & {graph.indices.tobytes() for graph in graphs}


def test_results_follow_their_definitions():
    result, task = cg.suite("beam:2", ["igt-ws-50"]), read_tasks()["igt-ws-50"]
    returns = as_agent("beam:2").run(begin_task(task, Path())[1]).returns.reshape(10, 20).mean(axis=1)
    (row,) = result.tasks
    assert (row["task"], row["group"], row["reward"], row["walks"]) == ("igt-ws-50", "families", "igt", 200)
    assert row["mean"] == pytest.approx(returns.mean())
    assert row["sem"] == pytest.approx(returns.std(ddof=1) / math.sqrt(10))
    random, ceiling = np.mean(task["random"]), np.mean(task["ceiling"])
    assert row["share"] == result.share == pytest.approx((returns.mean() - random) / (ceiling - random))
    assert row["share_sem"] > 0
    assert row["microseconds"] > 0
    assert result.to_dict()["rows"] == result.tasks
    assert result.to_frame()["ceiling"].tolist() == [pytest.approx(ceiling)]


def test_share_is_the_mean_over_groups_and_rewards():
    rows = [("families", "igt", 1.0), ("families", "igt", 0.5), ("sizes", "igt", 0.0), ("sizes", "cpt", math.nan)]
    names = ("group", "reward", "share")
    assert SuiteResult("a", [dict(zip(names, row, strict=True)) for row in rows]).share == 0.375


@pytest.mark.parametrize("wrong", ["stops", "jumps"])
def test_walks_of_outside_agents_are_checked(wrong):
    class Cheat(cg.Agent):
        name = "cheat"

        def scores(self, exploration):
            return np.zeros(len(exploration.candidates.nodes))

        def run(self, exploration):
            ended = exploration if wrong == "stops" else super().run(exploration)
            ended.nodes[:, 5] = ended.nodes[:, 0]
            ended.rewards[:] = 100.0
            return ended

    with pytest.raises(cg.errors.AgentError, match="'cheat'"):
        cg.suite(Cheat(), ["igt-rg-50"])


def test_bad_requests(tmp_path, monkeypatch):
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    with pytest.raises(cg.errors.UnknownNameError, match="'igt-xy-50'"):
        cg.suite("greedy", ["igt-xy-50"])
    with pytest.raises(cg.GraphError, match="'animal-lake'"):
        cg.suite("greedy", ["igt-animal-lake"], data=tmp_path)
    (tmp_path / "real-networks").mkdir()
    (tmp_path / "real-networks" / "animal-lake.tsv").write_text("a\tb\nb\tc\n")
    with pytest.raises(cg.GraphError, match="'animal-lake'"):
        cg.suite("greedy", ["igt-animal-lake"], data=tmp_path)
