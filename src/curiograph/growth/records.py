"""Results of `measure`: the growth of one walk or of several, and their gaps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.graph.graph import Graph
from curiograph.growth.compute import OPEN, GrowthArrays, GrowthSteps
from curiograph.results import Skipped, Table, join_columns, to_plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Gap:
    """A gap in knowledge, with the nodes that opened and closed it.

    Examples
    --------
    >>> Gap(opened_by="d", closed_by="e", opened_at=4, closed_at=6).lifetime
    2
    """

    opened_by: Hashable
    """Label of the node that opened the gap."""
    closed_by: Hashable | None
    """Label of the node that closed the gap; None if it is open at the end of the walk."""
    opened_at: int
    """Number of nodes visited when the gap opened, the opening node included."""
    closed_at: int | None
    """Number of nodes visited when the gap closed, the closing node included; None if it stays open."""

    @property
    def lifetime(self) -> int | None:
        """Steps from opening to closing; None if the gap stays open."""
        return None if self.closed_at is None else self.closed_at - self.opened_at

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the lifetime."""
        return {**vars(self), "lifetime": self.lifetime}


@dataclass(frozen=True, eq=False, repr=False)
class Growth(GrowthSteps, Table):
    """The growth of one walk, with an entry per distinct node in order of first visit.

    Examples
    --------
    >>> import curiograph as cg
    >>> growth = cg.measure(cg.toys.cycle(4), [0, 1, 2, 3])
    >>> growth.beta1
    array([0, 0, 0, 1])
    >>> growth.gaps
    [Gap(opened_by=3, closed_by=None, opened_at=4, closed_at=None)]
    """

    nodes: list[Hashable]
    """Labels of the visited nodes, first visits only."""
    compressibility: Float64
    """Compressibility in bits, with self-loops; NaN if it was not computed."""
    gaps: list[Gap]
    """Gaps in order of opening."""
    revisits: int
    """Number of visits that were left out because their node had been visited before."""
    user: Hashable = 0
    """Name of the user who took the walk; the number of the walk if it was given without a user."""
    session: Hashable = 1
    """Name of the session of the user."""

    @classmethod
    def from_arrays(
        cls, graph: Graph, grown: GrowthArrays, walk: int, revisits: int, user: Hashable = 0, session: Hashable = 1
    ) -> Growth:
        """Return the record of one of the walks in `grown`."""
        steps = slice(int(grown.offsets[walk]), int(grown.offsets[walk + 1]))
        labels = [graph.names[v] for v in grown.nodes[steps].tolist()]
        first, last = np.searchsorted(grown.gaps[:, 0], [walk, walk + 1])
        return cls(
            **{each.name: getattr(grown, each.name)[steps] for each in fields(GrowthSteps)},
            nodes=labels,
            compressibility=grown.bits[steps],
            gaps=[
                Gap(labels[opened], None, opened + 1, None)
                if closed == OPEN
                else Gap(labels[opened], labels[closed], opened + 1, closed + 1)
                for _, opened, closed in grown.gaps[first:last].tolist()
            ],
            revisits=revisits,
            user=user,
            session=session,
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def columns(self) -> dict[str, Any]:
        """Return one entry per step: node, edges, components, gaps, compressibility and degrees of freedom."""
        opened = [gap.opened_at - 1 for gap in self.gaps]
        closed = [gap.closed_at - 1 for gap in self.gaps if gap.closed_at is not None]
        return self.list_steps(np.arange(1, len(self) + 1), self.nodes, self.compressibility, opened, closed)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: a list per column, the gaps, user, session and the number of revisits."""
        gaps = [to_plain(gap) for gap in self.gaps]
        facts = {"user": self.user, "session": self.session, "revisits": self.revisits}
        return {**{name: to_plain(values) for name, values in self.columns().items()}, "gaps": gaps, **to_plain(facts)}

    def __repr__(self) -> str:
        closed = sum(gap.closed_at is not None for gap in self.gaps)
        gaps = f"{len(self.gaps):,} gaps opened, {closed:,} closed"
        return f"Growth({len(self):,} nodes, {gaps}, compressibility {self.compressibility[-1]:.3g} bits)"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot gaps and compressibility over the steps; on a new figure, also the lifetime of every gap."""
        from curiograph.plotting import plot_growth

        lifetimes = [(gap.opened_at, gap.closed_at) for gap in self.gaps]
        return plot_growth(self.beta1, self.compressibility, lifetimes, ax)


@dataclass(frozen=True, eq=False, repr=False)
class Growths(Table, Sequence[Growth]):
    """The growth of several walks: a sequence of `Growth`, and a table with one row per walk and step.

    Examples
    --------
    >>> import curiograph as cg
    >>> growths = cg.measure(cg.toys.cycle(4), [[0, 1, 2, 3], [3, 2, 1]])
    >>> growths
    Growths(2 walks by 2 users, 7 nodes)
    >>> growths[1].nodes
    [3, 2, 1]
    >>> growths.gaps_frame()[["walk", "lifetime", "censored"]]
       walk  lifetime  censored
    0     0         0      True
    """

    graph: Graph
    """The graph that was walked on."""
    grown: GrowthArrays
    """Growth of all walks as flat arrays."""
    revisits: Int64
    """Number of visits of each walk that were left out because their node had been visited before."""
    people: dict[str, list[Any]]
    """User and session of each walk, and the values of further columns of a log, such as a group."""
    skipped: Skipped
    """What was dropped when the walks were read and matched with the graph."""

    @property
    def users(self) -> list[Hashable]:
        """Name of the user of each walk; the number of the walk if it was given without a user."""
        return self.people["user"]

    @property
    def sessions(self) -> list[Hashable]:
        """Name of the session of each walk."""
        return self.people["session"]

    def __len__(self) -> int:
        return len(self.grown)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[walk] for walk in range(len(self))[index]]
        walk = range(len(self))[index]
        who = self.users[walk], self.sessions[walk]
        return Growth.from_arrays(self.graph, self.grown, walk, int(self.revisits[walk]), *who)

    def columns(self) -> dict[str, Any]:
        """Return one entry per walk and step: number of the walk, user and session, and the columns of `Growth`."""
        grown = self.grown
        counts = np.diff(grown.offsets)
        walk, opened, closed = grown.gaps.T
        begins = grown.offsets[walk]
        step = np.arange(1, len(grown.nodes) + 1) - np.repeat(grown.offsets[:-1], counts)
        labels = [self.graph.label(int(v)) for v in grown.nodes]
        closings = (begins + closed)[closed != OPEN]
        steps = grown.list_steps(step, labels, grown.bits, begins + opened, closings)
        return self._join_people(np.repeat(np.arange(len(self)), counts), steps)

    def gaps_frame(self) -> pd.DataFrame:
        """Return a pandas frame with one row per gap: user, session, walk, nodes that opened and closed it, lifetime.

        The lifetime of a gap that is open at the end of its walk is the number of steps to the end, and it is censored:
        the gap would have lived longer in a longer walk. `cg.gap_survival` takes this into account.
        """
        import pandas as pd

        grown = self.grown
        walk, opened, closed = grown.gaps.T
        begins = grown.offsets[walk]
        is_open = closed == OPEN
        ends = np.where(is_open, np.diff(grown.offsets)[walk] - 1, closed)
        closed_by = [
            None if still else self.graph.label(int(v))
            for still, v in zip(is_open, grown.nodes[begins + ends], strict=True)
        ]
        gaps = {
            "opened_by": [self.graph.label(int(v)) for v in grown.nodes[begins + opened]],
            "closed_by": closed_by,
            "opened_at": opened + 1,
            "closed_at": [
                None if still else end + 1 for still, end in zip(is_open.tolist(), ends.tolist(), strict=True)
            ],
            "lifetime": ends - opened,
            "censored": is_open,
        }
        return pd.DataFrame(self._join_people(walk, gaps))

    def _join_people(self, walk: Int64, columns: dict[str, Any]) -> dict[str, Any]:
        """Return columns whose rows belong to the given walks, after the number, user, session and log columns."""
        import pandas as pd

        people = {name: pd.Series(values).take(walk).array for name, values in self.people.items()}
        return {"walk": walk, **join_columns(people, columns)}

    def to_dict(self) -> dict[str, Any]:
        """Return the records of all walks, with the further columns of the log, and what was dropped."""
        people = [dict(zip(self.people, row, strict=True)) for row in zip(*self.people.values(), strict=True)]
        walks = [growth.to_dict() | to_plain(who) for growth, who in zip(self, people, strict=True)]
        return {"walks": walks, "skipped": self.skipped.to_dict()}

    def __repr__(self) -> str:
        return f"Growths({len(self):,} walks by {len(set(self.users)):,} users, {len(self.grown.nodes):,} nodes)"

    def plot(self, by: str | None = None) -> Axes:
        """Plot mean gaps and mean compressibility over the steps, with bands of one standard error.

        Means are over the walks that reach a step; the curves end where fewer than a fifth of them do. With `by`, the
        name of a column of the log such as a group, there is a line for each of its values.
        """
        from curiograph.plotting import plot_growths

        bounds = [slice(a, b) for a, b in zip(self.grown.offsets[:-1], self.grown.offsets[1:], strict=True)]
        beta1, bits = ([values[steps] for steps in bounds] for values in (self.grown.beta1, self.grown.bits))
        return plot_growths(beta1, bits, None if by is None else [str(value) for value in self.people[by]])
