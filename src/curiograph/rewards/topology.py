"""Betti numbers of the clique complex of a whole graph."""

from __future__ import annotations

import numpy as np

from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_nodes
from curiograph.optional import import_optional
from curiograph.rewards.igt import GapTracker
from curiograph.validation import check_integer


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
        gudhi = import_optional("gudhi", "topology", "Betti numbers of dimension 2 and above")
        tree = gudhi.SimplexTree()
        for v in range(graph.num_nodes):
            tree.insert([v])
        sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.skeleton.indptr))
        for edge in zip(sources.tolist(), graph.skeleton.indices.tolist(), strict=True):
            tree.insert(edge)
        tree.expansion(dim + 1)
        tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
        return int(sum(tree.betti_numbers()[dim : dim + 1]))
    nodes = np.arange(graph.num_nodes, dtype=np.int32)[None, :]
    tracker = GapTracker(GraphBatch.of([graph]), nodes, np.array([graph.num_nodes]))
    return int(tracker.component_counts()[0]) if dim == 0 else int(tracker.values()[0])
