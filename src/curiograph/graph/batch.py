"""Several graphs side by side, as one block-diagonal graph: what a batch of walks walks on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from curiograph.arrays import Int32, Int64
from curiograph.graph.csr import freeze_array
from curiograph.graph.features import Float32, compute_degree_profile
from curiograph.graph.graph import Graph

_TABLED = 2**22  # nodes up to which features of all nodes are computed once and kept: a million in 2 s, in 20 MB


@dataclass(frozen=True)
class CSR:
    """Compressed sparse rows, as the kernels take them."""

    indptr: Int64
    indices: Int32

    def __post_init__(self) -> None:
        # read-only as in Graph, also after unpickling: one type, one compilation
        self.indptr.flags.writeable = self.indices.flags.writeable = False

    def __reduce__(self) -> tuple[type[CSR], tuple[Int64, Int32]]:
        return CSR, (self.indptr, self.indices)


@dataclass(frozen=True)
class GraphBatch:
    """One or many graphs as one. Node v of graph k stands at `starts[k] + v`; a single graph is not copied.

    >>> from curiograph.graph.toys import cycle
    >>> GraphBatch.of([cycle(4), cycle(5)]).starts
    array([0, 4, 9])
    """

    graphs: tuple[Graph, ...]
    starts: Int64
    """Position of each graph's first node, and the end."""
    out: CSR
    """Out-neighbours: where a walk may go."""
    skeleton: CSR
    """Neighbours in either direction: what the subgraph of a walk is made of."""

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> GraphBatch:
        """Stack `graphs` in order."""
        starts = np.zeros(len(graphs) + 1, np.int64)
        np.cumsum([g.num_nodes for g in graphs], out=starts[1:])
        out = _stack_rows(graphs, starts)
        same = all(g.skeleton is g for g in graphs)
        skeleton = out if same else _stack_rows([g.skeleton for g in graphs], starts)
        return cls(tuple(graphs), starts, out, skeleton)

    @cached_property
    def degree_profile(self) -> Float32:
        """Local degree profile of every node."""
        return _joined([graph.degree_profile for graph in self.graphs])

    @cached_property
    def log_degree_profile(self) -> Float32:
        """Logarithm of 1 + the local degree profile of every node."""
        return _joined([graph.log_degree_profile for graph in self.graphs])

    def get_profiles(self, nodes: Int32) -> Float32:
        """Local degree profile of some nodes; on the largest graphs no table is made, only what is around them read."""
        if self.starts[-1] <= _TABLED:
            return self.degree_profile[nodes]
        distinct, places = np.unique(nodes, return_inverse=True)
        return compute_degree_profile(self.skeleton.indptr, self.skeleton.indices, distinct)[places]

    def get_log_profiles(self, nodes: Int32) -> Float32:
        """Logarithm of 1 + the local degree profile of some nodes."""
        if self.starts[-1] <= _TABLED:
            return self.log_degree_profile[nodes]
        logarithms: Float32 = np.log1p(self.get_profiles(nodes))
        return logarithms

    def split(self, node: int) -> tuple[Graph, int]:
        """The graph that a stacked node belongs to, and the node's position there."""
        graph = int(np.searchsorted(self.starts, node, side="right")) - 1
        return self.graphs[graph], int(node - self.starts[graph])


def _joined(tables: list[Float32]) -> Float32:
    """Tables of nodes under each other; read-only like those of a single graph: one type, one compilation."""
    joined: Float32 = tables[0] if len(tables) == 1 else freeze_array(np.concatenate(tables))
    return joined


def _stack_rows(graphs: Sequence[Graph], starts: Int64) -> CSR:
    if len(graphs) == 1:
        return CSR(graphs[0].indptr, graphs[0].indices)
    edges = np.cumsum([0, *(len(g.indices) for g in graphs)])
    shifted = [g.indptr[:-1] + edge for g, edge in zip(graphs, edges[:-1], strict=True)]
    indptr = np.concatenate([*shifted, edges[-1:]])
    indices = np.concatenate([g.indices + np.int32(start) for g, start in zip(graphs, starts[:-1], strict=True)])
    return CSR(indptr, indices)
