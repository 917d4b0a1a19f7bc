"""Generators: pinned parameters of the families, degrees and memory of large graphs, seeds."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import curiograph as cg
from benchmarks import large
from curiograph.graph.batch import GraphBatch
from curiograph.graph.generators import FAMILIES, LARGE_KINDS, estimate_large_bytes


def mean_degree(graph: cg.Graph) -> float:
    return 2 * graph.num_edges / graph.num_nodes


def is_connected(graph: cg.Graph) -> bool:
    return cg.betti(graph, dim=0) == 1


def test_families():
    assert list(FAMILIES) == ["rg", "ws", "ba", "er"]


@pytest.mark.parametrize("seed", range(5))
def test_number_of_edges_is_fixed_by_the_parameters(seed):
    """WS with k = 4 rewires its 2 n edges; BA starts from 4 nodes, and each of the others adds 4 edges."""
    assert cg.generate("ws", nodes=50, seed=seed).num_edges == 100
    assert cg.generate("ba", nodes=50, seed=seed).num_edges == 184
    assert cg.generate("ws", nodes=33, seed=seed).num_edges == 66
    assert cg.generate("ba", nodes=33, seed=seed).num_edges == 116


def test_mean_degrees_at_50_nodes():
    """ER p = 0.2: 9.8. RG radius 0.25: two points of the unit square are within it with probability 0.1566."""
    er = np.mean([mean_degree(cg.generate("er", seed=seed)) for seed in range(200)])
    assert er == pytest.approx(0.2 * 49, abs=0.1)
    rg = np.mean([mean_degree(cg.generate("rg", seed=seed)) for seed in range(400)])
    assert rg == pytest.approx(0.1566 * 49, abs=0.2)


def test_watts_strogatz_rewires_a_tenth_of_a_ring():
    """Of the edges to the next two nodes, about p = 0.1 are rewired."""
    ring = {tuple(sorted((u, (u + d) % 50))) for u in range(50) for d in (1, 2)}
    kept = [len(ring & set(edges_of(cg.generate("ws", seed=seed)))) / 100 for seed in range(50)]
    assert np.mean(kept) == pytest.approx(0.9, abs=0.03)


def test_random_geometric_graphs_are_geometric():
    """Neighbors of a node tend to be neighbors of each other, far more than in a random graph."""
    clustering = {f: nx.transitivity(nx.Graph(edges_of(cg.generate(f, seed=0)))) for f in ("rg", "er")}
    assert clustering["rg"] > 0.45
    assert clustering["er"] < 0.35


def edges_of(graph: cg.Graph) -> list[tuple[int, int]]:
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    return [(int(u), int(v)) for u, v in zip(rows, graph.indices, strict=True) if u < v]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("nodes", [5, 6, 10, 37, 50, 101, 300])
def test_graphs_are_connected_undirected_and_unweighted(family, nodes):
    for seed in range(3):
        graph = cg.generate(family, nodes=nodes, seed=seed)
        assert graph.num_nodes == nodes
        assert graph.labels == list(range(nodes))
        assert not graph.directed
        assert graph.weights is None
        assert graph.cleaning.self_loops == graph.cleaning.parallel_edges == 0
        assert is_connected(graph)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("nodes", "seeds"), [(100, 8), (1000, 2), (5000, 1)])
def test_mean_degree_does_not_depend_on_the_size(family, nodes, seeds):
    """It is that of the 50-node family; for BA it tends to 2 m, because the initial nodes have less influence."""
    expected = {"rg": 7.68, "ws": 4.0, "ba": 8.0 * (nodes - 4) / nodes, "er": 9.8}[family]
    graphs = [cg.generate(family, nodes=nodes, seed=seed) for seed in range(seeds)]
    assert all(is_connected(graph) for graph in graphs[:1])
    assert np.mean([mean_degree(graph) for graph in graphs]) == pytest.approx(expected, rel=0.08)


@pytest.mark.parametrize("family", FAMILIES)
def test_same_seed_same_graph(family):
    one, again, other = (cg.generate(family, nodes=40, seed=seed) for seed in (7, 7, 8))
    assert one == again
    assert one.indices.tobytes() == again.indices.tobytes()
    assert one != other


def test_global_random_state_is_not_used():
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    for family in FAMILIES:
        cg.generate(family, nodes=20, seed=0)
    assert np.random.random() == expected  # noqa: NPY002


@pytest.mark.parametrize("family", FAMILIES)
def test_split(family):
    sets = cg.generate_split(family, nodes=15, train=6, val=3, test=4, seed=2)
    assert [len(part) for part in (sets.train, sets.val, sets.test)] == [6, 3, 4]
    every = [*sets.train, *sets.val, *sets.test]
    assert all(one != other for i, one in enumerate(every) for other in every[:i])
    assert all(is_connected(graph) for graph in every)


def test_graphs_of_a_split_do_not_depend_on_the_number_of_graphs():
    few = cg.generate_split("rg", nodes=15, train=2, val=1, test=2, seed=5)
    many = cg.generate_split("rg", nodes=15, train=9, val=4, test=3, seed=5)
    assert few.train == many.train[:2]
    assert few.val == many.val[:1]
    assert few.test == many.test[:2]
    assert cg.generate_split("rg", nodes=15, train=2, val=0, test=0, seed=6).train != few.train


def test_default_split():
    sets = cg.generate_split("ws", seed=0)
    assert [len(part) for part in (sets.train, sets.val, sets.test)] == [100, 10, 10]
    assert all(graph.num_edges == 100 for graph in sets.train)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"family": "sbm"}, cg.UnknownNameError, "no family 'sbm'; the families are rg, ws, ba, er"),
        ({"family": None}, cg.UnknownNameError, "None"),
        ({"nodes": 4}, cg.SettingError, "nodes is 4"),
        ({"nodes": 0}, cg.SettingError, "nodes is 0"),
        ({"nodes": 5001}, cg.SettingError, "nodes is 5001.*5 to 5000"),
        ({"nodes": 20.0}, cg.SettingError, "nodes is 20.0"),
        ({"nodes": "50"}, cg.SettingError, "nodes is '50'"),
        ({"seed": -1}, cg.SettingError, "seed is -1"),
        ({"seed": None}, cg.SettingError, "seed is None"),
    ],
)
def test_bad_settings(settings, error, words):
    with pytest.raises(error, match=words):
        cg.generate(**({"family": "er", "nodes": 20} | settings))
    with pytest.raises(error, match=words):
        cg.generate_split(**({"family": "er", "nodes": 20, "train": 1} | settings))


@pytest.mark.parametrize("count", [-1, 1.5, "3"])
def test_bad_split_counts(count):
    for part in ("train", "val", "test"):
        with pytest.raises(cg.SettingError, match="give a whole number of graphs"):
            cg.generate_split("er", nodes=10, **{part: count})


# ---- large graphs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LARGE_KINDS)
def test_large_degrees_do_not_depend_on_the_size(kind):
    small, big = (cg.generate_large(kind, n, mean_degree=8, max_degree=80, seed=3) for n in (2_000, 20_000))
    for graph in (small, big):
        assert graph.degrees.mean() == pytest.approx(8, rel=0.06)
        assert graph.degrees.max() <= 80
        rows = np.repeat(np.arange(len(graph)), graph.degrees)
        assert not np.any(rows == graph.indices)
        assert (graph.to_scipy() - graph.to_scipy().T).nnz == 0
    quantiles = [np.quantile(graph.degrees, [0.1, 0.5, 0.9, 0.99]) for graph in (small, big)]
    assert quantiles[0] == pytest.approx(quantiles[1], rel=0.15, abs=1)
    assert nx.average_clustering(small.to_networkx()) > 0.02  # by chance alone it would be 0.004


@pytest.mark.parametrize("kind", LARGE_KINDS)
def test_same_seed_same_large_graph(kind):
    one, two, other = (cg.generate_large(kind, 1_000, mean_degree=6, seed=seed) for seed in (1, 1, 2))
    assert one == two
    assert one != other


def test_torus_links_exactly_the_pairs_within_the_radius():
    """Distances are measured across the borders of the square too."""
    graph = cg.generate_large("rg", 300, mean_degree=10, seed=5)
    places = np.random.default_rng(np.random.SeedSequence(5)).random((300, 2))
    side = int(np.sqrt(np.pi * 300 / 10))
    places = places[np.argsort((places * side).astype(int) @ [side, 1], kind="stable")]
    apart = np.abs(places[:, None] - places)
    near = (np.minimum(apart, 1 - apart) ** 2).sum(axis=2) < 10 / (np.pi * 300)
    np.fill_diagonal(near, False)
    assert np.array_equal(graph.to_scipy().toarray() > 0, near)


def test_power_law_has_a_tail_up_to_the_maximum_degree():
    degrees = cg.generate_large("pl", 50_000, mean_degree=10, max_degree=300, seed=0).degrees
    assert 200 < degrees.max() <= 300
    shares = [np.mean(degrees >= k) for k in (20, 40, 80)]
    assert [a / b for a, b in pairwise(shares)] == pytest.approx([2**1.5] * 2, rel=0.3)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"kind": "tree"}, cg.UnknownNameError, "no large graph 'tree'; the kinds are ws, rg, pl"),
        ({"nodes": 100}, cg.SettingError, "nodes is 100; give a whole number, ten times"),
        ({"nodes": 1000.0}, cg.SettingError, r"nodes is 1000\.0; give a whole number, ten times"),
        ({"mean_degree": 7}, cg.SettingError, "mean_degree is 7; give an even number"),
        ({"kind": "pl", "max_degree": 21}, cg.SettingError, "max_degree is 21"),
        ({"nodes": 2**30}, cg.SettingError, "too many edges"),
        ({"seed": -1}, cg.SettingError, "seed is -1"),
    ],
)
def test_bad_settings_of_large_graphs(settings, error, words):
    with pytest.raises(error, match=words):
        cg.generate_large(**({"kind": "ws", "nodes": 1_000} | settings))


def test_graph_that_does_not_fit_into_memory(run, tmp_path, monkeypatch):
    def raise_memory_error(*args):
        raise MemoryError

    monkeypatch.setitem(LARGE_KINDS, "ws", raise_memory_error)
    with pytest.raises(
        cg.GraphError, match=r"1,000 nodes of mean degree 20 need about .*; draw fewer nodes, or a lower"
    ):
        cg.generate_large("ws", 1_000)
    monkeypatch.setattr("curiograph.parallel.memory.get_available_memory", lambda: 2**30)
    refused = run("generate", "pl", "--nodes", "10000000", "--out", tmp_path / "large.npz")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "curiograph: this needs about 4.4 GiB of memory, and 1.0 GiB is available; draw fewer --nodes, or a lower "
        "--mean-degree.\n"
    )


def test_profiles_of_some_nodes_equal_those_of_the_table(monkeypatch):
    stack = GraphBatch.of([cg.generate_large("pl", 3_000, mean_degree=10, seed=0)])
    some = np.array([7, 2_999, 7, 0], np.int32)
    table = stack.get_profiles(some)
    monkeypatch.setattr("curiograph.graph.batch._MAX_TABLE_NODES", 0)
    assert table.tolist() == stack.get_profiles(some).tolist()


@pytest.mark.long
def test_cost_benchmarks_return_plain_values(tmp_path):
    graph = cg.generate_large("ws", 500, mean_degree=6, seed=0)
    graph.save(str(tmp_path / "g.npz"))
    costs = [
        large.measure_opening(tmp_path / "g.npz"),
        large.measure_decisions(graph, repeats=2),
        large.measure_recommendations(graph, repeats=2),
        large.measure_growth(graph, 3, 5),
    ]
    json.dumps(costs)
    assert (costs[0]["nodes"], costs[0]["edges"]) == (500, graph.num_edges)
    assert all(value > 0 for value in [*costs[1].values(), *costs[2].values(), costs[3]["milliseconds"]])


MILLION = """
import json, sys, tracemalloc
import curiograph as cg
from benchmarks import large
path = sys.argv[1]
cg.generate_large("ws", 1_000, seed=0)  # imports
tracemalloc.start()
if sys.argv[2] == "generate":
    graph = cg.generate_large("ws", 1_000_000, seed=0)
    costs = {}
else:
    graph = cg.read_graph(path)
    costs = {"opened": large.measure_opening(path), "measured": large.measure_growth(graph, 500, 50)}
costs["peak"] = tracemalloc.get_traced_memory()[1]
if sys.argv[2] == "generate":
    graph.save(path)
print(json.dumps(costs | {"edges": graph.num_edges}))
"""


@pytest.mark.long
def test_a_million_nodes_need_bounded_memory_and_cost_no_more_than_ten_thousand(tmp_path):
    """The peak is that of allocated memory: resident memory would include pages of the mapped file."""
    path = str(tmp_path / "million.npz")

    def run_script(action: str) -> dict:
        command = [sys.executable, "-c", MILLION, path, action]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    generated = run_script("generate")
    assert generated["peak"] < 2**30
    assert generated["peak"] == pytest.approx(estimate_large_bytes("ws", 1_000_000, 20), rel=0.2)
    used = run_script("use")
    assert used["peak"] < 32 * used["edges"]
    assert used["opened"]["seconds"] < 5
    assert used["measured"]["milliseconds"] < 20  # 100,000 such walks in 20 minutes on two cores
    graph, small = cg.read_graph(path), cg.generate_large("ws", 10_000, seed=0)
    for cost in (large.measure_decisions, large.measure_recommendations):
        here, there = cost(graph), cost(small)
        assert {what: here[what] / there[what] < 2.5 for what in here} == dict.fromkeys(here, True)
