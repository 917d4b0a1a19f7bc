"""Distances from nodes to the targets of games."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Int32
from curiograph.graph.csr import build_csr, freeze_array
from curiograph.graph.graph import Graph


def target_distances(graph: Graph, nodes: NDArray[Any], targets: NDArray[Any]) -> Int32:
    """Return the number of links of the shortest directed path from each node to its target, of the same position.

    It is -1 if there is no path, no node or no target (-1). Pairs with the same target share one breadth-first search
    against the links.

    >>> links = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")], directed=True)
    >>> target_distances(links, np.array([0, 3, 0, 1]), np.array([2, 2, 3, -1])).tolist()
    [2, 3, -1, -1]
    """
    sources = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    indptr, indices, _ = build_csr(graph.indices, sources, None, graph.num_nodes)  # against the links
    known = np.flatnonzero((nodes >= 0) & (targets >= 0))
    known = known[np.argsort(targets[known], kind="stable")]
    pairs = np.column_stack([targets[known], nodes[known]]).astype(np.int32)
    found = kernels.shortest_paths.compute_distances(
        freeze_array(indptr), freeze_array(indices), freeze_array(pairs), freeze_array(np.arange(len(known)))
    )
    out = np.full(len(nodes), -1, np.int32)
    out[known] = found[:, 1]
    return out
