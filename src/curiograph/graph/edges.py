"""Conversion of edges given as pairs or triples of labels to arrays of positions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import GraphError, quote_value
from curiograph.graph.labels import Labels, RangeLabels, as_labels

EdgeArrays = tuple[Int64, Int64, Float64 | None, Labels]
"""Positions of the sources and the targets of edges, the weights if any, and the label of every position."""


def index_edges(edges: Iterable[Sequence[Any]] | NDArray[Any], nodes: Iterable[Hashable] | None) -> EdgeArrays:
    """Assign positions to the labels of `nodes`, then of `edges`, in order of appearance.

    Without `nodes`, integers 0 to n - 1 keep their natural order.

    >>> source, target, weights, names = index_edges([("b", "a")], nodes=["a"])
    >>> source, target, list(names)
    (array([1]), array([0]), ['a', 'b'])
    """
    if isinstance(edges, np.ndarray) and edges.ndim == 2 and edges.shape[1] == 2 and nodes is None:
        indexed = _index_integers(edges)
        if indexed is not None:
            return indexed
        edges = edges.tolist()
    positions: dict[Hashable, int] = {}
    if nodes is not None:
        positions = {label: number for number, label in enumerate(check_labels(nodes))}
    given = len(positions)
    source: list[int] = []
    target: list[int] = []
    weights: list[float] = []
    for number, edge in enumerate(check_iterable(edges, "edges", "pairs (u, v) or triples (u, v, weight)")):
        try:  # characters of a text, members of a set and keys of a dictionary are not the two ends of an edge
            parts = () if isinstance(edge, (str, bytes, set, frozenset, dict)) else tuple(edge)
        except TypeError:
            parts = ()
        if len(parts) not in (2, 3):
            raise GraphError(f"edge {number} is {quote_value(edge)}; give pairs (u, v) or triples (u, v, weight).")
        source.append(positions.setdefault(as_label(parts[0]), len(positions)))
        target.append(positions.setdefault(as_label(parts[1]), len(positions)))
        weights.append(parse_weight(parts[2], f"edge {number}") if len(parts) == 3 else math.nan)
    labels: list[Hashable] = list(positions)
    source_array, target_array = np.asarray(source, np.int64), np.asarray(target, np.int64)
    if given == 0 and all(type(label) is int for label in labels) and set(labels) == set(range(len(labels))):
        order = np.asarray(labels, np.int64)
        source_array, target_array = order[source_array], order[target_array]
        labels = list(range(len(labels)))
    weight_array = np.asarray(weights, np.float64)
    missing = np.flatnonzero(np.isnan(weight_array))  # NaN: no weight was given
    if 0 < len(missing) < len(weights):
        parse_weight(None, f"edge {missing[0]}")  # raises
    weighted = len(weights) > 0 and len(missing) == 0
    return source_array, target_array, weight_array if weighted else None, as_labels(labels)


def parse_weight(value: Any, edge: str) -> float:
    """Return a weight as a float; raise GraphError, naming the edge, unless it is finite and zero or above."""
    if value is None:
        raise GraphError(f"{edge} has no weight but others do; give all edges a weight or none.")
    try:
        weight = float(value)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if not (math.isfinite(weight) and weight >= 0):
        raise GraphError(f"{edge} has weight {quote_value(value)}; weights must be finite numbers, zero or above.")
    return weight


def check_labels(labels: Iterable[Any]) -> list[Hashable]:
    """Return the labels of nodes as a list; raise GraphError if one cannot be a label or occurs twice."""
    listed = [as_label(label) for label in check_iterable(labels, "nodes", "a list of labels")]
    if len(set(listed)) < len(listed):
        twice = Counter(listed).most_common(1)[0][0]
        raise GraphError(f"node {twice!r} is listed twice; give each node a name of its own.")
    return listed


def check_iterable(values: Iterable[Any], what: str, expected: str) -> Iterator[Any]:
    """Return an iterator over `values`; raise GraphError if it is not iterable."""
    try:
        return iter(values)
    except TypeError:
        raise GraphError(f"{what} is {quote_value(values)}; give {expected}.") from None


def as_label(label: Any) -> Hashable:
    """Return `label` with numpy scalars converted; raise GraphError if it cannot be a label."""
    if isinstance(label, np.generic):
        label = label.item()
    try:
        hash(label)
    except TypeError:
        fix = "labels must be hashable (text, numbers, tuples)"
        raise GraphError(f"node {label!r} cannot be a label: {fix}.") from None
    if label != label:
        raise GraphError("nan cannot be a label: it is not equal to itself.")
    return label  # type: ignore[no-any-return]


def _index_integers(edges: NDArray[Any]) -> EdgeArrays | None:
    """Fast path for an array that contains every integer from 0 to its maximum; otherwise return None."""
    if not np.issubdtype(edges.dtype, np.integer) or len(edges) == 0 or edges.min() < 0:
        return None
    size = int(edges.max()) + 1
    if size > 2 * edges.size:
        return None
    edges = edges.astype(np.int64)
    if np.count_nonzero(np.bincount(edges.ravel(), minlength=size)) != size:
        return None
    return edges[:, 0], edges[:, 1], None, RangeLabels(size)
