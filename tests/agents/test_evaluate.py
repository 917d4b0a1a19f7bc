"""cg.evaluate: returns, standard errors, seeds and errors."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.agents.evaluate import Evaluation
from curiograph.graph.toys import cycle, library


def test_shapes_and_formulas():
    graphs = [cg.generate("ba", nodes=n, seed=0) for n in (12, 20, 30)]
    result = cg.evaluate("random", graphs, "igt", 8, 25, seed=1)
    assert [r.shape for r in result.returns] == [(25,)] * 3
    every = np.concatenate(result.returns)
    means = np.array([r.mean() for r in result.returns])
    assert result.episodes == 75
    assert result.mean == pytest.approx(every.mean())
    assert result.sem == pytest.approx(np.sqrt(((every - every.mean()) ** 2).sum() / 74 / 75))
    assert result.sem_by_graph == pytest.approx(np.sqrt(((means - means.mean()) ** 2).sum() / 2 / 3))
    assert result.by_graph.tolist() == means.tolist()
    summary = result.to_dict()
    assert [row["mean"] for row in summary["rows"]] == means.tolist()
    assert (summary["agent"], summary["reward"], summary["graphs"], summary["steps"]) == ("random", "igt", 3, 8)


def test_episodes_all_starts_once_from_every_node():
    result = cg.evaluate("greedy", [cycle(5), cycle(7)], "igt", 5, "all")
    assert [len(r) for r in result.returns] == [5, 7]
    assert result.by_graph.tolist() == [1.0, 0.0]
    graph = cg.Graph.from_edges([(0, 1)], nodes=range(3))
    assert len(cg.evaluate("greedy", graph, steps=2, episodes="all").returns[0]) == 2
    assert len(cg.evaluate("greedy", graph, steps=2, episodes="all", fallback="anywhere").returns[0]) == 3


def test_evaluate_equals_explore_from_every_node():
    """A reward without ties, so that the walks of a batch equal single walks."""
    graph = cg.generate("rg", nodes=20, seed=3)
    weights = {node: 2.0**-i for i, node in enumerate(graph.labels)}
    found = cg.evaluate("greedy", graph, lambda s: sum(weights[v] for v in s.labels), 6, "all").returns[0]
    alone = [
        cg.explore(graph, "greedy", lambda s: sum(weights[v] for v in s.labels), start, 6).total for start in range(20)
    ]
    assert found.tolist() == pytest.approx(alone)


def test_seeds():
    graph = cg.generate("er", nodes=30, seed=0)
    runs = [cg.evaluate("greedy", [graph, graph], "igt", 8, 30, seed=seed).returns for seed in (4, 4, 5)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
    assert not np.array_equal(runs[0][0], runs[0][1])  # the same graph twice is explored twice, not copied


def test_first_episodes_do_not_depend_on_later_ones():
    graphs = [cg.generate("ws", nodes=30, seed=seed) for seed in range(3)]
    few = cg.evaluate("random", graphs[:1], "cpt", 6, 10, seed=2)
    many = cg.evaluate("random", graphs, "cpt", 6, 40, seed=2)
    assert many.returns[0][:10].tolist() == few.returns[0].tolist()


def test_sem_by_graph_of_one_graph_is_nan():
    result = cg.evaluate("random", cycle(6), "igt", 4, 5)
    assert np.isnan(result.sem_by_graph)
    assert np.isnan(cg.evaluate("random", cycle(6), "igt", 4, 1).sem)


def test_early_ends_are_counted():
    graph = cg.Graph.from_edges([(0, 1), (2, 3), (3, 4)])
    assert cg.evaluate("random", graph, "igt", 3, "all").ended_early == 2
    assert cg.evaluate("random", graph, "igt", 99, "all").ended_early == 5


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"episodes": 0}, cg.SettingError, "episodes is 0"),
        ({"episodes": "some"}, cg.SettingError, "episodes is 'some'"),
        ({"episodes": 1.5}, cg.SettingError, "episodes is 1.5"),
        ({"graphs": []}, cg.SettingError, "no graphs"),
    ],
)
def test_bad_evaluations(settings, error, words):
    with pytest.raises(error, match=words):
        cg.evaluate(**({"agent": "greedy", "graphs": [library()], "steps": 3, "episodes": 2} | settings))


def test_sem_by_graph_with_unequal_episodes():
    result = Evaluation("a", "igt", 10, [np.array([0.0, 2.0]), np.array([4.0, 4.0, 4.0, 4.0])])
    excess = np.array([2.0 - 2 * result.mean, 16.0 - 4 * result.mean])
    assert result.sem_by_graph == pytest.approx(np.sqrt(2 * np.sum(excess**2)) / 6)
