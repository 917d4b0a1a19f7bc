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
from curiograph.rewards.base import Tracker


class CompressibilityTracker(Tracker):
    """Compressibility of a batch of walks.

    >>> from curiograph.graph.toys import complete
    >>> tracker = CompressibilityTracker(GraphBatch.of([complete(3)]), np.array([[0, 1, 2]]), np.array([3]))
    >>> tracker.values().round(4)
    array([0.7505])
    """

    def values(self) -> Float64:
        values: Float64 = kernels.compressibility.compute_walk_compressibility(*self._walks(), *self._table(0))
        return values

    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        values: Float64 = kernels.compressibility.compute_candidate_compressibility(
            *self._walks(), offsets, candidates, *self._table(1)
        )
        return values

    def _walks(self) -> tuple[Any, ...]:
        longest = int(self.lengths.max(initial=1))
        nodes = np.ascontiguousarray(self.nodes[:, :longest])
        return self.stack.skeleton.indptr, self.stack.skeleton.indices, nodes, self.lengths

    def _table(self, extra: int) -> tuple[Int64, float]:
        """A table that holds the total count of the largest subgraph there can be."""
        longest = int(self.lengths.max(initial=1)) + extra
        return build_entropy_table(_most_counts(self.stack, longest))


def growing_compressibility(stack: GraphBatch, nodes: Int32, offsets: Int64) -> Float64:
    """Compressibility of walks after every step; walk i stands at `offsets[i]:offsets[i + 1]` of both arrays.

    >>> from curiograph.graph.toys import complete
    >>> growing_compressibility(GraphBatch.of([complete(3)]), np.array([0, 1, 2], np.int32), np.array([0, 3])).round(4)
    array([0.    , 0.5   , 0.7505])
    """
    bits = np.empty(len(nodes))
    longest = int(np.diff(offsets).max(initial=0))
    walks = freeze_array(nodes), freeze_array(offsets)  # one type, one compilation
    rows = stack.skeleton
    # a step has the table that it has in any other batch, so that its last bit is the same
    for _, some in groupby(range(1, longest + 1), key=lambda length: _table_bits(_most_counts(stack, length))):
        lengths = list(some)
        table = build_entropy_table(_most_counts(stack, lengths[-1]))
        kernels.compressibility.compute_growth_compressibility(
            rows.indptr, rows.indices, *walks, lengths[0], lengths[-1], *table, bits
        )
    return bits


def _most_counts(stack: GraphBatch, length: int) -> int:
    """The total count of the largest subgraph that so many nodes can have."""
    return min(length**2, length + len(stack.skeleton.indices))


@dataclass(frozen=True)
class Compressibility:
    """The cpt reward."""

    name: str = "cpt"

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> CompressibilityTracker:
        return CompressibilityTracker(stack, nodes, lengths)


def build_entropy_table(total: int) -> tuple[Int64, float]:
    """x log2 x for counts up to `total`, as whole numbers, and the bits that one unit is worth."""
    return _entropy_table(_table_bits(total))


def _table_bits(total: int) -> int:
    return max(6, int(total).bit_length())


@lru_cache(maxsize=8)  # each is half of the next; a walk of 50 nodes needs seven
def _entropy_table(size_bits: int) -> tuple[Int64, float]:
    # sums stay below total * log2(total), four of them may add up, and 63 bits must hold that;
    # a float gives log2 of a prime to 46 bits behind the point at best
    total = 2**size_bits
    bits = min(46, 60 - size_bits - size_bits.bit_length())
    table = kernels.compressibility.build_entropy_table(total + 1, bits)
    table.flags.writeable = False
    return table, 2.0**-bits
