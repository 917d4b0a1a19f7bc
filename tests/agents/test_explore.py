"""cg.explore: starts, early ends, rewards and errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import curiograph as cg
from curiograph.graph.toys import cycle, grid, library

ALL_AGENTS = ("random", "max-degree", "min-degree", "greedy", "beam", "beam:3")


def test_early_end_warns():
    graph = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("d", "e")])
    with pytest.warns(UserWarning, match="ended early, after 3 of 10 nodes.*'a'"):
        walk = cg.explore(graph, "greedy", "igt", "a", 10)
    assert walk.ended_early
    assert walk.to_dict()["ended_early"]
    with pytest.warns(UserWarning, match="after 5 of 10"):
        assert len(cg.explore(graph, "greedy", "igt", "a", 10, fallback="anywhere")) == 5


def test_complete_walk_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not cg.explore(cycle(5), "greedy", "igt", 0, 5).ended_early
        assert cg.explore(cycle(5), "greedy", "igt", 0, 1).nodes == [0]


def test_isolated_start():
    graph = cg.Graph.from_edges([("a", "b")], nodes=["alone"])
    with pytest.raises(cg.errors.WalkError, match="'alone' has no neighbors"):
        cg.explore(graph, "greedy", "igt", "alone", 2)
    assert cg.explore(graph, "greedy", "igt", "alone", 3, fallback="anywhere").nodes[0] == "alone"
    assert all(cg.explore(graph, "random", "igt", None, 2, seed=s).nodes[0] != "alone" for s in range(20))


def test_start_without_out_neighbors():
    graph = cg.Graph.from_edges([("a", "b")], directed=True)
    with pytest.raises(cg.errors.WalkError, match="'b' has no out-neighbors"):
        cg.explore(graph, "greedy", "igt", "b", 2)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"start": "musik"}, cg.UnknownNodeError, "no node 'musik'; the nearest names are 'music'"),
        ({"start": ["music"]}, cg.UnknownNodeError, "no node"),
        ({"steps": "5"}, cg.SettingError, "steps is '5'"),
        ({"seed": None}, cg.SettingError, "seed is None"),
    ],
)
def test_bad_settings(settings, error, words):
    with pytest.raises(error, match=words):
        cg.explore(**({"graph": library(), "start": "music", "steps": 3} | settings))


def test_walk_has_the_original_labels():
    walk = cg.explore(grid(3, 3), "greedy", "igt", (1, 1), 4)
    assert walk.nodes[0] == (1, 1)
    assert all(node in grid(3, 3) for node in walk)
    assert (len(walk), walk[0], list(walk)) == (4, (1, 1), walk.nodes)


def test_random_start_is_any_node():
    starts = [cg.explore(cycle(6), "random", "igt", None, 2, seed=seed).nodes[0] for seed in range(300)]
    counts = np.bincount(starts, minlength=6)
    assert ((counts - 50) ** 2 / 50).sum() < 20.5  # 5 degrees of freedom, 0.1 %


def edges_of(subgraph: cg.Graph) -> float:
    return float(subgraph.num_edges)


@pytest.mark.parametrize("agent", ALL_AGENTS)
def test_custom_reward(agent):
    graph = cg.generate("er", nodes=20, seed=0)
    walk = cg.explore(graph, agent, edges_of, 0, 5)
    assert walk.reward == "edges_of"
    assert walk.rewards == [graph.subgraph(walk.nodes[:t]).num_edges for t in range(2, 6)]


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
@pytest.mark.parametrize("agent", ["greedy", "beam:16"])
def test_choices_do_not_depend_on_the_scale_of_the_reward(agent, scale):
    graph = cg.generate("ba", nodes=40, seed=1)
    walk = cg.explore(graph, agent, lambda s: scale * s.num_edges, start=0, steps=8, seed=0)
    assert walk.nodes == cg.explore(graph, agent, lambda s: s.num_edges, start=0, steps=8, seed=0).nodes
