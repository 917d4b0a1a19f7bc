"""Convert walks given by labels to the positions of their first visits."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curiograph.arrays import Int32, Int64
from curiograph.errors import UnknownNodeError, WalkError
from curiograph.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Visits:
    """First visits of several walks in a flat array; those of walk i are `nodes[offsets[i]:offsets[i + 1]]`."""

    nodes: Int32
    """Positions of the visited nodes."""
    offsets: Int64
    """Bounds of the walks in `nodes`."""
    revisits: Int64
    """Number of entries of each walk that were skipped because their node had been visited before."""

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


def find_visits(graph: Graph, walks: Sequence[Any]) -> Visits:
    """Return the first visits of several walks; errors name the walk by its number.

    >>> from curiograph.graph.toys import cycle
    >>> visits = find_visits(cycle(4), [[3, 2, 3], [0]])
    >>> visits.nodes.tolist(), visits.offsets.tolist(), visits.revisits.tolist()
    ([3, 2, 0], [0, 2, 3], [1, 0])
    """
    labels: list[Hashable] = []
    lengths, entries = [], []
    try:
        for number, walk in enumerate(walks):
            walk_labels = _list_labels(walk, number)
            distinct = dict.fromkeys(walk_labels)
            labels += distinct
            lengths.append(len(distinct))
            entries.append(len(walk_labels))
        nodes = graph.positions(labels)
    except (TypeError, UnknownNodeError):
        for number, walk in enumerate(walks):
            try:
                find_first_visits(graph, walk, number)
            except UnknownNodeError as error:
                entry = next(i for i, label in enumerate(_list_labels(walk, number)) if label not in graph)
                raise UnknownNodeError(f"walk {number}, entry {entry}: {error}") from None
        raise
    return Visits(nodes, np.concatenate([[0], np.cumsum(lengths)]), np.asarray(entries) - np.asarray(lengths))


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
        raise WalkError(f"a walk is a list of node labels; got {walk!r}.")
