"""Layout of a growing walk: each new node is placed near its neighbors, and the others move only a little."""

from __future__ import annotations

import numpy as np

from curiograph.arrays import Float64, Int64

_MAX_WORK = 4_000
"""Maximum number of nodes times iterations per step, so that steps of long walks are as fast as those of short ones."""
_MAX_STRETCH = 1.5
"""Maximum ratio by which the narrow direction is stretched more than the wide one, to fill the picture."""


def relax_layout(coordinates: Float64, edges: Int64) -> Float64:
    """Apply some iterations of a force-directed layout.

    The result is centered and fills the square from -1 to 1. `edges` has one row of two indices per edge.

    >>> relaxed = relax_layout(np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]]), np.array([[0, 1], [1, 2]]))
    >>> float(np.abs(relaxed).max())
    1.0
    """
    count = len(coordinates)
    if count == 1:
        return np.zeros((1, 2))
    ideal = 2.0 / np.sqrt(count)  # distance between neighbors that fill the square evenly
    points = coordinates.copy()
    iterations = max(6, min(60, _MAX_WORK // count))
    for max_move in np.linspace(ideal / 2, ideal / 20, iterations):
        lengths = (points**2).sum(axis=1)
        squared_distances = np.maximum(lengths[:, None] + lengths - 2 * (points @ points.T), 1e-4)
        repulsion = ideal**2 / squared_distances
        forces = points * repulsion.sum(axis=1, keepdims=True) - repulsion @ points
        difference = points[edges[:, 1]] - points[edges[:, 0]]
        attraction = difference * np.linalg.norm(difference, axis=1, keepdims=True) / ideal
        for axis, force in enumerate(attraction.T):
            forces[:, axis] += np.bincount(edges[:, 0], force, count) - np.bincount(edges[:, 1], force, count)
        forces -= 0.3 * points  # unconnected components do not drift away
        strength = np.linalg.norm(forces, axis=1, keepdims=True)
        points += forces / np.maximum(strength, 1e-9) * np.minimum(strength, max_move)
    points -= (points.max(axis=0) + points.min(axis=0)) / 2
    extent = np.maximum(np.abs(points).max(axis=0), 1e-9)
    stretched: Float64 = points / np.maximum(extent, extent.max() / _MAX_STRETCH)
    return stretched


def place_new_node(coordinates: Float64, neighbors: Int64, last: int) -> Float64:
    """Compute the first coordinates of a new node: near its visited neighbors or the last node, away from the center.

    >>> place_new_node(np.array([[0.5, 0.0]]), np.array([0]), 0).round(2).tolist()
    [0.79, 0.12]
    """
    anchors = coordinates[neighbors] if len(neighbors) else coordinates[last : last + 1]
    center = anchors.mean(axis=0)
    angle = 2.399963 * len(coordinates)  # the golden angle, so that new nodes do not coincide
    direction = np.array([np.cos(angle), np.sin(angle)])
    outward = center / max(1e-9, float(np.linalg.norm(center))) if np.any(center) else direction
    placed: Float64 = center + (0.7 * outward + 0.3 * direction) * 1.2 / np.sqrt(len(coordinates) + 3)
    return placed
