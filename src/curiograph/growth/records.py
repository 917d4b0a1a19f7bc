"""Growth: what a walk, an agent's or a person's, has built up after every step."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.graph.graph import Graph
from curiograph.growth.compute import OPEN, GrowthArrays
from curiograph.optional import import_optional

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


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
    >>> from curiograph.growth.measure import measure
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
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

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
    >>> from curiograph.growth.measure import measure
    >>> [len(growth) for growth in measure(cycle(4), [[0, 1], [3, 2, 1]])]
    [2, 3]
    """

    def __init__(self, graph: Graph, grown: GrowthArrays, revisits: Int64, which: range | None = None) -> None:
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
        pandas = import_optional("pandas", "frame", "Frames")
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


def _labels(graph: Graph, nodes: Iterable[Any]) -> list[Hashable]:
    return [graph.label(int(v)) for v in nodes]


def _gap(dim: int, labels: list[Hashable], opened: int, closed: int) -> Gap:
    if closed == OPEN:
        return Gap(dim, labels[opened], None, opened + 1, None)
    return Gap(dim, labels[opened], labels[closed], opened + 1, closed + 1)
