"""What a user visited: labels in, positions and the chance that a walker (re)starts at each of them out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from curiograph.arrays import Float64, Int32
from curiograph.errors import SettingError, UnknownNodeError, WalkError
from curiograph.graph.graph import Graph
from curiograph.messages import quote_value
from curiograph.validation import is_number

Read = TypeVar("Read")


@dataclass(frozen=True, eq=False)
class Teleport:
    """Where walkers start, and start again after a teleport: q, without its zeros."""

    nodes: Int32
    """Distinct positions in order of first visit."""
    chances: Float64
    """Their shares of q, above zero and adding up to 1."""
    visited: Int32
    """Distinct positions of the whole history, those of weight zero too."""


def make_teleport(graph: Graph, history: Any, weights: Any = None) -> Teleport:
    """q of one history: uniform on its distinct nodes, or in proportion to the weights of its entries.

    >>> from curiograph.graph.toys import library
    >>> make_teleport(library(), ["music", "logic"], weights=[3, 1]).chances
    array([0.75, 0.25])
    """
    visits = graph.positions(_labels(history))
    nodes = _distinct(visits)
    if weights is None:
        return make_uniform_teleport(nodes)
    given = _weights(weights, len(visits))
    place = {int(node): row for row, node in enumerate(nodes)}
    total = np.bincount([place[int(v)] for v in visits], given, len(nodes))
    kept = total > 0
    return Teleport(nodes[kept], total[kept] / total.sum(), nodes)


def make_uniform_teleport(nodes: Int32) -> Teleport:
    """q that is the same on some distinct positions."""
    return Teleport(nodes, np.full(len(nodes), 1 / len(nodes)), nodes)


@dataclass(frozen=True, eq=False)
class History:
    """What one user visited, each node once."""

    nodes: Int32
    """Positions in order of first visit, as `measure` takes a walk."""
    last: int
    """Where the user is now: the last entry of the history, new or not."""

    @classmethod
    def of(cls, visits: Sequence[int]) -> History:
        """What was visited by positions, in order and perhaps repeated."""
        return cls(np.asarray(list(dict.fromkeys(visits)), np.int32), int(visits[-1]))

    @property
    def nodes_last_at_end(self) -> Int32:
        """The same positions with the last entry moved to the end: what rankers are given."""
        return np.append(self.nodes[self.nodes != self.last], np.int32(self.last)).astype(np.int32)


def parse_history(graph: Graph, history: Any) -> History:
    """What a history says that its user visited.

    >>> from curiograph.graph.toys import cycle
    >>> seen = parse_history(cycle(5), [3, 1, 4, 1])
    >>> seen.nodes.tolist(), seen.nodes_last_at_end.tolist()
    ([3, 1, 4], [3, 4, 1])
    """
    return History.of(graph.positions(_labels(history)).tolist())


def parse_histories(graph: Graph, histories: Sequence[Any]) -> list[History]:
    """Positions of each of several histories; the error for a bad one says which it is."""
    return _each(histories, lambda history, _: parse_history(graph, history))


def make_teleport_or_uniform(graph: Graph, history: Any, weights: Any) -> Teleport:
    """q of one history; without one, uniform on all nodes."""
    if history is not None:
        return make_teleport(graph, history, weights)
    if weights is not None:
        raise SettingError("there are weights but no history; give a history too, the labels that they belong to.")
    return make_uniform_teleport(np.arange(graph.num_nodes, dtype=np.int32))


def make_teleports(graph: Graph, histories: Sequence[Any], weights: Any = None) -> list[Teleport]:
    """q of each of several histories; the error for a bad one says which it is."""
    if weights is not None and (not isinstance(weights, Sequence) or len(weights) != len(histories)):
        raise SettingError(f"there are {len(histories)} histories; give one list of weights for each of them.")
    given = [None] * len(histories) if weights is None else weights
    return _each(histories, lambda history, number: make_teleport(graph, history, given[number]))


def _each(histories: Sequence[Any], read: Callable[[Any, int], Read]) -> list[Read]:
    """What `read` makes of each of several histories and its number; an error says which one is bad."""
    made = []
    for number, history in enumerate(histories):
        try:
            made.append(read(history, number))
        except (UnknownNodeError, WalkError, SettingError) as error:
            raise type(error)(f"history {number}: {error}") from None
    return made


def is_history_batch(graph: Graph, history: Any) -> bool:
    """Whether these are several histories rather than one (a tuple may also be a label: the label wins)."""
    if isinstance(history, np.ndarray):
        return history.ndim == 2 and len(history) > 0
    if not isinstance(history, Sequence) or isinstance(history, (str, bytes)) or len(history) == 0:
        return False
    first = history[0]
    if hasattr(history, "nodes"):
        return False
    return (
        isinstance(first, (list, np.ndarray))
        or hasattr(first, "nodes")
        or (isinstance(first, tuple) and first not in graph and _is_history(graph, first))
    )


def _is_history(graph: Graph, given: tuple[Any, ...]) -> bool:
    """Whether a tuple that is no label is a history: surely so where no label is a tuple."""
    return not isinstance(graph.label(0), tuple) or (len(given) > 0 and all(label in graph for label in given))


def check_alpha(alpha: Any) -> float:
    """The chance to go on instead of teleporting: a number in [0, 1).

    >>> check_alpha(1)
    Traceback (most recent call last):
    curiograph.errors.SettingError: alpha is 1; give a number from 0 up to, but not including, 1.
    """
    if not is_number(alpha) or not 0 <= alpha < 1:
        raise SettingError(f"alpha is {quote_value(alpha)}; give a number from 0 up to, but not including, 1.")
    return float(alpha)


def _labels(history: Any) -> list[Hashable]:
    history = getattr(history, "nodes", history)
    if isinstance(history, (str, bytes)) or not isinstance(history, (Sequence, np.ndarray)):
        raise WalkError(f"the history is {quote_value(history)}; give a list of node labels.")
    labels = [label.item() if isinstance(label, np.generic) else label for label in history]
    if not labels:
        raise WalkError("the history is empty; give at least one visited node.")
    return labels


def _distinct(visits: Int32) -> Int32:
    """Positions in order of first visit, each once."""
    return np.asarray(list(dict.fromkeys(visits.tolist())), np.int32)


def _weights(weights: Any, count: int) -> Float64:
    try:
        given = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        raise SettingError(
            f"the weights of the history are {quote_value(weights)}; give one number per entry."
        ) from None
    if given.shape != (count,):
        raise SettingError(f"the history has {count} entries but {given.size} weights; give one number per entry.")
    bad = ~np.isfinite(given) | (given < 0)
    if np.any(bad):
        worst = int(np.flatnonzero(bad)[0])
        raise SettingError(f"weight {worst} of the history is {given[worst]}; weights are finite and not negative.")
    if not given.sum() > 0:
        raise SettingError("the weights of the history are all zero; give at least one above zero.")
    return given
