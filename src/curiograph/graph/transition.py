"""Transition probabilities of random walks on a graph."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import GraphError
from curiograph.graph.csr import concatenate_ranges, freeze_array, insert_loops

UInt32 = NDArray[np.uint32]
UInt64 = NDArray[np.uint64]


class SortedTransition(NamedTuple):
    """A transition with nodes renumbered by the length of their rows, which avoids branch mispredictions."""

    rows: tuple[UInt64, UInt32, Float64 | None]
    """Bounds, in-neighbors and weights."""
    share: Float64
    """1 / strength of every node, 0 for dangling nodes."""
    order: Int64
    """Original position of every node."""


class Transition:
    """Steps of a random walk: from u to v with probability P(u, v) = weight(u, v) / strength(u).

    Self-loops are steps too. A node is dangling if it has no out-edge of positive weight. Rows contain in-neighbors;
    those of an undirected graph without self-loops are its own rows, not a copy. Everything is computed on first use.

    >>> from curiograph.graph.graph import Graph
    >>> steps = Graph.from_edges([("a", "b", 3.0), ("a", "c", 1.0)], directed=True).transition
    >>> steps.strength.tolist(), steps.share.tolist()
    ([4.0, 0.0, 0.0], [0.25, 0.0, 0.0])
    """

    def __init__(self, arrays: tuple[Int64, Int32, Float64 | None, Float64 | None], directed: bool) -> None:
        # not the graph itself: a cycle of references would delay the release of its memory
        self._arrays, self._directed = arrays, directed
        self.pagerank_by_alpha: dict[float, Float64] = {}
        """PageRank without a history by alpha, cached here by the rankers of a directed graph."""
        self.push_workspaces: dict[float, tuple[Any, Any]] = {}
        """Memory of local push by alpha, while no ranker uses it."""

    @cached_property
    def out_rows(self) -> tuple[Int64, Int32, Float64 | None]:
        """Bounds, out-neighbors including the node itself if it has a self-loop, and weights."""
        indptr, indices, weights, loops = self._arrays
        if loops is None:
            return indptr, indices, weights
        indptr, indices, weights = insert_loops(indptr, indices, weights, loops)
        return freeze_array(indptr), freeze_array(indices), None if weights is None else freeze_array(weights)

    @cached_property
    def strength(self) -> Float64:
        """Sum of the weights of the out-edges of every node; their number in an unweighted graph."""
        indptr, _, weights = self.out_rows
        degrees = np.diff(indptr)
        if weights is None:
            return freeze_array(degrees.astype(np.float64))
        strength = np.zeros(len(degrees))
        some = np.flatnonzero(degrees)
        if len(some):
            with np.errstate(over="ignore"):
                strength[some] = np.add.reduceat(weights, indptr[some])
        if not np.all(np.isfinite(strength)):
            raise GraphError("the weights of a node's edges add up to more than a number can hold; scale them down.")
        return freeze_array(strength)

    @cached_property
    def share(self) -> Float64:
        """1 / strength of every node, 0 for dangling nodes."""
        strength = self.strength
        with np.errstate(over="ignore"):
            share = np.divide(1.0, strength, out=np.zeros(len(strength)), where=strength > 0)
        if not np.all(np.isfinite(share)):
            raise GraphError("the weights of a node's edges are too small to divide by their sum; scale them up.")
        return freeze_array(share)

    @cached_property
    def total(self) -> float:
        """Sum of the strengths of all nodes."""
        return float(self.strength.sum())

    @cached_property
    def rows(self) -> tuple[UInt64, UInt32, Float64 | None]:
        """Bounds, in-neighbors and weights, unsigned as the kernels require."""
        indptr, indices, weights = self.out_rows
        if self._directed:
            import scipy.sparse

            size = len(indptr) - 1
            slots = scipy.sparse.csr_array((np.arange(len(indices)), indices, indptr), shape=(size, size)).T.tocsr()
            indptr, indices = slots.indptr.astype(np.int64), slots.indices.astype(np.int32, copy=False)
            weights = None if weights is None else weights[slots.data]
        kept = None if weights is None else freeze_array(weights)
        return freeze_array(indptr.view(np.uint64)), freeze_array(indices.view(np.uint32)), kept

    @cached_property
    def sorted_by_length(self) -> SortedTransition:
        """The transition with nodes renumbered, those with the most in-neighbors first."""
        indptr, indices, weights = self.rows
        lengths = np.diff(indptr).astype(np.int64)
        order = np.argsort(-lengths, kind="stable")
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order))
        bounds = np.concatenate([[0], np.cumsum(lengths[order])])
        first = indptr[:-1].astype(np.int64)[order]
        slots = concatenate_ranges(first, lengths[order])
        kept = None if weights is None else freeze_array(weights[slots])
        rows = freeze_array(bounds.astype(np.uint64)), freeze_array(place[indices[slots]]), kept
        return SortedTransition(rows, freeze_array(self.share[order]), freeze_array(order))
