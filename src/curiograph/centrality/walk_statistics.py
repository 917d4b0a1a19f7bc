"""Random walks, unbiased as PageRank's or biased by an agent, and their statistics by step."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.agent import Agent, score_candidates
from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.agents.evaluate import draw_starts
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.history import check_p_g, list_labels
from curiograph.errors import GraphError, SettingError
from curiograph.exploration.mdp import Candidates, Exploration, Fallback, Streams, begin, check_steps
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.growth.compute import compute_growth
from curiograph.plotting import Figure, plot_panels
from curiograph.results import Table
from curiograph.rewards.reward_names import RewardLike
from curiograph.validation import check_integer

UNBIASED = "unbiased"
_BATCH_SIZE = 1024  # biased walkers per batch; bounds the memory and does not change the walks
_MOVE = 2**64 - 1  # item of the draw that moves a walker; the draws that break ties use nodes as items
_MIN_ALIVE = 0.2  # curves end when fewer walkers are left: the mean over a few could pass for a trend
_PANELS = {
    "distance": "distance from the start (links)",
    "returned": "probability to be back at the start",
    "coverage": "distinct nodes visited",
    "degree": "degree of the current node",
    "gaps": "information gaps of the visited nodes",
}


class StepMeans(NamedTuple):
    """Mean of a quantity at steps 1, 2, ... over the walkers that reached the step; NaN if none did."""

    mean: Float64
    """Mean at each step."""
    stderr: Float64
    """Standard error of the mean, for independent walkers; NaN for a single one."""


@dataclass(frozen=True, eq=False, repr=False)
class WalkStatistics(Table):
    """Statistics of walks of one kind by step; step 1 is the start."""

    name: str
    """Name of the agent, or "unbiased"."""
    p_g: float | None
    """Parameter of the rank transition; None for the unbiased walker."""
    walkers: int
    """Number of walkers."""
    reached: int
    """Number of distinct nodes visited by all walkers together."""
    distance: StepMeans
    """Length of the shortest path from the start to the current node; walkers at unreachable nodes, after a fallback,
    are not counted."""
    returned: StepMeans
    """Probability to be back at the start. Zero at step 1, and always zero for walkers with an agent, which do not
    revisit nodes."""
    coverage: StepMeans
    """Number of distinct nodes that a walker has visited."""
    degree: StepMeans
    """Degree of the current node, counting neighbors in either direction."""
    gaps: StepMeans
    """Information gaps: beta_1 of the visited subgraph."""
    alive: Float64
    """Share of the walkers that reached the step; the others had no candidate left."""

    def columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"step": range(1, len(self.alive) + 1)}
        for name in _PANELS:
            columns[name], columns[f"{name}_stderr"] = getattr(self, name)
        return columns | {"alive": self.alive}

    def plot(self) -> Figure:
        """Plot each quantity in a panel, with bands of one standard error, while a fifth of the walkers are left."""
        end = int(np.count_nonzero(self.alive >= _MIN_ALIVE))
        panels = {}
        for field, title in _PANELS.items():
            mean, stderr = getattr(self, field)
            panels[title] = {self.name: (mean[:end], stderr[:end])}
        note = f"{round(self.alive[-1] * self.walkers):,} of {self.walkers:,} walkers reach the end"
        color = "pagerank" if self.p_g is None else self.name
        return plot_panels(panels, "step", {self.name: color}, {self.name: note})


def walk_statistics(
    graph: Graph,
    agent: AgentLike | None = None,
    *,
    reward: RewardLike = "igt",
    p_g: float = 0.5,
    starts: Sequence[Hashable] | None = None,
    walks: int = 100,
    steps: int = 20,
    fallback: Fallback = "frontier",
    seed: int = 0,
) -> WalkStatistics:
    """Simulate random walks and return statistics of how they spread (Figure 4C of the paper, and more).

    Parameters
    ----------
    graph : Graph
        Graph with at least one edge.
    agent : str, Path or Agent, optional
        None for the unbiased walker of PageRank, which follows out-links with probability proportional to their
        weights, may revisit nodes, and stops at a dead end. With an agent, walkers remember their path and move to a
        candidate with probability (1 - p_g) p_g^(rank - 1) / (1 - p_g^|A|), ranked by the agent with ties in random
        order; they stop when no candidate is left.
    reward : str, Reward or callable
        Reward for agents that use one. Ignored by the unbiased walker, like `p_g` and `fallback`.
    p_g : float
        Parameter in [0, 1]: 0 always takes the best candidate, 1 takes all with equal probability.
    starts : list, optional
        Labels of the start nodes, used in turn. Default: random nodes with out-links. They depend on `seed` alone, so
        all kinds of walks start at the same nodes.
    walks : int
        Number of walks.
    steps : int
        Nodes per walk, including the start and revisits.
    fallback : {"frontier", "anywhere"}
        Candidates at a dead end: the unvisited neighbors of the walk, or all unvisited nodes.
    seed : int
        Random seed.

    Returns
    -------
    WalkStatistics
        Curves with standard errors.

    Examples
    --------
    >>> import curiograph as cg
    >>> statistics = cg.walk_statistics(cg.toys.library(), starts=["music"], walks=1000, steps=3, seed=0)
    >>> statistics.returned.mean.round(2).tolist()
    [0.0, 0.0, 0.34]
    """
    require_edges(as_graph(graph))
    steps, p_g = check_steps(steps), check_p_g(p_g)
    walks = check_integer("walks", walks, 1, "give a whole number of walks, 1 or more")
    positions = choose_starts(graph, starts, walks, seed)
    walkers = begin([graph], [positions], reward, steps, fallback=fallback, seed=seed)
    if agent is None:
        return compute_statistics(UNBIASED, None, graph, simulate_unbiased_walks(walkers, steps))
    agent = as_agent(agent)
    return compute_statistics(agent.name, p_g, graph, simulate_biased_walks(walkers, agent, p_g, steps))


def simulate_unbiased_walks(walkers: Exploration, steps: int) -> Int32:
    """Simulate PageRank's random walks from the start nodes of `walkers`.

    Each walk follows out-links and self-loops with probability proportional to their weights, may revisit nodes, and
    stops at a dead end. Return node positions of shape (walks, steps), padded with -1.
    """
    indptr, indices, weights = walkers.stack.graphs[0].transition.out_rows
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    shares = np.ones(len(indices)) if weights is None else weights
    largest = np.zeros(len(indptr) - 1)
    np.maximum.at(largest, rows, shares)  # relative to it, so that a sum of huge weights stays finite
    sums = np.append(0.0, np.cumsum(shares / np.where(largest > 0, largest, 1.0)[rows]))
    walks = np.full((len(walkers.nodes), steps), -1, np.int32)
    walks[:, 0] = walkers.nodes[:, 0]
    for t in range(1, steps):
        going = np.flatnonzero(walks[:, t - 1] >= 0)
        first, end = indptr[walks[going, t - 1]], indptr[walks[going, t - 1] + 1]
        moving = sums[end] > sums[first]
        going, first, end = going[moving], first[moving], end[moving]
        places = sums[first] + draw_moves(walkers.streams[going], np.full(len(going), t)) * (sums[end] - sums[first])
        slots = np.searchsorted(sums, places, side="right") - 1
        walks[going, t] = indices[np.minimum(slots, end - 1)]  # rounding may reach the next row
    return walks


def draw_moves(streams: Streams, steps: Int64) -> Float64:
    """Return a uniform number in [0, 1) for the move of each walker at its step."""
    items = np.full(len(streams), _MOVE, np.uint64)
    return np.asarray(kernels.random.draw_uniforms(streams, steps.astype(np.uint64), items))


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
            chosen = draw_by_rank(candidates, scores, batch.streams, batch.lengths, p_g)
            # Unlike Exploration.step, this computes no rewards.
            moving = np.flatnonzero(chosen >= 0)
            nodes, lengths = batch.nodes.copy(), batch.lengths.copy()
            nodes[moving, lengths[moving]] = candidates.nodes[chosen[moving]]
            lengths[moving] += 1
            batch = replace(batch, nodes=nodes, lengths=lengths)
        walks[rows, : walkers.steps] = batch.nodes
    return walks


def draw_by_rank(candidates: Candidates, scores: Float64, streams: Streams, steps: Int64, p_g: float) -> Int64:
    """Draw a candidate of each walk by the rank transition; return its index, -1 for a walk without candidates.

    The highest score has rank 1, and equal scores are in random order.
    """
    walks, counts, nodes = candidates.walks, candidates.counts, candidates.nodes.astype(np.uint64)
    luck = kernels.random.draw_uniforms(streams[walks], steps[walks].astype(np.uint64), nodes)
    order = np.lexsort((-luck, -scores, walks))
    some = np.flatnonzero(counts)
    chosen = np.full(len(counts), -1)
    ranks = select_rank(draw_moves(streams[some], steps[some]), p_g, counts[some])
    chosen[some] = order[candidates.offsets[some] + ranks]
    return chosen


def select_rank(luck: Float64, p_g: float, counts: Int64) -> Int64:
    """Return the rank, from 0 on, at which the cumulative probability of the rank transition exceeds `luck`.

    >>> select_rank(np.array([0.0, 0.6, 0.9]), 0.5, np.array([2, 2, 2])).tolist()
    [0, 0, 1]
    """
    if p_g in (0.0, 1.0):
        ranks = luck * counts * p_g
    else:  # 1 - p^r > luck (1 - p^n), solved for r without taking a difference of numbers close to 1
        decay = np.log(p_g)
        ranks = np.log1p(luck * np.expm1(counts * decay)) / decay
    return np.minimum(ranks.astype(np.int64), counts - 1)


def choose_starts(graph: Graph, starts: Sequence[Hashable] | None, walks: int, seed: int) -> Int64:
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


def compute_statistics(name: str, p_g: float | None, graph: Graph, walks: Int32) -> WalkStatistics:
    """Compute the statistics of walks, given as positions of shape (walks, steps) and padded with -1."""
    alive = walks >= 0
    keys = np.arange(len(walks))[:, None] * (graph.num_nodes + 1) + walks
    new = np.zeros(walks.shape, bool)  # first visits
    new.ravel()[np.unique(keys, return_index=True)[1]] = True
    new &= alive
    coverage = np.cumsum(new, axis=1)
    offsets = np.concatenate([[0], np.cumsum(coverage[:, -1])])
    gaps = compute_growth(graph, walks[new], offsets, compressibility=False).beta1
    by_start = np.argsort(walks[:, 0], kind="stable")
    distances: Int32 = kernels.shortest_paths.compute_distances(graph.indptr, graph.indices, walks, by_start)
    returned = walks == walks[:, :1]
    returned[:, 0] = False
    return WalkStatistics(
        name=name,
        p_g=p_g,
        walkers=len(walks),
        reached=len(np.unique(walks[alive])),
        distance=_average(distances, distances >= 0),
        returned=_average(returned, alive),
        coverage=_average(coverage, alive),
        degree=_average(graph.skeleton.degrees[walks], alive),
        gaps=_average(gaps[offsets[:-1, None] + coverage - 1], alive),
        alive=alive.mean(axis=0),
    )


def _average(values: NDArray[Any], counted: NDArray[np.bool_]) -> StepMeans:
    """Return means and standard errors of the columns over the counted entries."""
    count = np.count_nonzero(counted, axis=0)
    undefined = np.full(len(count), np.nan)
    mean = np.divide(np.where(counted, values, 0).sum(axis=0), count, out=undefined.copy(), where=count > 0)
    excess = np.where(counted, values - mean, 0.0)
    variance = np.divide((excess**2).sum(axis=0), count * (count - 1.0), out=undefined, where=count > 1)
    return StepMeans(mean, np.sqrt(variance))
