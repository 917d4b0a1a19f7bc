"""Betti numbers of the clique complex of a whole graph, and persistence in higher dimensions."""

from __future__ import annotations

from typing import Any

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
        return len(compute_persistence(graph.skeleton, np.arange(graph.num_nodes), dim, whole=True)[dim])
    nodes = np.arange(graph.num_nodes, dtype=np.int32)[None, :]
    tracker = GapTracker(GraphBatch.of([graph]), nodes, np.array([graph.num_nodes]))
    return int(tracker.component_counts()[0]) if dim == 0 else int(tracker.values()[0])


def compute_persistence(
    graph: Graph, nodes: np.ndarray[Any, Any], max_dim: int, *, whole: bool = False
) -> dict[int, list[tuple[int, int | None]]]:
    """Compute the gaps of dimensions 2 to `max_dim` of the filtration by order of nodes, with gudhi.

    Each gap is (step opened, step closed or None). With `whole`, all nodes enter at once and only gaps that never
    close are returned, as Betti numbers count them.
    """
    gudhi = import_optional("gudhi", "topology", "Betti numbers of dimension 2 and above")
    step = {int(node): t for t, node in enumerate(nodes)}
    tree = gudhi.SimplexTree()
    for t in range(len(nodes)):
        tree.insert([t], filtration=0.0 if whole else t)
    for u, t in step.items():
        for v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]]:
            s = step.get(int(v), t)
            if s < t:
                tree.insert([s, t], filtration=0.0 if whole else t)
    tree.expansion(max_dim + 1)
    tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
    gaps: dict[int, list[tuple[int, int | None]]] = {}
    for dim in range(2, max_dim + 1):
        intervals = tree.persistence_intervals_in_dimension(dim)
        pairs = [(int(opened), None if np.isinf(closed) else int(closed)) for opened, closed in intervals]
        gaps[dim] = [(a, b) for a, b in pairs if a != b and (b is None or not whole)]
    return gaps
