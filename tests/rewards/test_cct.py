"""Conformational change: values by hand, and comparison with the definition on random graphs and orders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.exploration.mdp import begin
from curiograph.graph.batch import GraphBatch
from curiograph.growth.compute import compute_growth
from curiograph.rewards.reward import Tracker
from curiograph.rewards.reward_names import as_reward
from oracles.flexibility import follow_walk
from oracles.reference import build_skeleton, draw_graph


@st.composite
def walks_on_graphs(draw):
    """A random graph, from empty to complete, and an order of some of its nodes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nodes = draw(st.integers(2, 14))
    graph = draw_graph(rng, nodes, draw(st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0])), directed=draw(st.booleans()))
    return graph, rng.permutation(nodes)[: draw(st.integers(1, nodes))].tolist()


def make_tracker(graph: cg.Graph, walk: list[int], length: int, reward: str = "cct") -> Tracker:
    return as_reward(reward).track(GraphBatch.of([graph]), np.array([walk], np.int32), np.array([length]))


K4_WITH_PENDANTS = [(u, v) for u in range(4) for v in range(u)] + [(0, 4), (1, 5), (2, 6)]


@given(walks_on_graphs())
def test_equals_the_definition_after_every_step(case):
    graph, walk = case
    expected = follow_walk(build_skeleton(graph), walk)
    growth = compute_growth(graph, np.array(walk, np.int32), np.array([0, len(walk)]), compressibility=False)
    assert list(zip(growth.dimension, growth.freedom, growth.conformable, strict=True)) == expected


@given(walks_on_graphs())
def test_candidates_and_walks_from_the_middle_equal_the_definition(case):
    graph, walk = case
    joined = build_skeleton(graph)
    grown = make_tracker(graph, walk, 1)
    for length in range(1, len(walk)):
        candidates = np.array(sorted(set(range(graph.num_nodes)) - set(walk[:length])), np.int32)
        expected = [follow_walk(joined, [*walk[:length], int(v)])[-1].conformable for v in candidates]
        offsets = np.array([0, len(candidates)])
        assert grown.candidate_values(offsets, candidates).tolist() == expected
        assert make_tracker(graph, walk, length).candidate_values(offsets, candidates).tolist() == expected
        grown.advance(np.array([walk[length]], np.int32))
    assert grown.values().tolist() == [follow_walk(joined, walk)[-1].conformable]


def test_branches_keep_their_own_dimension():
    graph = cg.Graph.from_edges(K4_WITH_PENDANTS)
    walk = graph.positions([0, 1, 2, 3]).tolist()
    tracker = make_tracker(graph, [*walk, -1, -1], 4)
    tracker.advance(graph.positions([4, 5]).astype(np.int32), np.array([0, 0]))
    tracker.advance(graph.positions([5, 4]).astype(np.int32))
    assert tracker.values().tolist() == [4.0, 4.0]
    assert tracker.hash_order().tolist() == [3, 3]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reward", ["cct", "igt+cct"])
def test_a_wide_beam_finds_the_best_walk(reward, seed):
    """Two walks over the same nodes may differ in dimension: neither may replace the other."""
    graph = draw_graph(np.random.default_rng(seed), 8, 0.5)
    best, batch = -np.inf, begin([graph], [[0]], reward, 6)
    while not batch.finished:  # all walks
        walks = batch.candidates.walks
        batch = batch.branch(walks, np.arange(len(walks)))
        best = max(best, batch.returns.max())
    assert cg.explore(graph, "beam:2000", reward, start=0, steps=6).total == best
