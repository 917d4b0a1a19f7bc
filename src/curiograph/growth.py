"""Growth: what a walk, an agent's or a person's, has built up after every step."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from curiograph.errors import UnknownNodeError, WalkError
from curiograph.extras import require
from curiograph.graph.container import Graph, as_graph
from curiograph.graph.rows import Float64, Int32, Int64
from curiograph.graph.storage import PathLike
from curiograph.jobs import HERE, Engine, EngineName, Job, Need, Result, as_engine, complete
from curiograph.jobs.identity import digest, graph_digest
from curiograph.jobs.parts import parts
from curiograph.progress import Progress, silent
from curiograph.rewards.grown import OPEN, Grown, grow
from curiograph.settings import whole_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_AT_ONCE = 2_000  # walks whose labels are looked up together
_TASK = 1.0
"""Seconds that a task takes, about: by the length of its walks, so that tasks do not depend on who does them."""
_COMPRESSING = 2e-8
"""Seconds for all steps of a walk, over the third power of its nodes; as `curiograph bench --scale` measures it."""
_STEP = 3e-6
"""Seconds for the gaps of a step."""
_TASK_MEMORY = 2**27
"""Bytes that a task takes at most: those of `grow`, which bounds them."""


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


class Growths(Sequence[Growth]):
    """The records of several walks, each made from plain arrays when it is asked for.

    >>> from curiograph.graph.toys import cycle
    >>> [len(growth) for growth in measure(cycle(4), [[0, 1], [3, 2, 1]])]
    [2, 3]
    """

    def __init__(self, graph: Graph, grown: Grown, revisits: Int64, which: range | None = None) -> None:
        self.graph = graph
        self.grown = grown
        """What all walks grew, as plain arrays; a slice shares them."""
        self.revisits = revisits
        """Of every walk of `grown`, the entries left out because their node had been visited before."""
        self._which = range(len(grown)) if which is None else which
        self._gaps = np.searchsorted(grown.gaps[:, 0], np.arange(len(grown) + 1))

    @property
    def items(self) -> list[Growth]:
        """All records at once."""
        return list(self)

    def __len__(self) -> int:
        return len(self._which)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Growths(self.graph, self.grown, self.revisits, self._which[index])
        walk = self._which[index]
        steps = self._steps(walk)
        labels = _labels(self.graph, self.grown.nodes[steps])
        rows = self.grown.gaps[self._gaps[walk] : self._gaps[walk + 1]]
        return Growth(
            labels,
            self.grown.betti[steps].copy(),
            self.grown.edges[steps].copy(),
            self.grown.bits[steps].copy(),
            [_gap(dim, labels, opened, closed) for _, dim, opened, closed in rows.tolist()],
            int(self.revisits[walk]),
        )

    def __iter__(self) -> Iterator[Growth]:
        return (self[number] for number in range(len(self)))

    def to_frame(self) -> pd.DataFrame:
        """One row per walk and step; the column `walk` counts from 0."""
        pandas = require("pandas", "frame", "Frames")
        if len(self) == 0:
            return pandas.DataFrame()
        walks = np.asarray(self._which)
        counts = np.diff(self.grown.offsets)[walks]
        ends = np.cumsum(counts)
        step = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        places = np.repeat(self.grown.offsets[walks], counts) + step
        opened, closed = self._events()
        columns: dict[str, Any] = {"walk": np.repeat(np.arange(len(walks)), counts), "step": step + 1}
        columns |= {"node": _labels(self.graph, self.grown.nodes[places]), "edges": self.grown.edges[places]}
        columns |= {f"beta{dim}": betti[places] for dim, betti in enumerate(self.grown.betti.T)}
        columns |= {"compressibility": self.grown.bits[places], "opened": opened[places], "closed": closed[places]}
        return pandas.DataFrame(columns)

    def _events(self) -> tuple[Int64, Int64]:
        """Number of 1-dimensional gaps opened and closed at every step of all walks."""
        walk, _, opened, closed = self.grown.gaps[self.grown.gaps[:, 1] == 1].T
        first = self.grown.offsets[walk]
        at_closing = (first + closed)[closed != OPEN]
        size = len(self.grown.nodes)
        return np.bincount(first + opened, minlength=size), np.bincount(at_closing, minlength=size)

    def to_dict(self) -> dict[str, Any]:
        """All records as plain values."""
        return {"walks": [growth.to_dict() for growth in self]}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Mean gaps and compressibility over the steps, with bands of one standard error.

        Means are over the walks that got that far; the curves end where fewer than a fifth of them did.
        """
        from curiograph.plotting import plot_growths

        steps = [self._steps(walk) for walk in self._which]
        return plot_growths([self.grown.betti[s, 1] for s in steps], [self.grown.bits[s] for s in steps], ax)

    def _steps(self, walk: int) -> slice:
        return slice(int(self.grown.offsets[walk]), int(self.grown.offsets[walk + 1]))


@overload
def measure(graph: Graph, walk: Sequence[Hashable], *, max_dim: int = ..., compressibility: bool = ...) -> Growth: ...
@overload
def measure(
    graph: Graph,
    walk: Sequence[list[Hashable]],
    *,
    max_dim: int = ...,
    compressibility: bool = ...,
    engine: EngineName | Engine = ...,
    workers: int | None = ...,
    address: str | None = ...,
    run: PathLike | None = ...,
    progress: Progress = ...,
) -> Growths: ...
def measure(
    graph: Graph,
    walk: Any,
    *,
    max_dim: int = 1,
    compressibility: bool = True,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    run: PathLike | None = None,
    progress: Progress = silent,
) -> Any:
    """Measure how a walk grows: gaps opened and closed, components, compressibility, after every step.

    Parameters
    ----------
    walk : labels in order of visit. Revisits are allowed: the first visit counts. Consecutive nodes need not be
        neighbours. A list of lists (or of `Walk`s) measures several walks at once and gives `Growths`.
    max_dim : highest dimension of gaps; 2 and above need gudhi.
    compressibility : leave it out for walks of many hundreds of nodes, where it costs n^3 per step.
    engine : who measures many walks: "local", processes of this machine; or "ray", a cluster. The result is the same.
    workers : tasks at a time; None for as many as pay off.
    address : of the cluster; without it one is started on this machine for the job.
    run : folder that keeps what is finished: a killed job goes on where it stopped.
    progress : called with what is done of several walks.

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
    visits = visits_of(graph, walk if many else [walk], many)
    by_whom = as_engine(engine, workers, address)
    found = complete(_job(graph, visits, max_dim, compressibility), by_whom if many else HERE, run, progress)
    growths = Growths(graph, _joined(visits, found), visits.revisits)
    return growths if many else growths[0]


@dataclass(frozen=True, eq=False)
class _Measured:
    """What all tasks of measuring look at; labels are no part of it."""

    graph: Graph
    visits: Visits
    max_dim: int
    compressibility: bool


def _job(graph: Graph, visits: Visits, max_dim: int, compressibility: bool) -> Job:
    lengths = np.diff(visits.offsets).astype(float)
    seconds = lengths**3 * _COMPRESSING * compressibility + lengths * _STEP
    tasks = list(parts(seconds, _TASK))
    rows = graph.skeleton
    nodes, each = len(visits.nodes), 8 * (max_dim + 3) + 16  # bytes of a step and its gaps
    return Job(
        "measure",
        _measured,
        _Measured(Graph(rows.indptr, rows.indices), visits, max_dim, compressibility),
        tasks,
        lambda: {
            "graph": graph_digest(rows),
            "walks": digest(visits.nodes, visits.offsets),
            "max_dim": max_dim,
            "compressibility": compressibility,
        },
        Need(
            task=_TASK_MEMORY,
            results=2 * each * nodes,
            kept=each * nodes,
            shared=rows.indices.nbytes + rows.indptr.nbytes,
            way_out="measure the walks in parts",
            seconds=float(seconds.sum()),
        ),
        lambda task: f"walks {task[0]} to {task[1] - 1}",
        "walks",
        [last - first for first, last in tasks],
    )


def _measured(what: _Measured, task: tuple[int, int]) -> Result:
    nodes, offsets = what.visits.part(*task)
    grown = grow(what.graph, nodes, offsets, max_dim=what.max_dim, compressibility=what.compressibility)
    return {"betti": grown.betti, "edges": grown.edges, "bits": grown.bits, "gaps": grown.gaps, "walks": len(grown)}


def _joined(visits: Visits, results: Sequence[Result]) -> Grown:
    """All walks, from the results of all tasks in order."""
    walks = np.cumsum([0, *(result["walks"] for result in results)])
    gaps = np.concatenate([result["gaps"] for result in results])
    gaps[:, 0] += np.repeat(walks[:-1], [len(result["gaps"]) for result in results]).astype(np.int32)
    betti, edges, bits = (np.concatenate([result[name] for result in results]) for name in ("betti", "edges", "bits"))
    return Grown(visits.offsets, visits.nodes, betti, edges, bits, gaps)


@dataclass(frozen=True, eq=False)
class Visits:
    """Positions of the first visits of many walks; those of walk i stand at `offsets[i]:offsets[i + 1]`."""

    nodes: Int32
    offsets: Int64
    revisits: Int64
    """Entries of each walk left out because their node had been visited before."""

    def part(self, first: int, last: int) -> tuple[Int32, Int64]:
        """Nodes and offsets of the walks from `first` up to, but not including, `last`."""
        offsets = self.offsets[first : last + 1]
        return self.nodes[offsets[0] : offsets[-1]], offsets - offsets[0]


def visits_of(graph: Graph, walks: Sequence[Any], many: bool = True) -> Visits:
    """The first visits of walks that are given by labels; errors name a walk by its number where there are many.

    >>> from curiograph.graph.toys import cycle
    >>> visits = visits_of(cycle(4), [[3, 2, 3], [0]])
    >>> visits.nodes.tolist(), visits.offsets.tolist(), visits.revisits.tolist()
    ([3, 2, 0], [0, 2, 3], [1, 0])
    """
    numbered = enumerate(getattr(walk, "nodes", walk) for walk in walks)
    parts, lengths, entries = [], [], []
    while some := list(islice(numbered, _AT_ONCE)):
        nodes, counts = _first_visits(graph, some, many)
        parts.append(nodes)
        lengths += counts
        entries += [len(walk) for _, walk in some]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Visits(np.concatenate(parts), offsets, np.asarray(entries) - np.asarray(lengths))


def _first_visits(graph: Graph, some: list[tuple[int, Any]], many: bool) -> tuple[Int32, list[int]]:
    """Positions of the nodes of some walks, and how many are of each."""
    labels: list[Hashable] = []
    counts = []
    try:
        for number, walk in some:
            _check_entries(walk, number)
            once = dict.fromkeys(_plain(walk))
            labels += once
            counts.append(len(once))
        return graph.positions(labels), counts
    except (TypeError, UnknownNodeError):  # one by one, to name the walk; a label that cannot be hashed is no node
        each = [first_visits(graph, walk, number, many) for number, walk in some]
        return np.concatenate(each), [len(nodes) for nodes in each]


def _is_walk(graph: Graph, item: Any) -> bool:
    """Whether an entry is a walk of its own rather than a label (a tuple may be either: a label wins)."""
    return (
        isinstance(item, (list, np.ndarray))
        or hasattr(item, "nodes")
        or (isinstance(item, tuple) and item not in graph and not isinstance(graph.label(0), tuple))
    )


def _labels(graph: Graph, nodes: Iterable[Any]) -> list[Hashable]:
    return [graph.label(int(v)) for v in nodes]


def _gap(dim: int, labels: list[Hashable], opened: int, closed: int) -> Gap:
    if closed == OPEN:
        return Gap(dim, labels[opened], None, opened + 1, None)
    return Gap(dim, labels[opened], labels[closed], opened + 1, closed + 1)


def by_opening(pair: tuple[int, int | None]) -> tuple[int, float]:
    """The order of gaps: by opening, then by closing, those that stay open last."""
    return pair[0], np.inf if pair[1] is None else pair[1]


def _check_walk(walk: Any) -> None:
    if isinstance(walk, (str, bytes)) or not isinstance(walk, (Sequence, np.ndarray)):
        raise WalkError(f"a walk is a list of node labels; got {walk!r}.")


def _check_entries(walk: Any, number: int) -> None:
    _check_walk(walk)
    if len(walk) == 0:
        raise WalkError(f"walk {number} is empty; a walk needs at least one node.")


def _plain(walk: Any) -> list[Any]:
    """Labels as Python has them, where numpy had them."""
    if isinstance(walk, np.ndarray) and walk.ndim == 1:
        plain: list[Any] = walk.tolist()
        return plain
    return [label.item() if isinstance(label, np.generic) else label for label in walk]


def first_visits(graph: Graph, walk: Any, number: int = 0, many: bool = False) -> Int32:
    """Positions of the nodes of a walk, each once; errors name the walk by its number where there are many."""
    _check_entries(walk, number)
    labels = _plain(walk)
    try:
        return graph.positions(dict.fromkeys(labels))
    except TypeError:  # a label that cannot be hashed is no node, which `positions` says
        return graph.positions(labels)
    except UnknownNodeError as error:
        where = next(place for place, label in enumerate(labels) if label not in graph)
        raise UnknownNodeError(f"walk {number}, entry {where}: {error}" if many else str(error)) from None
