"""cpt: compressibility in bits of the visited subgraph, with a self-loop on every node."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.batch import GraphBatch
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph
from curiograph.rewards.reward import Tracker

MAX_ALL = 100
"""Number of nodes up to which all pairs of clusters are tried at every merge; beyond, that is often a poor bound."""

_LEAST_BITS = 10  # smaller tables would be the first entries of this one
_tables: dict[int, tuple[Int64, float]] = {}  # by the number of bits of the largest count


class CompressibilityTracker(Tracker):
    """Compressibility of every walk of a batch.

    It depends on the order of visit through merges of equal cost alone, which beam search ignores.
    """

    depends_on_order = True

    def hash_order(self) -> NDArray[np.uint64]:
        return np.zeros(len(self.lengths), np.uint64)

    def values(self) -> Float64:
        lasts = np.flatnonzero(self.lengths)  # of walks that are not empty: their last node as the only candidate
        shorter = np.maximum(self.lengths - 1, 0)
        offsets = np.concatenate([[0], np.cumsum(self.lengths > 0)])
        values = np.zeros(len(self.lengths))
        values[lasts] = self._compute(shorter, offsets, self.nodes[lasts, shorter[lasts]])
        return values

    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        return self._compute(self.lengths, offsets, candidates)

    def _compute(self, lengths: Int64, offsets: Int64, candidates: Int32) -> Float64:
        size, rows = int(lengths.max(initial=0)) + 1, self.stack.skeleton
        table = build_entropy_table(min(size**2, size + len(rows.indices)))
        begins = np.arange(len(lengths)) * self.nodes.shape[1]
        return _run_kernel(rows, self.nodes.ravel(), begins, lengths, offsets, candidates, None, *table)


def _run_kernel(rows: Graph, *arguments: Any) -> Float64:
    """Call `compute_compressibility` with arrays that are always read-only: a single compilation."""
    walks, rule = map(freeze_array, arguments[:5]), arguments[5:]
    return np.asarray(kernels.compressibility.compute_compressibility(rows.indptr, rows.indices, *walks, *rule))


def compute_step_compressibility(graph: Graph, nodes: Int32, offsets: Int64, *, last_only: bool = False) -> Float64:
    """Compute the compressibility of walks after every step; walk i is `offsets[i]:offsets[i + 1]` of both arrays.

    With `last_only`, the values of all steps but the last of each walk are NaN, which takes a fraction of the time.

    >>> from curiograph.graph.toys import complete
    >>> compute_step_compressibility(complete(3), np.array([0, 1, 2], np.int32), np.array([0, 3])).round(4)
    array([0.    , 0.5   , 0.7505])
    """
    rows, sizes = graph.skeleton, np.diff(offsets)
    steps = offsets[1:][sizes > 0] - 1 if last_only else np.arange(len(nodes))
    begins = offsets[:-1][sizes > 0] if last_only else np.repeat(offsets[:-1], sizes)
    before = steps - begins  # number of nodes visited before
    bits, longest = np.full(len(nodes), np.nan), int(sizes.max(initial=0))
    for least, most, fast in ((1, min(longest, MAX_ALL), None), (MAX_ALL + 1, longest, True)):
        for first, last, *table in list_tables(least, most, len(rows.indices)):
            some = np.flatnonzero((before >= first - 1) & (before < last))
            walks = nodes, begins[some], before[some], np.arange(len(some) + 1), nodes[steps[some]]
            bits[steps[some]] = _run_kernel(rows, *walks, fast, *table)
    return bits


@dataclass(frozen=True)
class Compressibility:
    """The cpt reward."""

    name: str = "cpt"

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> CompressibilityTracker:
        return CompressibilityTracker(stack, nodes, lengths)


def list_tables(least: int, most: int, slots: int) -> Iterator[tuple[int, int, Int64, float]]:
    """Yield the entropy tables of subgraphs of `least` to `most` nodes, each with the first and last size it is for.

    `slots` is the number of neighbors of all nodes of the graph. A size has the same table in every batch, so that
    results are bit-identical.

    >>> [(first, last) for first, last, *_ in list_tables(2, 50, slots=10**6)]
    [(2, 31), (32, 45), (46, 50)]
    """
    while least <= most:
        table, unit = build_entropy_table(min(least * least, least + slots))
        largest = len(table) - 2  # count that the table is for
        last = min(most, max(math.isqrt(largest), largest - slots))
        yield least, last, table, unit
        least = last + 1


def build_entropy_table(total: int) -> tuple[Int64, float]:
    """Return x log2 x for counts up to `total` as fixed-point integers, and the value of one unit in bits.

    The logarithm is additive, L(ab) = L(a) + L(b): a sum over prime factors.
    """
    size_bits = max(_LEAST_BITS, int(total).bit_length())
    if size_bits not in _tables:
        # up to four sums below total * log2(total) are added in 63 bits;
        # a float represents log2 of a prime to 46 fractional bits at best
        bits = min(46, 60 - size_bits - size_bits.bit_length())
        log = np.zeros(2**size_bits + 1, np.int64)
        for prime in range(2, len(log)):
            if log[prime] == 0:
                unit_log = round(math.log2(prime) * 2**bits)
                power = prime
                while power < len(log):
                    log[power::power] += unit_log
                    power *= prime
        _tables[size_bits] = freeze_array(np.arange(len(log)) * log), 2.0**-bits
    return _tables[size_bits]
