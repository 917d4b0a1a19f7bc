"""`Trajectories`: many human walks over one set of nodes, as two flat arrays and who walked them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from curiograph.arrays import Int32, Int64
from curiograph.errors import FileFormatError, SettingError, WalkError
from curiograph.files import PathLike, as_path, check_file, open_atomic, wrap_parse_errors
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader
from curiograph.graph.labels import Labels, ListLabels, as_labels
from curiograph.human.choices.windows import Windows
from curiograph.messages import quote_value
from curiograph.validation import check_integer, check_seed, is_number

_FORMAT = "curiograph trajectories 1"
_MOST_BYTES = 2**31


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Walks by people. A person may have several; consecutive visits differ, later ones may come back.

    >>> walks = Trajectories.from_walks([["a", "b", "b", "c"], ["c", "a"]], users=["ann", "bob"])
    >>> walks
    Trajectories(2 walks by 2 users, 5 visits of 3 nodes)
    >>> walks.labels(0)
    ['a', 'b', 'c']
    """

    nodes: Int32
    """Positions in `names`, one walk after the other."""
    offsets: Int64
    """Walk i is `nodes[offsets[i]:offsets[i + 1]]`."""
    names: Labels
    """What the nodes are called: the names of the graph, once the walks are `on` one."""
    users: Int64
    """The number of the person who took each walk."""
    user_names: Labels
    """What people are called, by number."""

    @classmethod
    def from_walks(
        cls, walks: Iterable[Sequence[Hashable]], users: Sequence[Hashable] | None = None, graph: Graph | None = None
    ) -> Trajectories:
        """From lists of labels; every walk is by another person unless `users` says who took it."""
        listed = [list(walk) for walk in walks]
        if users is not None and len(users) != len(listed):
            raise SettingError(f"there are {len(listed)} walks but {len(users)} users; give one user per walk.")
        known: dict[Hashable, int] = {}
        if graph is None:
            nodes = [known.setdefault(label, len(known)) for walk in listed for label in walk]
        else:
            nodes = graph.positions([label for walk in listed for label in walk]).tolist()
        people: dict[Hashable, int] = {}
        by = [people.setdefault(user, len(people)) for user in (range(len(listed)) if users is None else users)]
        offsets = np.concatenate([[0], np.cumsum([len(walk) for walk in listed])]).astype(np.int64)
        names = ListLabels(known) if graph is None else graph.names
        made = cls.from_arrays(
            np.asarray(nodes, np.int32), offsets, names, np.asarray(by, np.int64), as_labels(list(people))
        )
        return made

    @classmethod
    def from_arrays(cls, nodes: Int32, offsets: Int64, names: Labels, users: Int64, user_names: Labels) -> Trajectories:
        """From flat arrays; visits that repeat the one before are merged."""
        kept = np.ones(len(nodes), bool)
        kept[1:] = nodes[1:] != nodes[:-1]
        kept[offsets[:-1][offsets[:-1] < len(nodes)]] = True  # the first visit of every walk
        before = np.concatenate([[0], np.cumsum(kept)])
        return cls(
            freeze_array(nodes[kept].astype(np.int32)),
            freeze_array(before[offsets].astype(np.int64)),
            names,
            freeze_array(users.astype(np.int64)),
            user_names,
        )

    # ---- size and content ---------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Int64:
        """Visits of every walk."""
        return np.diff(self.offsets)

    @property
    def num_users(self) -> int:
        """People with a walk."""
        return len(np.unique(self.users))

    def walk(self, number: int) -> Int32:
        """Positions of one walk."""
        return self.nodes[self.offsets[number] : self.offsets[number + 1]]

    def labels(self, number: int) -> list[Hashable]:
        """Labels of one walk."""
        return [self.names[int(node)] for node in self.walk(number)]

    def __repr__(self) -> str:
        size = f"{len(self):,} walks by {self.num_users:,} users"
        return f"Trajectories({size}, {len(self.nodes):,} visits of {len(self.names):,} nodes)"

    # ---- parts --------------------------------------------------------------------------------------------------

    def rows(self, which: Any) -> Trajectories:
        """Some of the walks, by number or by a mask."""
        chosen = np.arange(len(self))[which]
        pieces = [self.walk(int(i)) for i in chosen]
        offsets = np.concatenate([[0], np.cumsum(self.lengths[chosen])]).astype(np.int64)
        nodes = np.concatenate([*pieces, np.empty(0, np.int32)]).astype(np.int32)
        return Trajectories(
            freeze_array(nodes), freeze_array(offsets), self.names, freeze_array(self.users[chosen]), self.user_names
        )

    def at_least(self, visits: int) -> Trajectories:
        """The walks of that many visits or more."""
        return self.rows(self.lengths >= check_integer("visits", visits, 1, "give the fewest visits, 1 or more"))

    def split(self, test: float = 0.3, seed: int = 0, number: int = 0) -> tuple[Trajectories, Trajectories]:
        """Walks to fit on and walks to test on: no person is on both sides.

        Split `number` of a seed is always the same, whichever other splits are drawn.

        >>> walks = Trajectories.from_walks([["a", "b"]] * 10)
        >>> [len(part) for part in walks.split(0.3)]
        [7, 3]
        """
        if not is_number(test) or not 0 < test < 1:
            raise SettingError(f"test is {quote_value(test)}; give the share of users to test on, between 0 and 1.")
        people = np.unique(self.users)
        if len(people) < 2:
            raise WalkError(f"there are walks of {len(people)} users; a split by users needs 2 or more.")
        order = np.random.default_rng([check_seed(seed), number]).permutation(people)
        count = min(max(1, round(test * len(people))), len(people) - 1)
        tested = np.isin(self.users, order[:count])
        return self.rows(~tested), self.rows(tested)

    def on(self, graph: Graph, *, strict: bool = False) -> Trajectories:
        """The same walks by the positions of a graph; visits of nodes that it lacks are left out, or raise if `strict`.

        Files hold text, so a text also means the label that is printed like it.

        >>> square = Graph.from_edges([("a", 1), (1, "c")])
        >>> Trajectories.from_walks([["c", "x", "1"]]).on(square).nodes.tolist()
        [2, 1]
        """
        labels = LabelReader(graph)
        place = np.full(len(self.names), -1, np.int64)
        for position in np.unique(self.nodes).tolist():
            label = self.names[position]
            found = labels.find(label) if isinstance(label, str) else labels.find_exact(label)
            if found is not None:
                place[position] = found
            elif strict:
                graph.position(label)  # raises with the nearest labels
        there = place[self.nodes]
        kept = there >= 0
        before = np.concatenate([[0], np.cumsum(kept)])
        return Trajectories.from_arrays(
            there[kept].astype(np.int32), before[self.offsets], graph.names, self.users, self.user_names
        )

    def compact(self) -> Trajectories:
        """The same walks over the nodes that they visit, in order of first visit: nobody else's walks play a part.

        >>> Trajectories.from_walks([["a", "b"], ["c", "b"]]).rows([1]).compact().nodes.tolist()
        [0, 1]
        """
        found, first, place = np.unique(self.nodes, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(found), np.int64)
        rank[order] = np.arange(len(found))
        names = as_labels([self.names[int(node)] for node in found[order]])
        return Trajectories(
            freeze_array(rank[place].astype(np.int32)), self.offsets, names, self.users, self.user_names
        )

    def windows(self, burn_in: int = 3) -> Windows:
        """All runs of `burn_in` + 1 distinct nodes: what a person had visited, and where she went next."""
        size = check_integer("burn_in", burn_in, 1, "give the visits that count as history, 1 or more") + 1
        starts = [np.arange(a, b - size + 1) for a, b in pairwise(self.offsets)]
        first = np.concatenate([*starts, np.empty(0, np.int64)]).astype(np.int64)
        walks = np.repeat(np.arange(len(self)), [len(each) for each in starts])
        rows = self.nodes[first[:, None] + np.arange(size)]
        ordered = np.sort(rows, axis=1)
        distinct = np.all(ordered[:, 1:] != ordered[:, :-1], axis=1)
        rows = rows[distinct]
        return Windows(rows[:, :-1], rows[:, -1], self.users[walks[distinct]])

    # ---- files --------------------------------------------------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Write to a `.npz` that `load` reads; no pickle is in it."""
        if as_path(path).suffix.lower() != ".npz":
            raise SettingError(f"cannot save to {path}: the name must end in .npz.")
        with open_atomic(path) as stream:
            np.savez_compressed(
                stream,
                format=np.array(_FORMAT),
                nodes=self.nodes,
                offsets=self.offsets,
                users=self.users,
                names=_as_json(self.names),
                user_names=_as_json(self.user_names),
            )

    @classmethod
    def load(cls, path: PathLike) -> Trajectories:
        """Read what `save` wrote."""
        found = check_file(path)
        with wrap_parse_errors(found, "trajectories"), np.load(found, allow_pickle=False) as archive:
            _check_size(archive.zip)
            kinds = ("format", "nodes", "offsets", "users", "names", "user_names")
            held = {name: np.asarray(archive[name]) for name in kinds}  # numpy gives bytes where there is no array
            names, user_names = _from_json(held["names"]), _from_json(held["user_names"])
        nodes, offsets, users = held["nodes"], held["offsets"], held["users"]
        if str(held["format"]) != _FORMAT:
            raise FileFormatError(f"{path}: is {quote_value(str(held['format']))}, not {_FORMAT!r}; save it again.")
        whole = all(array.ndim == 1 and array.dtype.kind == "i" for array in (nodes, offsets, users))
        if (
            not whole
            or len(offsets) != len(users) + 1
            or offsets[0] != 0
            or offsets[-1] != len(nodes)
            or np.any(np.diff(offsets) < 0)
            or _outside(nodes, len(names))
            or _outside(users, len(user_names))
        ):
            raise FileFormatError(f"{path}: its arrays do not fit together; save it again.")
        return cls.from_arrays(nodes, offsets, as_labels(names), users, as_labels(user_names))


def _check_size(archive: Any) -> None:
    """Packed zeros grow a thousandfold: look before anything is unpacked."""
    size = sum(member.file_size for member in archive.infolist())
    if size > _MOST_BYTES:
        raise ValueError(f"it unpacks to {size:,} bytes, and {_MOST_BYTES:,} is the most")


def _outside(values: Any, size: int) -> bool:
    return len(values) > 0 and bool(values.min() < 0 or values.max() >= size)


def _as_json(names: Labels) -> Any:
    import json

    return np.frombuffer(json.dumps(list(names), ensure_ascii=False).encode(), np.uint8)


def _from_json(held: Any) -> list[Any]:
    import json

    labels = json.loads(held.tobytes().decode())
    if not isinstance(labels, list) or len(set(labels)) != len(labels):
        raise ValueError("its names are not a list of different ones")
    return labels
