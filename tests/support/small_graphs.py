"""Hypothesis strategies for small graphs and histories."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import curiograph as cg


@st.composite
def graphs(draw: st.DrawFn) -> cg.Graph:
    """Small graphs of every kind, with isolated and dangling nodes and edges of weight zero."""
    nodes = draw(st.integers(2, 12))
    ends = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(ends, ends).filter(lambda pair: pair[0] != pair[1]), min_size=1, max_size=40))
    if draw(st.booleans()):
        weight = st.one_of(st.just(0.0), st.floats(0.01, 100.0))
        pairs = [(u, v, draw(weight)) for u, v in pairs]
    return cg.Graph.from_edges(pairs, directed=draw(st.booleans()), nodes=range(nodes))


@st.composite
def histories(draw: st.DrawFn, graph: cg.Graph) -> list[int]:
    """One to four nodes, possibly repeated."""
    return draw(st.lists(st.integers(0, graph.num_nodes - 1), min_size=1, max_size=4))


def make_dense_teleport(graph: cg.Graph, history: list[int]) -> np.ndarray:
    """Return the teleport distribution of a history as a dense array."""
    q = np.zeros(graph.num_nodes)
    q[list(set(history))] = 1 / len(set(history))
    return q


@st.composite
def graphs_and_orders(draw: st.DrawFn) -> tuple[cg.Graph, list[int], list[int]]:
    """A small undirected graph, and two orders of some of its nodes."""
    nodes = draw(st.integers(2, 14))
    pairs = [(u, v) for u in range(nodes) for v in range(u)]
    edges = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    visited = draw(st.lists(st.integers(0, nodes - 1), min_size=1, unique=True))
    return cg.Graph.from_edges(edges, nodes=range(nodes)), visited, list(draw(st.permutations(visited)))
