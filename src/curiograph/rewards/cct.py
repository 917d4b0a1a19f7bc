"""cct: conformational change, the conformable degrees of freedom of the visited subgraph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.batch import GraphBatch
from curiograph.rewards.reward import Tracker


class FlexibilityTracker(Tracker):
    """Conformable degrees of freedom of every walk of a batch; the private arrays are those of `kernels.flexibility`.

    The dimension never falls along a walk, so the values depend on the order of visit.
    """

    depends_on_order = True
    state = ("_places", "_linked", "_counts")

    def __init__(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> None:
        super().__init__(stack, nodes, lengths)
        batch, steps = self.nodes.shape
        self._places = np.full((batch, kernels.adjacency.get_map_size(steps), 2), -1, np.int32)
        self._linked = np.zeros((batch, steps), np.bool_)
        self._counts = np.tile(np.array([0, 0, 0, 1]), (batch, 1))
        self.update()

    def values(self) -> Float64:
        _, linked, edges, dimension = self._counts.T
        return count_conformable(dimension, dimension * linked - edges).astype(np.float64)

    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        csr, state = self.stack.skeleton, (self._places, self._linked, self._counts)
        count = kernels.flexibility.count_candidate_conformable
        return np.asarray(count(csr.indptr, csr.indices, self.nodes, *state, offsets, candidates))

    def hash_order(self) -> NDArray[np.uint64]:
        return self._counts[:, kernels.flexibility.DIMENSION].astype(np.uint64)

    def update(self) -> None:
        csr, state = self.stack.skeleton, (self._places, self._linked, self._counts)
        kernels.flexibility.grow_walks(csr.indptr, csr.indices, self.nodes, self.lengths, *state)


def count_conformable(dimension: Int64, freedom: Int64) -> Int64:
    """Return the degrees of freedom that are not rigid motions; 0 for a subgraph without edges.

    >>> count_conformable(np.array([1, 1, 3]), np.array([0, 1, 8]))
    array([0, 0, 2])
    """
    # freedom is 0 only without edges; otherwise the dimension is such that the difference is not negative
    return np.maximum(freedom - dimension * (dimension + 1) // 2, 0)


@dataclass(frozen=True)
class ConformationalChange:
    """The cct reward."""

    name: str = "cct"

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> FlexibilityTracker:
        return FlexibilityTracker(stack, nodes, lengths)
