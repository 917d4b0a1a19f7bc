"""Rate-distortion curves: weighted, directed, and with the published pair heuristics."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import curiograph as cg
from curiograph.graph.toys import complete, library
from curiograph.rewards.rate_distortion import compute_joint_distribution
from oracles import reference
from oracles.pair_heuristics import make_heuristics
from oracles.reference import build_adjacency, compute_joint_steps, draw_graph

FIXED = ("all", "edges", "joint", "joint-self", "stationary", "single")
HEURISTICS = (*FIXED, "random", "random-edges")


def quiet_curve(graph: cg.Graph, **settings: Any) -> cg.RateDistortion:
    """Compute a curve without warnings about a poor bound."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cg.rate_distortion(graph, **settings)


def weighted(graph: cg.Graph, rng: np.random.Generator) -> cg.Graph:
    """The same edges with random weights, which leave no two merges equal."""
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    pairs = [(int(u), int(v)) for u, v in zip(rows, graph.indices, strict=True) if graph.directed or u < v]
    return cg.Graph.from_edges(
        [(u, v, float(rng.uniform(0.1, 3.0))) for u, v in pairs], directed=graph.directed, nodes=range(graph.num_nodes)
    )


def joint_of(graph: cg.Graph, self_loops: bool) -> np.ndarray:
    return compute_joint_steps(build_adjacency(graph), self_loops, graph.directed)


def check_equal(found: cg.RateDistortion, expected: reference.Curve) -> None:
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


def check_consistent(curve: cg.RateDistortion, graph: cg.Graph, self_loops: bool) -> None:
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


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("pairs", HEURISTICS)
def test_every_heuristic_gives_a_consistent_curve(pairs, directed):
    rng = np.random.default_rng(2)
    for with_weights in (True, False):
        for num_pairs in (1, 4, 1000):
            graph = draw_graph(rng, 14, 0.25, directed=directed)
            graph = weighted(graph, rng) if with_weights else graph
            curve = quiet_curve(graph, pairs=pairs, num_pairs=num_pairs)
            check_consistent(curve, graph, True)
            assert curve.upper[1] >= cg.rate_distortion(graph).upper[1] - 1e-9  # no first merge beats the best


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("with_weights", [True, False])
@pytest.mark.parametrize("pairs", FIXED)
def test_heuristics_equal_reference(pairs, with_weights, directed):
    rng = np.random.default_rng(8)
    for num_pairs in (1, 2, 5, 20):
        for density in (0.2, 0.5, 0.9):
            size = int(rng.integers(3, 12))
            graph = draw_graph(rng, size, density, directed=directed)
            graph = weighted(graph, rng) if with_weights else graph
            expected = reference.compute_rate_distortion(joint_of(graph, True), make_heuristics(size, num_pairs)[pairs])
            found = quiet_curve(graph, pairs=pairs, num_pairs=num_pairs)
            if directed and not with_weights:  # equal merges may be told apart by the last bits of pi
                check_consistent(found, graph, True)
            else:
                check_equal(found, expected)


@pytest.mark.parametrize("directed", [True, False])
def test_clusters_larger_than_the_first_compaction_equal_reference(directed):
    """Slots of merged clusters are removed at three quarters; 40 nodes pass that several times."""
    rng = np.random.default_rng(4)
    graph = weighted(draw_graph(rng, 40, 0.15, directed=directed), rng)
    for pairs, allowed in make_heuristics(40, 6).items():
        expected = reference.compute_rate_distortion(joint_of(graph, True), allowed)
        check_equal(quiet_curve(graph, pairs=pairs, num_pairs=6), expected)


def test_random_edges_merge_linked_clusters():
    graph = weighted(draw_graph(np.random.default_rng(5), 14, 0.3), np.random.default_rng(5))
    joint = joint_of(graph, True)
    edges = quiet_curve(graph, pairs="edges")
    np.testing.assert_allclose(quiet_curve(graph, pairs="random-edges", num_pairs=1000).upper, edges.upper, atol=1e-9)
    curves = [quiet_curve(graph, pairs="random-edges", num_pairs=1, seed=seed) for seed in (0, 0, 1)]
    assert np.array_equal(curves[0].upper, curves[1].upper)
    assert not np.array_equal(curves[0].upper, curves[2].upper)
    clusters = list(curves[0].clusters)
    for before, after in pairwise(clusters):
        merged = next(cluster for cluster in after if cluster not in before)
        parts = [cluster for cluster in before if cluster not in after]
        assert sorted(merged) == sorted(v for part in parts for v in part)
        assert joint[np.ix_(*parts)].sum() > 0


# ---- the default, and the best of several heuristics ----------------------------------------------------------------


def check_best(graph: cg.Graph, curve: cg.RateDistortion) -> None:
    """The curve is the lowest of those of all heuristics, none of them above H."""
    uppers = {name: np.minimum(each.upper, each.entropy) for name, each in get_curves(graph).items()}
    lowest = min(upper.mean() for upper in uppers.values())
    assert curve.upper.mean() == pytest.approx(lowest, abs=1e-12)
    np.testing.assert_allclose(curve.upper, uppers[curve.pairs], rtol=0, atol=1e-12)
    assert curve.upper.max() <= curve.entropy
    assert curve.compressibility >= 0


def get_curves(graph: cg.Graph) -> dict[str, cg.RateDistortion]:
    return {name: quiet_curve(graph, pairs=name) for name in FIXED}


def test_default_is_all_pairs_up_to_100_nodes_and_the_best_beyond():
    for nodes, name in ((99, "all"), (100, "all"), (101, "best")):
        graph = cg.generate("ba", nodes=nodes, seed=0)
        default, explicit = cg.rate_distortion(graph), cg.rate_distortion(graph, pairs=name)
        assert np.array_equal(default.upper, explicit.upper)
        assert cg.compressibility(graph) == explicit.compressibility == default.compressibility
    assert default.pairs != "all"


@pytest.mark.parametrize("family", ["rg", "ws", "ba", "er"])
@pytest.mark.parametrize("nodes", [50, 101, 250, pytest.param(2000, marks=pytest.mark.long)])
def test_best_is_the_lowest_curve(family, nodes):
    graph = cg.generate(family, nodes=nodes, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = cg.rate_distortion(graph, pairs="best")
    check_best(graph, curve)


def test_best_of_weighted_and_directed_graphs():
    rng = np.random.default_rng(3)
    for directed in (False, True):
        graph = draw_graph(rng, 130, 0.05, directed=directed)
        for each in (graph, weighted(graph, rng)):
            check_best(each, cg.rate_distortion(each))
    ring = cg.Graph.from_edges([(i, (i + 1) % 120) for i in range(120)], directed=True)
    curve = cg.rate_distortion(ring, self_loops=False)  # H = 0, and every clustering has a Markovian rate above it
    assert curve.upper.max() == 0
    assert curve.compressibility == 0


@pytest.mark.parametrize(
    ("family", "nodes", "seed", "poor", "good"),
    [
        ("ba", 500, 0, 0.40, 1.25),
        ("er", 500, 0, 0.23, 1.07),
        pytest.param("ba", 1000, 0, 0.13, 1.20, marks=pytest.mark.long),
        pytest.param("er", 2000, 0, -0.24, 0.87, marks=pytest.mark.long),
    ],
)
def test_default_does_not_collapse_on_larger_graphs(family, nodes, seed, poor, good):
    """All pairs at every merge are a poor bound beyond some hundred nodes."""
    graph = cg.generate(family, nodes=nodes, seed=seed)
    assert quiet_curve(graph, pairs="all").compressibility < poor
    assert cg.compressibility(graph) > good


def test_rates_above_the_entropy_rate_are_reported():
    graph = cg.generate("ba", nodes=300, seed=0)
    with pytest.warns(UserWarning, match=r"pairs='joint' gives rates above the entropy rate H at \d+ of 300 scales"):
        cg.rate_distortion(graph, pairs="joint")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cg.compressibility(graph, pairs="joint") > 0  # not negative, so the value can be used
        cg.rate_distortion(graph)


def test_negative_compressibility_is_reported():
    ring = cg.toys.cycle(30)
    for function in (cg.compressibility, cg.rate_distortion):
        with pytest.warns(UserWarning, match="negative compressibility of -0.231 bits.*use pairs='best'") as found:
            function(ring, pairs="random", num_pairs=1)
        assert len(found) == 1
        assert found[0].filename == __file__


# ---- random pairs ---------------------------------------------------------------------------------------------------


def test_enough_random_pairs_are_all_pairs():
    graph = weighted(draw_graph(np.random.default_rng(3), 12, 0.4), np.random.default_rng(3))
    every = cg.rate_distortion(graph)
    found = cg.rate_distortion(graph, pairs="random", num_pairs=12 * 11 // 2)
    np.testing.assert_allclose(found.upper, every.upper, atol=1e-9)


def test_random_pairs_follow_the_seed():
    graph = cg.generate("er", nodes=40, seed=0)
    curves = [quiet_curve(graph, pairs="random", num_pairs=2, seed=seed).upper for seed in (0, 0, 1)]
    assert np.array_equal(curves[0], curves[1])
    assert not np.array_equal(curves[0], curves[2])


def test_random_pairs_reach_every_pair():
    """One random pair out of the 15 of 6 nodes: over many seeds each is drawn about equally often."""
    graph = complete(6)
    drawn: dict[tuple[int, ...], int] = {}
    for seed in range(600):
        clusters = cg.rate_distortion(graph, pairs="random", num_pairs=1, seed=seed).clusters[1]
        pair = next(tuple(c) for c in clusters if len(c) == 2)
        drawn[pair] = drawn.get(pair, 0) + 1
    assert len(drawn) == 15
    chi_square = sum((n - 40) ** 2 / 40 for n in drawn.values())
    assert chi_square < 36.1  # 14 degrees of freedom, 0.1 %


def test_few_pairs_on_a_larger_graph_come_close_to_all():
    """The heuristics find most of the area above the curve at a fraction of the cost."""
    graph = cg.generate("ws", nodes=80, seed=1)
    best = cg.compressibility(graph)
    assert cg.compressibility(graph, pairs="joint", num_pairs=50) > 0.6 * best
    assert cg.compressibility(graph, pairs="edges") > 0.9 * best


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


def test_directed_cycle_has_zero_rate():
    ring = cg.Graph.from_edges([(i, (i + 1) % 5) for i in range(5)], directed=True)
    assert cg.rate_distortion(ring, self_loops=False).entropy == pytest.approx(0.0, abs=1e-12)
    assert cg.rate_distortion(ring).entropy == pytest.approx(1.0)


def test_sink_absorbs_the_walk():
    """a -> b -> c, where c is a sink: the stationary walk stays at c, so there is nothing to compress."""
    line = cg.Graph.from_edges([("a", "b"), ("b", "c")], directed=True)
    for self_loops in (True, False):
        joint, pi = compute_joint_distribution(line, self_loops)
        np.testing.assert_allclose(pi, [0, 0, 1], atol=1e-12)
        np.testing.assert_allclose(joint[2], [0, 0, 1], atol=1e-12)
        assert cg.compressibility(line, self_loops=self_loops) == pytest.approx(0.0, abs=1e-12)


def test_two_sinks_are_weighted_by_absorption():
    """From b the walk moves to either sink; a third of the walks start at each node."""
    fork = cg.Graph.from_edges([("b", "left"), ("b", "right")], directed=True)
    np.testing.assert_allclose(compute_joint_distribution(fork, False)[1], [0, 0.5, 0.5])


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


@pytest.mark.parametrize("pairs", HEURISTICS)
def test_unit_weights_equal_unweighted(pairs):
    graph = library()
    rows = np.repeat(np.arange(12), graph.degrees)
    ones = cg.Graph.from_edges(
        [(graph.label(u), graph.label(v), 1.0) for u, v in zip(rows, graph.indices, strict=True) if u < v],
        nodes=graph.labels,
    )
    plain, given = (cg.rate_distortion(g, pairs=pairs, num_pairs=5) for g in (graph, ones))
    np.testing.assert_allclose(plain.upper, given.upper, atol=1e-9)
    assert list(plain.clusters) == list(given.clusters)


def test_scale_of_weights_does_not_matter():
    graph = weighted(cg.generate("er", nodes=12, seed=0), np.random.default_rng(0))
    scaled = cg.Graph(graph.indptr, graph.indices, graph.weights * 7.0)
    one, other = (cg.compressibility(g, self_loops=False) for g in (graph, scaled))
    assert one == pytest.approx(other, abs=1e-9)


# ---- the object -----------------------------------------------------------------------------------------------------


def test_clusters_have_labels_and_slices():
    clusters = cg.rate_distortion(library()).clusters
    assert len(clusters) == 12
    assert clusters[0] == [[label] for label in library().labels]
    assert sorted(clusters[-1][0]) == sorted(library().labels)
    assert clusters[9:] == [clusters[9], clusters[10], clusters[11]]
    with pytest.raises(IndexError):
        clusters[12]


def test_one_node_and_no_edges():
    alone = cg.Graph.from_edges([], nodes=["a"])
    assert cg.compressibility(alone) == 0.0
    assert cg.rate_distortion(alone).clusters[0] == [["a"]]
    apart = cg.Graph.from_edges([], nodes=range(4))
    for self_loops in (True, False):
        curve = cg.rate_distortion(apart, self_loops=self_loops)
        assert curve.upper.tolist() == curve.lower.tolist() == [0.0] * 4


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"pairs": "some"}, cg.UnknownNameError, "'some'.*auto, best, all, edges, joint, joint-self, stationary"),
        ({"num_pairs": 0}, cg.SettingError, "num_pairs is 0"),
        ({"pairs": "joint", "num_pairs": 2.5}, cg.SettingError, "2.5"),
        ({"pairs": "random", "seed": -1}, cg.SettingError, "-1"),
    ],
)
def test_bad_settings(settings, error, words):
    with pytest.raises(error, match=words):
        cg.rate_distortion(library(), **settings)
    with pytest.raises(error, match=words):
        cg.compressibility(library(), **settings)


def test_num_pairs_above_the_number_of_pairs():
    expected = cg.rate_distortion(complete(5)).upper
    for pairs in set(HEURISTICS) - {"single"}:
        found = cg.rate_distortion(complete(5), pairs=pairs, num_pairs=10**12)
        np.testing.assert_allclose(found.upper, expected, atol=1e-12)


def test_bad_graphs():
    with pytest.raises(cg.GraphError, match="empty"):
        cg.compressibility(cg.Graph.from_edges([]))
    many = cg.Graph(np.zeros(20_002, np.int64), np.empty(0, np.int32))
    with pytest.raises(cg.GraphError, match=r"20001 nodes.*20000"):
        cg.rate_distortion(many)
