"""igt: information gaps, beta_1 of the clique complex of the visited subgraph, over GF(2); Betti numbers of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import import_optional
from curiograph.graph.batch import GraphBatch
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph, as_graph, require_nodes
from curiograph.rewards.reward import Tracker
from curiograph.validation import check_integer


class GapTracker(Tracker):
    """Information gaps of every walk of a batch; the private arrays are those of `kernels.homology`."""

    state = ("_places", "_local", "_lists", "_marks", "_born", "_counts")

    def __init__(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> None:
        super().__init__(stack, nodes, lengths)
        batch, steps = self.nodes.shape
        self._places = np.full((batch, kernels.adjacency.get_map_size(steps), 2), -1, np.int32)
        self._local = np.empty((batch, steps, 2), np.int32)
        self._lists = np.empty((batch, 4 * steps, 2), np.int32)
        self._marks = np.zeros((batch, 2 * steps, 1), np.uint64)
        self._born = np.full((batch, 64), -1, np.int64)
        self._counts = np.zeros((batch, 4), np.int64)
        self.closed: list[Int32] = []
        """Gaps closed since the walks last branched, as rows (walk, step opened, step closed)."""
        self.update()

    def values(self) -> Float64:
        return self._counts[:, kernels.homology.GAPS].astype(np.float64)

    def edge_annotations(self, walk: int, opened: int) -> dict[tuple[int, int], int]:
        """Return, per edge of a walk's subgraph, the bit set of the gaps opened at step `opened` that use the edge.

        Edges are pairs of steps, the earlier first; edges that no such gap uses are left out.
        """
        num_edges = self._counts[walk, kernels.homology.EDGES]
        bits = np.flatnonzero(self._born[walk] == opened)
        marks = self._marks[walk, :num_edges, bits >> 6] >> (bits & 63).astype(np.uint64)[:, None] & np.uint64(1)
        annotations: dict[tuple[int, int], int] = {}
        for bit, edge in np.argwhere(marks).tolist():
            ends = self._lists[walk, 2 * edge, 0], self._lists[walk, 2 * edge + 1, 0]
            pair = int(min(ends)), int(max(ends))
            annotations[pair] = annotations.get(pair, 0) | 1 << bit
        return annotations

    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        csr = self.stack.skeleton
        found: Float64 = kernels.homology.count_candidate_gaps(
            csr.indptr, csr.indices, self.nodes, self._places, self._local, self._lists, self._marks, self._born,
            self._counts, offsets, candidates, np.zeros(len(csr.indptr) - 1, np.uint64),
        )  # fmt: skip
        return found

    def gather(self, parents: Int64) -> None:
        super().gather(parents)
        self.closed.clear()  # walk numbers change

    def update(self) -> None:
        csr = self.stack.skeleton
        while True:
            state = [getattr(self, name) for name in self.state]
            grow = kernels.homology.grow_walks
            closed, edges, gaps = grow(csr.indptr, csr.indices, self.nodes, self.lengths, *state)
            if len(closed):
                self.closed.append(closed.reshape(-1, 3))
            if edges == 0:
                return
            # the kernel stopped before an overflow: enlarge the arrays of edges, or of bits for gaps, and continue
            walks, room, words = self._marks.shape
            if edges > room:
                more = 3 * edges // 2 - room
                self._lists = np.concatenate([self._lists, np.empty((walks, 2 * more, 2), np.int32)], axis=1)
                self._marks = np.concatenate([self._marks, np.empty((walks, more, words), np.uint64)], axis=1)
            if gaps > 64 * words:
                more = gaps // 64
                room = self._marks.shape[1]
                self._marks = np.concatenate([self._marks, np.zeros((walks, room, more), np.uint64)], axis=2)
                self._born = np.concatenate([self._born, np.full((walks, 64 * more), -1, self._born.dtype)], axis=1)


@dataclass(frozen=True)
class InformationGaps:
    """The igt reward."""

    name: str = "igt"

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> GapTracker:
        return GapTracker(stack, nodes, lengths)


def betti(graph: Graph, dim: int = 1) -> int:
    """Compute a Betti number of the clique complex of a graph, over GF(2).

    Dimension 0 counts components, dimension 1 loops that are not filled by triangles. The direction and the weights
    of edges are ignored.

    Parameters
    ----------
    graph : Graph
        The whole graph is measured.
    dim : int
        Dimension; 2 and above are computed by gudhi (`pip install curiograph[topology]`).

    Returns
    -------
    int
        Number of topological gaps of dimension `dim`.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle, grid
    >>> betti(cycle(6)), betti(grid(3, 3)), betti(grid(3, 3), dim=0)
    (1, 4, 1)
    """
    check_integer("dim", dim, 0, "a dimension is a whole number, zero or above")
    require_nodes(as_graph(graph))
    if dim >= 2:
        return int(grow_betti(graph, dim)[-1])
    csr = graph.skeleton
    best_linked_first = freeze_array(np.argsort(-csr.degrees, kind="stable"))
    *_, components, gaps = kernels.gap_basis.annotate_edges(csr.indptr, csr.indices, best_linked_first)
    return int(gaps if dim else components)


def grow_betti(graph: Graph, dim: int) -> Int64:
    """Return a Betti number of dimension 2 or above for the first node of a graph, the first two, and so on.

    gudhi computes them at once: a clique enters the complex with its last node.
    """
    tree = import_optional("gudhi", "topology", "Betti numbers of dimension 2 and above").SimplexTree()
    for node in range(graph.num_nodes):
        tree.insert([node], node)
    for edge in np.column_stack(graph.skeleton.get_edges()[:2]).tolist():
        tree.insert(edge, max(edge))
    tree.expansion(dim + 1)
    tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
    opened, closed = np.sort(tree.persistence_intervals_in_dimension(dim).reshape(-1, 2), axis=0).T
    nodes = np.arange(graph.num_nodes)
    return np.searchsorted(opened, nodes, side="right") - np.searchsorted(closed, nodes, side="right")
