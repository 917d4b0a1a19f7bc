"""Statistics of random walks by step: distance, return probability, coverage, degree and information gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.rank_transition import check_p_g
from curiograph.centrality.walkers import Starts, choose_starts, simulate_biased_walks, simulate_unbiased_walks
from curiograph.exploration.mdp import Fallback, begin, check_steps
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.results import Table
from curiograph.rewards.igt import GapTracker
from curiograph.rewards.reward_names import RewardLike
from curiograph.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNBIASED = "unbiased"
_BATCH_ENTRIES = 2**17  # walks times nodes of a batch of gap counts; bounds the memory, does not change the result
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
    """Statistics of walks of one kind by step; step 1 is the start.

    Examples
    --------
    >>> import curiograph as cg
    >>> statistics = cg.walk_statistics(cg.toys.cycle(6), "random", walks=50, steps=6, seed=0)
    >>> statistics.distance.mean.tolist(), statistics.gaps.mean.tolist()
    ([0.0, 1.0, 2.0, 3.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    """

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
        from curiograph.plotting import plot_panels

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
    starts: Starts | None = None,
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
        return _compute_statistics(UNBIASED, None, walkers.stack, simulate_unbiased_walks(walkers, steps))
    agent = as_agent(agent)
    return _compute_statistics(agent.name, p_g, walkers.stack, simulate_biased_walks(walkers, agent, p_g, steps))


def _compute_statistics(name: str, p_g: float | None, stack: GraphBatch, walks: Int32) -> WalkStatistics:
    alive, new = walks >= 0, _mark_first_visits(walks)
    by_start = np.argsort(walks[:, 0], kind="stable")
    distances: Int32 = kernels.shortest_paths.compute_distances(stack.out.indptr, stack.out.indices, walks, by_start)
    returned = walks == walks[:, :1]
    returned[:, 0] = False
    degrees = np.diff(stack.skeleton.indptr)
    return WalkStatistics(
        name=name,
        p_g=p_g,
        walkers=len(walks),
        reached=len(np.unique(walks[alive])),
        distance=_average(distances, distances >= 0),
        returned=_average(returned, alive),
        coverage=_average(np.cumsum(new, axis=1), alive),
        degree=_average(degrees[walks], alive),
        gaps=_average(_count_gaps(stack, np.where(new, walks, -1)), alive),
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


def _mark_first_visits(walks: Int32) -> NDArray[np.bool_]:
    """Return whether each entry is the first visit of a node by its walk; False after the end."""
    order = np.argsort(walks, axis=1, kind="stable")
    ranked = np.take_along_axis(walks, order, axis=1)
    new = np.ones(walks.shape, bool)
    new[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    first = np.empty(walks.shape, bool)
    np.put_along_axis(first, order, new & (ranked >= 0), axis=1)
    return first


def _count_gaps(stack: GraphBatch, visits: Int32) -> Int64:
    """Return beta_1 of each walk after every step; `visits` holds first visits, and -1 elsewhere."""
    gaps = np.empty(visits.shape, np.int64)
    size = max(1, _BATCH_ENTRIES // visits.shape[1])
    for first in range(0, len(visits), size):
        batch = visits[first : first + size]
        tracker = GapTracker(stack, np.full_like(batch, -1), np.zeros(len(batch), np.int64))
        for t in range(batch.shape[1]):
            tracker.advance(batch[:, t].copy())
            gaps[first : first + size, t] = tracker.values()
    return gaps
