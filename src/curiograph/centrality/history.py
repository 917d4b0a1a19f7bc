"""Histories of visited nodes, and the teleport distributions of random walkers derived from them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from curiograph.arrays import Float64, Int32
from curiograph.errors import SettingError, UnknownNodeError, WalkError, quote_value
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_plain, is_array
from curiograph.validation import is_number

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class History:
    """Nodes that one user visited, without repetitions."""

    nodes: Int32
    """Positions in order of first visit."""
    by_last_visit: Int32
    """The same positions in order of last visit: the input of rankers."""

    @classmethod
    def from_visits(cls, visits: Sequence[int]) -> History:
        """Return the history of visited positions, in order and possibly repeated."""
        by_last_visit = list(dict.fromkeys(reversed(visits)))[::-1]
        return cls(np.asarray(list(dict.fromkeys(visits)), np.int32), np.asarray(by_last_visit, np.int32))


@dataclass(frozen=True, eq=False)
class Teleport:
    """Teleport distribution q: where walkers start, and restart after a teleport."""

    nodes: Int32
    """Distinct positions of probability above zero, in order of first visit."""
    probabilities: Float64
    """Probabilities of `nodes`, which sum to 1."""


def make_teleport(graph: Graph, history: Any) -> Teleport:
    """Return q of one history: uniform on its distinct nodes; a mapping contains labels and their weights.

    >>> from curiograph.graph.toys import library
    >>> make_teleport(library(), {"music": 3, "logic": 1}).probabilities
    array([0.75, 0.25])
    """
    if not isinstance(history, Mapping):
        return make_uniform_teleport(np.asarray(list(dict.fromkeys(_locate_nodes(graph, history))), np.int32))
    nodes = np.asarray(_locate_nodes(graph, list(history)), np.int32)
    for label, weight in history.items():
        if not is_number(weight) or not 0 <= weight < np.inf:
            raise SettingError(f"the weight of {quote_value(label)} in the history is {quote_value(weight)}; "
                               "give a finite number that is not negative.")  # fmt: skip
    weights = np.asarray(list(history.values()), np.float64)
    if not weights.any():
        raise SettingError("the weights of the history are all zero; give at least one above zero.")
    return Teleport(nodes[weights > 0], weights[weights > 0] / weights.sum())


def make_uniform_teleport(nodes: Int32) -> Teleport:
    """Return the uniform q on some distinct positions."""
    return Teleport(nodes, np.full(len(nodes), 1 / len(nodes)))


def make_teleports(graph: Graph, history: Any) -> tuple[list[Teleport], bool]:
    """Return q of one history (uniform if it is None) or of each of several, and whether they are several."""
    if history is None:
        return [make_uniform_teleport(np.arange(graph.num_nodes, dtype=np.int32))], False
    return read_each(graph, history, partial(make_teleport, graph))


def read_each(graph: Graph, history: Any, read: Callable[[Any], Result]) -> tuple[list[Result], bool]:
    """Return what a function reads of one history or of each of several, and whether they are several.

    Errors in one of several histories name its number.
    """
    if not is_history_batch(graph, history):
        return [read(history)], False
    found = []
    for number, each in enumerate(history):
        try:
            found.append(read(each))
        except (UnknownNodeError, WalkError, SettingError) as error:
            raise type(error)(f"history {number}: {error}") from None
    return found, True


def is_history_batch(graph: Graph, history: Any) -> bool:
    """Return whether this is a list of histories rather than one history.

    A tuple may be a history or a label: it is a label if the graph has it, and a history if no label is a tuple.
    """
    if is_array(history):
        return bool(history.ndim == 2 and len(history) > 0)
    if not isinstance(history, Sequence) or isinstance(history, str | bytes) or len(history) == 0:
        return False
    if hasattr(history, "nodes"):  # a Walk
        return False
    first = history[0]
    if isinstance(first, list | Mapping) or is_array(first) or hasattr(first, "nodes"):
        return True
    if not isinstance(first, tuple) or first in graph:
        return False
    return not isinstance(graph.label(0), tuple) or (len(first) > 0 and all(label in graph for label in first))


def check_alpha(alpha: Any) -> float:
    """Return the probability to continue instead of teleporting, a number in [0, 1)."""
    if not is_number(alpha) or not 0 <= alpha < 1:
        raise SettingError(f"alpha is {quote_value(alpha)}; give a number from 0 up to, but not including, 1.")
    return float(alpha)


def check_p_g(p_g: Any) -> float:
    """Return the parameter of the rank transition, a number in [0, 1]."""
    if not is_number(p_g) or not 0 <= p_g <= 1:
        raise SettingError(
            f"p_g is {quote_value(p_g)}; give a number from 0 (always the best) to 1 (all equally likely)."
        )
    return float(p_g)


def list_labels(name: str, labels: Any, alternative: str = "", least: int = 1) -> list[Hashable]:
    """Return node labels as a list of Python values; raise WalkError if they are no list, or fewer than `least`."""
    if isinstance(labels, str | bytes) or not (isinstance(labels, Sequence) or is_array(labels)):
        raise WalkError(f"{name} is {quote_value(labels)}; give a list of node labels{alternative}.")
    if len(labels) < least:
        raise WalkError(f"{name} is empty; give at least one node label{alternative}.")
    return [as_plain(label) for label in labels]


def _locate_nodes(graph: Graph, history: Any) -> list[int]:
    """Return the positions of the nodes of a history, a list of labels or a walk, with repetitions."""
    visits: list[int] = graph.positions(list_labels("the history", getattr(history, "nodes", history))).tolist()
    return visits
