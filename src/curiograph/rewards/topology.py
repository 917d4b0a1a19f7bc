"""Betti numbers of the clique complex of a whole graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from curiograph.errors import GraphError
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph
from curiograph.optional import import_optional
from curiograph.rewards.igt import GapTracker
from curiograph.validation import check_integer


def betti(graph: Graph, dim: int = 1) -> int:
    """Number of topological gaps of dimension `dim` in the clique complex of a graph, over GF(2).

    Dimensions 0 (components) and 1 (loops that no triangles fill) are computed here; 2 and above by gudhi
    (`pip install curiograph[topology]`). Direction and weights are ignored.

    >>> from curiograph.graph.toys import cycle, grid
    >>> betti(cycle(6)), betti(grid(3, 3)), betti(grid(3, 3), dim=0)
    (1, 4, 1)
    """
    check_integer("dim", dim, 0, "a dimension is a whole number, zero or above")
    if as_graph(graph).num_nodes == 0:
        raise GraphError("the graph is empty: it has no nodes, so it has no Betti numbers.")
    if dim >= 2:
        return len(compute_persistence(graph.skeleton, np.arange(graph.num_nodes), dim, whole=True)[dim])
    nodes = np.arange(graph.num_nodes, dtype=np.int32)[None, :]
    tracker = GapTracker(GraphBatch.of([graph]), nodes, np.array([graph.num_nodes]))
    return int(tracker.parts()[0]) if dim == 0 else int(tracker.values()[0])


def compute_persistence(
    graph: Graph, nodes: np.ndarray[Any, Any], max_dim: int, *, whole: bool = False
) -> dict[int, list[tuple[int, int | None]]]:
    """Gaps of each dimension from 2 to `max_dim` of the node-order filtration, by gudhi.

    Each is (step opened, step closed or None). With `whole` only those that never close, as Betti numbers count.
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
    return {dim: _lasting(tree.persistence_intervals_in_dimension(dim), whole) for dim in range(2, max_dim + 1)}


def _lasting(pairs: Any, whole: bool) -> list[tuple[int, int | None]]:
    gaps = [(int(opened), None if np.isinf(closed) else int(closed)) for opened, closed in pairs]
    return [gap for gap in gaps if gap[0] != gap[1] and (gap[1] is None or not whole)]
