"""`Trajectories`: many human walks over one set of nodes, stored as flat arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import SettingError, WalkError, quote_value
from curiograph.graph.csr import concatenate_ranges, freeze_array
from curiograph.graph.graph import Graph
from curiograph.graph.labels import IntegerLabels, LabelReader, Labels, ListLabels, as_labels, as_plain, suggest_labels
from curiograph.growth.first_visits import are_first_visits
from curiograph.results import OUTSIDE, Skipped, Table, join_columns
from curiograph.validation import check_integer, check_seed, is_number

if TYPE_CHECKING:
    import pandas as pd

Match = Literal["exact", "loose"]
"""How labels of walks are matched with the nodes of a graph."""
_MAX_SUGGESTED = 50  # labels for which the nearest names are searched
_NOT_WALKS = (str, bytes, Mapping, set, frozenset)  # iterable, but no lists of labels
_LOST = "targets outside the graph"


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(Table):
    """Walks of users over one set of nodes.

    A user may have several walks, one per session. Consecutive visits of a walk differ, but it may return to a node
    later. `walks[3]` is the list of labels of a walk; a slice, a mask or a list of numbers selects several walks.

    >>> walks = Trajectories.from_walks([["a", "b", "b", "c"], ["c", "a"]], users=["ann", "bob"])
    >>> walks
    Trajectories(2 walks by 2 users, 5 visits of 3 nodes)
    >>> walks[0], walks.user(0), walks.session(0)
    (['a', 'b', 'c'], 'ann', 1)
    >>> walks[1:]
    Trajectories(1 walks by 1 users, 2 visits of 3 nodes)
    """

    nodes: Int32
    """Visited nodes of all walks, concatenated, as positions in `names`."""
    offsets: Int64
    """Offsets into `nodes`: walk i is `nodes[offsets[i]:offsets[i + 1]]`."""
    names: Labels
    """Labels of the nodes; those of the graph after `on(graph)`."""
    users: Int64
    """Number of the user of each walk."""
    user_names: Labels
    """Names of the users by number."""
    sessions: Int64
    """Number of the session of each walk."""
    session_names: Labels
    """Names of the sessions by number; several users may have a session of the same name."""
    user_columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Values of further columns of a log by the name of the column, such as a group: one value per user number."""
    skipped: Skipped = field(default_factory=Skipped)
    """What was dropped when the walks were read and matched with a graph."""
    times: Float64 | None = None
    """Time of each visit, in the unit of the log; None if the source has no times."""
    targets: Int32 | None = None
    """Position in `names` of the node that each walk was to reach, or -1; None if the walks are not games."""

    @classmethod
    def from_walks(
        cls,
        walks: Iterable[Sequence[Hashable]],
        users: Sequence[Hashable] | None = None,
        graph: Graph | None = None,
        *,
        sessions: Sequence[Hashable] | None = None,
        targets: Sequence[Hashable] | None = None,
        user_columns: Mapping[str, Mapping[Hashable, Any]] | None = None,
    ) -> Trajectories:
        """Create trajectories from lists of labels.

        Parameters
        ----------
        walks : iterable of sequences of labels
            Labels of the visited nodes of each walk; immediate repeats are merged.
        users : sequence of hashables, optional
            Name of the user of each walk. Default: every walk has its own user.
        graph : Graph, optional
            Graph that contains all labels. Default: the visited nodes in order of first visit.
        sessions : sequence of hashables, optional
            Name of the session of each walk. Default: the walks of each user are counted from 1.
        targets : sequence of labels, optional
            Node that each walk was to reach, in games; None for walks without one.
        user_columns : mapping of mappings, optional
            Values by the name of a column and then by user, as in `{"group": {"ann": "a"}}`; None for other users.

        Examples
        --------
        >>> walks = Trajectories.from_walks([["a", "b"], ["b"], ["c"]], users=["ann", "ann", "bob"])
        >>> [(walks.user(number), walks.session(number)) for number in range(len(walks))]
        [('ann', 1), ('ann', 2), ('bob', 1)]
        """
        listed = [list(walk) for walk in _check_walks(walks)]
        for name, given in (("user", users), ("session", sessions), ("target", targets)):
            if given is not None and len(given) != len(listed):
                raise SettingError(f"there are {len(listed)} walks but {len(given)} {name}s; give one {name} per walk.")
        labels = [as_plain(label) for walk in listed for label in walk]
        goals = [as_plain(label) for label in (() if targets is None else targets) if label is not None]
        names = ListLabels(dict.fromkeys([*labels, *goals])) if graph is None else graph.names
        find_positions = names.indices if graph is None else graph.positions
        reached = None
        if targets is not None:
            reached = np.full(len(listed), -1, np.int32)
            reached[[label is not None for label in targets]] = find_positions(goals)
        walkers = range(len(listed)) if users is None else users
        known_users = ListLabels(dict.fromkeys(walkers))
        known_sessions = None if sessions is None else ListLabels(dict.fromkeys(sessions))
        return cls.from_arrays(
            nodes=find_positions(labels),
            offsets=np.cumsum([0, *map(len, listed)]),
            names=names,
            users=known_users.indices(walkers),
            user_names=as_labels(list(known_users)),
            sessions=None if known_sessions is None or sessions is None else known_sessions.indices(sessions),
            session_names=known_sessions,
            targets=reached,
            user_columns={
                name: [values.get(user) for user in known_users] for name, values in (user_columns or {}).items()
            },
        )

    @classmethod
    def from_frame(cls, frame: Any, **columns: Any) -> Trajectories:
        """Create trajectories from a data frame with one row per event.

        Parameters
        ----------
        frame : DataFrame
            A data frame of pandas, or of a library with a method `to_pandas`, such as polars.
        **columns
            `user`, `item`, `time`, `session`, `target`, `keep`, `session_gap`, `decimal` and `dayfirst`, as for
            `read_log`, which also finds columns, drops rows and counts them in the same way.

        Examples
        --------
        >>> import pandas as pd
        >>> log = pd.DataFrame({"reader": ["ann", "bob", "ann"], "page": ["b", "a", "a"], "time": [20, 10, 10]})
        >>> walks = Trajectories.from_frame(log)
        >>> walks.user(0), walks[0]
        ('ann', ['a', 'b'])
        """
        import pandas as pd

        from curiograph.human.data.events import arrange_events, find_columns

        frame = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
        if not isinstance(frame, pd.DataFrame):
            fix = "give a data frame of pandas or polars, and lists of walks to Trajectories.from_walks"
            raise WalkError(f"the frame is {quote_value(frame)}; {fix}.")
        return arrange_events(frame, find_columns(list(frame.columns), **columns))

    @classmethod
    def from_arrays(
        cls,
        nodes: NDArray[Any],
        offsets: Int64,
        names: Labels,
        users: NDArray[Any],
        user_names: Labels,
        sessions: NDArray[Any] | None = None,
        session_names: Labels | None = None,
        user_columns: Mapping[str, Sequence[Any]] | None = None,
        skipped: Skipped | None = None,
        times: Float64 | None = None,
        targets: NDArray[Any] | None = None,
    ) -> Trajectories:
        """Create trajectories from flat arrays; immediate repeats of a node are merged and counted in `skipped`.

        Without sessions, the walks of each user are counted from 1.
        """
        kept = np.ones(len(nodes), bool)
        kept[1:] = nodes[1:] != nodes[:-1]
        kept[offsets[:-1][offsets[:-1] < len(nodes)]] = True  # the first visit of every walk
        num_kept = np.concatenate([[0], np.cumsum(kept)])
        if sessions is None or session_names is None:
            order = np.argsort(users, kind="stable")
            sessions = np.empty(len(users), np.int64)  # how many earlier walks the user has
            sessions[order] = np.arange(len(users)) - np.searchsorted(users[order], users[order])
            session_names = IntegerLabels(np.arange(1, sessions.max(initial=-1) + 2))
        return cls(
            nodes=freeze_array(nodes[kept].astype(np.int32)),
            offsets=freeze_array(num_kept[offsets].astype(np.int64)),
            names=names,
            users=freeze_array(users.astype(np.int64)),
            user_names=user_names,
            sessions=freeze_array(sessions.astype(np.int64)),
            session_names=session_names,
            user_columns=user_columns or {},
            skipped=(skipped or Skipped()) + Skipped(repeats=len(nodes) - int(num_kept[-1])),
            times=None if times is None else freeze_array(times[kept].astype(np.float64)),
            targets=None if targets is None else freeze_array(targets.astype(np.int32)),
        )

    def add_skipped(self, skipped: Skipped) -> Trajectories:
        """Return the same walks with more entries in the record of what was dropped."""
        return replace(self, skipped=self.skipped + skipped)

    # ---- size and content ---------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Int64:
        """Number of visits of each walk."""
        return np.diff(self.offsets)

    @property
    def num_users(self) -> int:
        """Number of users with a walk."""
        return len(np.unique(self.users))

    def walk(self, number: int) -> Int32:
        """Return the positions of the nodes of a walk."""
        return self.nodes[self.offsets[number] : self.offsets[number + 1]]

    def user(self, number: int) -> Hashable:
        """Return the name of the user of a walk."""
        return self.user_names[int(self.users[number])]

    def session(self, number: int) -> Hashable:
        """Return the name of the session of a walk."""
        return self.session_names[int(self.sessions[number])]

    def columns(self) -> dict[str, Any]:
        """Return one row per visit: user, session, node, time and target if they are known, and columns of the user.

        >>> Trajectories.from_walks([["a", "b"], ["c"]], users=["ann", "bob"]).to_frame()
          user  session node
        0  ann        1    a
        1  ann        1    b
        2  bob        1    c
        """
        walk = np.repeat(np.arange(len(self)), self.lengths)
        users = self.users[walk].tolist()
        columns: dict[str, Any] = {
            "user": [self.user_names[user] for user in users],
            "session": [self.session_names[session] for session in self.sessions[walk].tolist()],
            "node": [self.names[node] for node in self.nodes.tolist()],
        }
        if self.times is not None:
            columns["time"] = self.times
        if self.targets is not None:
            goals = [None if node < 0 else self.names[node] for node in self.targets.tolist()]
            columns["target"] = [goals[number] for number in walk.tolist()]
        kept = {name: [values[user] for user in users] for name, values in self.user_columns.items()}
        return join_columns(columns, kept)

    def __repr__(self) -> str:
        size = f"{len(self):,} walks by {self.num_users:,} users"
        return f"Trajectories({size}, {len(self.nodes):,} visits of {len(self.names):,} nodes)"

    # ---- selection ----------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, which: int) -> list[Hashable]: ...
    @overload
    def __getitem__(self, which: Any) -> Trajectories: ...
    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, int | np.integer):
            return [self.names[node] for node in self.walk(range(len(self))[which]).tolist()]
        lengths = self.lengths[which]
        visits = concatenate_ranges(self.offsets[:-1][which], lengths)
        return replace(
            self,
            nodes=freeze_array(self.nodes[visits]),
            times=None if self.times is None else freeze_array(self.times[visits]),
            offsets=freeze_array(np.concatenate([[0], np.cumsum(lengths)])),
            users=freeze_array(self.users[which]),
            sessions=freeze_array(self.sessions[which]),
            targets=None if self.targets is None else freeze_array(self.targets[which]),
        )

    def __iter__(self) -> Iterator[list[Hashable]]:
        return (self[number] for number in range(len(self)))

    def sort_by_user(self) -> Trajectories:
        """Return the same walks sorted by user, so that results do not depend on the order of the users in a log.

        >>> walks = Trajectories.from_walks([["a", "b"], ["c", "a"], ["b", "c"]], users=["bob", "ann", "bob"])
        >>> list(walks.sort_by_user())
        [['c', 'a'], ['a', 'b'], ['b', 'c']]
        """
        names = list(self.user_names)
        ordered = sort_users(names)
        if ordered == names and np.all(np.diff(self.users) >= 0):
            return self
        number_of = {user: number for number, user in enumerate(ordered)}
        numbers = np.array([number_of[user] for user in names], np.int64)
        places = np.argsort(numbers)
        walks = self[np.argsort(numbers[self.users], kind="stable")]
        return replace(
            walks,
            users=freeze_array(numbers[walks.users]),
            user_names=as_labels(ordered),
            user_columns={name: [values[place] for place in places] for name, values in self.user_columns.items()},
        )

    def drop_revisits(self) -> Trajectories:
        """Return the walks with the first visit of each node alone.

        >>> list(Trajectories.from_walks([["a", "b", "a", "c"]]).drop_revisits())
        [['a', 'b', 'c']]
        """
        return self.select_visits(self.are_first())

    def are_first(self) -> NDArray[np.bool_]:
        """Return which visits are the first of their node in a walk."""
        return are_first_visits(self.nodes, self.offsets)

    def cut(self, nodes: int) -> Trajectories:
        """Return the walks up to the visit of their `nodes`-th distinct node, so that walks can be compared.

        Returns before it are kept; shorter walks are left out and counted in `skipped`.

        >>> list(Trajectories.from_walks([["a", "b", "a", "c"], ["a", "b"], ["c", "a", "b", "c"]]).cut(nodes=3))
        [['a', 'b', 'a', 'c'], ['c', 'a', 'b']]
        """
        check_integer("nodes", nodes, 1, "give the number of nodes of each walk, 1 or more")
        walk, is_first = np.repeat(np.arange(len(self)), self.lengths), self.are_first()
        seen = np.concatenate([[0], np.cumsum(is_first)])  # before each visit, over all walks
        distinct = np.diff(seen[self.offsets])
        short = int(np.count_nonzero(distinct < nodes))
        dropped = Skipped(count=short, reasons={f"walks of fewer than {nodes} nodes": short} if short else {})
        kept = seen[:-1] - seen[self.offsets[walk]] < nodes
        return self.select_visits(kept)[distinct >= nodes].add_skipped(dropped)

    def split(self, test: float = 0.3, seed: int = 0) -> tuple[Trajectories, Trajectories]:
        """Split the walks by user into training walks and test walks.

        Parameters
        ----------
        test : float
            Share of the users whose walks are test walks.
        seed : int
            Random seed; the same seed gives the same split.

        Examples
        --------
        >>> walks = Trajectories.from_walks([["a", "b"]] * 10)
        >>> [len(part) for part in walks.split(0.3)]
        [7, 3]
        """
        if not is_number(test) or not 0 < test < 1:
            raise SettingError(f"test is {quote_value(test)}; give the share of users to test on, between 0 and 1.")
        users = np.unique(self.users)
        if len(users) < 2:
            raise WalkError(f"there are walks of {len(users)} users; a split by users needs 2 or more.")
        order = np.random.default_rng([check_seed(seed), 0]).permutation(users)
        num_test = min(max(1, round(test * len(users))), len(users) - 1)
        tested = np.isin(self.users, order[:num_test])
        return self[~tested], self[tested]

    def on(
        self,
        graph: Graph,
        *,
        match: Match = "exact",
        redirects: Mapping[Hashable, Hashable] | None = None,
        strict: bool = False,
    ) -> Trajectories:
        """Return the same walks as positions in a graph.

        Functions that take a graph and walks call it with the defaults; give them `walks.on(graph, match="loose")` to
        match labels that are written differently.

        Parameters
        ----------
        graph : Graph
            Graph with the nodes of the walks.
        match : {"exact", "loose"}
            Match labels by their text (files contain text, so the text "1" also matches the label 1), or also ignore
            case, underscores instead of blanks, percent-encoding and the Unicode form. A label that several nodes match
            loosely, and none exactly, is not matched.
        redirects : mapping, optional
            Labels of nodes by other labels, as in `{"UK": "United Kingdom"}`, for labels that do not match.
        strict : bool
            Raise UnknownNodeError for a node that is not in the graph, instead of dropping its visits, or the target of
            its games, and counting them in `skipped`; `list_unmatched` lists the former.

        Examples
        --------
        >>> links = Graph.from_edges([("New York", 1), (1, "Italy")])
        >>> walks = Trajectories.from_walks([["Italy", "x", "1", "new_york"]])
        >>> walks.on(links).nodes.tolist(), walks.on(links, match="loose").nodes.tolist()
        ([2, 1], [2, 1, 0])
        """
        positions, unmatched = self._match_labels(graph, match, redirects)
        placed = self.renumber(positions, graph.names)
        targets = np.empty(0, np.int32) if self.targets is None else self.targets[self.targets >= 0]
        lost = targets[positions[targets] < 0]
        if strict and (unmatched or len(lost)):
            unknown = [*self.nodes[positions[self.nodes] < 0][:1], *lost]
            graph.position(self.names[int(unknown[0])])  # raises with the nearest labels
        if len(lost):
            first = f"{_LOST}: first {quote_value(self.names[int(lost[0])])}"
            placed = placed.add_skipped(Skipped(len(lost), (first,), {_LOST: len(lost)}))
        if not unmatched:
            return placed
        outside = sum(unmatched.values())
        shown = ", ".join(f"{quote_value(label)} ({visits})" for label, visits in list(unmatched.items())[:3])
        return placed.add_skipped(Skipped(outside, (f"{OUTSIDE}: most visited {shown}",), {OUTSIDE: outside}))

    def list_unmatched(
        self, graph: Graph, *, match: Match = "exact", redirects: Mapping[Hashable, Hashable] | None = None
    ) -> pd.DataFrame:
        """Return the labels that `on` does not match with a node, the number of their visits, and the nearest names.

        The most visited labels are first; nearest names are given for the first 50.

        >>> links = Graph.from_edges([("Rome", "Italy")])
        >>> Trajectories.from_walks([["Roma", "rome", "Roma", "Italy"]]).list_unmatched(links, match="loose")
          label  visits nearest
        0  Roma       2    Rome
        """
        import pandas as pd

        _, unmatched = self._match_labels(graph, match, redirects)
        frame = pd.DataFrame({"label": list(unmatched), "visits": list(unmatched.values()), "nearest": ""})
        for row, label in enumerate(list(unmatched)[:_MAX_SUGGESTED]):
            frame.loc[row, "nearest"] = ", ".join(map(str, suggest_labels(label, graph.names)))
        return frame

    def _match_labels(
        self, graph: Graph, match: Match, redirects: Mapping[Hashable, Hashable] | None
    ) -> tuple[Int32, dict[Hashable, int]]:
        """Return the position in a graph of every name, and the visits of labels that do not match, most first."""
        if match not in ("exact", "loose"):
            raise SettingError(f"match is {quote_value(match)}; give 'exact' or 'loose'.")
        if redirects is not None and not isinstance(redirects, Mapping):
            raise SettingError(f"redirects is {quote_value(redirects)}; give a dict from other labels to nodes.")
        targets = np.empty(0, np.int32) if self.targets is None else self.targets[self.targets >= 0]
        used = np.concatenate([self.nodes, targets])
        positions = LabelReader(graph).match_names(self.names, used, loose=match == "loose", redirects=redirects)
        outside, visits = np.unique(self.nodes[positions[self.nodes] < 0], return_counts=True)
        order = np.argsort(-visits, kind="stable").tolist()
        return positions, {self.names[int(outside[place])]: int(visits[place]) for place in order}

    def renumber(self, positions: NDArray[Any], names: Labels) -> Trajectories:
        """Return the walks over other names, with node i at `positions[i]`; visits of nodes at -1 are left out."""
        nodes = positions[self.nodes]
        targets = None if self.targets is None else np.where(self.targets < 0, -1, positions[self.targets])
        return replace(self, nodes=nodes, names=names, targets=targets).select_visits(nodes >= 0)

    def select_visits(self, kept: NDArray[np.bool_]) -> Trajectories:
        """Return the walks with some of their visits alone, given a mask of all visits.

        >>> Trajectories.from_walks([["a", "b", "c"]]).select_visits(np.array([True, False, True]))[0]
        ['a', 'c']
        """
        num_kept = np.concatenate([[0], np.cumsum(kept)])
        times = None if self.times is None else self.times[kept]
        changed = {"nodes": self.nodes[kept], "offsets": num_kept[self.offsets], "times": times}
        return Trajectories.from_arrays(**(vars(self) | changed))

    def windows(self, burn_in: int = 3) -> Windows:
        """Return all runs of `burn_in` + 1 distinct consecutive nodes as histories and next nodes."""
        size = check_integer("burn_in", burn_in, 1, "give the number of visits of a history, 1 or more") + 1
        counts = np.maximum(self.lengths - size + 1, 0)
        visits = concatenate_ranges(self.offsets[:-1], counts)[:, None] + np.arange(size)
        rows = self.nodes[visits]
        windows = Windows(rows[:, :-1], rows[:, -1], users=np.repeat(self.users, counts), visits=visits[:, -1])
        return windows.rows(np.all(np.diff(np.sort(rows, axis=1), axis=1) > 0, axis=1))


@dataclass(frozen=True, eq=False)
class Windows:
    """Observed choices as arrays, one row per choice.

    >>> windows = Trajectories.from_walks([["a", "b", "c", "d"]]).windows(2)
    >>> windows.histories.tolist(), windows.nexts.tolist()
    ([[0, 1], [1, 2]], [2, 3])
    """

    histories: Int32
    """Distinct nodes visited before each choice, in order of visit; shorter histories begin with -1."""
    nexts: Int32
    """Node visited next."""
    users: Int64
    """Number of the user who made the choice."""
    visits: Int64 | None = None
    """Index of the chosen node in the nodes of all walks."""

    def __len__(self) -> int:
        return len(self.nexts)

    def rows(self, which: Any) -> Windows:
        """Select choices by index, slice or mask."""
        visits = None if self.visits is None else self.visits[which]
        return Windows(self.histories[which], self.nexts[which], self.users[which], visits)

    def list_histories(self) -> list[Int32]:
        """Return the history of each choice without padding."""
        return [row[row >= 0] for row in self.histories]

    def sample(self, most: int, seed: int = 0) -> Windows:
        """Draw at most `most` choices at random, in their original order."""
        check_integer("most", most, 1, "give the maximum number of windows, 1 or more")
        if len(self) <= most:
            return self
        return self.rows(np.sort(np.random.default_rng(check_seed(seed)).choice(len(self), most, replace=False)))

    def along_links(self, graph: Graph) -> Windows:
        """Select the choices of an out-neighbor of the last visited node."""
        size = graph.num_nodes
        links = np.repeat(np.arange(size, dtype=np.int64), graph.degrees) * size + graph.indices
        return self.rows(np.isin(self.histories[:, -1].astype(np.int64) * size + self.nexts, links))


def as_trajectories(walks: Any) -> Trajectories:
    """Return the walks of Trajectories or a Dataset, sorted by user; raise SettingError for anything else."""
    recorded = getattr(walks, "walks", walks)  # of a Dataset
    if not isinstance(recorded, Trajectories):
        raise SettingError(f"the walks are {quote_value(walks)}; give Trajectories, as from Trajectories.from_walks.")
    return recorded.sort_by_user()


def _check_walks(walks: Any) -> list[Any]:
    """Return a list of walks; raise WalkError with the fix for anything else, such as a data frame or a text."""
    if hasattr(walks, "columns") and hasattr(walks, "shape"):
        fix = "give a data frame to Trajectories.from_frame(frame, user=..., item=...)"
    elif isinstance(walks, _NOT_WALKS) or not isinstance(walks, Iterable):
        fix = "give a list of walks, each a list of labels, as in [['a', 'b'], ['c']]"
    else:
        listed = list(walks)
        wrong = [walk for walk in listed if isinstance(walk, _NOT_WALKS) or not isinstance(walk, Iterable)]
        if not wrong:
            return listed
        fix = f"the walk {quote_value(wrong[0])} is not a list of labels; give [['a', 'b']] for one walk ['a', 'b']"
    raise WalkError(f"the walks are {quote_value(walks)}; {fix}.")


def sort_users(users: Iterable[Hashable]) -> list[Hashable]:
    """Return every user once: numbers by value, and then the others by their text.

    >>> sort_users(["b", 10, "a", 9, "b"])
    [9, 10, 'a', 'b']
    """

    def get_key(user: Hashable) -> tuple[bool, Any]:
        is_real = is_number(user) and user == user
        return not is_real, user if is_real else str(user)

    return sorted(dict.fromkeys(users), key=get_key)
