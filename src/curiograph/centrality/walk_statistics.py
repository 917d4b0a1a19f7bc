"""How random walkers spread: how far they get, how often they return, and what they see on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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
_ENTRIES = 2**17  # walks times nodes whose gaps are counted together: bounds the memory, does not change the numbers
_FEW = 0.2  # curves are drawn as far as this share of the walkers goes: beyond, a few would pass for a trend
_PANELS = {
    "distance": "distance from the start (links)",
    "returned": "chance to be back at the start",
    "coverage": "distinct nodes visited",
    "degree": "degree of the current node",
    "gaps": "information gaps in what was visited",
}


@dataclass(frozen=True, eq=False)
class Curve:
    """A quantity at steps 0, 1, ..., over the walkers that got that far; NaN where none did."""

    mean: Float64
    stderr: Float64
    """Standard error of the mean, the walkers taken as independent; NaN for a single one."""


@dataclass(frozen=True, eq=False)
class WalkStatistics:
    """What walkers of one kind do, step by step; step 0 is the start.

    >>> from curiograph.graph.toys import cycle
    >>> found = walk_statistics(cycle(6), "random", walks=50, steps=6, seed=0)
    >>> found.distance.mean.tolist(), found.gaps.mean.tolist()
    ([0.0, 1.0, 2.0, 3.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    """

    name: str
    p_g: float | None
    """Of the rank transition; None for the unbiased walker, which has no agent."""
    walkers: int
    reached: int
    """Distinct nodes visited by all walkers together."""
    distance: Curve
    """Links on the shortest path along out-links from the start to the current node. A walker that fell back to a node
    to which none leads does not count."""
    returned: Curve
    """Chance to be back at the start. Zero at step 0, when nobody has left, and always zero for walkers with an agent,
    which remember their path."""
    coverage: Curve
    """Distinct nodes that a walker has visited so far."""
    degree: Curve
    """Neighbours of the current node, in either direction."""
    gaps: Curve
    """Information gaps: beta_1 of the subgraph of the nodes visited so far."""
    alive: Float64
    """Share of the walkers that got that far; the others had nowhere to go."""

    def __len__(self) -> int:
        return len(self.alive)

    @property
    def curves(self) -> dict[str, Curve]:
        """The five curves by name."""
        return {name: getattr(self, name) for name in _PANELS}

    def columns(self) -> dict[str, list[float]]:
        """One entry per step, by name; standard errors as `distance_stderr` and so on."""
        columns: dict[str, list[float]] = {"step": list(range(len(self)))}
        for name, curve in self.curves.items():
            columns[name] = curve.mean.tolist()
            columns[f"{name}_stderr"] = curve.stderr.tolist()
        return columns | {"alive": self.alive.tolist()}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        about = {"name": self.name, "p_g": self.p_g, "walkers": self.walkers, "reached": self.reached}
        return {**about, **self.columns()}

    def to_frame(self) -> pd.DataFrame:
        """One row per step as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def plot(self) -> Figure:
        """A figure with a panel for each curve, with bands of one standard error."""
        return WalkComparison({self.name: self}).plot()


@dataclass(frozen=True, eq=False)
class WalkComparison(Mapping[str, WalkStatistics]):
    """Statistics of several kinds of walkers by name, from `compare_walks` or put together from your own.

    >>> from curiograph.graph.toys import library
    >>> found = compare_walks(library(), {"unbiased": None, "curious": "greedy"}, walks=40, steps=6, seed=0)
    >>> bool(found["curious"].coverage.mean[-1] > found["unbiased"].coverage.mean[-1])
    True
    """

    walkers: dict[str, WalkStatistics]

    def __getitem__(self, name: str) -> WalkStatistics:
        return self.walkers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.walkers)

    def __len__(self) -> int:
        return len(self.walkers)

    def to_dict(self) -> dict[str, Any]:
        """The statistics of every kind of walker as plain values."""
        return {name: found.to_dict() for name, found in self.items()}

    def to_frame(self) -> pd.DataFrame:
        """One row per kind of walker and step; the column `walker` says which kind."""
        pandas = import_optional("pandas", "frame", "Frames")
        frames = {name: found.to_frame() for name, found in self.items()}
        return pandas.concat(frames, names=["walker"]).reset_index("walker").reset_index(drop=True)

    def plot(self) -> Figure:
        """A figure with a panel for each curve and a line for each kind of walker, with bands of one standard error.

        Lines end where fewer than a fifth of the walkers are still going.
        """
        from curiograph.plotting import plot_panels

        panels = {
            title: {name: _drawn(found, curve) for name, found in self.items()} for curve, title in _PANELS.items()
        }
        colours = {name: "pagerank" if found.p_g is None else name for name, found in self.items()}
        return plot_panels(panels, "step", colours, {name: _note(found) for name, found in self.items()})


def _drawn(found: WalkStatistics, name: str) -> tuple[Float64, Float64]:
    """Mean and standard error of a curve as far as it is drawn."""
    curve, end = found.curves[name], int(np.count_nonzero(found.alive >= _FEW))
    return curve.mean[:end], curve.stderr[:end]


def _note(found: WalkStatistics) -> str:
    """How many walkers the last step speaks for."""
    return f"{round(found.alive[-1] * found.walkers):,} of {found.walkers:,} walkers get to the end"


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
    """Let many walkers go, and see how they spread (Figure 4C of the paper, and more).

    Parameters
    ----------
    agent : None for the unbiased walker of PageRank, which follows out-links in proportion to their weights, may come
        back, and stops at a dead end. Otherwise a name, a path or an object: walkers that remember their path and go
        to one of the candidates with chance (1 - p_g) p_g^(rank - 1) / (1 - p_g^|A|), ranked by the agent, ties in
        random order; they stop when no candidate is left.
    reward : what agents that look at rewards look at: "igt", "cpt" or a function of the visited subgraph.
    p_g : 0 always takes the best candidate, 1 any with equal chance. Like `reward` and `fallback`, nothing to the
        unbiased walker.
    starts : labels of the first nodes; None draws one for each walker, among the nodes with somewhere to go. The draw
        depends on `seed` alone, so walkers of all kinds start at the same nodes.
    walks : number of walkers in total; they take the given starts in turn.
    steps : nodes to visit, the start and revisits included.
    fallback : at a dead end, a walker that remembers goes on from the "frontier" of its walk or "anywhere".

    >>> from curiograph.graph.toys import library
    >>> found = walk_statistics(library(), starts=["music"], walks=1000, steps=3, seed=0)
    >>> found.returned.mean.round(2).tolist()
    [0.0, 0.0, 0.34]
    """
    require_edges(as_graph(graph))
    steps, p_g = check_steps(steps), check_p_g(p_g)
    walks = check_integer("walks", walks, 1, "let a whole number of walkers go, 1 or more")
    first = choose_starts(graph, starts, walks, seed)
    walkers = begin([graph], [first], reward, steps, fallback=fallback, seed=seed)
    if agent is None:
        return _statistics(UNBIASED, None, walkers.stack, simulate_unbiased_walks(walkers, steps))
    made = as_agent(agent)
    return _statistics(made.name, p_g, walkers.stack, simulate_biased_walks(walkers, made, p_g, steps))


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
    """`walk_statistics` of several kinds of walkers, by name, from the same starts.

    Parameters
    ----------
    agents : an agent for each name, None for the unbiased walker. To compare agents with different rewards, put
        together a `WalkComparison` of your own.

    >>> from curiograph.graph.toys import library
    >>> list(compare_walks(library(), {"unbiased": None, "igt": "igt-rg", "cpt": "cpt-rg"}, walks=10, steps=4))
    ['unbiased', 'igt', 'cpt']
    """
    if not isinstance(agents, Mapping) or not agents:
        raise SettingError(
            f"agents is {quote_value(agents)}; give an agent, or None, for each name, as in {{'igt': agent}}."
        )
    found = {}
    for name, agent in agents.items():
        made = walk_statistics(
            graph,
            agent,
            reward=reward,
            p_g=p_g,
            starts=starts,
            walks=walks,
            steps=steps,
            fallback=fallback,
            seed=seed,
        )
        found[str(name)] = replace(made, name=str(name))
    return WalkComparison(found)


def _statistics(name: str, p_g: float | None, stack: GraphBatch, walks: Int32) -> WalkStatistics:
    going, new = walks >= 0, _first_visits(walks)
    far = _distances(stack, walks)
    back = walks == walks[:, :1]
    back[:, 0] = False
    degrees = np.diff(stack.skeleton.indptr)
    return WalkStatistics(
        name,
        p_g,
        walkers=len(walks),
        reached=len(np.unique(walks[going])),
        distance=_curve(far, far >= 0),
        returned=_curve(back, going),
        coverage=_curve(np.cumsum(new, axis=1), going),
        degree=_curve(degrees[walks], going),
        gaps=_curve(_gaps(stack, np.where(new, walks, -1)), going),
        alive=going.mean(axis=0),
    )


def _curve(values: NDArray[Any], counted: NDArray[np.bool_]) -> Curve:
    """Means down the columns, over what is counted."""
    count = np.count_nonzero(counted, axis=0)
    nothing = np.full(len(count), np.nan)
    mean = np.divide(np.where(counted, values, 0).sum(axis=0), count, out=nothing.copy(), where=count > 0)
    excess = np.where(counted, values - mean, 0.0)
    variance = np.divide((excess**2).sum(axis=0), count * (count - 1.0), out=nothing, where=count > 1)
    return Curve(mean, np.sqrt(variance))


def _first_visits(walks: Int32) -> NDArray[np.bool_]:
    """Whether each walk is at a node for the first time, which it is not beyond its end."""
    order = np.argsort(walks, axis=1, kind="stable")
    ranked = np.take_along_axis(walks, order, axis=1)
    new = np.ones(walks.shape, bool)
    new[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    first = np.empty(walks.shape, bool)
    np.put_along_axis(first, order, new & (ranked >= 0), axis=1)
    return first


def _distances(stack: GraphBatch, walks: Int32) -> Int32:
    order = np.argsort(walks[:, 0], kind="stable")
    far: Int32 = kernels.shortest_paths.compute_distances(stack.out.indptr, stack.out.indices, walks, order)
    return far


def _gaps(stack: GraphBatch, visits: Int32) -> Int64:
    """beta_1 of each walk after every step; `visits` holds first visits only, -1 between them."""
    gaps = np.empty(visits.shape, np.int64)
    size = max(1, _ENTRIES // visits.shape[1])
    for first in range(0, len(visits), size):
        some = visits[first : first + size]
        tracker = GapTracker(stack, np.full_like(some, -1), np.zeros(len(some), np.int64))
        for t in range(some.shape[1]):
            tracker.advance(some[:, t].copy())
            gaps[first : first + size, t] = tracker.values()
    return gaps
