"""Convert walks given by labels to the positions of their first visits."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int32, Int64
from curiograph.errors import UnknownNodeError, WalkError, quote_value
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_plain, is_array
from curiograph.results import OUTSIDE, Skipped

if TYPE_CHECKING:
    from curiograph.human.trajectories import Trajectories

_MANY = 0.05  # share of visits outside the graph above which there is a warning
EMPTY = "empty walks"
"""Reason of walks that were dropped because they visit no node of the graph."""


@dataclass(frozen=True, eq=False)
class FirstVisits:
    """First visits of several walks; those of walk i are `nodes[offsets[i]:offsets[i + 1]]`."""

    nodes: Int32
    """Positions of the visited nodes."""
    offsets: Int64
    """Bounds of the walks in `nodes`."""
    revisits: Int64
    """Number of visits of each walk that were left out because their node had been visited before."""
    people: dict[str, list[Any]]
    """User and session of each walk, and the values of further columns of a log."""
    skipped: Skipped
    """What was dropped when the walks were read and matched with the graph."""


def find_first_visits(graph: Graph, walk: Sequence[Hashable]) -> Int32:
    """Return the positions of the distinct nodes of a walk, in order of first visit.

    >>> from curiograph.graph.toys import cycle
    >>> find_first_visits(cycle(4), [3, 2, 3])
    array([3, 2], dtype=int32)
    """
    return graph.positions(_list_distinct(walk, "the walk")[0])


def read_walks(graph: Graph, walks: Any) -> FirstVisits:
    """Return the first visits of a list of walks, whose nodes must be in the graph, of Trajectories or of a Dataset.

    >>> from curiograph.graph.toys import cycle
    >>> found = read_walks(cycle(4), [[3, 2, 3], [0]])
    >>> found.nodes.tolist(), found.offsets.tolist(), found.revisits.tolist(), found.people["user"]
    ([3, 2, 0], [0, 2, 3], [1, 0], [0, 1])
    """
    if is_recorded(walks):
        recorded = place_walks(graph, walks)
        nodes, offsets = select_first_visits(recorded.nodes, recorded.offsets)
        revisits = recorded.lengths - np.diff(offsets)
        return FirstVisits(nodes, offsets, revisits, list_people(recorded), recorded.skipped)
    found = [_list_distinct(walk, f"walk {number}") for number, walk in enumerate(walks)]
    try:
        nodes = graph.positions([label for labels, _ in found for label in labels])
    except UnknownNodeError as error:
        number = next(n for n, (labels, _) in enumerate(found) if any(label not in graph for label in labels))
        raise UnknownNodeError(f"walk {number}: {error}") from None
    lengths = np.array([len(labels) for labels, _ in found])
    people = {"user": list(range(len(found))), "session": [1] * len(found)}
    revisits = np.array([entries for _, entries in found]) - lengths
    return FirstVisits(nodes, np.concatenate([[0], np.cumsum(lengths)]), revisits, people, Skipped())


def is_recorded(walks: Any) -> bool:
    """Return whether walks are Trajectories or a Dataset, which this package must not import."""
    return hasattr(getattr(walks, "walks", walks), "offsets")


def is_single(graph: Graph, walk: Any) -> bool:
    """Return whether a list is one walk rather than several; raise WalkError unless it is a list.

    A tuple that is a label counts as a label.
    """
    walk = getattr(walk, "nodes", walk)
    _check_list(walk)
    if len(walk) == 0:
        raise WalkError("the walk is empty; a walk needs at least one node.")
    first = walk[0]
    is_walk = isinstance(first, list) or is_array(first) or hasattr(first, "nodes")
    return not is_walk and not (
        isinstance(first, tuple) and first not in graph and not isinstance(graph.label(0), tuple)
    )


def place_walks(graph: Graph, walks: Any) -> Trajectories:
    """Return recorded walks as positions on a graph; other visits and walks without any visit are counted as skipped.

    Raise WalkError if no walk is left.
    """
    recorded: Trajectories = getattr(walks, "walks", walks)
    people = recorded.on(graph)
    outside = people.skipped.reasons.get(OUTSIDE, 0) - recorded.skipped.reasons.get(OUTSIDE, 0)
    if outside > _MANY * len(recorded.nodes) and len(people.nodes):
        warnings.warn(
            f"{outside:,} of {len(recorded.nodes):,} visits are of nodes outside the graph; "
            "walks.list_unmatched(graph) lists them, and "
            'walks.on(graph, match="loose") ignores case, underscores and encoding.',
            stacklevel=3,
        )
    empty = int(np.count_nonzero(people.lengths == 0))
    if empty == len(people):
        raise WalkError(f"none of the {len(people)} walks visits a node of the graph; check the labels of both.")
    if empty:
        people = people[people.lengths > 0].add_skipped(Skipped(count=empty, reasons={EMPTY: empty}))
    return people


def are_first_visits(nodes: Int32, offsets: Int64) -> NDArray[np.bool_]:
    """Return which visits are the first of their node in a walk; walk i is `nodes[offsets[i]:offsets[i + 1]]`."""
    walk = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    is_first = np.zeros(len(nodes), bool)
    is_first[np.unique(walk * (int(nodes.max(initial=0)) + 1) + nodes, return_index=True)[1]] = True
    return is_first


def select_first_visits(nodes: Int32, offsets: Int64) -> tuple[Int32, Int64]:
    """Return the first visits of the nodes of each walk, in order, and the bounds of the walks among them.

    >>> nodes, offsets = select_first_visits(np.array([3, 2, 3, 3], np.int32), np.array([0, 3, 4]))
    >>> nodes.tolist(), offsets.tolist()
    ([3, 2, 3], [0, 2, 3])
    """
    is_first = are_first_visits(nodes, offsets)
    return nodes[is_first], np.concatenate([[0], np.cumsum(is_first)])[offsets]


def list_people(walks: Trajectories) -> dict[str, list[Any]]:
    """Return the user and the session of each recorded walk, and the values of further columns of the log."""
    users = walks.users.tolist()
    return {
        "user": [walks.user_names[user] for user in users],
        "session": [walks.session_names[session] for session in walks.sessions.tolist()],
        **{name: [values[user] for user in users] for name, values in walks.user_columns.items()},
    }


def _list_distinct(walk: Any, name: str) -> tuple[list[Any], int]:
    """Return the distinct labels of a walk in order of first visit, and the number of all its entries."""
    walk = getattr(walk, "nodes", walk)
    _check_list(walk)
    if len(walk) == 0:
        raise WalkError(f"{name} is empty; a walk needs at least one node.")
    labels = [as_plain(label) for label in walk]
    try:
        return list(dict.fromkeys(labels)), len(labels)
    except TypeError:  # `Graph.positions` raises an error that names the label that is not hashable
        return labels, len(labels)


def _check_list(walk: Any) -> None:
    if isinstance(walk, str | bytes) or not (isinstance(walk, Sequence) or is_array(walk)):
        fix = (
            "; give a data frame to curiograph.human.Trajectories.from_frame first" if hasattr(walk, "columns") else ""
        )
        raise WalkError(f"a walk is a list of node labels; got {quote_value(walk)}{fix}.")
