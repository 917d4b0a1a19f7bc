"""Layouts of graphs in the plane by stochastic gradient descent on stress (Zheng, Pawar and Goodman, 2018).

Distances in the picture approximate distances in the graph, so that a loop with nothing inside becomes a ring. Large
graphs use the distances to some pivots only, which are far from each other.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.random import draw_uniform
from curiograph.kernels.shortest_paths import search

_SWEEPS = 30


@inner_kernel
def attract(places, a, b, length, rate):
    """Move two nodes such that their distance approaches `length`; at `rate` 1 or more it becomes equal to it."""
    x, y = places[a, 0] - places[b, 0], places[a, 1] - places[b, 1]
    apart = max(np.sqrt(x * x + y * y), 1e-9)
    move = 0.5 * min(1.0, rate / (length * length)) * (apart - length) / apart
    places[a, 0] -= move * x
    places[a, 1] -= move * y
    places[b, 0] += move * x
    places[b, 1] += move * y


@kernel
def compute_pivot_distances(indptr, indices, num_pivots):
    """Return pivots, each far from those before, and the distances of all nodes to them; -1 if there is no path."""
    size = indptr.shape[0] - 1
    pivots = np.zeros(num_pivots, np.int64)
    distances = np.full((num_pivots, size), -1, np.int32)
    nearest = np.full(size, size + 1, np.int64)
    queue = np.empty(size, np.int32)
    for i in range(num_pivots):
        for v in range(size):
            if nearest[v] > nearest[pivots[i]]:
                pivots[i] = v
        for k in range(search(indptr, indices, pivots[i], distances[i], queue)):
            nearest[queue[k]] = min(nearest[queue[k]], distances[i, queue[k]])
    return pivots, distances


@kernel
def place_nodes(indptr, indices, pivots, distances, apart):
    """Return coordinates of all nodes; nodes without a path between them are `apart` from each other."""
    size, num_pairs = indptr.shape[0] - 1, distances.size
    places = np.empty((size, 2))
    for v in range(size):
        for axis in range(2):
            places[v, axis] = draw_uniform(0, v, axis) * apart
    stride = max(1, int(num_pairs * 0.6180339887))
    while np.gcd(stride, num_pairs) > 1:  # then its multiples visit every pair once
        stride += 1
    longest = max(apart, distances.max())
    for sweep in range(_SWEEPS):
        rate = longest**2 * (0.1 / longest**2) ** (sweep / (_SWEEPS - 1))
        pair = int(draw_uniform(1, sweep, 0) * num_pairs)
        for _ in range(num_pairs):
            pair = (pair + stride) % num_pairs
            i, v = pair // size, pair % size
            if v != pivots[i]:
                attract(places, pivots[i], v, distances[i, v] if distances[i, v] >= 0 else apart, rate)
        if pivots.shape[0] < size:
            for u in range(size):
                for slot in range(indptr[u], indptr[u + 1]):
                    attract(places, u, indices[slot], 1.0, rate)
    return places


@kernel
def grow_layout(links):
    """Return coordinates of the nodes of a walk, given the matrix of links between them, in order of visit.

    Nodes are placed one by one: a new one approaches its distances to the others, then all move a little, so that the
    picture of a longer walk resembles that of the shorter one.
    """
    size = links.shape[0]
    places = np.zeros((size, 2))
    lengths = np.full((size, size), 4.0)
    for v in range(1, size):
        for a in range(v):
            if links[v, a]:
                length = 1.0 if a == v - 1 else 1.5  # the walk is drawn, other links are not
                for b in range(v):
                    through = length + (lengths[a, b] if a != b else 0.0)
                    lengths[v, b] = min(lengths[v, b], through)
        lengths[:v, v] = lengths[v, :v]
        count = 0.0
        for a in range(v):
            if lengths[v, a] <= 1.5:
                places[v] += places[a]
                count += 1.0
        angle = 2.399963 * v
        places[v] = places[v] / max(count, 1.0)
        places[v, 0] += np.cos(angle)
        places[v, 1] += np.sin(angle)
        for a in range(v):
            for b in range(a):
                lengths[a, b] = min(lengths[a, b], lengths[v, a] + lengths[v, b])
                lengths[b, a] = lengths[a, b]
        for sweep in range(max(1, min(40, 300 // v))):
            rate = 0.6 / (1 + 0.2 * sweep)
            for a in range(v):
                x, y = places[a, 0], places[a, 1]
                attract(places, v, a, lengths[v, a], rate * 2)
                places[a, 0], places[a, 1] = x, y
            for a in range(v + 1):
                for b in range(a):
                    attract(places, a, b, lengths[a, b], 0.4 * rate)
    return places
