"""Compressibility: comparison with the reference, tables, closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

import curiograph as cg
from curiograph.graph.batch import GraphBatch
from curiograph.graph.generators import FAMILIES
from curiograph.graph.toys import complete
from curiograph.rewards.cpt import CompressibilityTracker, build_entropy_table
from oracles.reference import compute_cpt, draw_graph
from support.small_graphs import graphs_and_orders


def tracker_of(graph: cg.Graph, walks: list[list[int]]) -> CompressibilityTracker:
    lengths = np.array([len(walk) for walk in walks])
    nodes = np.full((len(walks), int(lengths.max()) + 1), -1, np.int32)
    for i, walk in enumerate(walks):
        nodes[i, : len(walk)] = walk
    return CompressibilityTracker(GraphBatch.of([graph]), nodes, lengths)


def random_walks(graph: cg.Graph, rng: np.random.Generator, count: int, low: int, high: int) -> list[list[int]]:
    """Random sets of nodes in random order."""
    return [rng.permutation(graph.num_nodes)[: rng.integers(low, high)].tolist() for _ in range(count)]


def connected_walks(graph: cg.Graph, rng: np.random.Generator, count: int, steps: int) -> list[list[int]]:
    """Walks of the random agent, cut at random."""
    starts = rng.integers(graph.num_nodes, size=count)
    walks = [cg.explore(graph, "random", "igt", int(s), steps, seed=i).nodes for i, s in enumerate(starts)]
    return [walk[: rng.integers(2, steps + 1)] for walk in walks]


def check_values(graph: cg.Graph, walks: list[list[int]]) -> int:
    expected = [compute_cpt(graph, walk) for walk in walks]
    np.testing.assert_allclose(tracker_of(graph, walks).values(), expected, rtol=0, atol=1e-9)
    return len(walks)


def check_candidates(graph: cg.Graph, walks: list[list[int]], rng: np.random.Generator) -> int:
    """S + v for one unvisited v of every walk."""
    new = np.array([rng.choice(np.setdiff1d(np.arange(graph.num_nodes), walk)) for walk in walks], np.int32)
    values = tracker_of(graph, walks).candidate_values(np.arange(len(walks) + 1), new)
    expected = [compute_cpt(graph, [*walk, v]) for walk, v in zip(walks, new, strict=True)]
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9)
    return len(walks)


@pytest.mark.parametrize("family", FAMILIES)
def test_equals_reference_on_hundreds_of_states(family):
    states = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        graph = cg.generate(family, nodes=(15, 30, 50, 120)[seed % 4], seed=seed)
        scattered, connected = random_walks(graph, rng, 15, 2, 15), connected_walks(graph, rng, 15, 13)
        states += check_values(graph, scattered + connected)
        states += check_candidates(graph, connected, rng)
    assert states == 360


def test_equals_reference_on_larger_and_denser_states():
    rng = np.random.default_rng(1)
    states = 0
    for chance in (0.1, 0.3, 0.6, 0.9):
        graph = draw_graph(rng, 40, chance)
        states += check_values(graph, random_walks(graph, rng, 3, 20, 31))
        states += check_values(graph, random_walks(graph, rng, 12, 2, 15))
        states += check_candidates(graph, random_walks(graph, rng, 12, 2, 12), rng)
    assert states == 108


@pytest.mark.long
def test_equals_reference_on_large_states():
    rng = np.random.default_rng(2)
    for family in FAMILIES:
        graph = cg.generate(family, nodes=100, seed=2)
        check_values(graph, random_walks(graph, rng, 3, 50, 81) + connected_walks(graph, rng, 20, 40))


# ---- closed forms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [1, 2, 3, 5, 8, 13, 40])
def test_complete_graph(nodes):
    """With self-loops the next node is uniform for any clustering: R is the entropy of the cluster sizes.

    It decreases most if the two largest clusters merge: sizes (k, 1, ..., 1).
    """
    graph = complete(nodes) if nodes > 1 else cg.Graph.from_edges([], nodes=[0])
    rates = []
    for k in range(1, nodes + 1):
        sizes = np.array([k] + [1] * (nodes - k)) / nodes
        rates.append(-(sizes * np.log2(sizes)).sum())
    curve = cg.rate_distortion(graph)
    np.testing.assert_allclose(curve.upper, rates, rtol=0, atol=1e-9)
    assert cg.compressibility(graph) == pytest.approx(math.log2(nodes) - np.mean(rates), abs=1e-9)


# ---- properties -----------------------------------------------------------------------------------------------------


@given(graphs_and_orders())
def test_value_depends_only_on_the_set(case):
    """Values of different orders are equal to the last bit, also with ties between merges."""
    graph, one, other = case
    first, second = tracker_of(graph, [one, other]).values()
    assert first == second


@given(graphs_and_orders())
def test_batch_equals_single_and_candidate_equals_value(case):
    graph, walk, other = case
    together = tracker_of(graph, [walk, other[:-1] or other]).values()
    assert together[0] == tracker_of(graph, [walk]).values()[0]
    assert together[0] == pytest.approx(cg.compressibility(graph.subgraph(walk)), abs=1e-12)
    if len(walk) > 1:
        ahead = tracker_of(graph, [walk[:-1]]).candidate_values(np.array([0, 1]), np.array(walk[-1:], np.int32))
        assert ahead[0] == together[0]


@given(graphs_and_orders())
def test_bounds(case):
    """A rate is not negative, so compressibility is at most the entropy."""
    curve = cg.rate_distortion(case[0])
    assert np.all(curve.upper >= -1e-12)
    assert curve.compressibility <= curve.entropy + 1e-12


# ---- the table ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("total", [10, 64, 1000, 40_000, 1_000_000])
def test_table_is_accurate(total):
    table, unit = build_entropy_table(total)
    x = np.arange(1, total + 1, dtype=np.float64)
    assert len(table) > total
    assert table[0] == table[1] == 0
    assert np.abs(table[1 : total + 1] * unit - x * np.log2(x)).max() / total < 1e-9


def test_table_is_additive():
    """L(ab) = L(a) + L(b) exactly, with f(x) = x L(x), so that equal merges are equal to the last bit."""
    table, _ = build_entropy_table(5000)
    log = {x: int(table[x]) // x for x in range(1, 5000)}
    assert all(log[x] * x == table[x] for x in log)
    assert all(log[a * b] == log[a] + log[b] for a in range(2, 70) for b in range(2, 70))


def test_sums_of_table_entries_do_not_overflow():
    """Four sums of total * log2(total) fit in 63 bits at every size."""
    for total in (50, 10**3, 10**5, 10**6):
        table, _ = build_entropy_table(total)
        assert 4 * int(table.max()) < 2**63
