"""What a random walk on a graph needs: who leads to a node, with what chance, and where a walk ends."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.errors import GraphError
from curiograph.graph.csr import freeze_array

if TYPE_CHECKING:
    from curiograph.graph.graph import Graph

UInt32 = NDArray[np.uint32]
UInt64 = NDArray[np.uint64]
Array = TypeVar("Array", bound=NDArray[Any])

MAX_HUBS = 1024
"""How many of the nodes that are reached most easily are remembered."""


class SortedTransition(NamedTuple):
    """Steps with nodes renumbered by the length of their rows, so that a processor guesses right where rows end."""

    rows: tuple[UInt64, UInt32, Float64 | None]
    share: Float64
    order: Int64
    """The node that each number stands for."""


class Transition:
    """Steps of a random walk: from u to v with chance P(u, v) = weight(u, v) / strength(u).

    An edge of weight zero is never taken, and a node without any weight to leave by dangles, just as one without
    edges. Rows hold in-neighbours; those of an undirected graph are its own rows, not a copy. Nothing is computed
    before it is asked for.

    >>> from curiograph.graph.graph import Graph
    >>> steps = Graph.from_edges([("a", "b", 3.0), ("a", "c", 1.0)], directed=True).transition
    >>> steps.strength.tolist(), steps.max_in_probability.tolist()
    ([4.0, 0.0, 0.0], [0.0, 0.75, 0.25])
    """

    def __init__(self, graph: Graph) -> None:
        self._indptr, self._indices, self._weights = graph.indptr, graph.indices, graph.weights
        self._directed = graph.directed
        self.pagerank_by_alpha: dict[float, Float64] = {}
        """PageRank without a history by alpha, which rankers of a directed graph keep here."""

    @cached_property
    def strength(self) -> Float64:
        """Sum of the weights that lead out of every node; its degree in a graph without weights."""
        degrees = np.diff(self._indptr)
        if self._weights is None:
            return _fixed(degrees.astype(np.float64))
        strength = np.zeros(len(degrees))
        some = np.flatnonzero(degrees)
        if len(some):
            with np.errstate(over="ignore"):
                strength[some] = np.add.reduceat(self._weights, self._indptr[some])
        if not np.all(np.isfinite(strength)):
            raise GraphError("the weights of a node's edges add up to more than a number can hold; scale them down.")
        return _fixed(strength)

    @cached_property
    def share(self) -> Float64:
        """1 / strength, and 0 for nodes that dangle."""
        strength = self.strength
        with np.errstate(over="ignore"):
            share = np.divide(1.0, strength, out=np.zeros(len(strength)), where=strength > 0)
        if not np.all(np.isfinite(share)):
            raise GraphError("the weights of a node's edges are too small to divide by their sum; scale them up.")
        return _fixed(share)

    def get_strength(self, nodes: NDArray[Any]) -> Float64:
        """Strength of some nodes; without weights, no more of the graph is read."""
        if self._weights is not None:
            return np.asarray(self.strength[nodes])
        return np.asarray(self._indptr[nodes + 1] - self._indptr[nodes], np.float64)

    def get_share(self, nodes: NDArray[Any]) -> Float64:
        """1 / strength of some nodes, and 0 for those that dangle."""
        if self._weights is not None:
            return np.asarray(self.share[nodes])
        strength = self.get_strength(nodes)
        return np.divide(1.0, strength, out=np.zeros(len(strength)), where=strength > 0)

    @cached_property
    def total(self) -> float:
        """Sum of the strengths of all nodes."""
        return float(len(self._indices)) if self._weights is None else float(self.strength.sum())

    @cached_property
    def has_dangling(self) -> bool:
        """Whether any node dangles."""
        return not bool(np.all(self.strength > 0))

    @cached_property
    def rows(self) -> tuple[UInt64, UInt32, Float64 | None]:
        """Bounds, in-neighbours and weights, unsigned as the kernels like them."""
        indptr, indices, weights = self._indptr, self._indices, self._weights
        if self._directed:
            import scipy.sparse

            size = len(indptr) - 1
            slots = scipy.sparse.csr_array((np.arange(len(indices)), indices, indptr), shape=(size, size)).T.tocsr()
            indptr, indices = slots.indptr.astype(np.int64), slots.indices.astype(np.int32, copy=False)
            weights = None if weights is None else weights[slots.data]
        kept = None if weights is None else _fixed(weights)
        return _fixed(indptr.view(np.uint64)), _fixed(indices.view(np.uint32)), kept

    @cached_property
    def sorted_by_length(self) -> SortedTransition:
        """The same steps with nodes renumbered, those with the most in-neighbours first."""
        indptr, indices, weights = self.rows
        lengths = np.diff(indptr).astype(np.int64)
        order = np.argsort(-lengths, kind="stable")
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order))
        bounds = np.concatenate([[0], np.cumsum(lengths[order])])
        first = indptr[:-1].astype(np.int64)[order]
        slots = np.arange(bounds[-1]) + np.repeat(first - bounds[:-1], lengths[order])
        kept = None if weights is None else _fixed(weights[slots])
        rows = _fixed(bounds.astype(np.uint64)), _fixed(place[indices[slots]]), kept
        return SortedTransition(rows, _fixed(self.share[order]), _fixed(order))

    @cached_property
    def middle(self) -> UInt64:
        """Of every row, the first slot of a node after the row's own."""
        return _fixed(kernels.pagerank.find_middles(*self.rows[:2]))

    @cached_property
    def max_in_probability(self) -> Float64:
        """For every node v the largest P(u, v) over all u: no step leads to v with a higher chance."""
        indptr, indices, weights = self.rows
        chances = self.share[indices] if weights is None else self.share[indices] * weights
        largest = np.zeros(len(indptr) - 1)
        some = np.flatnonzero(np.diff(indptr))
        if len(some):
            largest[some] = np.maximum.reduceat(chances, indptr[some].astype(np.int64))
        return _fixed(largest)

    @cached_property
    def hubs(self) -> Int64:
        """Nodes most easily reached, in order: of greatest strength; in a directed graph, of `largest_chance`."""
        measure = self.max_in_probability if self._directed else self.strength
        count = min(MAX_HUBS, len(measure))
        some = np.argpartition(-measure, count - 1)[:count]
        return _fixed(some[np.argsort(-measure[some], kind="stable")])


def _fixed(array: Array) -> Array:
    """The array, not to be written to."""
    fixed: Array = freeze_array(array)
    return fixed
