"""cpt: compressibility in bits of the visited subgraph, with a self-loop on every node."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.batch import GraphBatch
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph
from curiograph.rewards.base import Tracker
from curiograph.rewards.pairs import HEURISTICS, NUM_PAIRS, FixedPairs, choose_pairs

_ROUNDING = 1e-12  # bits


class CompressibilityTracker(Tracker):
    """Compressibility of every walk of a batch.

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
        """Return an entropy table for the largest possible subgraph after `extra` more steps."""
        longest = int(self.lengths.max(initial=1)) + extra
        return build_entropy_table(_bound_total_count(self.stack, longest))


def compute_step_compressibility(
    stack: GraphBatch, nodes: Int32, offsets: Int64, pairs: FixedPairs = "auto"
) -> Float64:
    """Compute the compressibility of walks after every step; walk i is `offsets[i]:offsets[i + 1]` of both arrays.

    `pairs` selects the pairs of clusters as in `rate_distortion`.

    >>> from curiograph.graph.toys import complete
    >>> triangle = GraphBatch.of([complete(3)])
    >>> compute_step_compressibility(triangle, np.array([0, 1, 2], np.int32), np.array([0, 3])).round(4)
    array([0.    , 0.5   , 0.7505])
    """
    bits = np.empty(len(nodes))
    longest = int(np.diff(offsets).max(initial=0))
    walks = nodes.copy(), freeze_array(offsets)  # always of the same types: a single compilation of the kernel
    csr = stack.skeleton
    # the table depends on the length alone, so that results are bit-identical in every batch
    for (_, used), group in groupby(
        range(1, longest + 1),
        key=lambda length: (_table_bits(_bound_total_count(stack, length)), choose_pairs(pairs, length)),
    ):
        lengths = list(group)
        table = build_entropy_table(_bound_total_count(stack, lengths[-1]))
        if used == "all":
            kernels.compressibility.compute_growth_compressibility(
                csr.indptr, csr.indices, *walks, lengths[0], lengths[-1], *table, bits
            )
        else:
            kernels.rate_distortion.compute_growth_compressibility(
                csr.indptr, csr.indices, *walks, lengths[0], lengths[-1], _list_codes(used), NUM_PAIRS, used == "best",
                *table, bits,
            )  # fmt: skip
    _warn_negative(bits, pairs)
    return bits


def compute_weighted_compressibility(graph: Graph, nodes: Int32, offsets: Int64, pairs: FixedPairs = "auto") -> Float64:
    """Compute the compressibility of walks on a weighted graph after every step, as `compute_step_compressibility`.

    Self-loops have weight 1. Of the weights of both directions of an edge, the larger one counts.

    >>> triangle = Graph.from_edges([(0, 1, 1.0), (1, 2, 1.0), (2, 0, 0.0)])
    >>> compute_weighted_compressibility(triangle, np.array([0, 1, 2], np.int32), np.array([0, 3])).round(4)
    array([0.    , 0.5   , 0.5667])
    """
    bits = np.empty(len(nodes))
    csr, weights = graph.skeleton, freeze_array(graph.skeleton_weights)
    walks = nodes.copy(), freeze_array(offsets)
    longest = int(np.diff(offsets).max(initial=0))
    for used, group in groupby(range(1, longest + 1), key=lambda length: choose_pairs(pairs, length)):
        lengths = list(group)
        kernels.weighted.compute_growth_compressibility(
            csr.indptr, csr.indices, weights, *walks, lengths[0], lengths[-1], _list_codes(used), NUM_PAIRS,
            used == "best", bits,
        )  # fmt: skip
    bits[np.abs(bits) < _ROUNDING] = 0.0
    _warn_negative(bits, pairs)
    return bits


def _list_codes(pairs: str) -> Int64:
    """Return the kernel codes of the heuristics that `pairs` evaluates."""
    codes = range(len(HEURISTICS)) if pairs == "best" else [HEURISTICS.index(pairs)]
    return freeze_array(np.array(codes))


def _warn_negative(bits: Float64, pairs: FixedPairs) -> None:
    if np.any(bits < 0):
        warnings.warn(
            f"pairs={pairs!r} gives a negative compressibility at {np.count_nonzero(bits < 0)} steps: a poor bound on "
            "the true one, which is not negative; use pairs='auto' or 'best'.",
            stacklevel=3,
        )


def compute_final_compressibility(stack: GraphBatch, nodes: Int32, offsets: Int64) -> Float64:
    """Compute the compressibility of walks after their last step only, a value per walk.

    It equals the last value of `compute_step_compressibility`, bit by bit, and takes a fraction of its time.

    >>> from curiograph.graph.toys import complete
    >>> triangle = GraphBatch.of([complete(3)])
    >>> compute_final_compressibility(triangle, np.array([0, 1, 2, 0], np.int32), np.array([0, 3, 4])).round(4)
    array([0.7505, 0.    ])
    """
    bits = np.empty(len(nodes))
    lengths = np.diff(offsets)
    csr = stack.skeleton
    for length in np.unique(lengths).tolist():
        walks = np.flatnonzero(lengths == length)
        places = offsets[walks][:, None] + np.arange(length)
        equal = nodes[places].ravel(), freeze_array(np.arange(len(walks) + 1) * length)
        table = build_entropy_table(_bound_total_count(stack, length))
        found = np.empty(places.size)
        if choose_pairs("auto", length) == "all":
            kernels.compressibility.compute_growth_compressibility(
                csr.indptr, csr.indices, *equal, length, length, *table, found
            )
        else:
            heuristics = freeze_array(np.arange(len(HEURISTICS)))
            kernels.rate_distortion.compute_growth_compressibility(
                csr.indptr, csr.indices, *equal, length, length, heuristics, NUM_PAIRS, True, *table, found
            )
        bits[offsets[walks]] = found[length - 1 :: length]
    return bits[offsets[:-1]]


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
    return _entropy_table(_table_bits(total))


def _table_bits(total: int) -> int:
    return max(6, int(total).bit_length())


@lru_cache(maxsize=8)  # a walk of 50 nodes needs seven tables, each twice as large as the one before
def _entropy_table(size_bits: int) -> tuple[Int64, float]:
    # up to four sums below total * log2(total) are added in 63 bits;
    # a float represents log2 of a prime to 46 fractional bits at best
    total = 2**size_bits
    bits = min(46, 60 - size_bits - size_bits.bit_length())
    table = kernels.compressibility.build_entropy_table(total + 1, bits)
    table.flags.writeable = False
    return table, 2.0**-bits
