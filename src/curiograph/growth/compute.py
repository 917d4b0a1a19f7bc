"""Compute the growth of many walks as plain arrays, which can be computed in parts and concatenated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.rewards.cct import compute_step_flexibility, count_conformable
from curiograph.rewards.cpt import compute_step_compressibility
from curiograph.rewards.igt import GapTracker

OPEN = -1
"""Closing step of a gap that stays open."""

_BATCH_ENTRIES = 2**17  # walks times nodes of a batch: limits the memory, does not change the numbers


@dataclass(frozen=True, eq=False)
class GrowthArrays:
    """Growth of several walks in flat arrays; the steps of walk i are `offsets[i]:offsets[i + 1]` of each.

    The numbers of a walk do not depend on the walks measured with it.
    """

    offsets: Int64
    """Bounds of the walks in the arrays of steps."""
    nodes: Int32
    """Positions of the visited nodes, first visits only."""
    edges: Int64
    """Number of edges of the visited subgraph."""
    beta0: Int64
    """Number of components of the visited subgraph."""
    beta1: Int64
    """Number of information gaps of the visited subgraph."""
    bits: Float64
    """Compressibility in bits, with self-loops; NaN if it was not computed."""
    dimension: Int64
    """Dimension d in which the visited subgraph moves as a mechanical network; it never falls along a walk."""
    freedom: Int64
    """Degrees of freedom d n - e, over the n nodes with a link and the e edges of the visited subgraph."""
    gaps: Int64
    """Gaps as rows (walk, step opened, step closed or `OPEN`), with steps counted from 0. Rows are sorted by walk,
    opening and closing; open gaps are last."""

    @property
    def conformable(self) -> Int64:
        """Degrees of freedom that are not rigid motions of the whole network."""
        return count_conformable(self.dimension, self.freedom)

    def __len__(self) -> int:
        return len(self.offsets) - 1


def compute_growth(graph: Graph, nodes: Int32, offsets: Int64, *, compressibility: bool = True) -> GrowthArrays:
    """Compute the growth of walks given by the positions of their first visits; walk i is `offsets[i]:offsets[i + 1]`.

    >>> from curiograph.graph.toys import cycle
    >>> growth = compute_growth(cycle(4), np.array([0, 1, 2, 3, 1], np.int32), np.array([0, 4, 5]))
    >>> growth.beta1.tolist(), growth.gaps.tolist()
    ([0, 0, 0, 1, 0], [[0, 3, -1]])
    """
    batch = GraphBatch.of([graph])
    edges, beta0, beta1 = np.zeros((3, len(nodes)), np.int64)
    gaps = [np.empty((0, 3), np.int64)]
    for walks in _group_by_length(np.diff(offsets)):
        begins, lengths = offsets[walks], offsets[walks + 1] - offsets[walks]
        table = np.full((len(walks), int(lengths[0])), -1, np.int32)
        inside = np.arange(table.shape[1]) < lengths[:, None]
        table[inside] = np.concatenate([nodes[a : a + n] for a, n in zip(begins, lengths, strict=True)])
        tracker = GapTracker(batch, table, np.zeros(len(walks), np.int64))
        for step in range(table.shape[1]):
            tracker.advance(table[:, step].copy())
            active = int(np.count_nonzero(lengths > step))  # the longest walks are first
            places = begins[:active] + step
            edges[places] = tracker.edge_counts()[:active]
            beta0[places] = tracker.component_counts()[:active]
            beta1[places] = tracker.values()[:active]
        still_open = tracker.open_gaps()
        rows = np.concatenate([*tracker.closed, np.column_stack([still_open, np.full(len(still_open), OPEN)])])
        gaps.append(np.column_stack([walks[rows[:, 0]], rows[:, 1:]]))
    found = np.concatenate(gaps)
    last = np.where(found[:, 2] == OPEN, np.iinfo(np.int64).max, found[:, 2])
    dimension, freedom = compute_step_flexibility(batch, nodes, offsets)
    return GrowthArrays(
        offsets=offsets,
        nodes=nodes,
        edges=edges,
        beta0=beta0,
        beta1=beta1,
        bits=compute_step_compressibility(batch, nodes, offsets) if compressibility else np.full(len(nodes), np.nan),
        dimension=dimension,
        freedom=freedom,
        gaps=found[np.lexsort((last, found[:, 1], found[:, 0]))],
    )


def _group_by_length(lengths: Int64) -> Iterator[Int64]:
    """Group walks into batches of similar length, longest first: no walk is padded to more than twice its length."""
    order = np.argsort(-lengths, kind="stable")
    first = 0
    while first < len(order):
        longest = int(lengths[order[first]])
        batch = order[first : first + max(1, _BATCH_ENTRIES // max(longest, 1))]
        batch = batch[2 * lengths[batch] >= longest]
        yield batch
        first += len(batch)
