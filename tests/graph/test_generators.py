"""Generators: pinned parameters of the families, seeds, splits; and the curriculum."""

from __future__ import annotations

import hashlib

import networkx
import numpy as np
import pytest
from scipy.spatial import cKDTree

import curiograph as cg
from curiograph.graph.generators import FAMILIES, find_radius
from scripts.curriculum import generate_curriculum


def mean_degree(graph: cg.Graph) -> float:
    return 2 * graph.num_edges / graph.num_nodes


def is_connected(graph: cg.Graph) -> bool:
    return cg.betti(graph, dim=0) == 1


def test_mean_degrees_at_50_nodes():
    """ER p = 0.2: 9.8. RG radius 0.25: two points of the unit square are within it with probability 0.1566."""
    er = np.mean([mean_degree(cg.generate("er", seed=seed)) for seed in range(200)])
    assert er == pytest.approx(0.2 * 49, abs=0.1)
    rg = np.mean([mean_degree(cg.generate("rg", seed=seed)) for seed in range(400)])
    assert rg == pytest.approx(0.1566 * 49, abs=0.2)


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


@pytest.mark.parametrize("nodes", [5, 6, 17, 50, 130])
def test_graphs_are_those_of_networkx(nodes):
    """The draws of networkx 3.6 and, for rg, of a search for pairs in scipy."""
    models = {
        "ws": lambda rng: networkx.watts_strogatz_graph(nodes, 4, 0.1, seed=rng),
        "ba": lambda rng: networkx.barabasi_albert_graph(nodes, 4, seed=rng),
        "er": lambda rng: networkx.fast_gnp_random_graph(nodes, min(1.0, 9.8 / (nodes - 1)), seed=rng),
        "rg": lambda rng: join_near_points(rng.random((nodes, 2)), find_radius(nodes)),
    }
    if not networkx.__version__.startswith("3.6"):
        del models["ws"], models["ba"], models["er"]
    if nodes > 100:  # not all points are redrawn
        del models["rg"]
    for family, draw in models.items():
        for seed in range(20):
            rng = np.random.default_rng(seed)
            while not networkx.is_connected(expected := draw(rng)):
                pass
            edges = {(min(edge), max(edge)) for edge in expected.edges}
            assert set(edges_of(cg.generate(family, nodes, seed=seed))) == edges, (family, seed)


def join_near_points(points, radius):
    graph = networkx.empty_graph(len(points))
    graph.add_edges_from(cKDTree(points).query_pairs(radius))
    return graph


def test_graphs_of_a_seed_never_change():
    digest = hashlib.sha256()
    for family in FAMILIES:
        for nodes in (50, 500):
            digest.update(repr(edges_of(cg.generate(family, nodes, seed=1))).encode())
    assert digest.hexdigest()[:16] == "6a9ef87ea57cf8bb"


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


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"family": "sbm"}, cg.errors.UnknownNameError, "no family 'sbm'; the families are rg, ws, ba, er"),
        ({"nodes": 4}, cg.SettingError, "nodes is 4"),
        ({"nodes": 5001}, cg.SettingError, "nodes is 5001.*5 to 5000"),
        ({"nodes": 20.0}, cg.SettingError, "nodes is 20.0"),
        ({"seed": -1}, cg.SettingError, "seed is -1"),
    ],
)
def test_bad_settings(settings, error, words):
    with pytest.raises(error, match=words):
        cg.generate(**({"family": "er", "nodes": 20} | settings))
    with pytest.raises(error, match=words):
        cg.generate_split(**({"family": "er", "nodes": 20, "train": 1} | settings))


def test_curriculum_graphs_are_reproducible_and_of_the_wanted_sizes():
    sets = generate_curriculum(train=40, val=4, max_nodes=120, seed=1)
    again = generate_curriculum(train=10, val=2, max_nodes=120, seed=1)
    for one, other in zip([*sets.train[:10], *sets.val[:2]], [*again.train, *again.val], strict=True):
        assert np.array_equal(one.indices, other.indices)
        assert one.directed == other.directed
    sizes = [graph.num_nodes for graph in sets.train]
    assert (len(sets.train), len(sets.val), len(sets.test)) == (40, 4, 0)
    assert min(sizes) >= 12
    assert max(sizes) <= 140  # blocks and grids may round up
    assert 2 <= sum(graph.directed for graph in sets.train) <= 20
    degrees = [2 * graph.num_edges / graph.num_nodes for graph in sets.train]
    assert min(degrees) < 6
    assert max(degrees) > 12
