"""Bounds of the local push, against a dense solve of the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.centrality.history import make_teleport
from curiograph.centrality.push import push_scores
from oracles.reference import compute_pagerank
from support.small_graphs import graphs, histories, make_dense_teleport

SLACK = 1e-13  # of the dense solve


@given(st.data(), st.sampled_from([0.0, 0.5, 0.85, 0.99]), st.sampled_from([1, 5, 30, 10_000]), st.integers(1, 6))
def test_every_score_lies_within_its_bound(data: st.DataObject, alpha: float, edges: int, k: int) -> None:
    graph = data.draw(graphs())
    history = data.draw(histories(graph))
    truth = compute_pagerank(graph, alpha, make_dense_teleport(graph, history))
    found = push_scores(
        graph, make_teleport(graph, history), alpha, min(k, graph.num_nodes), tolerance=1e-9, max_edges=edges
    )
    assert np.all(found.scores <= truth[found.nodes] + SLACK)
    assert np.all(truth[found.nodes] <= found.scores + found.bound + SLACK)
    assert len(set(found.nodes.tolist())) == len(found.nodes)
    if found.certain:
        others = np.delete(truth, found.nodes[found.best])
        assert len(others) == 0 or others.max() <= truth[found.nodes[found.best]].min() + SLACK


@pytest.mark.parametrize("directed", [False, True])
def test_unlimited_push_finds_the_top_of_pagerank(directed: bool) -> None:
    rng = np.random.default_rng(2)
    pairs = rng.integers(0, 2000, (12_000, 2))
    graph = cg.Graph.from_edges(pairs, directed=directed, nodes=range(2000))
    history = [5, 700, 1999]
    found = cg.pagerank_top(graph, history, k=10, tolerance=1e-12, max_edges=50_000_000)
    assert found.certain
    assert set(found.nodes) == {label for label, _ in cg.pagerank(graph, history=history).top(10)}


def test_few_nodes_of_a_large_graph_are_touched() -> None:
    graph = cg.toys.grid(200, 200)
    found = cg.pagerank_top(graph, [(100, 100)], k=5)
    assert found.certain
    assert found.touched < 1000
    assert found.nodes[0] == (100, 100)
    assert set(found.nodes[1:]) == {(99, 100), (101, 100), (100, 99), (100, 101)}


def test_many_starts_grow_the_hash_map() -> None:
    graph = cg.toys.cycle(3000)
    found = cg.pagerank_top(graph, list(range(0, 3000, 3)), k=3)
    assert found.touched >= 1000
    assert len(found.nodes) == 3


def test_fewer_reachable_nodes_than_requested() -> None:
    graph = cg.Graph.from_edges([(0, 1), (2, 3), (3, 4)], nodes=range(6))
    found = cg.pagerank_top(graph, [0], k=5)
    assert (found.nodes, found.certain) == ([0, 1], True)
    alone = cg.pagerank_top(graph, [5], k=2)
    assert (alone.nodes, alone.scores.tolist(), alone.certain) == ([5], [1.0], True)
    assert alone.to_dict()["touched"] == 1


def test_node_with_only_zero_weight_out_edges_is_a_dead_end() -> None:
    graph = cg.Graph.from_edges([("a", "b", 1.0), ("b", "c", 0.0), ("a", "d", 1.0), ("d", "b", 1.0)], directed=True)
    for history in (["a", "b"], ["d", "a", "b"], ["b"]):
        top, whole = cg.pagerank_top(graph, history, k=4), cg.pagerank(graph, history=history)
        scores = whole.scores[[graph.position(label) for label in top.nodes]]
        assert np.all(top.scores <= scores + 1e-12)
        assert np.all(scores <= top.scores + top.bound + 1e-12)
