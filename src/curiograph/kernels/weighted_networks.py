"""Measures of the weighted links of walks: mean weight, clustering and path length.

Clustering is the mean over nodes of the geometric means of the weights of triangles (Onnela et al. 2005), path length
the mean over connected pairs of the shortest sum of 1 / weight. Links with a weight of zero or below are absent.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel


@kernel
def measure_links(edges, values, offsets):
    """Return mean weight, clustering and path length of every walk, a row each; NaN where one is not defined.

    Edges are rows (walk, place, place), sorted by walk, with places from `offsets[walk]` on.
    """
    out = np.full((offsets.shape[0] - 1, 3), np.nan)
    start = 0
    for i in range(offsets.shape[0] - 1):
        stop = start
        while stop < edges.shape[0] and edges[stop, 0] == i:
            stop += 1
        size = offsets[i + 1] - offsets[i]
        weights = np.zeros((size, size))
        total = 0.0
        for slot in range(start, stop):
            u, v = edges[slot, 1] - offsets[i], edges[slot, 2] - offsets[i]
            weights[u, v] = weights[v, u] = max(values[slot], 0.0)
            total += values[slot]
        if stop > start:
            out[i, 0] = total / (stop - start)
        if size >= 3:
            out[i, 1] = _compute_clustering(weights)
        out[i, 2] = _compute_path_length(weights)
        start = stop
    return out


@inner_kernel
def _compute_clustering(weights):
    size = weights.shape[0]
    roots = np.cbrt(weights)
    near = np.empty(size, np.int64)
    total = 0.0
    for u in range(size):
        degree = 0
        for v in range(size):
            if weights[u, v] > 0.0:
                near[degree] = v
                degree += 1
        triangles = 0.0
        for a in range(degree):
            for b in range(a):
                triangles += roots[u, near[a]] * roots[u, near[b]] * roots[near[a], near[b]]
        if degree >= 2:
            total += 2 * triangles / (degree * (degree - 1))
    return total / size


@inner_kernel
def _compute_path_length(weights):
    """Return the mean distance of connected pairs (Dijkstra 1959); NaN if there are none."""
    size = weights.shape[0]
    distance = np.empty(size)
    done = np.empty(size, np.bool_)
    total, pairs = 0.0, 0
    for root in range(size):
        distance[:] = np.inf
        done[:] = False
        distance[root] = 0.0
        while True:
            u = -1
            for v in range(size):
                if not done[v] and distance[v] < np.inf and (u < 0 or distance[v] < distance[u]):
                    u = v
            if u < 0:
                break
            done[u] = True
            if u > root:
                total += distance[u]
                pairs += 1
            for v in range(size):
                if weights[u, v] > 0.0:
                    distance[v] = min(distance[v], distance[u] + 1 / weights[u, v])
    return total / pairs if pairs > 0 else np.nan
