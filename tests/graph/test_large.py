"""Large graphs: drawn the same every time, with degrees that do not depend on their size, and used within bounds."""

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
from curiograph.graph.large_generators import LARGE_KINDS, estimate_large_bytes


@pytest.mark.parametrize("kind", LARGE_KINDS)
def test_degrees_are_those_asked_for_whatever_the_size(kind):
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
def test_same_seed_same_graph(kind):
    one, two, other = (cg.generate_large(kind, 1_000, mean_degree=6, seed=seed) for seed in (1, 1, 2))
    assert one == two
    assert one != other


def test_the_torus_links_exactly_what_is_near():
    """Every pair within the radius, around the edges too, and no other."""
    graph = cg.generate_large("rg", 300, mean_degree=10, seed=5)
    places = np.random.default_rng(np.random.SeedSequence(5)).random((300, 2))
    side = int(np.sqrt(np.pi * 300 / 10))
    places = places[np.argsort((places * side).astype(int) @ [side, 1], kind="stable")]
    apart = np.abs(places[:, None] - places)
    near = (np.minimum(apart, 1 - apart) ** 2).sum(axis=2) < 10 / (np.pi * 300)
    np.fill_diagonal(near, False)
    assert np.array_equal(graph.to_scipy().toarray() > 0, near)


def test_the_power_law_has_a_tail_up_to_the_highest_degree():
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
        ({"max_degree": 21}, cg.SettingError, "max_degree is 21"),
        ({"nodes": 2**30}, cg.SettingError, "too many edges"),
        ({"seed": -1}, cg.SettingError, "seed is -1"),
    ],
)
def test_bad_settings(settings, error, words):
    with pytest.raises(error, match=words):
        cg.generate_large(**({"kind": "ws", "nodes": 1_000} | settings))


def test_what_does_not_fit_into_memory_is_told(run, tmp_path, monkeypatch):
    def full(*given):
        raise MemoryError

    monkeypatch.setitem(LARGE_KINDS, "ws", full)
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


def test_features_around_some_nodes_equal_those_of_the_table(monkeypatch):
    stack = GraphBatch.of([cg.generate_large("pl", 3_000, mean_degree=10, seed=0)])
    some = np.array([7, 2_999, 7, 0], np.int32)
    tables = stack.get_profiles(some), stack.get_log_profiles(some)
    monkeypatch.setattr("curiograph.graph.batch._TABLED", 0)
    for table, around in zip(tables, (stack.get_profiles(some), stack.get_log_profiles(some)), strict=True):
        assert table.tolist() == around.tolist()


@pytest.mark.long
def test_what_large_graphs_cost_is_told_in_plain_values(tmp_path):
    graph = cg.generate_large("ws", 500, mean_degree=6, seed=0)
    graph.save(str(tmp_path / "g.npz"))
    told = [
        large.measure_opening(tmp_path / "g.npz"),
        large.measure_decisions(graph, repeats=2),
        large.measure_recommendations(graph, repeats=2),
        large.measure_growth(graph, 3, 5),
    ]
    json.dumps(told)
    assert (told[0]["nodes"], told[0]["edges"]) == (500, graph.num_edges)
    assert all(value > 0 for value in [*told[1].values(), *told[2].values(), told[3]["milliseconds"]])


MILLION = """
import json, resource, sys
import curiograph as cg
from benchmarks import large
path = sys.argv[1]
if sys.argv[2] == "generate":
    cg.generate_large("ws", 1_000_000, seed=0).save(path)
    told = {}
else:
    told = {"opened": large.measure_opening(path), "measured": large.measure_growth(cg.read_graph(path), 500, 50)}
told["peak"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps(told))
"""


@pytest.mark.long
def test_a_million_nodes_fit_and_cost_no_more_than_ten_thousand(tmp_path):
    path = str(tmp_path / "million.npz")

    def told(what: str) -> dict:
        done = subprocess.run([sys.executable, "-c", MILLION, path, what], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    peak = told("generate")["peak"]
    assert peak < 2**30
    assert peak == pytest.approx(estimate_large_bytes("ws", 1_000_000, 20), rel=0.2)
    used = told("use")
    assert used["peak"] < 2**30
    assert used["opened"]["seconds"] < 5
    assert used["measured"]["milliseconds"] < 20  # 100,000 such walks in 20 minutes on two cores, with room to spare
    graph, small = cg.read_graph(path), cg.generate_large("ws", 10_000, seed=0)
    for cost in (large.measure_decisions, large.measure_recommendations):
        here, there = cost(graph), cost(small)
        assert {what: here[what] / there[what] < 2.5 for what in here} == dict.fromkeys(here, True)
