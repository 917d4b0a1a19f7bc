"""Places of the nodes of one walk in a picture."""

from __future__ import annotations

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.graph.graph import Graph

_MAX_DEGREE = 20
"""Mean number of links per node above which the links of a graph cannot be distinguished."""
_NUM_ANGLES = 36


def is_dense(graph: Graph) -> bool:
    """Return whether a picture of the whole graph would be a knot, so that a walk has a layout of its own."""
    return bool(2 * graph.skeleton.num_edges > _MAX_DEGREE * max(graph.num_nodes, 100))


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
