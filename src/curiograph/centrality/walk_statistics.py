"""Statistics of random walks by step: distance, return probability, coverage, degree and information gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.rank_transition import check_p_g
from curiograph.centrality.walkers import Starts, choose_starts, simulate_biased_walks, simulate_unbiased_walks
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Fallback, begin, check_steps
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.messages import quote_value
from curiograph.optional import import_optional
from curiograph.rewards.igt import GapTracker
from curiograph.rewards.registry import RewardLike
from curiograph.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd
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


@dataclass(frozen=True, eq=False)
class Curve:
    """Mean of a quantity at steps 1, 2, ... over the walkers that reached the step; NaN if none did."""

    mean: Float64
    """Mean at each step."""
    stderr: Float64
    """Standard error of the mean, for independent walkers; NaN for a single one."""

    def __repr__(self) -> str:
        return f"Curve({len(self.mean)} steps, {self.mean[-1]:.3g} ± {self.stderr[-1]:.2g} at the end)"


@dataclass(frozen=True, eq=False)
class WalkStatistics:
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
    distance: Curve
    """Length of the shortest path from the start to the current node; walkers at unreachable nodes, after a fallback,
    are not counted."""
    returned: Curve
    """Probability to be back at the start. Zero at step 1, and always zero for walkers with an agent, which do not
    revisit nodes."""
    coverage: Curve
    """Number of distinct nodes that a walker has visited."""
    degree: Curve
    """Degree of the current node, counting neighbors in either direction."""
    gaps: Curve
    """Information gaps: beta_1 of the visited subgraph."""
    alive: Float64
    """Share of the walkers that reached the step; the others had no candidate left."""

    def __len__(self) -> int:
        return len(self.alive)

    def __repr__(self) -> str:
        return (
            f"WalkStatistics({self.name}: {self.walkers:,} walkers, {len(self)} steps, {self.reached:,} nodes reached)"
        )

    @property
    def curves(self) -> dict[str, Curve]:
        """All curves by name."""
        return {name: getattr(self, name) for name in _PANELS}

    def columns(self) -> dict[str, list[float]]:
        """Return one list per column with one entry per step; standard errors are named `distance_stderr` and so on."""
        columns: dict[str, list[float]] = {"step": list(range(1, len(self) + 1))}
        for name, curve in self.curves.items():
            columns[name] = curve.mean.tolist()
            columns[f"{name}_stderr"] = curve.stderr.tolist()
        return columns | {"alive": self.alive.tolist()}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        summary = {"name": self.name, "p_g": self.p_g, "walkers": self.walkers, "reached": self.reached}
        return {**summary, **self.columns()}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Restore statistics from the result of `to_dict`."""

        def read(name: str) -> Float64:
            return np.asarray(document[name], np.float64)

        values: dict[str, Any] = {name: document[name] for name in ("name", "p_g", "walkers", "reached")}
        values |= {name: Curve(mean=read(name), stderr=read(f"{name}_stderr")) for name in _PANELS}
        return cls(**values, alive=read("alive"))

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per step (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def plot(self) -> Figure:
        """Plot each curve in a panel, with bands of one standard error."""
        return WalkComparison({self.name: self}).plot()


@dataclass(frozen=True, eq=False)
class WalkComparison(Mapping[str, WalkStatistics]):
    """Statistics of several kinds of walks by name, from `compare_walks` or from your own dict.

    Examples
    --------
    >>> import curiograph as cg
    >>> agents = {"unbiased": None, "curious": "greedy"}
    >>> comparison = cg.compare_walks(cg.toys.library(), agents, walks=40, steps=6, seed=0)
    >>> bool(comparison["curious"].coverage.mean[-1] > comparison["unbiased"].coverage.mean[-1])
    True
    """

    walkers: dict[str, WalkStatistics]
    """Statistics by name."""

    def __getitem__(self, name: str) -> WalkStatistics:
        return self.walkers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.walkers)

    def __len__(self) -> int:
        return len(self.walkers)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {name: statistics.to_dict() for name, statistics in self.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per kind of walk (column `walker`) and step."""
        pandas = import_optional("pandas", "frame", "Frames")
        frames = {name: statistics.to_frame() for name, statistics in self.items()}
        return pandas.concat(frames, names=["walker"]).reset_index("walker").reset_index(drop=True)

    def plot(self) -> Figure:
        """Plot each curve in a panel, with one line per kind of walk and bands of one standard error.

        Lines end when fewer than a fifth of the walkers are left.
        """
        from curiograph.plotting import plot_panels

        panels: dict[str, dict[str, tuple[Float64, Float64]]] = {title: {} for title in _PANELS.values()}
        colors, notes = {}, {}
        for name, statistics in self.items():
            end = int(np.count_nonzero(statistics.alive >= _MIN_ALIVE))
            for curve, title in _PANELS.items():
                values = statistics.curves[curve]
                panels[title][name] = values.mean[:end], values.stderr[:end]
            colors[name] = "pagerank" if statistics.p_g is None else name
            finished = round(statistics.alive[-1] * statistics.walkers)
            notes[name] = f"{finished:,} of {statistics.walkers:,} walkers reach the end"
        return plot_panels(panels, "step", colors, notes)


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


def compare_walks(
    graph: Graph,
    agents: Mapping[str, AgentLike | None],
    *,
    reward: RewardLike = "igt",
    p_g: float = 0.5,
    starts: Starts | None = None,
    walks: int = 100,
    steps: int = 20,
    fallback: Fallback = "frontier",
    seed: int = 0,
) -> WalkComparison:
    """Compute `walk_statistics` for several kinds of walks from the same starts.

    Parameters
    ----------
    graph : Graph
        Graph with at least one edge.
    agents : dict
        Agents by name, None for the unbiased walker. To compare agents with different rewards, make a `WalkComparison`
        from several calls of `walk_statistics`.
    reward, p_g, starts, walks, steps, fallback, seed
        As for `walk_statistics`.

    Returns
    -------
    WalkComparison
        Statistics by name.

    Examples
    --------
    >>> import curiograph as cg
    >>> agents = {"unbiased": None, "igt": "igt-rg", "cpt": "cpt-rg"}
    >>> list(cg.compare_walks(cg.toys.library(), agents, walks=10, steps=4))
    ['unbiased', 'igt', 'cpt']
    """
    if not isinstance(agents, Mapping) or not agents:
        raise SettingError(
            f"agents is {quote_value(agents)}; give an agent, or None, for each name, as in {{'igt': agent}}."
        )
    results = {}
    for name, agent in agents.items():
        statistics = walk_statistics(
            graph, agent, reward=reward, p_g=p_g, starts=starts, walks=walks, steps=steps, fallback=fallback, seed=seed
        )
        results[str(name)] = replace(statistics, name=str(name))
    return WalkComparison(results)


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


def _average(values: NDArray[Any], counted: NDArray[np.bool_]) -> Curve:
    """Return means and standard errors of the columns over the counted entries."""
    count = np.count_nonzero(counted, axis=0)
    undefined = np.full(len(count), np.nan)
    mean = np.divide(np.where(counted, values, 0).sum(axis=0), count, out=undefined.copy(), where=count > 0)
    excess = np.where(counted, values - mean, 0.0)
    variance = np.divide((excess**2).sum(axis=0), count * (count - 1.0), out=undefined, where=count > 1)
    return Curve(mean, np.sqrt(variance))


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
