"""cpt: compressibility in bits of the visited subgraph, with a self-loop on every node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.batch import GraphBatch
from curiograph.graph.csr import freeze_array
from curiograph.rewards.reward import Tracker

MAX_ALL = 100
"""Number of nodes up to which all pairs of clusters are tried at every merge; beyond, that is often a poor bound."""


class CompressibilityTracker(Tracker):
    """Compressibility of every walk of a batch.

    >>> from curiograph.graph.toys import complete
    >>> tracker = CompressibilityTracker(GraphBatch.of([complete(3)]), np.array([[0, 1, 2]]), np.array([3]))
    >>> tracker.values().round(4)
    array([0.7505])
    """

    def values(self) -> Float64:
        walks, table = self._pack(extra=0)
        return np.asarray(kernels.compressibility.compute_walk_compressibility(*walks, *table))

    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        walks, table = self._pack(extra=1)
        compute = kernels.compressibility.compute_candidate_compressibility
        return np.asarray(compute(*walks, offsets, candidates, *table))

    def _pack(self, extra: int) -> tuple[Any, Any]:
        """Return the walks for the kernels, and the entropy table of the largest subgraph after `extra` more steps."""
        longest, rows = int(self.lengths.max(initial=1)), self.stack.skeleton
        walks = rows.indptr, rows.indices, np.ascontiguousarray(self.nodes[:, :longest]), self.lengths
        return walks, build_entropy_table(_bound_total_count(self.stack, longest + extra))


def compute_step_compressibility(stack: GraphBatch, nodes: Int32, offsets: Int64) -> Float64:
    """Compute the compressibility of walks after every step; walk i is `offsets[i]:offsets[i + 1]` of both arrays.

    >>> from curiograph.graph.toys import complete
    >>> triangle = GraphBatch.of([complete(3)])
    >>> compute_step_compressibility(triangle, np.array([0, 1, 2], np.int32), np.array([0, 3])).round(4)
    array([0.    , 0.5   , 0.7505])
    """
    bits = np.empty(len(nodes))
    longest = int(np.diff(offsets).max(initial=0))

    def choose_method(length: int) -> tuple[int, bool]:  # the same in every batch, so that results are bit-identical
        return _count_table_bits(_bound_total_count(stack, length)), length <= MAX_ALL

    for _, group in groupby(range(1, longest + 1), key=choose_method):
        lengths = list(group)
        _fill_bits(stack, nodes.copy(), freeze_array(offsets), lengths[0], lengths[-1], bits)
    return bits


def compute_final_compressibility(stack: GraphBatch, nodes: Int32, offsets: Int64) -> Float64:
    """Compute the compressibility of walks after their last step only, a value per walk.

    It equals the last value of `compute_step_compressibility`, bit by bit, and takes a fraction of its time.

    >>> from curiograph.graph.toys import complete
    >>> triangle = GraphBatch.of([complete(3)])
    >>> compute_final_compressibility(triangle, np.array([0, 1, 2, 0], np.int32), np.array([0, 3, 4])).round(4)
    array([0.7505, 0.    ])
    """
    lengths = np.diff(offsets)
    bits = np.empty(len(lengths))
    for length in np.unique(lengths).tolist():
        walks = np.flatnonzero(lengths == length)
        places = offsets[walks][:, None] + np.arange(length)
        found = np.empty(places.size)
        starts = freeze_array(np.arange(len(walks) + 1) * length)
        _fill_bits(stack, nodes[places].ravel(), starts, length, length, found)
        bits[walks] = found[length - 1 :: length]
    return bits


def _fill_bits(stack: GraphBatch, nodes: Int32, offsets: Int64, least: int, most: int, bits: Float64) -> None:
    """Write the compressibility of walks after each step from `least` to `most` nodes to `bits`."""
    walks = stack.skeleton.indptr, stack.skeleton.indices, nodes, offsets, least, most
    table = build_entropy_table(_bound_total_count(stack, most))
    if most <= MAX_ALL:
        kernels.compressibility.compute_growth_compressibility(*walks, *table, bits)
    else:
        kernels.cluster_merging.compute_growth_compressibility(*walks, *table, bits)


def _bound_total_count(stack: GraphBatch, length: int) -> int:
    """Return the largest total joint count that a subgraph of `length` nodes can have."""
    return min(length**2, length + len(stack.skeleton.indices))


@dataclass(frozen=True)
class Compressibility:
    """The cpt reward."""

    name: str = "cpt"

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> CompressibilityTracker:
        return CompressibilityTracker(stack, nodes, lengths)


def build_entropy_table(total: int) -> tuple[Int64, float]:
    """Return x log2 x for counts up to `total` as fixed-point integers, and the value of one unit in bits."""
    return _build_entropy_table(_count_table_bits(total))


def _count_table_bits(total: int) -> int:
    return max(6, int(total).bit_length())


@lru_cache(maxsize=8)  # a walk of 50 nodes needs seven tables, each twice as large as the one before
def _build_entropy_table(size_bits: int) -> tuple[Int64, float]:
    # up to four sums below total * log2(total) are added in 63 bits;
    # a float represents log2 of a prime to 46 fractional bits at best
    bits = min(46, 60 - size_bits - size_bits.bit_length())
    return freeze_array(kernels.compressibility.build_entropy_table(2**size_bits + 1, bits)), 2.0**-bits
