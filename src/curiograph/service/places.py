"""Places of nodes in pictures: of a whole graph, or of the nodes of one walk."""

from __future__ import annotations

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.graph.graph import Graph

_MAX_DEGREE = 20
"""Mean number of links per node above which the links of a graph cannot be distinguished."""
_MAX_PIVOTS, _MAX_PAIRS = 250, 2_000_000
_NUM_ANGLES = 36


def is_dense(graph: Graph) -> bool:
    """Return whether a picture of the whole graph would be a knot, so that a walk has a layout of its own."""
    return bool(2 * graph.skeleton.num_edges > _MAX_DEGREE * max(graph.num_nodes, 100))


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


def lay_out_walk(num_nodes: int, links: Int64, num_candidates: int) -> Float64:
    """Compute coordinates of the nodes of a walk in a dense graph, then of candidates around the last node.

    `links` are pairs of steps. The picture of a longer walk resembles that of the shorter one.
    """
    matrix = np.zeros((num_nodes, num_nodes), np.bool_)
    matrix[links[:, 0], links[:, 1]] = matrix[links[:, 1], links[:, 0]] = True
    places: Float64 = kernels.layout.grow_layout(matrix)
    size = max(1.0, 0.12 * float(np.ptp(places, axis=0).max(initial=0)))
    angles = 2 * np.pi * (np.arange(_NUM_ANGLES) + 0.5) / _NUM_ANGLES
    around = places[-1] + size * np.column_stack([np.cos(angles), np.sin(angles)])
    around = np.vstack([around, places[-1] + 1.5 * (around - places[-1])])
    for _ in range(num_candidates):  # far from what is placed; names need more room to the side
        apart = np.linalg.norm((around[:, None] - places) * [0.4, 1.0], axis=2).min(axis=1)
        places = np.vstack([places, around[np.argmax(np.minimum(apart, 0.5 * size))]])
    return places
