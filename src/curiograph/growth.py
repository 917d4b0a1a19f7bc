"""Growth: what a walk, an agent's or a person's, has built up after every step."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from curiograph.errors import UnknownNodeError, WalkError
from curiograph.extras import require
from curiograph.graph.container import Graph, as_graph
from curiograph.graph.rows import Float64, Int32, Int64
from curiograph.graph.stack import Stack
from curiograph.progress import Progress, silent
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.rewards.igt import GapTracker
from curiograph.rewards.topology import persistence
from curiograph.settings import whole_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ENTRIES = 2**17  # walks times nodes measured together: bounds the memory, does not change the numbers


@dataclass(frozen=True)
class Gap:
    """A gap in knowledge: which node opened it, which closed it, and how long it lived."""

    dim: int
    """1 for a loop; higher dimensions only when they were asked for."""
    opened_by: Hashable
    closed_by: Hashable | None
    """None while it is open at the end of the walk."""
    opened_at: int
    """Number of nodes visited when it opened, that node included."""
    closed_at: int | None

    @property
    def lifetime(self) -> int | None:
        """Steps from opening to closing; None for a gap that stays open."""
        return None if self.closed_at is None else self.closed_at - self.opened_at


@dataclass(frozen=True, eq=False)
class Growth:
    """The record of one walk, an entry per distinct node in order of first visit.

    >>> from curiograph.graph.toys import cycle
    >>> growth = measure(cycle(4), [0, 1, 2, 3])
    >>> growth.beta1
    array([0, 0, 0, 1])
    >>> growth.gaps
    [Gap(dim=1, opened_by=3, closed_by=None, opened_at=4, closed_at=None)]
    """

    nodes: list[Hashable]
    """Labels, first visits only."""
    betti: Int64
    """Betti numbers, steps x dimensions."""
    edges: Int64
    """Number of edges of the visited subgraph."""
    compressibility: Float64
    """Compressibility in bits, with self-loops; NaN where it was not asked for."""
    gaps: list[Gap]
    """Every gap that lived, in order of opening."""
    revisits: int = 0
    """Entries of the walk left out because their node had been visited before."""

    @property
    def beta0(self) -> Int64:
        """Components of the visited subgraph."""
        return self.betti[:, 0]

    @property
    def beta1(self) -> Int64:
        """Information gaps of the visited subgraph."""
        return self.betti[:, 1]

    def __len__(self) -> int:
        return len(self.nodes)

    def columns(self) -> dict[str, list[Any]]:
        """One entry per step, by name."""
        columns: dict[str, Any] = {"step": list(range(1, len(self) + 1)), "node": list(self.nodes)}
        columns["edges"] = self.edges.tolist()
        columns |= {f"beta{dim}": self.betti[:, dim].tolist() for dim in range(self.betti.shape[1])}
        columns["compressibility"] = self.compressibility.tolist()
        opened, closed = self._events()
        return columns | {"opened": opened.tolist(), "closed": closed.tolist()}

    def to_dict(self) -> dict[str, Any]:
        """Columns, gaps and revisits as plain values."""
        gaps = [asdict(gap) | {"lifetime": gap.lifetime} for gap in self.gaps]
        return {**self.columns(), "gaps": gaps, "revisits": self.revisits}

    def to_frame(self) -> pd.DataFrame:
        """One row per step as a pandas frame (`pip install curiograph[frame]`)."""
        return require("pandas", "frame", "Frames").DataFrame(self.columns())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Gaps and compressibility over the steps; on a figure of its own, the life of every gap below."""
        from curiograph.plotting import plot_growth

        lives = [(gap.opened_at, gap.closed_at) for gap in self.gaps if gap.dim == 1]
        return plot_growth(self.beta1, self.compressibility, lives, ax)

    def _events(self) -> tuple[Int64, Int64]:
        """Number of 1-dimensional gaps opened and closed at every step."""
        opened, closed = np.zeros(len(self), np.int64), np.zeros(len(self), np.int64)
        for gap in self.gaps:
            if gap.dim == 1:
                opened[gap.opened_at - 1] += 1
                if gap.closed_at is not None:
                    closed[gap.closed_at - 1] += 1
        return opened, closed


@dataclass(frozen=True, eq=False)
class Growths(Sequence[Growth]):
    """The records of several walks.

    >>> from curiograph.graph.toys import cycle
    >>> [len(growth) for growth in measure(cycle(4), [[0, 1], [3, 2, 1]])]
    [2, 3]
    """

    items: list[Growth] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        return Growths(self.items[index]) if isinstance(index, slice) else self.items[index]

    def __iter__(self) -> Iterator[Growth]:
        return iter(self.items)

    def to_frame(self) -> pd.DataFrame:
        """One row per walk and step; the column `walk` counts from 0."""
        pandas = require("pandas", "frame", "Frames")
        frames = [growth.to_frame() for growth in self.items]
        if not frames:
            return pandas.DataFrame()
        stacked = pandas.concat(frames, ignore_index=True)
        stacked.insert(0, "walk", np.repeat(np.arange(len(frames)), [len(frame) for frame in frames]))
        return stacked

    def to_dict(self) -> dict[str, Any]:
        """All records as plain values."""
        return {"walks": [growth.to_dict() for growth in self.items]}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Mean gaps and compressibility over the steps, with bands of one standard error.

        Means are over the walks that got that far; the curves end where fewer than a fifth of them did.
        """
        from curiograph.plotting import plot_growths

        return plot_growths([g.beta1 for g in self.items], [g.compressibility for g in self.items], ax)


@overload
def measure(
    graph: Graph, walk: Sequence[Hashable], *, max_dim: int = ..., compressibility: bool = ..., progress: Progress = ...
) -> Growth: ...
@overload
def measure(
    graph: Graph,
    walk: Sequence[list[Hashable]],
    *,
    max_dim: int = ...,
    compressibility: bool = ...,
    progress: Progress = ...,
) -> Growths: ...
def measure(
    graph: Graph, walk: Any, *, max_dim: int = 1, compressibility: bool = True, progress: Progress = silent
) -> Any:
    """Measure how a walk grows: gaps opened and closed, components, compressibility, after every step.

    Parameters
    ----------
    walk : labels in order of visit. Revisits are allowed: the first visit counts. Consecutive nodes need not be
        neighbours. A list of lists (or of `Walk`s) measures several walks at once and gives `Growths`.
    max_dim : highest dimension of gaps; 2 and above need gudhi.
    compressibility : leave it out for walks of many hundreds of nodes, where it costs n^3 per step.
    progress : called with how many walks are measured.

    >>> from curiograph.graph.toys import library
    >>> growth = measure(library(), ["music", "physics", "chemistry", "biology", "philosophy", "logic", "mathematics"])
    >>> growth.beta1.tolist()
    [0, 0, 0, 0, 0, 0, 1]
    """
    as_graph(graph)
    max_dim = whole_number("max_dim", max_dim, 1, "give 1 or a higher whole number")
    walk = getattr(walk, "nodes", walk)
    _check_walk(walk)
    many = len(walk) > 0 and _is_walk(graph, walk[0])
    walks = [getattr(w, "nodes", w) for w in walk] if many else [walk]
    visits = [first_visits(graph, w, number, many) for number, w in enumerate(walks)]
    growths: list[Growth | None] = [None] * len(walks)
    done = 0
    for some in _alike([len(visit) for visit in visits]):
        progress(f"measured {done:,} of {len(walks):,} walks", done / len(walks))
        done += len(some)
        entries = [len(walks[i]) for i in some]
        for i, growth in zip(
            some, _measure(graph, [visits[i] for i in some], entries, max_dim, compressibility), strict=True
        ):
            growths[i] = growth
    return Growths(growths) if many else growths[0]  # type: ignore[arg-type]


def _alike(lengths: list[int]) -> Iterator[list[int]]:
    """Walks to measure together, longest first: padded to the longest, none is less than half of it."""
    some: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if some and (2 * lengths[i] < lengths[some[0]] or len(some) * lengths[some[0]] >= _ENTRIES):
            yield some
            some = []
        some.append(i)
    yield some


def _is_walk(graph: Graph, item: Any) -> bool:
    """Whether an entry is a walk of its own rather than a label (a tuple may be either: a label wins)."""
    return (
        isinstance(item, (list, np.ndarray))
        or hasattr(item, "nodes")
        or (isinstance(item, tuple) and item not in graph and not isinstance(graph.label(0), tuple))
    )


def _measure(
    graph: Graph, visits: list[Int32], entries: list[int], max_dim: int, compressibility: bool
) -> list[Growth]:
    """The records of walks given by their first visits, longest first."""
    lengths = np.asarray([len(v) for v in visits])
    longest = int(lengths.max())
    nodes = np.full((len(visits), longest), -1, np.int32)
    for i, visit in enumerate(visits):
        nodes[i, : len(visit)] = visit
    stack = Stack.of([graph])
    gaps = GapTracker(stack, nodes, np.zeros(len(visits), np.int64))
    beta = np.zeros((len(visits), longest, 2), np.int64)
    edges = np.zeros((len(visits), longest), np.int64)
    bits = np.full((len(visits), longest), np.nan)
    for t in range(longest):
        gaps.advance(nodes[:, t].copy())
        beta[:, t, 0], beta[:, t, 1], edges[:, t] = gaps.parts(), gaps.values(), gaps.edges()
        if compressibility:
            going = int(np.count_nonzero(lengths > t))  # the longest come first
            bits[:going, t] = CompressibilityTracker(stack, nodes[:going], np.full(going, t + 1)).values()
    pairs = _pairs_by_walk(gaps, len(visits))
    return [
        _record(graph, visit, beta[i, :n], edges[i, :n], bits[i, :n], pairs[i], max_dim, entries[i])
        for i, (visit, n) in enumerate(zip(visits, lengths, strict=True))
    ]


def _record(
    graph: Graph,
    visit: Int32,
    beta: Int64,
    edges: Int64,
    bits: Float64,
    pairs: list[tuple[int, int | None]],
    max_dim: int,
    entries: int,
) -> Growth:
    labels = [graph.label(int(v)) for v in visit]
    gaps = [_gap(1, labels, opened, closed) for opened, closed in sorted(pairs, key=by_opening)]
    columns = [beta]
    for dim, higher in (persistence(graph.skeleton, visit, max_dim) if max_dim > 1 else {}).items():
        gaps += [_gap(dim, labels, opened, closed) for opened, closed in sorted(higher, key=by_opening)]
        steps = np.arange(len(visit))[:, None]
        opened_at = np.asarray([opened for opened, _ in higher], np.int64)
        closed_at = np.asarray([len(visit) if closed is None else closed for _, closed in higher], np.int64)
        columns.append(((steps >= opened_at) & (steps < closed_at)).sum(axis=1, keepdims=True))
    return Growth(labels, np.hstack(columns), edges, bits, gaps, revisits=entries - len(visit))


def _gap(dim: int, labels: list[Hashable], opened: int, closed: int | None) -> Gap:
    return Gap(
        dim,
        labels[opened],
        None if closed is None else labels[closed],
        opened + 1,
        None if closed is None else closed + 1,
    )


def by_opening(pair: tuple[int, int | None]) -> tuple[int, float]:
    """The order of gaps: by opening, then by closing, those that stay open last."""
    return pair[0], np.inf if pair[1] is None else pair[1]


def _pairs_by_walk(tracker: GapTracker, count: int) -> list[list[tuple[int, int | None]]]:
    pairs: list[list[tuple[int, int | None]]] = [[] for _ in range(count)]
    for rows in tracker.closed:
        for walk, opened, closed in rows.tolist():
            pairs[walk].append((opened, closed))
    for walk, opened in tracker.open_gaps().tolist():
        pairs[walk].append((opened, None))
    return pairs


def _check_walk(walk: Any) -> None:
    if isinstance(walk, (str, bytes)) or not isinstance(walk, (Sequence, np.ndarray)):
        raise WalkError(f"a walk is a list of node labels; got {walk!r}.")


def first_visits(graph: Graph, walk: Any, number: int = 0, many: bool = False) -> Int32:
    """Positions of the nodes of a walk, each once; errors name the walk by its number where there are many."""
    _check_walk(walk)
    if len(walk) == 0:
        raise WalkError(f"walk {number} is empty; a walk needs at least one node.")
    labels = [label.item() if isinstance(label, np.generic) else label for label in walk]
    try:
        return graph.positions(dict.fromkeys(labels))
    except TypeError:  # a label that cannot be hashed is no node, which `positions` says
        return graph.positions(labels)
    except UnknownNodeError as error:
        where = next(place for place, label in enumerate(labels) if label not in graph)
        raise UnknownNodeError(f"walk {number}, entry {where}: {error}" if many else str(error)) from None
