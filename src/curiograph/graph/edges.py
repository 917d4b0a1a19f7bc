"""Edges as a user lists them, pairs or triples of labels, turned into arrays of positions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import GraphError
from curiograph.graph.labels import Labels, RangeLabels, as_labels
from curiograph.messages import quote_value


@dataclass(frozen=True)
class EdgeArrays:
    """Positions at both ends of every edge, weights if any, and what the positions are called."""

    source: Int64
    target: Int64
    weights: Float64 | None
    names: Labels


def index_edges(edges: Iterable[Sequence[Any]] | NDArray[Any], nodes: Iterable[Hashable] | None) -> EdgeArrays:
    """Number the labels of `nodes` and `edges`, in this order; integers 0 to n - 1 keep their natural order.

    >>> index_edges([("b", "a")], nodes=["a"]).source
    array([1])
    """
    if isinstance(edges, np.ndarray) and edges.ndim == 2 and edges.shape[1] == 2 and nodes is None:
        plain = _integer_pairs(edges)
        if plain is not None:
            return plain
        edges = edges.tolist()
    positions = _numbered(nodes)
    given = len(positions)
    source: list[int] = []
    target: list[int] = []
    weights: list[float] = []
    for number, edge in enumerate(check_iterable(edges, "edges", "pairs (u, v) or triples (u, v, weight)")):
        u, v, weight = _split_edge(edge, number)
        source.append(positions.setdefault(u, len(positions)))
        target.append(positions.setdefault(v, len(positions)))
        weights.append(weight)
    labels: list[Hashable] = list(positions)
    source_array, target_array = np.asarray(source, np.int64), np.asarray(target, np.int64)
    if given == 0 and _is_shuffled_range(labels):
        order = np.asarray(labels, np.int64)
        source_array, target_array = order[source_array], order[target_array]
        labels = list(range(len(labels)))
    return EdgeArrays(source_array, target_array, _all_or_none(weights), as_labels(labels))


def _numbered(nodes: Iterable[Hashable] | None) -> dict[Hashable, int]:
    positions: dict[Hashable, int] = {}
    for label in () if nodes is None else check_iterable(nodes, "nodes", "a list of labels"):
        if as_label(label) in positions:
            raise GraphError(f"node {label!r} is listed twice in nodes; list each node once.")
        positions[as_label(label)] = len(positions)
    return positions


def _all_or_none(weights: list[float]) -> Float64 | None:
    """The weights of all edges, or None where none has one (NaN stands for none)."""
    array = np.asarray(weights, np.float64)
    missing = np.isnan(array)
    if np.all(missing):
        return None
    if np.any(missing):
        number = int(np.flatnonzero(missing)[0])
        raise GraphError(f"edge {number} has no weight but others do; give all edges a weight or none.")
    return array


def _split_edge(edge: Sequence[Any], number: int) -> tuple[Hashable, Hashable, float]:
    try:  # neither the characters of a text nor the members of a set or the keys of a dictionary are two ends
        parts = () if isinstance(edge, (str, bytes, set, frozenset, dict)) else tuple(edge)
    except TypeError:
        parts = ()
    if len(parts) not in (2, 3):
        raise GraphError(f"edge {number} is {quote_value(edge)}; give pairs (u, v) or triples (u, v, weight).")
    weight = np.nan
    if len(parts) == 3:
        try:
            weight = float(parts[2])
        except (TypeError, ValueError, OverflowError):
            raise GraphError(f"edge {number} has weight {quote_value(parts[2])}, which is not a number.") from None
        if not (np.isfinite(weight) and weight >= 0):
            raise GraphError(f"edge {number} has weight {weight}; weights must be finite numbers, zero or above.")
    return as_label(parts[0]), as_label(parts[1]), weight


def check_iterable(values: Iterable[Any], what: str, expected: str) -> Iterator[Any]:
    """The values one by one; raises GraphError with what they are and should be for a value that is not several.

    >>> next(check_iterable(5, "nodes", "a list of labels"))
    Traceback (most recent call last):
    curiograph.errors.GraphError: nodes is 5; give a list of labels.
    """
    try:
        return iter(values)
    except TypeError:
        raise GraphError(f"{what} is {quote_value(values)}; give {expected}.") from None


def as_label(label: Any) -> Hashable:
    """What `label` is stored as; raises for what cannot be a label."""
    if isinstance(label, np.generic):
        label = label.item()
    try:
        hash(label)
    except TypeError:
        raise GraphError(
            f"node {label!r} cannot be a label: labels must be hashable (text, numbers, tuples)."
        ) from None
    if label != label:
        raise GraphError("nan cannot be a label: it is not equal to itself.")
    checked: Hashable = label
    return checked


def _is_shuffled_range(labels: list[Hashable]) -> bool:
    return all(type(label) is int for label in labels) and set(labels) == set(range(len(labels)))


def _integer_pairs(edges: NDArray[Any]) -> EdgeArrays | None:
    """The fast way for an array of positions that uses every number from 0 to its largest."""
    if not np.issubdtype(edges.dtype, np.integer) or len(edges) == 0 or edges.min() < 0:
        return None
    size = int(edges.max()) + 1
    if size > 2 * edges.size:
        return None
    edges = edges.astype(np.int64)
    if np.count_nonzero(np.bincount(edges.ravel(), minlength=size)) != size:
        return None
    return EdgeArrays(edges[:, 0], edges[:, 1], None, RangeLabels(size))
