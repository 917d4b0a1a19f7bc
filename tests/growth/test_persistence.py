"""Persistence of gaps over similarity, against gudhi."""

from __future__ import annotations

import math
from itertools import pairwise

import gudhi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import curiograph as cg
from curiograph.human import Trajectories
from oracles.reference import draw_graph

SQUARE = cg.Graph.from_edges([(0, 1, 1.0), (1, 2, 0.5), (2, 3, 1.0), (3, 0, 1.0), (0, 2, 0.125)])


def draw_weighted(rng, nodes, chance, *, directed=False, levels=None):
    """Return a random graph with weights in [0, 1], in a few levels if there are to be ties."""
    plain = draw_graph(rng, nodes, chance, directed=directed)
    rows = np.repeat(np.arange(plain.num_nodes), plain.degrees)
    edges = [(u, v) for u, v in zip(rows.tolist(), plain.indices.tolist(), strict=True) if directed or u < v]
    weights = rng.random(len(edges)) if levels is None else rng.integers(0, levels + 1, len(edges)) / levels
    triples = [(*edge, float(weight)) for edge, weight in zip(edges, weights, strict=True)]
    return cg.Graph.from_edges(triples, directed=directed, nodes=range(nodes))


def list_bits(graph, walk):
    """Return the filtration value in bits of every pair of visited nodes; infinite without an edge."""
    adjacency = graph.to_scipy().toarray()
    adjacency = np.maximum(adjacency, adjacency.T)
    positions = graph.positions(walk)
    with np.errstate(divide="ignore"):
        bits = -np.log2(adjacency[np.ix_(positions, positions)])
    np.fill_diagonal(bits, 0.0)
    return bits


def sort_intervals(intervals):
    return np.reshape(sorted(map(tuple, intervals)), (-1, 2))


def compute_gudhi(graph, walk):
    bits = list_bits(graph, walk)
    tree = gudhi.SimplexTree()
    for s in range(len(walk)):
        tree.insert([s], 0.0)
        for t in range(s):
            if np.isfinite(bits[s, t]):
                tree.insert([s, t], bits[s, t])
    tree.expansion(2)
    tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
    return sort_intervals(tree.persistence_intervals_in_dimension(1))


def list_intervals(found):
    return sort_intervals(found.bits)


@pytest.mark.parametrize("levels", [None, 4])
@pytest.mark.parametrize("directed", [False, True])
def test_random_walks_equal_gudhi(levels, directed):
    rng = np.random.default_rng(0)
    for chance in (0.15, 0.35, 0.6, 0.9):
        for _ in range(6):
            graph = draw_weighted(rng, 24, chance, directed=directed, levels=levels)
            if graph.weights is None:
                continue
            walk = rng.permutation(24)[: rng.integers(1, 25)].tolist()
            found = list_intervals(cg.measure_persistence(graph, walk))
            assert np.allclose(found, compute_gudhi(graph, walk), rtol=0, atol=1e-12)


def test_more_gaps_than_a_machine_word_has_bits():
    graph = draw_weighted(np.random.default_rng(1), 120, 0.06)
    found = cg.measure_persistence(graph, list(range(120)))
    assert len(found.gaps) > 200
    assert np.allclose(list_intervals(found), compute_gudhi(graph, range(120)), rtol=0, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 12), st.floats(0.2, 1.0))
def test_properties(seed, nodes, chance):
    rng = np.random.default_rng(seed)
    graph = draw_weighted(rng, nodes, chance, levels=5)
    if graph.weights is None:
        return
    walk = rng.permutation(nodes).tolist()
    found = cg.measure_persistence(graph, walk)
    kept = cg.Graph.from_edges(
        [(u, v) for u, v, w in graph.to_networkx().edges(data="weight") if w > 0], nodes=graph.labels
    )
    assert found.per_walk()["open"].tolist() == [cg.betti(kept)]  # what never closes is a gap of the whole subgraph
    assert found.edges.tolist() == [kept.num_edges]
    other = cg.measure_persistence(graph, rng.permutation(walk).tolist())
    assert np.array_equal(list_intervals(other), list_intervals(found))  # the order of visits does not matter
    weights = {(u, v): w for u, v, w in graph.to_networkx().edges(data="weight")}
    weights |= {(v, u): w for (u, v), w in weights.items()}
    for gap in found.to_dict()["rows"]:
        assert gap["persistence"] is None or gap["persistence"] > 0
        assert -math.log2(weights[tuple(gap["opened_by"])]) == gap["birth_bits"]
        assert gap["closed_by"] is None or -math.log2(weights[tuple(gap["closed_by"])]) == gap["death_bits"]
        loop = gap["loop"]
        assert len(set(loop)) == len(loop) >= 4
        assert loop[:2] == gap["opened_by"]
        along = [weights[pair] for pair in pairwise([*loop, loop[0]])]
        assert max(-math.log2(weight) for weight in along) == gap["birth_bits"]


def test_tables_per_gap_and_per_walk():
    walks = Trajectories.from_walks([[0, 1, 2, 3], [0, 1], [3], [1, 2, 3, 1]], users=["ann", "ann", "bob", "bob"])
    found = cg.measure_persistence(SQUARE, walks)
    assert found.per_walk().to_dict("list") == {
        "user": ["ann", "ann", "bob", "bob"],
        "session": [1, 2, 1, 2],
        "nodes": [4, 2, 1, 3],
        "edges": [5, 1, 0, 2],
        "gaps": [1, 0, 0, 0],
        "open": [0, 0, 0, 0],
        "total_persistence": [2.0, 0.0, 0.0, 0.0],
        "max_persistence": [2.0, 0.0, 0.0, 0.0],
    }
    (row,) = found.to_dict()["rows"]
    assert (row["user"], row["birth_bits"], row["death_bits"], row["closed_by"]) == ("ann", 1.0, 3.0, [0, 2])
    assert found.plot().get_title() == "1 gaps"
    assert cg.measure_persistence(SQUARE, [0, 1, 2, 3]).plot().get_yticklabels()[0].get_text() == "1-2-3-0"


def test_open_gaps_are_infinite_and_not_in_totals():
    graph = cg.Graph.from_edges([(0, 1, 1.0), (1, 2, 0.5), (2, 3, 1.0), (3, 0, 1.0), (0, 2, 0.0)])
    found = cg.measure_persistence(graph, [0, 1, 2, 3])
    assert found.bits.tolist() == [[1.0, math.inf]]
    assert found.to_dict()["rows"][0]["death_bits"] is None
    assert found.per_walk()[["gaps", "open", "total_persistence"]].to_numpy().tolist() == [[1, 1, 0]]


@pytest.mark.parametrize(
    ("graph", "walk", "error", "words"),
    [
        (cg.toys.cycle(4), [0, 1], cg.GraphError, "no weights"),
        (cg.Graph.from_edges([(0, 1, 2.0)]), [0, 1], cg.GraphError, "2"),
        (SQUARE, [0, 7], cg.UnknownNodeError, "7"),
        (SQUARE, [], cg.errors.WalkError, "empty"),
    ],
)
def test_bad_input(graph, walk, error, words):
    with pytest.raises(error, match=words):
        cg.measure_persistence(graph, walk)
