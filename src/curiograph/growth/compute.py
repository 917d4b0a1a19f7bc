"""Compute the growth of many walks as plain arrays, which can be computed in parts and concatenated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.rewards.cct import compute_step_flexibility, count_conformable
from curiograph.rewards.cpt import compute_step_compressibility, compute_weighted_compressibility
from curiograph.rewards.igt import GapTracker
from curiograph.rewards.topology import compute_persistence

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
    betti: Int64
    """Betti numbers, steps x dimensions."""
    edges: Int64
    """Number of edges of the visited subgraph."""
    bits: Float64
    """Compressibility in bits, with self-loops; NaN if it was not computed."""
    dimension: Int64
    """Dimension d in which the visited subgraph moves as a mechanical network; it never falls along a walk."""
    freedom: Int64
    """Degrees of freedom d n - e, over the n nodes with a link and the e edges of the visited subgraph."""
    gaps: Int32
    """Gaps as rows (walk, dimension, step opened, step closed or `OPEN`), with steps counted from 0. Rows are sorted by
    walk, dimension, opening and closing; open gaps are last."""

    @property
    def conformable(self) -> Int64:
        """Degrees of freedom that are not rigid motions of the whole network."""
        return count_conformable(self.dimension, self.freedom)

    def __len__(self) -> int:
        return len(self.offsets) - 1


def compute_growth(
    graph: Graph,
    nodes: Int32,
    offsets: Int64,
    *,
    max_dim: int = 1,
    compressibility: bool = True,
    weighted: bool = False,
) -> GrowthArrays:
    """Compute the growth of walks given by the positions of their first visits; walk i is `offsets[i]:offsets[i + 1]`.

    If `weighted`, compressibility takes the weights of edges into account.

    >>> from curiograph.graph.toys import cycle
    >>> growth = compute_growth(cycle(4), np.array([0, 1, 2, 3, 1], np.int32), np.array([0, 4, 5]))
    >>> growth.betti[:, 1].tolist(), growth.gaps.tolist()
    ([0, 0, 0, 1, 0], [[0, 1, 3, -1]])
    """
    stack = GraphBatch.of([graph])
    betti = np.zeros((len(nodes), max_dim + 1), np.int64)
    edges = np.zeros(len(nodes), np.int64)
    batches = _group_by_length(np.diff(offsets))
    gaps = [np.empty((0, 4), np.int64), *(_track_gaps(stack, nodes, offsets, walks, betti, edges) for walks in batches)]
    for walk in range(len(offsets) - 1) if max_dim > 1 else ():
        steps = slice(offsets[walk], offsets[walk + 1])
        for dim, found in compute_persistence(graph.skeleton, nodes[steps], max_dim).items():
            for opened, closed in found:
                betti[steps][opened:closed, dim] += 1
                gaps.append(np.array([[walk, dim, opened, OPEN if closed is None else closed]]))
    rows = np.concatenate(gaps)
    walk_of, dims, openings, closings = rows.T
    last = np.where(closings == OPEN, np.iinfo(np.int64).max, closings)
    bits = np.full(len(nodes), np.nan)
    if compressibility:
        bits = (
            compute_weighted_compressibility(graph, nodes, offsets)
            if weighted
            else compute_step_compressibility(stack, nodes, offsets)
        )
    dimension, freedom = compute_step_flexibility(stack, nodes, offsets)
    return GrowthArrays(
        offsets=offsets,
        nodes=nodes,
        betti=betti,
        edges=edges,
        bits=bits,
        dimension=dimension,
        freedom=freedom,
        gaps=rows[np.lexsort((last, openings, dims, walk_of))].astype(np.int32),
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


def _track_gaps(
    stack: GraphBatch, flat_nodes: Int32, offsets: Int64, walks: Int64, betti: Int64, edges: Int64
) -> Int64:
    """Fill in the rows of `betti` and `edges` of some walks, longest first, and return their gaps of dimension 1."""
    begins, lengths = offsets[walks], offsets[walks + 1] - offsets[walks]
    nodes = np.full((len(walks), int(lengths[0])), -1, np.int32)
    inside = np.arange(nodes.shape[1]) < lengths[:, None]
    nodes[inside] = np.concatenate([flat_nodes[a : a + n] for a, n in zip(begins, lengths, strict=True)])
    tracker = GapTracker(stack, nodes, np.zeros(len(walks), np.int64))
    for step in range(nodes.shape[1]):
        tracker.advance(nodes[:, step].copy())
        active = int(np.count_nonzero(lengths > step))
        places = begins[:active] + step
        betti[places, 0] = tracker.component_counts()[:active]
        betti[places, 1] = tracker.values()[:active]
        edges[places] = tracker.edge_counts()[:active]
    still_open = tracker.open_gaps()
    gaps = np.concatenate([*tracker.closed, np.column_stack([still_open, np.full(len(still_open), OPEN)])])
    return np.column_stack([walks[gaps[:, 0]], np.ones(len(gaps), np.int64), gaps[:, 1:]])
