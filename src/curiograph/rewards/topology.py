"""Betti numbers of the clique complex of a whole graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from curiograph.errors import GraphError
from curiograph.extras import require
from curiograph.graph.container import Graph, as_graph
from curiograph.graph.stack import Stack
from curiograph.rewards.igt import GapTracker
from curiograph.settings import whole_number


def betti(graph: Graph, dim: int = 1) -> int:
    """Number of topological gaps of dimension `dim` in the clique complex of a graph, over GF(2).

    Dimensions 0 (components) and 1 (loops that no triangles fill) are computed here; 2 and above by gudhi
    (`pip install curiograph[topology]`). Direction and weights are ignored.

    >>> from curiograph.graph.toys import cycle, grid
    >>> betti(cycle(6)), betti(grid(3, 3)), betti(grid(3, 3), dim=0)
    (1, 4, 1)
    """
    whole_number("dim", dim, 0, "a dimension is a whole number, zero or above")
    if as_graph(graph).num_nodes == 0:
        raise GraphError("the graph is empty: it has no nodes, so it has no Betti numbers.")
    if dim >= 2:
        return len(persistence(graph.skeleton, np.arange(graph.num_nodes), dim, whole=True))
    nodes = np.arange(graph.num_nodes, dtype=np.int32)[None, :]
    tracker = GapTracker(Stack.of([graph]), nodes, np.array([graph.num_nodes]))
    return int(tracker.parts()[0]) if dim == 0 else int(tracker.values()[0])


def persistence(
    graph: Graph, nodes: np.ndarray[Any, Any], dim: int, *, whole: bool = False
) -> list[tuple[int, int | None]]:
    """Gaps of dimension `dim` of the node-order filtration, by gudhi: (step opened, step closed or None).

    With `whole` only those that never close, which are the Betti number of the whole.
    """
    gudhi = require("gudhi", "topology", "Betti numbers of dimension 2 and above")
    step = {int(node): t for t, node in enumerate(nodes)}
    tree = gudhi.SimplexTree()
    for t in range(len(nodes)):
        tree.insert([t], filtration=0.0 if whole else t)
    for u, t in step.items():
        for v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]]:
            s = step.get(int(v), t)
            if s < t:
                tree.insert([s, t], filtration=0.0 if whole else t)
    tree.expansion(dim + 1)
    tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
    pairs = tree.persistence_intervals_in_dimension(dim)
    lasting = [(int(opened), None if np.isinf(closed) else int(closed)) for opened, closed in pairs]
    return [pair for pair in lasting if pair[0] != pair[1] and (pair[1] is None or not whole)]
