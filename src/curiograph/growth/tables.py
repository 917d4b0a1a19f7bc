"""Tables of the growth of many walks as arrays: gaps with censored lifetimes, and values per walk and per person."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, WalkError
from curiograph.graph.csr import concatenate_ranges
from curiograph.growth.compute import OPEN
from curiograph.statistics.survival import LifeTable
from curiograph.validation import check_integer, is_number

if TYPE_CHECKING:
    from curiograph.growth.records import Growths

MEASURES = {
    "nodes": "nodes visited",
    "edges": "links among them",
    "beta0": "components",
    "beta1": "information gaps",
    "mean_beta1": "information gaps, mean over steps",
    "opened": "gaps opened",
    "closed": "gaps closed",
    "compressibility": "compressibility (bits)",
    "mean_compressibility": "compressibility (bits), mean over steps",
    "dimension": "dimension of the network",
    "freedom": "degrees of freedom",
    "conformable": "conformable degrees of freedom",
    "mean_conformable": "conformable degrees of freedom, mean over steps",
}
"""Measures of a walk by name, with their labels: values at its end, unless they are means or counts over its steps."""
STEP_MEASURES = ("beta1", "compressibility", "conformable")
"""Measures that `PeopleTable.tabulate_steps` tabulates: one for each theory, igt, cpt and cct."""


class HasUserColumns(Protocol):
    """Results of several walks with further columns of a log."""

    @property
    def user_columns(self) -> Mapping[str, Mapping[Hashable, Any]]:
        """Values of these columns by the name of the column and then by user."""
        ...


class HasUsers(HasUserColumns, Protocol):
    """Walks with their users: `Growths`, or a `human` Profile."""

    @property
    def users(self) -> list[Hashable]:
        """Name of the user of each walk."""
        ...


@dataclass(frozen=True, eq=False)
class GapArrays:
    """Gaps of several walks, one entry per gap, in order of walk, dimension and opening."""

    walk: Int64
    """Number of the walk."""
    dim: Int64
    """Dimension."""
    opened_at: Int64
    """Number of nodes visited when the gap opened."""
    closed_at: Int64
    """Number of nodes visited when the gap closed; `OPEN` if it is open at the end."""
    lifetime: Int64
    """Steps from opening to closing, or to the end of the walk."""

    @property
    def censored(self) -> NDArray[np.bool_]:
        """Whether each gap is open at the end of its walk, so that its lifetime is only a lower bound."""
        return np.asarray(self.closed_at == OPEN)

    @classmethod
    def from_growths(cls, growths: Growths, steps: int | None = None) -> GapArrays:
        """List the gaps of all walks, or of their first `steps` nodes."""
        numbers = growths.numbers
        index_of = np.full(len(growths.grown), -1)
        index_of[numbers] = np.arange(len(numbers))
        rows = growths.grown.gaps.astype(np.int64)
        rows = rows[index_of[rows[:, 0]] >= 0]
        rows = rows[np.argsort(index_of[rows[:, 0]], kind="stable")]
        walk, dim, opened, closed = index_of[rows[:, 0]], *rows[:, 1:].T
        lengths = np.diff(growths.grown.offsets)[numbers]
        if steps is not None:
            lengths = np.minimum(lengths, steps)
        kept = opened < lengths[walk]
        walk, dim, opened, closed = walk[kept], dim[kept], opened[kept], closed[kept]
        is_open = (closed == OPEN) | (closed >= lengths[walk])
        return cls(
            walk=walk,
            dim=dim,
            opened_at=opened + 1,
            closed_at=np.where(is_open, OPEN, closed + 1),
            lifetime=np.where(is_open, lengths[walk] - 1, closed) - opened,
        )


@dataclass(frozen=True, eq=False)
class PeopleTable:
    """Values of every walk, and the person who took it.

    Examples
    --------
    >>> import curiograph as cg
    >>> growths = cg.measure(cg.toys.cycle(4), [[0, 1, 2, 3], [0, 1]])
    >>> people = PeopleTable.from_growths(growths)
    >>> people.users, people.values["beta1"].tolist()
    ([0, 1], [1.0, 0.0])
    """

    growths: Growths
    """The growth of the walks."""
    users: list[Hashable]
    """Distinct users, sorted by `sort_users`, so that results do not depend on the order of a log."""
    walks: Int64
    """Numbers of the walks that are used, by user."""
    user_of: Int64
    """For each used walk, the index of its user in `users`."""
    steps: int | None
    """Number of nodes to which walks are cut; None if they are not."""
    values: dict[str, Float64]
    """Values of each used walk by measure."""

    @classmethod
    def from_growths(cls, growths: Growths, steps: int | None = None) -> PeopleTable:
        """Collect values at the end of every walk; with `steps`, after this number of nodes, without shorter walks."""
        if len(growths) == 0:
            raise WalkError("there are no walks; measure at least one walk.")
        if steps is not None:
            steps = check_integer("steps", steps, 2, "compare walks of 2 nodes or more, or give None for whole walks")
        grown, numbers = growths.grown, growths.numbers
        lengths = np.diff(grown.offsets)[numbers]
        used = np.flatnonzero(lengths > 0) if steps is None else np.flatnonzero(lengths >= steps)
        if len(used) == 0:
            raise WalkError(
                f"no walk has {steps or 1} nodes; the longest has {lengths.max()}."
                + (f" Give steps of at most {lengths.max()}." if steps is not None else "")
            )
        names = growths.users
        index = {user: number for number, user in enumerate(sort_users(names[walk] for walk in used))}
        user_of = np.array([index[names[walk]] for walk in used])
        by_user = np.argsort(user_of, kind="stable")
        used, user_of = used[by_user], user_of[by_user]
        firsts = grown.offsets[numbers[used]]
        counts = lengths[used] if steps is None else np.full(len(used), steps)
        lasts = firsts + counts - 1
        gaps = GapArrays.from_growths(growths, steps)
        loops = gaps.dim == 1
        opened = np.bincount(gaps.walk[loops], minlength=len(growths))
        closed = np.bincount(gaps.walk[loops & ~gaps.censored], minlength=len(growths))
        walk_of_step = np.repeat(np.arange(len(used)), counts)
        places = concatenate_ranges(firsts, counts)
        conformable = grown.conformable

        def average(values: Any) -> Float64:
            return np.bincount(walk_of_step, values[places]) / counts

        values = {
            "nodes": counts,
            "edges": grown.edges[lasts],
            **{f"beta{dim}": betti[lasts] for dim, betti in enumerate(grown.betti.T)},
            "mean_beta1": average(grown.betti[:, 1]),
            "opened": opened[used],
            "closed": closed[used],
            "compressibility": grown.bits[lasts],
            "mean_compressibility": average(grown.bits),
            "dimension": grown.dimension[lasts],
            "freedom": grown.freedom[lasts],
            "conformable": conformable[lasts],
            "mean_conformable": average(conformable),
        }
        return cls(
            growths=growths,
            users=list(index),
            walks=used,
            user_of=user_of,
            steps=steps,
            values={name: np.asarray(array, np.float64) for name, array in values.items()},
        )

    @property
    def num_walks(self) -> Int64:
        """Number of walks of each user."""
        return np.bincount(self.user_of, minlength=len(self.users))

    def average(self, measure: str) -> Float64:
        """Return the mean of a measure over the walks of each user."""
        return np.bincount(self.user_of, self.values[measure], len(self.users)) / self.num_walks

    def columns(self) -> dict[str, list[Any]]:
        """Return one row per user: values of user columns, numbers of walks and sessions, and means of all measures."""
        growths = self.growths
        names: list[set[Hashable]] = [set() for _ in self.users]
        sessions = growths.sessions
        for walk, user in zip(self.walks, self.user_of, strict=True):
            names[user].add(sessions[walk])
        table: dict[str, list[Any]] = {
            "walks": self.num_walks.tolist(),
            "sessions": [len(distinct) for distinct in names],
            **{name: self.average(name).tolist() for name in self.values},
        }
        return {"user": list(self.users), **list_user_columns(growths, self.users, ["user", *table]), **table}

    def tabulate_lifetimes(self) -> LifeTable:
        """Count the lifetimes of the gaps of dimension 1 of each user."""
        gaps = GapArrays.from_growths(self.growths, self.steps)
        index_of = np.full(len(self.growths), -1)
        index_of[self.walks] = self.user_of
        used = (gaps.dim == 1) & (index_of[gaps.walk] >= 0)
        return LifeTable.from_lifetimes(
            gaps.lifetime[used], gaps.censored[used], index_of[gaps.walk[used]], len(self.users)
        )

    def tabulate_steps(self, measure: str) -> tuple[Float64, Int64]:
        """Return the sums of one of `STEP_MEASURES` after each step over the walks of each user, and their numbers.

        Both are users x steps; the numbers decrease where walks end.
        """
        grown = self.growths.grown
        counts = self.values["nodes"].astype(np.int64)
        places = concatenate_ranges(grown.offsets[self.growths.numbers[self.walks]], counts)
        steps = concatenate_ranges(np.zeros(len(counts), np.int64), counts)
        shape = (len(self.users), int(counts.max()))
        cells = np.repeat(self.user_of, counts) * shape[1] + steps
        values = {"beta1": grown.betti[:, 1], "compressibility": grown.bits, "conformable": grown.conformable}[measure]
        size = shape[0] * shape[1]
        sums = np.bincount(cells, values[places].astype(np.float64), size).reshape(shape).astype(np.float64)
        return sums, np.bincount(cells, minlength=size).reshape(shape).astype(np.int64)


def sort_users(users: Iterable[Hashable]) -> list[Hashable]:
    """Return every user once: numbers by value, and then the others by their text.

    >>> sort_users(["b", 10, "a", 9, "b"])
    [9, 10, 'a', 'b']
    """

    def get_key(user: Hashable) -> tuple[bool, Any]:
        is_real = is_number(user) and user == user
        return not is_real, user if is_real else str(user)

    return sorted(dict.fromkeys(users), key=get_key)


def list_gaps(growths: Growths) -> dict[str, list[Any]]:
    """Return one row per gap: user, session, walk, the nodes that opened and closed it, and its lifetime."""
    gaps = GapArrays.from_growths(growths)
    first = growths.grown.offsets[growths.numbers[gaps.walk]]
    users, sessions = growths.users, growths.sessions
    walkers = [users[walk] for walk in gaps.walk]
    closed = [None if at == OPEN else at for at in gaps.closed_at.tolist()]
    nodes, label = growths.grown.nodes, growths.graph.label
    table: dict[str, list[Any]] = {
        "session": [sessions[walk] for walk in gaps.walk],
        "walk": gaps.walk.tolist(),
        "dim": gaps.dim.tolist(),
        "opened_by": [label(int(v)) for v in nodes[first + gaps.opened_at - 1]],
        "closed_by": [
            None if at is None else label(int(nodes[start + at - 1])) for start, at in zip(first, closed, strict=True)
        ],
        "opened_at": gaps.opened_at.tolist(),
        "closed_at": closed,
        "lifetime": gaps.lifetime.tolist(),
        "censored": gaps.censored.tolist(),
    }
    return {"user": walkers, **list_user_columns(growths, walkers, ["user", *table]), **table}


def list_user_columns(growths: HasUserColumns, users: list[Hashable], taken: list[str]) -> dict[str, list[Any]]:
    """Return the values of the user columns for these users; raise SettingError if the table has such a column."""
    for name in growths.user_columns:
        if name in taken:
            raise SettingError(f"the column {name!r} of the users is also a column of this table; rename it.")
    return {name: [values.get(user) for user in users] for name, values in growths.user_columns.items()}
