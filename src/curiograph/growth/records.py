"""Results of `measure`: the growth of one walk or of several, and their gaps."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.growth.compute import OPEN, GrowthArrays
from curiograph.growth.tables import STEP_MEASURES, PeopleTable, list_gaps, list_user_columns
from curiograph.notebook import render_result
from curiograph.optional import import_optional
from curiograph.rewards.cct import count_conformable
from curiograph.skipped import Skipped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from curiograph.growth.survival import GapSurvival


@dataclass(frozen=True)
class Gap:
    """A gap in knowledge, with the nodes that opened and closed it.

    Examples
    --------
    >>> Gap(dim=1, opened_by="d", closed_by="e", opened_at=4, closed_at=6).lifetime
    2
    """

    dim: int
    """Dimension: 1 for a loop; higher dimensions only if `max_dim` was above 1."""
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


@dataclass(frozen=True, eq=False)
class Growth:
    """The growth of one walk, with an entry per distinct node in order of first visit.

    Examples
    --------
    >>> import curiograph as cg
    >>> growth = cg.measure(cg.toys.cycle(4), [0, 1, 2, 3])
    >>> growth.beta1
    array([0, 0, 0, 1])
    >>> growth.gaps
    [Gap(dim=1, opened_by=3, closed_by=None, opened_at=4, closed_at=None)]
    """

    nodes: list[Hashable]
    """Labels of the visited nodes, first visits only."""
    betti: Int64
    """Betti numbers, steps x dimensions."""
    edges: Int64
    """Number of edges of the visited subgraph."""
    compressibility: Float64
    """Compressibility in bits, with self-loops; NaN if it was not computed."""
    dimension: Int64
    """Dimension d in which the visited subgraph moves as a mechanical network; it never falls."""
    freedom: Int64
    """Degrees of freedom d n - e, over the n nodes with a link and the e edges of the visited subgraph."""
    gaps: list[Gap]
    """All gaps, closed and open, in order of opening."""
    revisits: int = 0
    """Number of entries of the walk that were skipped because their node had been visited before."""
    outside: int = 0
    """Number of entries of the walk that were dropped because their node is not in the graph."""
    user: Hashable = 0
    """Name of the user who took the walk; the number of the walk if it was given without a user."""
    session: Hashable = 1
    """Name of the session of the user."""

    @property
    def beta0(self) -> Int64:
        """Number of components of the visited subgraph after every step."""
        return self.betti[:, 0]

    @property
    def beta1(self) -> Int64:
        """Number of information gaps of the visited subgraph after every step."""
        return self.betti[:, 1]

    @property
    def conformable(self) -> Int64:
        """Conformable degrees of freedom after every step: `freedom` without rigid motions of the whole subgraph."""
        return count_conformable(self.dimension, self.freedom)

    def __len__(self) -> int:
        return len(self.nodes)

    def columns(self) -> dict[str, list[Any]]:
        """Return one list per column, with one entry per step."""
        opened, closed = [0] * len(self), [0] * len(self)
        for gap in self.gaps:
            if gap.dim == 1:
                opened[gap.opened_at - 1] += 1
                if gap.closed_at is not None:
                    closed[gap.closed_at - 1] += 1
        return {
            "user": [self.user] * len(self),
            "session": [self.session] * len(self),
            "step": list(range(1, len(self) + 1)),
            "node": list(self.nodes),
            "edges": self.edges.tolist(),
            **{f"beta{dim}": betti.tolist() for dim, betti in enumerate(self.betti.T)},
            "compressibility": self.compressibility.tolist(),
            "opened": opened,
            "closed": closed,
            "dimension": self.dimension.tolist(),
            "freedom": self.freedom.tolist(),
            "conformable": self.conformable.tolist(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return user, session, columns, gaps, and the numbers of revisits and of nodes outside the graph."""
        gaps = [asdict(gap) | {"lifetime": gap.lifetime} for gap in self.gaps]
        identity = {"user": self.user, "session": self.session}
        return {**self.columns(), **identity, "gaps": gaps, "revisits": self.revisits, "outside": self.outside}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with one row per step (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def gaps_columns(self) -> dict[str, list[Any]]:
        """Return one list per column, with one entry per gap; see `gaps_frame`."""
        gaps, end = self.gaps, len(self)
        return {
            "user": [self.user] * len(gaps),
            "session": [self.session] * len(gaps),
            "dim": [gap.dim for gap in gaps],
            "opened_by": [gap.opened_by for gap in gaps],
            "closed_by": [gap.closed_by for gap in gaps],
            "opened_at": [gap.opened_at for gap in gaps],
            "closed_at": [gap.closed_at for gap in gaps],
            "lifetime": [(end if gap.closed_at is None else gap.closed_at) - gap.opened_at for gap in gaps],
            "censored": [gap.closed_at is None for gap in gaps],
        }

    def gaps_frame(self) -> pd.DataFrame:
        """Return a pandas frame with one row per gap.

        The lifetime of a gap that is open at the end of the walk is the number of steps to the end, and it is censored:
        the gap would have lived longer in a longer walk.
        """
        return import_optional("pandas", "frame", "Frames").DataFrame(self.gaps_columns())

    def __repr__(self) -> str:
        closed = sum(gap.closed_at is not None for gap in self.gaps)
        gaps = f"{len(self.gaps):,} gaps opened, {closed:,} closed"
        return f"Growth({len(self):,} nodes, {gaps}, compressibility {_format_last(self.compressibility)} bits)"

    def _repr_html_(self) -> str:
        lines = {
            "gaps": self.beta1.tolist(),
            "compressibility": self.compressibility.tolist(),
            "conformable": self.conformable.tolist(),
        }
        return render_result(repr(self), self.columns(), lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot gaps and compressibility over the steps; on a new figure, also the lifetime of every gap."""
        from curiograph.plotting import plot_growth

        lifetimes = [(gap.opened_at, gap.closed_at) for gap in self.gaps if gap.dim == 1]
        return plot_growth(self.beta1, self.compressibility, lifetimes, ax)


@dataclass(frozen=True, eq=False)
class Walkers:
    """Who took each of several walks, and what was left out of it."""

    users: Sequence[Hashable]
    """Name of the user of each walk."""
    sessions: Sequence[Hashable]
    """Name of the session of each walk."""
    revisits: Int64
    """Number of entries of each walk that were skipped because their node had been visited before."""
    outside: Int64
    """Number of entries of each walk that were dropped because their node is not in the graph."""
    user_columns: Mapping[str, Mapping[Hashable, Any]]
    """Values of further columns of a log by the name of the column and then by user."""
    skipped: Skipped
    """What was dropped when the walks were read and matched with the graph."""


class Growths(Sequence[Growth]):
    """The growth of several walks; each record is created from flat arrays on access.

    Examples
    --------
    >>> import curiograph as cg
    >>> growths = cg.measure(cg.toys.cycle(4), [[0, 1], [3, 2, 1]])
    >>> [len(growth) for growth in growths]
    [2, 3]
    """

    def __init__(
        self,
        graph: Graph,
        grown: GrowthArrays,
        walkers: Walkers,
        which: range | None = None,
    ) -> None:
        self.graph = graph
        self.grown = grown
        """Growth of all walks as flat arrays; slices share them."""
        self.walkers = walkers
        """Users and sessions of all walks of `grown`, and what was left out of each; slices share them."""
        self._which = range(len(grown)) if which is None else which
        self._gap_offsets = np.searchsorted(grown.gaps[:, 0], np.arange(len(grown) + 1))

    @property
    def numbers(self) -> Int64:
        """Number of each walk in `grown` and `walkers`."""
        return np.asarray(self._which, np.int64)

    @property
    def users(self) -> list[Hashable]:
        """Name of the user of each walk; the number of the walk if it was given without a user."""
        return [self.walkers.users[walk] for walk in self._which]

    @property
    def sessions(self) -> list[Hashable]:
        """Name of the session of each walk."""
        return [self.walkers.sessions[walk] for walk in self._which]

    @property
    def revisits(self) -> Int64:
        """Number of skipped revisits of each walk."""
        return self.walkers.revisits[self.numbers]

    @property
    def user_columns(self) -> Mapping[str, Mapping[Hashable, Any]]:
        """Values of further columns of a log, such as a group, by the name of the column and then by user."""
        return self.walkers.user_columns

    @property
    def skipped(self) -> Skipped:
        """What was dropped when the walks were read and matched with the graph."""
        return self.walkers.skipped

    @property
    def items(self) -> list[Growth]:
        """All records as a list."""
        return list(self)

    def __len__(self) -> int:
        return len(self._which)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Growths(self.graph, self.grown, self.walkers, self._which[index])
        walk = self._which[index]
        steps = self._get_steps(walk)
        labels = [self.graph.label(int(v)) for v in self.grown.nodes[steps]]
        gaps = self.grown.gaps[self._gap_offsets[walk] : self._gap_offsets[walk + 1]]
        return Growth(
            nodes=labels,
            betti=self.grown.betti[steps].copy(),
            edges=self.grown.edges[steps].copy(),
            compressibility=self.grown.bits[steps].copy(),
            dimension=self.grown.dimension[steps].copy(),
            freedom=self.grown.freedom[steps].copy(),
            gaps=[
                Gap(dim, labels[opened], None, opened + 1, None)
                if closed == OPEN
                else Gap(dim, labels[opened], labels[closed], opened + 1, closed + 1)
                for _, dim, opened, closed in gaps.tolist()
            ],
            revisits=int(self.walkers.revisits[walk]),
            outside=int(self.walkers.outside[walk]),
            user=self.walkers.users[walk],
            session=self.walkers.sessions[walk],
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with one row per walk and step; the column `walk` counts from 0.

        The columns of `user_columns` follow the user and the session.
        """
        pandas = import_optional("pandas", "frame", "Frames")
        if len(self) == 0:
            return pandas.DataFrame()
        grown, walks = self.grown, self.numbers
        counts = np.diff(grown.offsets)[walks]
        places = concatenate_ranges(grown.offsets[walks], counts)
        gap_walk, _, opened, closed = grown.gaps[grown.gaps[:, 1] == 1].T
        begins = grown.offsets[gap_walk]
        num_opened = np.bincount(begins + opened, minlength=len(grown.nodes))
        num_closed = np.bincount((begins + closed)[closed != OPEN], minlength=len(grown.nodes))
        walk = np.repeat(np.arange(len(walks)), counts)
        identity = {"user": self.users, "session": self.sessions}
        columns = {
            "step": places - np.repeat(grown.offsets[walks], counts) + 1,
            "node": [self.graph.label(int(v)) for v in grown.nodes[places]],
            "edges": grown.edges[places],
            **{f"beta{dim}": betti[places] for dim, betti in enumerate(grown.betti.T)},
            "compressibility": grown.bits[places],
            "opened": num_opened[places],
            "closed": num_closed[places],
            "dimension": grown.dimension[places],
            "freedom": grown.freedom[places],
            "conformable": grown.conformable[places],
        }
        extra = list_user_columns(self, self.users, ["walk", *identity, *columns])
        per_walk = pandas.DataFrame(identity | extra).iloc[walk].reset_index(drop=True)
        per_walk.insert(0, "walk", walk)
        return per_walk.assign(**columns)

    def gaps_frame(self) -> pd.DataFrame:
        """Return a pandas frame with one row per gap: user, session, walk, nodes that opened and closed it, lifetime.

        The lifetime of a gap that is open at the end of its walk is the number of steps to the end, and it is censored:
        the gap would have lived longer in a longer walk. `gap_survival` takes this into account.

        Examples
        --------
        >>> import curiograph as cg
        >>> cg.measure(cg.toys.cycle(4), [[0, 1, 2, 3], [0, 1]]).gaps_frame()[["walk", "lifetime", "censored"]]
           walk  lifetime  censored
        0     0         0      True
        """
        return import_optional("pandas", "frame", "Frames").DataFrame(list_gaps(self))

    def per_user(self) -> pd.DataFrame:
        """Return a pandas frame with one row per user, sorted by user.

        After the values of user columns and the numbers of walks and sessions, every column is a mean over the walks of
        the user: nodes, edges, Betti numbers, compressibility, dimension and degrees of freedom at the end of a walk,
        the means of beta1, compressibility and conformable degrees of freedom over its steps, and the numbers of gaps
        opened and closed.

        Examples
        --------
        >>> import curiograph as cg
        >>> cg.measure(cg.toys.cycle(4), [[0, 1, 2, 3], [0, 1]]).per_user()[["user", "nodes", "beta1", "opened"]]
           user  nodes  beta1  opened
        0     0    4.0    1.0     1.0
        1     1    2.0    0.0     0.0
        """
        return import_optional("pandas", "frame", "Frames").DataFrame(PeopleTable.from_growths(self).columns())

    def gap_survival(self, horizon: int | None = None, seed: int = 0) -> GapSurvival:
        """Estimate how long gaps stay open, with gaps that are open at the end of a walk as censored (Kaplan-Meier).

        Gaps of one person depend on each other, so intervals are computed by resampling people. For a single person
        they treat gaps as independent.

        Parameters
        ----------
        horizon : int, optional
            Number of steps to which the mean lifetime is restricted. Default: the longest lifetime.
        seed : int
            Seed of the resampling.

        Returns
        -------
        GapSurvival
            Survival curve, restricted mean and median; with `plot` and `to_frame`.
        """
        from curiograph.growth.survival import estimate_gap_survival

        return estimate_gap_survival(self, horizon, seed)

    def __repr__(self) -> str:
        users = len(set(self.users))
        return f"Growths({len(self):,} walks by {users:,} users, {self._count_nodes():,} nodes)"

    def _count_nodes(self) -> int:
        return int(np.diff(self.grown.offsets)[self.numbers].sum())

    def _repr_html_(self) -> str:
        if len(self) == 0:
            return render_result(repr(self))
        people = PeopleTable.from_growths(self)
        lines = {}
        for measure in STEP_MEASURES:
            sums, counts = people.tabulate_steps(measure)
            lines[f"mean {'gaps' if measure == 'beta1' else measure}"] = (
                sums.sum(axis=0) / counts.sum(axis=0)
            ).tolist()
        return render_result(repr(self), people.columns(), lines)

    def to_dict(self) -> dict[str, Any]:
        """Return all records, the values of user columns, and what was dropped, as plain values."""
        return {
            "walks": [growth.to_dict() for growth in self],
            "user_columns": {
                name: [{"user": user, "value": value} for user, value in values.items()]
                for name, values in self.user_columns.items()
            },
            "skipped": self.skipped.to_dict(),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot mean gaps and mean compressibility over the steps, with bands of one standard error.

        Means are over the walks that reach a step; the curves end where fewer than a fifth of them do.
        """
        from curiograph.plotting import plot_growths

        steps = [self._get_steps(walk) for walk in self._which]
        return plot_growths([self.grown.betti[s, 1] for s in steps], [self.grown.bits[s] for s in steps], ax)

    def _get_steps(self, walk: int) -> slice:
        return slice(int(self.grown.offsets[walk]), int(self.grown.offsets[walk + 1]))


def _format_last(values: Float64) -> str:
    return f"{values[-1]:.3g}" if len(values) else "-"
