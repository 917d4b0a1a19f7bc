"""Several graphs as one block-diagonal graph, on which a batch of walks runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from curiograph.arrays import Float32, Int64
from curiograph.graph.graph import Graph


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
    out: Graph
    """Rows of out-neighbors: the nodes that a walk may visit next."""
    skeleton: Graph
    """Rows of neighbors in either direction, which define the subgraph of a walk."""

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> GraphBatch:
        """Combine `graphs` in order."""
        starts = np.zeros(len(graphs) + 1, np.int64)
        np.cumsum([g.num_nodes for g in graphs], out=starts[1:])
        out = _join_rows(graphs, starts)
        same = all(g.skeleton is g for g in graphs)
        skeleton = out if same else _join_rows([g.skeleton for g in graphs], starts)
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


def _join_rows(graphs: Sequence[Graph], starts: Int64) -> Graph:
    if len(graphs) == 1:
        return graphs[0]
    edges = np.cumsum([0, *(len(g.indices) for g in graphs)])
    shifted = [g.indptr[:-1] + edge for g, edge in zip(graphs, edges[:-1], strict=True)]
    indptr = np.concatenate([*shifted, edges[-1:]])
    indices = np.concatenate([g.indices + np.int32(start) for g, start in zip(graphs, starts[:-1], strict=True)])
    return Graph(indptr, indices)
