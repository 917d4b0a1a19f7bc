"""Convert walks given by labels to the positions of their first visits."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from curiograph.arrays import Int32, Int64
from curiograph.errors import UnknownNodeError, WalkError
from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader
from curiograph.graph.labels import Labels
from curiograph.messages import quote_value
from curiograph.skipped import Skipped


@runtime_checkable
class RecordedWalks(Protocol):
    """Walks of people over named nodes: `human.Trajectories`, which this package must not import."""

    @property
    def nodes(self) -> Int32: ...
    @property
    def offsets(self) -> Int64: ...
    @property
    def names(self) -> Labels: ...
    @property
    def users(self) -> Int64: ...
    @property
    def user_names(self) -> Labels: ...
    @property
    def sessions(self) -> Int64: ...
    @property
    def session_names(self) -> Labels: ...
    @property
    def user_columns(self) -> Mapping[str, Sequence[Any]]: ...
    @property
    def skipped(self) -> Skipped: ...


class HasRecordedWalks(Protocol):
    """A `human` Dataset."""

    @property
    def walks(self) -> RecordedWalks: ...


@dataclass(frozen=True, eq=False)
class Visits:
    """First visits of several walks in a flat array; those of walk i are `nodes[offsets[i]:offsets[i + 1]]`."""

    nodes: Int32
    """Positions of the visited nodes."""
    offsets: Int64
    """Bounds of the walks in `nodes`."""
    revisits: Int64
    """Number of entries of each walk that were skipped because their node had been visited before."""
    outside: Int64
    """Number of entries of each walk that were dropped because their node is not in the graph."""
    repeats: int = 0
    """Number of entries merged with the one before, as those between them were dropped; they are no revisits."""

    def select(self, first: int, last: int) -> tuple[Int32, Int64]:
        """Return nodes and offsets of the walks `first` to `last - 1`."""
        offsets = self.offsets[first : last + 1]
        return self.nodes[offsets[0] : offsets[-1]], offsets - offsets[0]


def find_first_visits(graph: Graph, walk: Sequence[Hashable], number: int | None = None) -> Int32:
    """Return the positions of the distinct nodes of a walk, in order of first visit.

    >>> from curiograph.graph.toys import cycle
    >>> find_first_visits(cycle(4), [3, 2, 3])
    array([3, 2], dtype=int32)
    """
    labels = _list_labels(walk, number)
    try:
        return graph.positions(dict.fromkeys(labels))
    except TypeError:  # a label that is not hashable: `positions` raises an error that names it
        return graph.positions(labels)


def find_visits(graph: Graph, walks: Sequence[Any], *, lenient: bool = False) -> Visits:
    """Return the first visits of several walks; errors name the walk by its number.

    If `lenient`, labels that are not in the graph are dropped; a walk without any other labels is then empty.

    >>> from curiograph.graph.toys import cycle
    >>> visits = find_visits(cycle(4), [[3, 2, 3], [0]])
    >>> visits.nodes.tolist(), visits.offsets.tolist(), visits.revisits.tolist()
    ([3, 2, 0], [0, 2, 3], [1, 0])
    """
    labels: list[Hashable] = []
    lengths, entries, outside = [], [], []
    try:
        for number, walk in enumerate(walks):
            given = _list_labels(walk, number)
            walk_labels = [label for label in given if label in graph] if lenient else given
            distinct = dict.fromkeys(walk_labels)
            labels += distinct
            lengths.append(len(distinct))
            entries.append(len(walk_labels))
            outside.append(len(given) - len(walk_labels))
        nodes = graph.positions(labels)
    except (TypeError, UnknownNodeError):
        for number, walk in enumerate(walks):
            try:
                find_first_visits(graph, walk, number)
            except UnknownNodeError as error:
                entry = next(i for i, label in enumerate(_list_labels(walk, number)) if label not in graph)
                raise UnknownNodeError(f"walk {number}, entry {entry}: {error}") from None
        raise
    return Visits(
        nodes=nodes,
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        revisits=np.asarray(entries) - np.asarray(lengths),
        outside=np.asarray(outside),
    )


def match_visits(graph: Graph, walks: RecordedWalks, *, lenient: bool) -> Visits:
    """Return the first visits of recorded walks, whose nodes are matched by label as by `Trajectories.on`.

    If `lenient`, visits of nodes that are not in the graph are dropped; otherwise they raise UnknownNodeError.
    """
    try:
        positions = LabelReader(graph).match_names(walks.names, walks.nodes, strict=not lenient)
    except UnknownNodeError as error:
        raise UnknownNodeError(f"{error} Give lenient=True to drop visits of nodes outside the graph.") from None
    nodes = positions[walks.nodes]
    walk = np.repeat(np.arange(len(walks.users)), np.diff(walks.offsets))
    inside = np.flatnonzero(nodes >= 0)
    first = np.sort(inside[np.unique(walk[inside] * graph.num_nodes + nodes[inside], return_index=True)[1]])
    is_repeat = (np.diff(nodes[inside]) == 0) & (np.diff(walk[inside]) == 0)
    num_inside, num_first, num_repeats = (
        np.bincount(walk[places], minlength=len(walks.users)) for places in (inside, first, inside[1:][is_repeat])
    )
    return Visits(
        nodes=nodes[first],
        offsets=np.concatenate([[0], np.cumsum(num_first)]),
        revisits=num_inside - num_first - num_repeats,
        outside=np.diff(walks.offsets) - num_inside,
        repeats=int(num_repeats.sum()),
    )


def _list_labels(walk: Any, number: int | None) -> list[Any]:
    """Return the labels of a walk as Python objects; raise `WalkError` if it is empty or not a list."""
    walk = getattr(walk, "nodes", walk)
    check_walk(walk)
    if len(walk) == 0:
        raise WalkError(
            f"{'the walk' if number is None else f'walk {number}'} is empty; a walk needs at least one node."
        )
    if isinstance(walk, np.ndarray) and walk.ndim == 1:
        labels: list[Any] = walk.tolist()
        return labels
    return [label.item() if isinstance(label, np.generic) else label for label in walk]


def check_walk(walk: Any) -> None:
    """Raise `WalkError` if `walk` is not a sequence of labels."""
    if isinstance(walk, (str, bytes)) or not isinstance(walk, (Sequence, np.ndarray)):
        fix = (
            "; give a data frame to curiograph.human.Trajectories.from_frame first"
            if hasattr(walk, "columns") and hasattr(walk, "shape")
            else ""
        )
        raise WalkError(f"a walk is a list of node labels; got {quote_value(walk)}{fix}.")
