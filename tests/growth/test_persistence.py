"""Persistence of gaps over similarity, against gudhi and ripser; weighted compressibility of walks."""

from __future__ import annotations

import math
from itertools import pairwise

import gudhi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ripser import ripser

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


def compute_ripser(graph, walk):
    intervals = ripser(list_bits(graph, walk), distance_matrix=True, maxdim=1, coeff=2)["dgms"][1]
    return sort_intervals(intervals)


def list_intervals(found):
    return sort_intervals([(gap.birth_bits, gap.death_bits) for gap in found.gaps])


@pytest.mark.parametrize("levels", [None, 4])
@pytest.mark.parametrize("directed", [False, True])
def test_random_walks_equal_gudhi_and_ripser(levels, directed):
    rng = np.random.default_rng(0)
    for chance in (0.15, 0.35, 0.6, 0.9):
        for _ in range(6):
            graph = draw_weighted(rng, 24, chance, directed=directed, levels=levels)
            if graph.weights is None:
                continue
            walk = rng.permutation(24)[: rng.integers(1, 25)].tolist()
            found = list_intervals(cg.measure_persistence(graph, walk))
            assert np.allclose(found, compute_gudhi(graph, walk), rtol=0, atol=1e-12)
            if len(walk) > 1:  # ripser computes in single precision
                assert np.allclose(found, compute_ripser(graph, walk), rtol=1e-5, atol=1e-5)


def test_totals_without_gaps_are_floats():
    graph = cg.Graph.from_edges([(0, 1, 1.0), (1, 2, 0.5)])
    columns = cg.measure_persistence(graph, [[0, 1], [1, 2]]).columns()
    assert [type(value) for name in ("total_persistence", "max_persistence") for value in columns[name]] == [float] * 4


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
    assert found.num_open == cg.betti(kept)  # what never closes is a gap of the whole subgraph
    assert found.edges == kept.num_edges
    other = cg.measure_persistence(graph, rng.permutation(walk).tolist())
    assert np.array_equal(list_intervals(other), list_intervals(found))  # the order of visits does not matter
    weights = {(u, v): w for u, v, w in graph.to_networkx().edges(data="weight")}
    weights |= {(v, u): w for (u, v), w in weights.items()}
    for gap in found.gaps:
        assert gap.persistence > 0
        assert -math.log2(weights[gap.opened_by]) == gap.birth_bits
        assert gap.closed_by is None or -math.log2(weights[gap.closed_by]) == gap.death_bits
        assert len(set(gap.loop)) == len(gap.loop) >= 4
        assert tuple(gap.loop[:2]) == gap.opened_by
        along = [weights[pair] for pair in pairwise([*gap.loop, gap.loop[0]])]
        assert max(-math.log2(weight) for weight in along) == gap.birth_bits


def test_walks_give_one_row_each():
    walks = Trajectories.from_walks([[0, 1, 2, 3], [0, 1], [3], [1, 2, 3, 1]], users=["ann", "ann", "bob", "bob"])
    found = cg.measure_persistence(SQUARE, walks)
    frame = found.to_frame()
    assert frame["user"].tolist() == ["ann", "ann", "bob", "bob"]
    assert frame["nodes"].tolist() == [4, 2, 1, 3]
    assert frame["edges"].tolist() == [5, 1, 0, 2]
    assert frame["gaps"].tolist() == [1, 0, 0, 0]
    assert frame["total_persistence"].tolist() == [2.0, 0.0, 0.0, 0.0]
    assert found.gaps_frame().to_dict("list") == {
        "user": ["ann"], "session": [1], "walk": [0], "birth_bits": [1.0], "death_bits": [3.0], "persistence": [2.0],
    }  # fmt: skip
    assert [len(each.gaps) for each in found] == [1, 0, 0, 0]
    assert found.to_dict()["walks"][0]["gaps"][0]["death_bits"] == 3.0
    assert found.plot().get_title() == "1 gaps"
    assert found[0].plot() is not None
    assert found[1].plot() is not None


def test_open_gaps_are_infinite_and_not_in_totals():
    graph = cg.Graph.from_edges([(0, 1, 1.0), (1, 2, 0.5), (2, 3, 1.0), (3, 0, 1.0), (0, 2, 0.0)])
    found = cg.measure_persistence(graph, [0, 1, 2, 3])
    assert (len(found.gaps), found.num_open, found.total, found.largest) == (1, 1, 0.0, 0.0)
    assert found.gaps[0].persistence == math.inf
    assert found.to_dict()["gaps"][0]["death_bits"] is None
    rows = cg.measure_persistence(graph, [[0, 1, 2, 3]]).columns()
    assert (rows["gaps"], rows["open"], rows["total_persistence"]) == ([1], [1], [0.0])
    assert "<div>" in found._repr_html_()


def test_bad_input():
    with pytest.raises(cg.GraphError, match="has no weights"):
        cg.measure_persistence(cg.toys.cycle(4), [0, 1])
    with pytest.raises(cg.GraphError, match=r"largest weight is 2; .* divide"):
        cg.measure_persistence(cg.Graph.from_edges([(0, 1, 2.0)]), [0, 1])
    with pytest.raises(cg.UnknownNodeError, match="no node 7"):
        cg.measure_persistence(SQUARE, [0, 7])
    with pytest.raises(cg.WalkError, match="is empty"):
        cg.measure_persistence(SQUARE, [])
    assert cg.measure_persistence(SQUARE, [0, 7], lenient=True).nodes == [0]


# ---- weighted compressibility ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
def test_weighted_compressibility_is_that_of_the_weighted_subgraph(directed):
    rng = np.random.default_rng(3)
    graph = draw_weighted(rng, 14, 0.5, directed=directed)
    walk = rng.permutation(14).tolist()
    both = np.maximum(graph.to_scipy().toarray(), graph.to_scipy().toarray().T)
    undirected = cg.Graph.from_scipy(both, directed=False)
    found = cg.measure(graph, walk, weighted=True)
    wanted = [cg.compressibility(undirected.subgraph(walk[:t])) for t in range(1, 15)]
    assert found.compressibility == pytest.approx(wanted, abs=1e-12)
    plain = cg.measure(graph, walk)
    assert np.array_equal(found.betti, plain.betti)
    assert not np.allclose(found.compressibility, plain.compressibility)


def test_weights_of_one_change_nothing():
    plain = cg.generate("ws", 30, seed=0)
    ones = cg.Graph.from_scipy(plain.to_scipy() * 1.0)
    weighted = cg.Graph(ones.indptr, ones.indices, np.ones(len(ones.indices)))
    walks = [[0, 1, 2, 3, 4, 5], [7, 8]]
    found = cg.measure(weighted, walks, weighted=True, workers=1)
    assert np.allclose(found.grown.bits, cg.measure(plain, walks, workers=1).grown.bits, atol=1e-9)


def test_weighted_measure_resumes_only_with_the_same_weights(tmp_path):
    other = cg.Graph.from_edges([(0, 1, 1.0), (1, 2, 0.25), (2, 3, 1.0), (3, 0, 1.0), (0, 2, 0.125)])
    first = cg.measure(SQUARE, [[0, 1, 2, 3]], weighted=True, run=tmp_path)
    again = cg.measure(SQUARE, [[0, 1, 2, 3]], weighted=True, run=tmp_path)
    assert np.array_equal(first.grown.bits, again.grown.bits)
    fresh = cg.measure(other, [[0, 1, 2, 3]], weighted=True, run=tmp_path)
    assert np.array_equal(fresh[0].compressibility, cg.measure(other, [0, 1, 2, 3], weighted=True).compressibility)
    assert not np.array_equal(fresh.grown.bits, first.grown.bits)


def test_weighted_measure_needs_weights():
    with pytest.raises(cg.GraphError, match="has no weights"):
        cg.measure(cg.toys.cycle(4), [0, 1], weighted=True)
