"""Building CSR arrays from edges given as positions."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import GraphError

Array = TypeVar("Array", bound=NDArray[Any])

_FEW_EDGES = 2**16  # sorting up to so many takes less time than importing scipy.sparse


def concatenate_ranges(begins: NDArray[Any], counts: NDArray[Any]) -> Int64:
    """Concatenate ranges of integers: `counts[i]` of them from `begins[i]` on.

    >>> concatenate_ranges(np.array([7, 0]), np.array([2, 3])).tolist()
    [7, 8, 0, 1, 2]
    """
    values: Int64 = np.arange(counts.sum()) + np.repeat(begins - np.cumsum(counts) + counts, counts)
    return values


def build_csr(
    source: NDArray[Any], target: NDArray[Any], weights: NDArray[Any] | None, size: int, *, count: bool = False
) -> tuple[Int64, Int32, Float64 | None]:
    """Return sorted rows with each edge once; sum the weights of merged edges, or count the edges if `count`.

    >>> build_csr(np.array([0, 0, 0]), np.array([1, 2, 1]), None, 3, count=True)
    (array([0, 2, 2, 2]), array([1, 2], dtype=int32), array([2., 1.]))
    """
    keys = source.astype(np.int64) * max(size, 1) + target
    order = None if weights is None else np.argsort(keys, kind="stable")
    keys = np.sort(keys) if order is None else keys[order]
    first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    merged: Float64 | None = None if weights is None else np.empty(0)
    if count:
        merged = np.diff(np.flatnonzero(np.append(first, True))).astype(np.float64)
    elif weights is not None and len(weights):
        with np.errstate(over="ignore"):
            merged = np.add.reduceat(weights[order].astype(np.float64), np.flatnonzero(first))
        if not np.all(np.isfinite(merged)):
            raise GraphError("the weights of parallel edges add up to more than a number can hold; scale them down.")
    keys = keys[first]
    rows = keys // max(size, 1)
    indptr = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=size), out=indptr[1:])
    return indptr, (keys - rows * max(size, 1)).astype(np.int32), merged


def merge_directions(source: Int64, target: Int64, size: int, *, drop: bool) -> tuple[Int64, Int64, int]:
    """Return the ends of undirected edges in ascending order, and the number of pairs that are given both ways.

    If `drop`, such a pair keeps the edges of the direction that has more.

    >>> merge_directions(np.array([0, 1, 1, 2]), np.array([1, 0, 0, 1]), 3, drop=True)
    (array([0, 0, 1]), array([1, 1, 2]), 1)
    """
    low, high, is_back = np.minimum(source, target), np.maximum(source, target), source > target
    keys = low.astype(np.int64) * max(size, 1) + high
    both = np.intersect1d(keys[is_back], keys[~is_back])
    if not drop or not len(both):
        return low, high, len(both)
    kept = ~np.isin(keys, both)
    place = np.searchsorted(both, keys[~kept])
    balance = np.bincount(place, np.where(is_back[~kept], -1, 1))
    kept[~kept] = is_back[~kept] == (balance < 0)[place]
    return low[kept], high[kept], len(both)


def insert_loops(
    indptr: Int64, indices: Int32, weights: Float64 | None, loops: Float64
) -> tuple[Int64, Int32, Float64 | None]:
    """Return rows with the self-loops of positive weight inserted; rows stay sorted.

    >>> insert_loops(np.array([0, 1, 2]), np.array([1, 0]), None, np.array([0.0, 1.0]))
    (array([0, 1, 3]), array([1, 0, 1]), None)
    """
    nodes = np.flatnonzero(loops > 0)
    size = len(indptr) - 1
    rows = np.repeat(np.arange(size, dtype=np.int64), np.diff(indptr))
    slots = np.searchsorted(rows * size + indices, nodes * (size + 1))
    shift = np.zeros(size + 1, np.int64)
    np.cumsum(loops > 0, out=shift[1:])
    merged = None if weights is None else np.insert(weights, slots, loops[nodes])
    return indptr + shift, np.insert(indices, slots, nodes.astype(indices.dtype)), merged


def symmetrize_csr(indptr: Int64, indices: Int32, weights: Float64 | None) -> tuple[Int64, Int32, Float64 | None]:
    """Add the transpose to an upper triangle; rows stay sorted, because transposing a CSR matrix sorts its rows."""
    size = len(indptr) - 1
    if len(indices) <= _FEW_EDGES:
        rows = np.repeat(np.arange(size), np.diff(indptr))
        both_weights = None if weights is None else np.concatenate([weights, weights])
        return build_csr(np.concatenate([rows, indices]), np.concatenate([indices, rows]), both_weights, size)
    import scipy.sparse

    data = np.ones(len(indices), np.int8) if weights is None else weights
    upper = scipy.sparse.csr_array((data, indices, indptr), shape=(size, size))
    if weights is None:
        both = upper + upper.T.tocsr()
        return both.indptr.astype(np.int64), both.indices.astype(np.int32, copy=False), None
    slots = scipy.sparse.csr_array((np.arange(1, len(indices) + 1), indices, indptr), shape=(size, size))
    both = slots + slots.T.tocsr()  # slot numbers: a sum of matrices would drop weights of zero
    return both.indptr.astype(np.int64), both.indices.astype(np.int32, copy=False), weights[both.data - 1]


def freeze_array(array: Array) -> Array:
    """Return a contiguous, read-only view of `array`."""
    view: Array = np.ascontiguousarray(array).view(np.ndarray)  # type: ignore[assignment]
    view.flags.writeable = False
    return view
