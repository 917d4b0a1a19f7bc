"""Random walks: PageRank's memoryless walks, and self-avoiding walks biased by an agent."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from curiograph import kernels
from curiograph.agents.agent import Agent, score_candidates
from curiograph.agents.evaluate import draw_starts
from curiograph.arrays import Int32, Int64
from curiograph.centrality.history import list_labels
from curiograph.errors import GraphError, SettingError
from curiograph.exploration.mdp import Exploration
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph

Starts = Sequence[Hashable]
"""Labels of start nodes."""

_BATCH_SIZE = 1024  # walkers per batch; bounds the memory and does not change the walks


def simulate_unbiased_walks(walkers: Exploration, steps: int) -> Int32:
    """Simulate PageRank's random walks from the start nodes of `walkers`.

    Each walk follows out-links and self-loops with probability proportional to their weights, may revisit nodes, and
    stops at a dead end. Return node positions of shape (walks, steps), padded with -1.

    >>> from curiograph.exploration.mdp import begin
    >>> path = Graph.from_edges([("a", "b"), ("b", "c")], directed=True)
    >>> simulate_unbiased_walks(begin([path], [[0]], "igt", 4), 4)
    array([[ 0,  1,  2, -1]], dtype=int32)
    """
    indptr, indices, weights = walkers.stack.graphs[0].transition.out_rows
    weights = freeze_array(np.empty(0)) if weights is None else weights
    starts = walkers.nodes[:, 0].copy()
    return np.asarray(kernels.sampling.sample_markov_walks(indptr, indices, weights, starts, walkers.streams, steps))


def simulate_biased_walks(walkers: Exploration, agent: Agent, p_g: float, steps: int) -> Int32:
    """Simulate self-avoiding walks whose next node is drawn by the rank transition of an agent.

    Return node positions of shape (walks, steps), padded with -1; `steps` may exceed the steps of `walkers`.
    """
    walks = np.full((len(walkers.lengths), steps), -1, np.int32)
    for first in range(0, len(walks), _BATCH_SIZE):
        rows = np.arange(first, min(first + _BATCH_SIZE, len(walks)))
        batch = walkers.rows(rows)
        while not batch.finished:
            candidates = batch.candidates
            scores = score_candidates(agent, batch)
            chosen = kernels.sampling.sample_by_rank(
                candidates.offsets, candidates.nodes, scores, batch.streams, batch.lengths, p_g
            )
            # Unlike Exploration.step, this computes no rewards.
            moving = np.flatnonzero(chosen >= 0)
            nodes, lengths = batch.nodes.copy(), batch.lengths.copy()
            nodes[moving, lengths[moving]] = candidates.nodes[chosen[moving]]
            lengths[moving] += 1
            batch = replace(batch, nodes=nodes, lengths=lengths)
        walks[rows, : walkers.steps] = batch.nodes
    return walks


def choose_starts(graph: Graph, starts: Starts | None, walks: int, seed: int) -> Int64:
    """Return the start of each walk: the given labels in turn, or random nodes with out-links if `starts` is None."""
    if starts is None:
        sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
        with_out_links = np.unique(sources if graph.weights is None else sources[graph.weights > 0])
        if len(with_out_links) == 0:
            raise GraphError("all edges of the graph have weight zero, so no walk is possible; give positive weights.")
        return draw_starts(with_out_links, walks, seed)
    labels = list_labels("starts", starts, ", or None for random nodes")
    if walks < len(labels):
        raise SettingError(f"walks is {walks}, fewer than the {len(labels)} starts; give one walk per start or more.")
    return np.resize(graph.positions(labels), walks).astype(np.int64)
