"""Subgraphs S + v of candidates: comparison with networkx, and of messages with dense matrices."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import curiograph as cg
from curiograph.kernels import subgraphs
from oracles import reference


def read(graph: cg.Graph, walks: list[list[int]], options: list[list[int]]) -> tuple[np.ndarray, ...]:
    """Call the kernel on walks with their candidates (positions)."""
    lengths = np.array([len(walk) for walk in walks], np.int64)
    nodes = np.full((len(walks), max(lengths, default=0)), -1, np.int32)
    for i, walk in enumerate(walks):
        nodes[i, : len(walk)] = walk
    offsets = np.concatenate([[0], np.cumsum([len(some) for some in options], dtype=np.int64)])
    flat = np.array([v for some in options for v in some], np.int32)
    rows = graph.skeleton
    return subgraphs.build_subgraphs(rows.indptr, rows.indices, nodes, lengths, offsets.astype(np.int64), flat)


def check(graph: cg.Graph, walks: list[list[int]], options: list[list[int]]) -> None:
    """Check that every subgraph has its nodes in order and the edges of the induced subgraph, both ways, sorted."""
    bounds, places, starts, links = read(graph, walks, options)
    joined = reference.to_undirected(graph)
    expected = [[*walk, v] for walk, some in zip(walks, options, strict=True) for v in some]
    assert bounds.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
    assert places.tolist() == [v for nodes in expected for v in nodes]
    assert (len(starts), starts[0], starts[-1]) == (len(places) + 1, 0, len(links))
    for first, nodes in zip(bounds, expected, strict=False):
        inner = joined.subgraph(nodes)
        for k, v in enumerate(nodes):
            found = links[starts[first + k] : starts[first + k + 1]]
            assert found.tolist() == sorted(first + nodes.index(u) for u in inner[v])


@st.composite
def graph_and_walks(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    nodes = draw(st.integers(2, 14))
    graph = reference.draw_graph(rng, nodes, draw(st.floats(0, 1)), directed=draw(st.booleans()))
    walks, options = [], []
    for _ in range(draw(st.integers(0, 4))):
        order = rng.permutation(nodes).tolist()
        length = draw(st.integers(1, nodes))
        walks.append(order[:length])
        options.append(sorted(order[length : length + draw(st.integers(0, nodes))]))
    return graph, walks, options


@given(graph_and_walks())
def test_equals_induced_subgraphs(case):
    check(*case)


def test_long_walks_in_dense_graphs():
    """Far more links than the initial capacity."""
    graph = cg.toys.complete(60)
    check(graph, [list(range(50)), [59], list(range(10, 50))], [[51, 55], [], [0, 1, 2, 59]])


@given(graph_and_walks())
def test_inner_degrees_and_triangles(case):
    graph, walks, options = case
    bounds, _, starts, links = read(*case)
    joined = reference.to_undirected(graph)
    expected = []
    for walk, some in zip(walks, options, strict=True):
        for v in some:
            inner = joined.subgraph([*walk, v])
            expected += [[inner.degree(u), nx.triangles(inner, u)] for u in [*walk, v]]
    assert subgraphs.count_degrees_and_triangles(bounds, starts, links).tolist() == expected


@pytest.mark.parametrize("mean", [True, False])
@settings(max_examples=30)
@given(graph_and_walks(), st.integers(1, 5))
def test_messages_are_a_matrix_product_and_gradients_its_transpose(mean, case, width):
    _, places, starts, links = read(*case)
    rng = np.random.default_rng(0)
    count = len(places)
    matrix = np.zeros((count, count))
    for k in range(count):
        matrix[k, links[starts[k] : starts[k + 1]]] = 1
    if mean:
        matrix /= np.maximum(1, matrix.sum(axis=1, keepdims=True))
    hidden = rng.normal(size=(count, width)).astype(np.float32)
    out = np.full((count, 2 * width), np.nan, np.float32)
    subgraphs.gather_messages(starts, links, hidden, mean, out)
    assert out == pytest.approx(np.hstack([hidden, matrix @ hidden]), abs=1e-5)
    gradient = rng.normal(size=out.shape).astype(np.float32)
    back = np.full((count, width), np.nan, np.float32)
    subgraphs.gather_gradients(starts, links, gradient, mean, back)
    assert back == pytest.approx(gradient[:, :width] + matrix.T @ gradient[:, width:], abs=1e-5)


@settings(max_examples=30)
@given(graph_and_walks())
def test_sum_over_every_subgraph(case):
    bounds, places, *_ = read(*case)
    hidden = np.random.default_rng(1).normal(size=(len(places), 3)).astype(np.float32)
    expected = [hidden[first:last].sum(axis=0) for first, last in pairwise(bounds)]
    assert subgraphs.sum_states(bounds, hidden) == pytest.approx(np.reshape(expected, (len(bounds) - 1, 3)), abs=1e-5)
