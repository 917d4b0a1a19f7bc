"""Layout of graphs: distances in the picture approximate distances in the graph."""

from __future__ import annotations

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64
from curiograph.graph.graph import Graph

_MAX_PIVOTS, _MAX_PAIRS = 250, 2_000_000


def compute_layout(graph: Graph) -> Float64:
    """Compute coordinates of all nodes, the longer axis first; linked nodes are about 1 apart.

    Nodes without links are around the others.

    >>> from curiograph.graph.toys import cycle
    >>> compute_layout(cycle(12)).std(axis=0).round(1).tolist()
    [1.5, 1.5]
    """
    skeleton = graph.skeleton
    linked = np.flatnonzero(np.diff(skeleton.indptr))
    places = np.zeros((graph.num_nodes, 2))
    radius = 0.0
    if len(linked):
        part = skeleton if len(linked) == graph.num_nodes else skeleton.induced(linked)
        num_pivots = min(len(linked), max(30, min(_MAX_PIVOTS, _MAX_PAIRS // len(linked))))
        pivots, distances = kernels.layout.compute_pivot_distances(part.indptr, part.indices, num_pivots)
        apart = max(2.0, 0.7 * distances.max() + 1)
        found = kernels.layout.place_nodes(part.indptr, part.indices, pivots, distances, apart)
        found -= found.mean(axis=0)
        places[linked] = found @ np.linalg.eigh(found.T @ found)[1][:, ::-1]
        radius = float(np.linalg.norm(found, axis=1).max())
    alone = np.setdiff1d(np.arange(graph.num_nodes), linked)
    number = np.arange(1, len(alone) + 1)
    distance, angle = np.sqrt((radius + 0.5) ** 2 + 0.4 * number), 2.399963 * number  # sunflower seeds
    places[alone] = np.column_stack([distance * np.cos(angle), distance * np.sin(angle)])
    return places


def compute_unit_layout(graph: Graph) -> Float64:
    """Compute coordinates of all nodes in [-1, 1]."""
    places = compute_layout(graph)
    centered: Float64 = places - (places.max(axis=0) + places.min(axis=0)) / 2
    return centered / max(float(np.abs(centered).max()), 1e-9)
