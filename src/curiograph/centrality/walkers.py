"""Random walkers: PageRank's, which forgets where it has been, and curious ones, which an agent biases."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from curiograph import kernels
from curiograph.agents.base import Agent, score_candidates
from curiograph.agents.evaluate import draw_starts
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import GraphError, SettingError, WalkError
from curiograph.exploration.mdp import Exploration
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph
from curiograph.messages import quote_value

Starts = Sequence[Hashable]
"""Labels at which walkers start."""

_WALKERS_AT_ONCE = 1024  # bounds the candidates held in memory; does not change the walks
_NO_WEIGHTS: Float64 = freeze_array(np.empty(0))


def simulate_unbiased_walks(walkers: Exploration, steps: int) -> Int32:
    """Walks of PageRank's walker from where `walkers` stand: walks x steps, positions, -1 once it has stopped.

    It follows out-links in proportion to their weights, may come back, and stops where it would have to teleport.

    >>> from curiograph.exploration.mdp import begin
    >>> path = Graph.from_edges([("a", "b"), ("b", "c")], directed=True)
    >>> simulate_unbiased_walks(begin([path], [[0]], "igt", 4), 4)
    array([[ 0,  1,  2, -1]], dtype=int32)
    """
    graph = walkers.stack.graphs[0]
    weights = _NO_WEIGHTS if graph.weights is None else graph.weights
    walks: Int32 = kernels.sampling.sample_markov_walks(
        graph.indptr, graph.indices, weights, walkers.nodes[:, 0].copy(), walkers.streams, steps
    )
    return walks


def simulate_biased_walks(walkers: Exploration, agent: Agent, p_g: float, steps: int) -> Int32:
    """Walks that remember their path, from where `walkers` stand: the better the agent ranks a candidate, the likelier.

    >>> from curiograph.agents.registry import as_agent
    >>> from curiograph.exploration.mdp import begin
    >>> from curiograph.graph.toys import cycle
    >>> walks = simulate_biased_walks(begin([cycle(4)], [[0, 1]], "igt", 4), as_agent("random"), 0.5, 6)
    >>> np.sort(walks, axis=1).tolist()
    [[-1, -1, 0, 1, 2, 3], [-1, -1, 0, 1, 2, 3]]
    """
    walks = np.full((len(walkers.lengths), steps), -1, np.int32)
    for first in range(0, len(walks), _WALKERS_AT_ONCE):
        some = np.arange(first, min(first + _WALKERS_AT_ONCE, len(walks)))
        walks[some, : walkers.steps] = _walked(walkers.rows(some), agent, p_g).nodes
    return walks


def _walked(walkers: Exploration, agent: Agent, p_g: float) -> Exploration:
    """The walkers when none can go on."""
    while not walkers.finished:
        scores, c = score_candidates(agent, walkers), walkers.candidates
        chosen = kernels.sampling.sample_by_rank(c.offsets, c.nodes, scores, walkers.streams, walkers.lengths, p_g)
        walkers = _moved(walkers, chosen)
    return walkers


def _moved(walkers: Exploration, chosen: Int64) -> Exploration:
    """The walkers at their chosen candidates. Unlike `step` it earns no rewards, which nobody asked for."""
    moving = np.flatnonzero(chosen >= 0)
    nodes, lengths = walkers.nodes.copy(), walkers.lengths.copy()
    nodes[moving, lengths[moving]] = walkers.candidates.nodes[chosen[moving]]
    lengths[moving] += 1
    return replace(walkers, nodes=nodes, lengths=lengths, _kept=[])


def choose_starts(graph: Graph, starts: Starts | None, walks: int, seed: int) -> Int64:
    """Where each of the walkers starts: given labels in turn, or, for None, at random nodes with somewhere to go.

    >>> from curiograph.graph.toys import cycle
    >>> choose_starts(cycle(4), [3, 1], 5, seed=0)
    array([3, 1, 3, 1, 3])
    """
    if starts is None:
        return draw_starts(_with_links(graph), walks, seed)
    if isinstance(starts, (str, bytes)) or not isinstance(starts, (Sequence, np.ndarray)):
        raise WalkError(f"starts is {quote_value(starts)}; give a list of node labels, or None for random nodes.")
    labels = [label.item() if isinstance(label, np.generic) else label for label in starts]
    if not labels:
        raise WalkError("starts is empty; give at least one node label, or None for random nodes.")
    if walks < len(labels):
        raise SettingError(f"walks is {walks}, fewer than the {len(labels)} starts; give one walk per start or more.")
    return np.resize(graph.positions(labels), walks).astype(np.int64)


def _with_links(graph: Graph) -> Int64:
    """Nodes with a link that PageRank's walker can take."""
    if graph.weights is None:
        return np.flatnonzero(graph.degrees > 0)
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    found = np.unique(rows[graph.weights > 0])
    if len(found) == 0:
        raise GraphError("all edges of the graph have weight zero, so there is nowhere to walk.")
    return found
