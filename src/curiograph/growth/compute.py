"""What many walks grew, step by step, as plain arrays: to be computed in parts, anywhere, and joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.rewards.cpt import growing_compressibility
from curiograph.rewards.igt import GapTracker
from curiograph.rewards.topology import compute_persistence

OPEN = -1
"""Stands for the step at which a gap was closed that was not."""

_ENTRIES = 2**17  # walks times nodes measured together: bounds the memory, does not change the numbers


@dataclass(frozen=True, eq=False)
class GrowthArrays:
    """Steps of walks one after another: those of walk i stand at `offsets[i]:offsets[i + 1]` of the other arrays.

    Nothing of a walk depends on what else was measured with it.
    """

    offsets: Int64
    nodes: Int32
    """Positions, first visits only."""
    betti: Int64
    """Betti numbers, steps x dimensions."""
    edges: Int64
    """Number of edges of the visited subgraph."""
    bits: Float64
    """Compressibility with self-loops; NaN where it was not asked for."""
    gaps: Int32
    """Every gap as a row (walk, dimension, step opened, step closed or `OPEN`), steps counted from 0; in the order of
    walks, dimensions, opening and closing, those that stay open last."""

    def __len__(self) -> int:
        return len(self.offsets) - 1


def compute_growth(
    graph: Graph, nodes: Int32, offsets: Int64, *, max_dim: int = 1, compressibility: bool = True
) -> GrowthArrays:
    """Measure walks given by the positions of their first visits; walk i is `nodes[offsets[i]:offsets[i + 1]]`.

    >>> from curiograph.graph.toys import cycle
    >>> grown = compute_growth(cycle(4), np.array([0, 1, 2, 3, 1], np.int32), np.array([0, 4, 5]))
    >>> grown.betti[:, 1].tolist(), grown.gaps.tolist()
    ([0, 0, 0, 1, 0], [[0, 1, 3, -1]])
    """
    stack = GraphBatch.of([graph])
    betti = np.zeros((len(nodes), max_dim + 1), np.int64)
    edges = np.zeros(len(nodes), np.int64)
    gaps = [_grow_together(stack, nodes, offsets, walks, betti, edges) for walks in _alike(np.diff(offsets))]
    if max_dim > 1:
        gaps += [_higher(graph, walk, nodes, offsets, betti) for walk in range(len(offsets) - 1)]
    bits = growing_compressibility(stack, nodes, offsets) if compressibility else np.full(len(nodes), np.nan)
    return GrowthArrays(offsets, nodes, betti, edges, bits, _in_order(gaps))


def _alike(lengths: Int64) -> Iterator[Int64]:
    """Walks to measure together, longest first: padded to the longest, none is less than half of it."""
    order = np.argsort(-lengths, kind="stable")
    first = 0
    while first < len(order):
        longest = int(lengths[order[first]])
        fit = order[first : first + max(1, _ENTRIES // max(longest, 1))]
        some = fit[2 * lengths[fit] >= longest]
        yield some
        first += len(some)


def _grow_together(stack: GraphBatch, flat: Int32, offsets: Int64, walks: Int64, betti: Int64, edges: Int64) -> Int64:
    """Fill in what some walks grew, longest first, and return their gaps of dimension 1."""
    begins, lengths = offsets[walks], offsets[walks + 1] - offsets[walks]
    nodes = np.full((len(walks), int(lengths[0])), -1, np.int32)
    inside = np.arange(nodes.shape[1]) < lengths[:, None]
    nodes[inside] = np.concatenate([flat[a : a + n] for a, n in zip(begins, lengths, strict=True)])
    tracker = GapTracker(stack, nodes, np.zeros(len(walks), np.int64))
    for step in range(nodes.shape[1]):
        tracker.advance(nodes[:, step].copy())
        going = int(np.count_nonzero(lengths > step))
        places = begins[:going] + step
        betti[places, 0], betti[places, 1] = tracker.parts()[:going], tracker.values()[:going]
        edges[places] = tracker.edges()[:going]
    closed = np.concatenate([np.empty((0, 3), np.int64), *tracker.closed])
    left = tracker.open_gaps()
    rows = np.concatenate([closed, np.column_stack([left, np.full(len(left), OPEN)])])
    return np.column_stack([walks[rows[:, 0]], np.ones(len(rows), np.int64), rows[:, 1:]])


def _higher(graph: Graph, walk: int, flat: Int32, offsets: Int64, betti: Int64) -> Int64:
    """Fill in the Betti numbers of dimension 2 and above of one walk, and return its gaps of these dimensions."""
    nodes, into = flat[offsets[walk] : offsets[walk + 1]], betti[offsets[walk] : offsets[walk + 1]]
    rows = []
    for dim, pairs in compute_persistence(graph.skeleton, nodes, betti.shape[1] - 1).items():
        for opened, closed in pairs:
            into[opened:closed, dim] += 1
            rows.append((walk, dim, opened, OPEN if closed is None else closed))
    return np.asarray(rows, np.int64).reshape(-1, 4)


def _in_order(gaps: Sequence[Int64]) -> Int32:
    rows = np.concatenate([np.empty((0, 4), np.int64), *gaps])
    walk, dim, opened, closed = rows.T
    return rows[np.lexsort((np.where(closed == OPEN, np.iinfo(np.int64).max, closed), opened, dim, walk))].astype(
        np.int32
    )
