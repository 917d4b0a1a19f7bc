"""Several graphs as one block-diagonal graph, on which a batch of walks runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from curiograph.arrays import Float32, Int32, Int64
from curiograph.graph.graph import Graph


@dataclass(frozen=True)
class CSR:
    """CSR arrays, as the kernels take them."""

    indptr: Int64
    """First slot of every row, and the number of slots."""
    indices: Int32
    """Neighbors, row after row."""

    def __post_init__(self) -> None:
        # read-only as in Graph, also after unpickling: numba compiles once for each type
        self.indptr.flags.writeable = self.indices.flags.writeable = False

    def __reduce__(self) -> tuple[type[CSR], tuple[Int64, Int32]]:
        return CSR, (self.indptr, self.indices)


@dataclass(frozen=True)
class GraphBatch:
    """One or many graphs as one. Node v of graph k has the position `starts[k] + v`; a single graph is not copied.

    >>> from curiograph.graph.toys import cycle
    >>> GraphBatch.of([cycle(4), cycle(5)]).starts
    array([0, 4, 9])
    """

    graphs: tuple[Graph, ...]
    """The graphs, in order."""
    starts: Int64
    """Position of the first node of each graph, and the number of all nodes."""
    out: CSR
    """Out-neighbors: the nodes that a walk may visit next."""
    skeleton: CSR
    """Neighbors in either direction, which define the subgraph of a walk."""

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> GraphBatch:
        """Combine `graphs` in order."""
        starts = np.zeros(len(graphs) + 1, np.int64)
        np.cumsum([g.num_nodes for g in graphs], out=starts[1:])
        out = _concatenate_csr(graphs, starts)
        same = all(g.skeleton is g for g in graphs)
        skeleton = out if same else _concatenate_csr([g.skeleton for g in graphs], starts)
        return cls(tuple(graphs), starts, out, skeleton)

    @cached_property
    def degree_profile(self) -> Float32:
        """Local degree profile of every node."""
        tables = [graph.degree_profile for graph in self.graphs]
        return tables[0] if len(tables) == 1 else np.concatenate(tables)

    def split(self, node: int) -> tuple[Graph, int]:
        """Return the graph of a node of the batch, and the node's position in it."""
        graph = int(np.searchsorted(self.starts, node, side="right")) - 1
        return self.graphs[graph], int(node - self.starts[graph])


def _concatenate_csr(graphs: Sequence[Graph], starts: Int64) -> CSR:
    if len(graphs) == 1:
        return CSR(graphs[0].indptr, graphs[0].indices)
    edges = np.cumsum([0, *(len(g.indices) for g in graphs)])
    shifted = [g.indptr[:-1] + edge for g, edge in zip(graphs, edges[:-1], strict=True)]
    indptr = np.concatenate([*shifted, edges[-1:]])
    indices = np.concatenate([g.indices + np.int32(start) for g, start in zip(graphs, starts[:-1], strict=True)])
    return CSR(indptr, indices)
