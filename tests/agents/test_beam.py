"""Beam search against exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.agents.beam import BeamAgent
from curiograph.exploration.mdp import Exploration, begin
from curiograph.graph.toys import complete, cycle
from oracles import reference
from oracles.reference import draw_graph

pytestmark = pytest.mark.filterwarnings("ignore:.*ended early")
FALLBACKS = ("frontier", "anywhere")


def visited(batch: Exploration, walk: int) -> list[int]:
    return batch.nodes[walk, : batch.lengths[walk]].tolist()


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("reward", ["igt", "cpt"])
def test_a_wide_beam_finds_the_best_walk(reward, directed, fallback):
    rng = np.random.default_rng(6)
    for _ in range(4):
        graph = draw_graph(rng, 8, 0.3, directed=directed)
        start = int(rng.choice(np.flatnonzero(graph.degrees)))
        walk = cg.explore(graph, BeamAgent(10**6), reward, start, 6, fallback=fallback)
        found = reference.compute_return(graph, walk.nodes, reward)
        assert found == pytest.approx(reference.find_best_return(graph, start, 6, reward, fallback), abs=1e-9)


def test_beam_scores_are_the_best_returns_through_each_candidate():
    graph = draw_graph(np.random.default_rng(1), 8, 0.4)
    batch = begin([graph], [[0, 1]], "igt", 5)
    scores = BeamAgent(10**5).scores(batch)
    for walk, v, score in zip(batch.candidates.walks, batch.candidates.nodes, scores, strict=True):
        best = max(
            reference.compute_return(graph, path, "igt")
            for path in reference.list_walks(graph, visited(batch, walk)[0], 5, "frontier")
            if path[1] == v
        )
        assert score == pytest.approx(best, abs=1e-8)


def test_beam_keeps_one_walk_for_each_set_and_last_node():
    """In a clique of 7 there are 6 * 5 * 4 walks of 4 nodes from a start, two for each set and last node."""
    sizes = []

    def count(subgraph: cg.Graph) -> float:
        sizes.append(len(subgraph))
        return 0.0

    cg.explore(complete(7), BeamAgent(10**4), count, 0, 5)
    assert sizes.count(4) == 6 * 5 * 4
    assert sizes.count(5) == 6 * 5 * 4 // 2 * 3  # each state kept has 3 candidates


def test_negative_rewards():
    """Walks run to their end even if every reward is negative."""
    walk = cg.explore(cycle(5), "beam", lambda s: -float(s.num_edges), 0, 5)
    assert walk.rewards == [-1.0, -2.0, -3.0, -5.0]


def test_beam_does_not_depend_on_the_batch():
    """Ties are broken by the walk's own random stream, also next to walks of other lengths."""
    graph = cg.generate("ws", nodes=40, seed=2)
    batch = begin([graph], [list(range(8))], "igt", 9, seed=5)
    choices = np.where(np.arange(8) % 2, batch.candidates.offsets[:-1], -1)
    agent = BeamAgent(3)
    for mixed in (batch, batch.step(choices)):
        together = agent.run(mixed)
        for i in range(8):
            assert visited(agent.run(mixed.rows(np.array([i]))), 0) == visited(together, i)
