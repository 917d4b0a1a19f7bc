"""Information gaps: comparison with gudhi, ripser and boundary ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import curiograph as cg
from curiograph.graph.batch import GraphBatch
from curiograph.graph.generators import FAMILIES
from curiograph.growth.records import Growth
from curiograph.rewards.igt import GapTracker
from oracles.reference import build_skeleton, compute_betti, compute_gudhi_betti, compute_gudhi_pairs, draw_graph
from support.small_graphs import graphs_and_orders

SIZES = (12, 25, 50, 100, 220)


def tracker_of(graph: cg.Graph, walks: list[list[int]], room: int = 0) -> GapTracker:
    """A tracker that holds these walks (positions)."""
    lengths = np.array([len(walk) for walk in walks])
    nodes = np.full((len(walks), int(lengths.max()) + room), -1, np.int32)
    for i, walk in enumerate(walks):
        nodes[i, : len(walk)] = walk
    return GapTracker(GraphBatch.of([graph]), nodes, lengths)


def connected_walk(graph: cg.Graph, rng: np.random.Generator, length: int) -> list[int]:
    """A walk along edges; at a dead end it continues from any visited node."""
    walk = [int(rng.integers(graph.num_nodes))]
    while len(walk) < length:
        fresh = set(_row(graph, walk[-1])) - set(walk)
        fresh = fresh or {v for u in walk for v in _row(graph, u)} - set(walk)
        if not fresh:
            break
        walk.append(int(rng.choice(sorted(fresh))))
    return walk


def scattered_walk(graph: cg.Graph, rng: np.random.Generator, length: int) -> list[int]:
    return rng.permutation(graph.num_nodes)[:length].tolist()


def _row(graph: cg.Graph, u: int) -> list[int]:
    return graph.indices[graph.indptr[u] : graph.indptr[u + 1]].tolist()


def check_every_step(graph: cg.Graph, walks: list[list[int]]) -> tuple[int, int]:
    """Compare Betti numbers after every step and persistence pairs with gudhi; return the states and the most gaps."""
    states = most = 0
    for walk, growth in zip(walks, cg.measure(graph, walks, compressibility=False), strict=True):
        expected = compute_gudhi_pairs(graph, walk)
        assert growth.beta0.tolist() == expected.curve(0).tolist()
        assert growth.beta1.tolist() == expected.curve(1).tolist()
        assert pairs_of(growth) == expected.sorted(1)
        states += len(walk)
        most = max(most, int(growth.beta1.max()))
    return states, most


def check_candidates(graph: cg.Graph, walks: list[list[int]], rng: np.random.Generator, count: int) -> int:
    """Compare beta_1 of S + v, for some unvisited v of every walk, with gudhi; return the number of values."""
    chosen = [rng.permutation(np.setdiff1d(np.arange(graph.num_nodes), walk))[:count] for walk in walks]
    offsets = np.concatenate([[0], np.cumsum([len(c) for c in chosen])])
    values = tracker_of(graph, walks).candidate_values(offsets, np.concatenate(chosen).astype(np.int32))
    expected = [compute_gudhi_betti(graph, [*walk, v]) for walk, some in zip(walks, chosen, strict=True) for v in some]
    assert values.tolist() == expected
    return len(expected)


def pairs_of(growth: Growth) -> list[tuple[float, float]]:
    """(step opened, step closed) counted from 0, as in gudhi."""
    return sorted((g.opened_at - 1, np.inf if g.closed_at is None else g.closed_at - 1) for g in growth.gaps)


def check_family(family: str, sizes: tuple[int, ...], rounds: int) -> tuple[int, int]:
    states = most = 0
    for size in sizes:
        for seed in range(rounds):
            rng = np.random.default_rng([size, seed])
            graph = cg.generate(family, nodes=size, seed=seed)
            lengths = rng.integers(2, size + 1, 4)
            walks = [connected_walk(graph, rng, int(n)) for n in lengths[:2]]
            walks += [scattered_walk(graph, rng, int(n)) for n in lengths[2:]]
            walks.append(scattered_walk(graph, rng, size))  # the whole graph
            seen, gaps = check_every_step(graph, walks)
            states += seen + check_candidates(graph, walks, rng, 6)
            most = max(most, gaps)
    return states, most


@pytest.mark.parametrize("family", FAMILIES)
def test_equals_gudhi_on_thousands_of_states(family):
    states, most = check_family(family, SIZES, rounds=16)
    assert states > 15_000
    assert most > {"rg": 20, "ws": 64, "ba": 128, "er": 256}[family]  # more gaps than the bits of one word


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_equals_gudhi_on_large_graphs(family):
    states, _ = check_family(family, (400, 800), rounds=20)
    assert states > 40_000


def test_a_walk_of_2000_nodes():
    graph = cg.generate("er", nodes=2500, seed=0)
    walk = scattered_walk(graph, np.random.default_rng(0), 2000)
    states, most = check_every_step(graph, [walk])
    assert states == 2000
    assert most > 4000


def bipartite(left: int, right: int, apexes: int) -> cg.Graph:
    """Complete bipartite with (left - 1)(right - 1) gaps, and nodes joined to all of it, each of which closes them."""
    sides = [(u, left + v) for u in range(left) for v in range(right)]
    cones = [(u, left + right + k) for u in range(left + right) for k in range(apexes)]
    return cg.Graph.from_edges(sides + cones)


@pytest.mark.parametrize(("left", "right"), [(3, 3), (6, 7), (9, 9), (10, 16), (14, 14)])
def test_one_node_may_close_more_gaps_than_the_walk_has_nodes(left, right):
    graph = bipartite(left, right, apexes=2)
    gaps = (left - 1) * (right - 1)
    walk = list(range(left + right))
    assert tracker_of(graph, [walk]).values() == [gaps]
    assert tracker_of(graph, [walk], 1).candidate_values(np.array([0, 1]), np.array([left + right], np.int32)) == [0]
    check_every_step(graph, [[*walk, left + right, left + right + 1]])
    # two apexes that are not joined: their suspension has one gap of dimension 2, none of dimension 1
    rng = np.random.default_rng(left)
    check_every_step(graph, [scattered_walk(graph, rng, graph.num_nodes) for _ in range(5)])


@pytest.mark.parametrize("chance", [0.3, 0.5, 0.7, 0.9])
def test_dense_graphs(chance):
    rng = np.random.default_rng(int(10 * chance))
    for size in (8, 20, 40):
        graph = draw_graph(rng, size, chance)
        walks = [scattered_walk(graph, rng, size - 1) for _ in range(4)]
        check_every_step(graph, walks)
        check_candidates(graph, walks, rng, 1)


def test_gudhi_agrees_with_boundary_ranks():
    rng = np.random.default_rng(3)
    for _ in range(40):
        graph = draw_graph(rng, int(rng.integers(2, 14)), rng.uniform(0.1, 0.8))
        betti = compute_betti(build_skeleton(graph))
        order = rng.permutation(graph.num_nodes)
        assert betti == (compute_gudhi_betti(graph, order, 0), compute_gudhi_betti(graph, order, 1))
        assert betti == (cg.betti(graph, 0), cg.betti(graph, 1))


@given(graphs_and_orders())
def test_value_does_not_depend_on_the_order_of_visit(case):
    graph, one, other = case
    expected = compute_betti(build_skeleton(graph)[np.ix_(one, one)])
    assert tracker_of(graph, [one, list(other)]).values().tolist() == [expected[1], expected[1]]
    for growth in cg.measure(graph, [one, list(other)], compressibility=False):
        assert (growth.beta0[-1], growth.beta1[-1]) == expected


def test_branches_of_a_walk_are_independent():
    """`advance` with parents copies the state: children of one walk are independent and equal new walks."""
    graph = cg.generate("ba", nodes=80, seed=4)
    rng = np.random.default_rng(4)
    walks = [scattered_walk(graph, rng, 30), scattered_walk(graph, rng, 20)]
    tracker = tracker_of(graph, walks, room=40)
    for _ in range(30):
        parents = rng.integers(len(walks), size=6)
        new = [int(rng.choice(np.setdiff1d(np.arange(80), walks[p]))) for p in parents]
        walks = [[*walks[p], v] for p, v in zip(parents, new, strict=True)]
        tracker.advance(np.array(new, np.int32), parents)
        assert tracker.values().tolist() == [compute_gudhi_betti(graph, walk) for walk in walks]


def test_walk_that_does_not_advance_keeps_its_value():
    graph = cg.generate("er", nodes=30, seed=0)
    tracker = tracker_of(graph, [list(range(20)), list(range(10))], room=1)
    before = tracker.values()
    tracker.advance(np.array([-1, 25], np.int32))
    assert tracker.values()[0] == before[0]
    assert tracker.lengths.tolist() == [20, 11]
    assert tracker.values()[1] == compute_gudhi_betti(graph, [*range(10), 25])
