"""Rate-distortion curves: weighted, directed, with all pairs and with the fast heuristic."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import curiograph as cg
from curiograph import kernels
from curiograph.rewards.rate_distortion import RateDistortion, compute_joint_distribution
from oracles import reference
from oracles.reference import build_adjacency, compute_joint_steps, draw_graph


def weighted(graph: cg.Graph, rng: np.random.Generator) -> cg.Graph:
    """The same edges with random weights, which leave no two merges equal."""
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    pairs = [(int(u), int(v)) for u, v in zip(rows, graph.indices, strict=True) if graph.directed or u < v]
    return cg.Graph.from_edges(
        [(u, v, float(rng.uniform(0.1, 3.0))) for u, v in pairs], directed=graph.directed, nodes=range(graph.num_nodes)
    )


def joint_of(graph: cg.Graph, self_loops: bool) -> np.ndarray:
    return compute_joint_steps(build_adjacency(graph), self_loops, graph.directed)


def check_equal(found: RateDistortion, expected: reference.Curve) -> None:
    np.testing.assert_allclose(found.upper, expected.upper, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.lower, expected.lower, rtol=0, atol=1e-9)
    assert [sorted(map(sorted, c)) for c in found.clusters] == [sorted(map(sorted, c)) for c in expected.clusters]
    assert found.compressibility == pytest.approx(expected.compressibility, abs=1e-9)


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("with_weights", [True, False])
def test_equals_reference(self_loops, directed, with_weights):
    rng = np.random.default_rng(11)
    for _ in range(25):
        graph = draw_graph(rng, int(rng.integers(2, 11)), rng.uniform(0.15, 0.8), directed=directed)
        graph = weighted(graph, rng) if with_weights else graph
        expected = reference.compute_rate_distortion(joint_of(graph, self_loops))
        found = cg.rate_distortion(graph, self_loops=self_loops)
        if directed and not with_weights:  # equal merges may be told apart by the last bits of pi
            np.testing.assert_allclose(found.upper[:2], expected.upper[:2], rtol=0, atol=1e-9)
            check_consistent(found, graph, self_loops)
        else:
            check_equal(found, expected)


def check_consistent(curve: RateDistortion, graph: cg.Graph, self_loops: bool) -> None:
    """Clusterings are nested partitions, each with one cluster fewer, and both bounds are correct."""
    size = graph.num_nodes
    joint = joint_of(graph, self_loops)
    np.testing.assert_allclose(curve.scale, [1 - (size - k - 1) / size for k in range(size)])
    assert len(curve.clusters) == size
    before: set[frozenset[int]] = set()
    for k, clusters in enumerate(curve.clusters):
        assert len(clusters) == size - k
        assert sorted(v for cluster in clusters for v in cluster) == list(range(size))
        now = {frozenset(cluster) for cluster in clusters}
        assert k == 0 or (len(before - now) == 2 and len(now - before) == 1)
        assert curve.upper[k] == pytest.approx(reference.compute_upper_rate(joint, clusters), abs=1e-9)
        assert curve.lower[k] == pytest.approx(reference.compute_lower_rate(joint, clusters), abs=1e-9)
        before = now
    assert curve.upper[-1] == curve.lower[-1] == 0.0
    assert np.all(curve.upper >= curve.lower - 1e-9)


def list_largest_joint(joint: np.ndarray) -> list[tuple[int, int]]:
    """Return the 100 pairs of clusters of largest joint probability, all pairs if none are linked."""
    every = list(combinations(range(len(joint)), 2))
    linked = [pair for pair in every if joint[pair] + joint[pair[::-1]] > 0] or every
    return sorted(linked, key=lambda pair: -round(joint[pair] + joint[pair[::-1]], 12))[:100]


@pytest.mark.parametrize("directed", [True, False])
def test_larger_graphs_equal_reference(directed):
    """Slots of merged clusters are removed at three quarters; 40 nodes pass that several times."""
    rng = np.random.default_rng(4)
    for density in (0.05, 0.15, 0.4):  # the densest has more than 100 linked pairs
        graph = weighted(draw_graph(rng, 40, density, directed=directed), rng)
        joint = joint_of(graph, True)
        check_equal(cg.rate_distortion(graph), reference.compute_rate_distortion(joint))
        expected = reference.compute_rate_distortion(joint, list_largest_joint)
        np.testing.assert_allclose(compute_fast_rates(graph), expected.upper, rtol=0, atol=1e-9)


def compute_fast_rates(graph: cg.Graph) -> np.ndarray:
    """Return the rates with the pairs of largest joint probability, also for a graph of few nodes."""
    w, p = compute_joint_distribution(graph, True)
    transpose = np.ascontiguousarray(w.T) if graph.directed else None
    rates, merges = np.empty(len(p)), np.empty((len(p), 2), np.int64)
    kernels.cluster_merging.compute_curve(True, None, w.copy(), transpose, p.copy(), rates, merges)
    rates[-1] = 0.0
    return rates


@pytest.mark.parametrize("family", ["ba", "er"])
def test_curves_do_not_collapse_on_larger_graphs(family):
    """All pairs at every merge would be a poor bound beyond some hundred nodes."""
    curve = cg.rate_distortion(cg.generate(family, nodes=500, seed=0))
    assert curve.compressibility > 1.0
    assert curve.upper.max() <= curve.entropy


def test_negative_compressibility_is_reported():
    """H = 0 on a directed ring, and every clustering has a Markovian rate above it."""
    few, many = (cg.Graph.from_edges([(i, (i + 1) % size) for i in range(size)], directed=True) for size in (12, 120))
    for function in (cg.compressibility, cg.rate_distortion):
        with pytest.warns(UserWarning, match="negative compressibility of -0"):
            function(few, self_loops=False)
    curve = cg.rate_distortion(many, self_loops=False)
    assert curve.upper.max() == curve.compressibility == 0


# ---- stationary distributions ---------------------------------------------------------------------------------------


def test_stationary_distribution_equals_the_lazy_walk():
    """Strongly connected or not, with sinks, periodic, with several closed classes."""
    rng = np.random.default_rng(6)
    for _ in range(60):
        graph = draw_graph(rng, int(rng.integers(2, 12)), rng.uniform(0.05, 0.4), directed=True)
        graph = weighted(graph, rng)
        for self_loops in (True, False):
            joint, pi = compute_joint_distribution(graph, self_loops)
            np.testing.assert_allclose(
                pi, reference.compute_stationary(build_adjacency(graph), self_loops, True), atol=1e-9
            )
            np.testing.assert_allclose(joint, joint_of(graph, self_loops), atol=1e-9)
            np.testing.assert_allclose(joint.sum(axis=0), pi, atol=1e-9)  # what flows in flows out


def test_edges_in_both_directions_equal_undirected():
    rng = np.random.default_rng(9)
    graph = cg.generate("ba", nodes=12, seed=0)
    rows = np.repeat(np.arange(12), graph.degrees)
    weights = rng.uniform(0.5, 2.0, (12, 12))
    weights += weights.T
    edges = [(int(u), int(v), weights[u, v]) for u, v in zip(rows, graph.indices, strict=True)]
    both = cg.Graph.from_edges(edges, directed=True, nodes=range(12))
    once = cg.Graph.from_edges([e for e in edges if e[0] < e[1]], nodes=range(12))
    assert cg.compressibility(both) == pytest.approx(cg.compressibility(once), abs=1e-9)


# ---- the object -----------------------------------------------------------------------------------------------------


def test_one_node_and_no_edges():
    alone = cg.Graph.from_edges([], nodes=["a"])
    assert cg.compressibility(alone) == 0.0
    assert cg.rate_distortion(alone).clusters[0] == [["a"]]
    apart = cg.Graph.from_edges([], nodes=range(4))
    for self_loops in (True, False):
        curve = cg.rate_distortion(apart, self_loops=self_loops)
        assert curve.upper.tolist() == curve.lower.tolist() == [0.0] * 4


def test_bad_graphs():
    with pytest.raises(cg.GraphError, match="empty"):
        cg.compressibility(cg.Graph.from_edges([]))
    many = cg.Graph(np.zeros(20_002, np.int64), np.empty(0, np.int32))
    with pytest.raises(cg.GraphError, match=r"20001 nodes.*20000"):
        cg.rate_distortion(many)
