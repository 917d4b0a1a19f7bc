"""`Trajectories`: many human walks over one set of nodes, stored as flat arrays."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int32, Int64
from curiograph.errors import FileFormatError, SettingError, WalkError
from curiograph.files import PathLike, as_path, check_file, open_atomic, wrap_parse_errors
from curiograph.graph.csr import concatenate_ranges, freeze_array
from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader
from curiograph.graph.labels import Labels, ListLabels, as_labels
from curiograph.human.choices.windows import Windows
from curiograph.messages import quote_value
from curiograph.validation import check_integer, check_seed, is_number

_FORMAT = "curiograph trajectories 1"
_MAX_BYTES = 2**31  # of an unpacked file


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Walks of users over one set of nodes.

    A user may have several walks. Consecutive visits of a walk differ, but it may return to a node later.

    >>> walks = Trajectories.from_walks([["a", "b", "b", "c"], ["c", "a"]], users=["ann", "bob"])
    >>> walks
    Trajectories(2 walks by 2 users, 5 visits of 3 nodes)
    >>> walks.labels(0)
    ['a', 'b', 'c']
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

    @classmethod
    def from_walks(
        cls, walks: Iterable[Sequence[Hashable]], users: Sequence[Hashable] | None = None, graph: Graph | None = None
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
        """
        listed = [list(walk) for walk in walks]
        if users is not None and len(users) != len(listed):
            raise SettingError(f"there are {len(listed)} walks but {len(users)} users; give one user per walk.")
        labels = [label for walk in listed for label in walk]
        names = ListLabels(dict.fromkeys(labels)) if graph is None else graph.names
        walkers = range(len(listed)) if users is None else users
        known_users = ListLabels(dict.fromkeys(walkers))
        return cls.from_arrays(
            nodes=names.indices(labels) if graph is None else graph.positions(labels),
            offsets=np.cumsum([0, *map(len, listed)]),
            names=names,
            users=known_users.indices(walkers),
            user_names=as_labels(list(known_users)),
        )

    @classmethod
    def from_arrays(
        cls, nodes: NDArray[Any], offsets: Int64, names: Labels, users: NDArray[Any], user_names: Labels
    ) -> Trajectories:
        """Create trajectories from flat arrays; immediate repeats of a node are merged."""
        kept = np.ones(len(nodes), bool)
        kept[1:] = nodes[1:] != nodes[:-1]
        kept[offsets[:-1][offsets[:-1] < len(nodes)]] = True  # the first visit of every walk
        num_kept = np.concatenate([[0], np.cumsum(kept)])
        return cls(
            nodes=freeze_array(nodes[kept].astype(np.int32)),
            offsets=freeze_array(num_kept[offsets].astype(np.int64)),
            names=names,
            users=freeze_array(users.astype(np.int64)),
            user_names=user_names,
        )

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

    def labels(self, number: int) -> list[Hashable]:
        """Return the labels of the nodes of a walk."""
        return [self.names[int(node)] for node in self.walk(number)]

    def __repr__(self) -> str:
        size = f"{len(self):,} walks by {self.num_users:,} users"
        return f"Trajectories({size}, {len(self.nodes):,} visits of {len(self.names):,} nodes)"

    # ---- selection ----------------------------------------------------------------------------------------------

    def rows(self, which: Any) -> Trajectories:
        """Return some of the walks, selected by numbers, a slice or a mask."""
        lengths = self.lengths[which]
        return Trajectories(
            nodes=freeze_array(self.nodes[concatenate_ranges(self.offsets[:-1][which], lengths)]),
            offsets=freeze_array(np.concatenate([[0], np.cumsum(lengths)])),
            names=self.names,
            users=freeze_array(self.users[which]),
            user_names=self.user_names,
        )

    def at_least(self, visits: int) -> Trajectories:
        """Return the walks with at least `visits` visits."""
        return self.rows(
            self.lengths >= check_integer("visits", visits, 1, "give the minimum number of visits, 1 or more")
        )

    def split(self, test: float = 0.3, seed: int = 0, number: int = 0) -> tuple[Trajectories, Trajectories]:
        """Split the walks by user into training walks and test walks.

        Parameters
        ----------
        test : float
            Share of the users whose walks are test walks.
        seed : int
            Random seed; the same seed and number give the same split.
        number : int
            Number of the split; it does not depend on which other splits are drawn.

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
        order = np.random.default_rng([check_seed(seed), number]).permutation(users)
        num_test = min(max(1, round(test * len(users))), len(users) - 1)
        tested = np.isin(self.users, order[:num_test])
        return self.rows(~tested), self.rows(tested)

    def on(self, graph: Graph, *, strict: bool = False) -> Trajectories:
        """Return the same walks as positions in a graph.

        Labels are matched as by `LabelReader`: files contain text, so the text "1" also matches the label 1.

        Parameters
        ----------
        graph : Graph
            Graph with the nodes of the walks.
        strict : bool
            Raise UnknownNodeError for a node that is not in the graph, instead of leaving out its visits.

        Examples
        --------
        >>> square = Graph.from_edges([("a", 1), (1, "c")])
        >>> Trajectories.from_walks([["c", "x", "1"]]).on(square).nodes.tolist()
        [2, 1]
        """
        reader = LabelReader(graph)
        positions = np.full(len(self.names), -1, np.int32)
        for node in np.unique(self.nodes).tolist():
            label = self.names[node]
            found = reader.find(label) if isinstance(label, str) else reader.find_exact(label)
            if found is not None:
                positions[node] = found
            elif strict:
                graph.position(label)  # raises with the nearest labels
        return self.renumber(positions, graph.names)

    def renumber(self, positions: NDArray[Any], names: Labels) -> Trajectories:
        """Return the walks over other names, with node i at `positions[i]`; visits of nodes at -1 are left out."""
        nodes = positions[self.nodes]
        kept = nodes >= 0
        num_kept = np.concatenate([[0], np.cumsum(kept)])
        return Trajectories.from_arrays(
            nodes=nodes[kept],
            offsets=num_kept[self.offsets],
            names=names,
            users=self.users,
            user_names=self.user_names,
        )

    def compact(self) -> Trajectories:
        """Return the same walks over the visited nodes alone, in order of first visit.

        >>> Trajectories.from_walks([["a", "b"], ["c", "b"]]).rows([1]).compact().nodes.tolist()
        [0, 1]
        """
        visited = self.nodes[np.sort(np.unique(self.nodes, return_index=True)[1])]
        positions = np.full(len(self.names), -1)
        positions[visited] = np.arange(len(visited))
        return self.renumber(positions, as_labels([self.names[int(node)] for node in visited]))

    def windows(self, burn_in: int = 3) -> Windows:
        """Return all runs of `burn_in` + 1 distinct consecutive nodes as histories and next nodes."""
        size = check_integer("burn_in", burn_in, 1, "give the number of visits of a history, 1 or more") + 1
        counts = np.maximum(self.lengths - size + 1, 0)
        rows = self.nodes[concatenate_ranges(self.offsets[:-1], counts)[:, None] + np.arange(size)]
        distinct = np.all(np.diff(np.sort(rows, axis=1), axis=1) > 0, axis=1)
        rows = rows[distinct]
        users = np.repeat(self.users, counts)[distinct]
        return Windows(histories=rows[:, :-1], nexts=rows[:, -1], users=users)

    # ---- files --------------------------------------------------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Write a `.npz` file for `load`; it contains no pickled objects."""
        if as_path(path).suffix.lower() != ".npz":
            raise SettingError(f"cannot save to {path}: the name must end in .npz.")
        names, user_names = (
            np.frombuffer(json.dumps(list(labels), ensure_ascii=False).encode(), np.uint8)
            for labels in (self.names, self.user_names)
        )
        with open_atomic(path) as stream:
            np.savez_compressed(
                stream,
                format=np.array(_FORMAT),
                nodes=self.nodes,
                offsets=self.offsets,
                users=self.users,
                names=names,
                user_names=user_names,
            )

    @classmethod
    def load(cls, path: PathLike) -> Trajectories:
        """Read a file that `save` wrote."""
        found = check_file(path)
        with wrap_parse_errors(found, "trajectories"), np.load(found, allow_pickle=False) as archive:
            size = sum(member.file_size for member in archive.zip.infolist())
            if size > _MAX_BYTES:  # before anything is unpacked, as zeros shrink a thousandfold
                raise ValueError(f"it unpacks to {size:,} bytes; the limit is {_MAX_BYTES:,}")
            # numpy returns bytes for a member that is not an array
            file_format, nodes, offsets, users, names, user_names = (
                np.asarray(archive[name]) for name in ("format", "nodes", "offsets", "users", "names", "user_names")
            )
            labels, user_labels = (json.loads(array.tobytes().decode()) for array in (names, user_names))
            for loaded in (labels, user_labels):
                if not isinstance(loaded, list) or len(set(loaded)) != len(loaded):
                    raise ValueError("its names are not a list of distinct labels")
        if str(file_format) != _FORMAT:
            raise FileFormatError(f"{path}: is {quote_value(str(file_format))}, not {_FORMAT!r}; save it again.")

        def is_index(array: Any, size: int) -> bool:
            return not len(array) or bool(array.min() >= 0 and array.max() < size)

        if not (
            all(array.ndim == 1 and array.dtype.kind == "i" for array in (nodes, offsets, users))
            and len(offsets) == len(users) + 1
            and offsets[0] == 0
            and offsets[-1] == len(nodes)
            and np.all(np.diff(offsets) >= 0)
            and is_index(nodes, len(labels))
            and is_index(users, len(user_labels))
        ):
            raise FileFormatError(f"{path}: its arrays do not fit together; save it again.")
        return cls.from_arrays(
            nodes=nodes, offsets=offsets, names=as_labels(labels), users=users, user_names=as_labels(user_labels)
        )
