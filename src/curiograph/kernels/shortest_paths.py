"""Shortest path lengths along out-edges (breadth-first search)."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel


@inner_kernel
def search(indptr, indices, root, depth, queue):
    """Write the distances from a root to `depth`, -1 before, and the nodes reached to `queue`; return their number."""
    depth[root], queue[0], head, tail = 0, root, 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for slot in range(indptr[u], indptr[u + 1]):
            v = indices[slot]
            if depth[v] < 0:
                depth[v], queue[tail] = depth[u] + 1, v
                tail += 1
    return tail


@kernel
def compute_distances(indptr, indices, walks, order):
    """Return the distance from the first node of each walk to each of its nodes; -1 if unreachable or beyond the end.

    `order` lists walks with the same first node consecutively: these share one search.
    """
    size = indptr.shape[0] - 1
    out = np.full(walks.shape, -1, np.int32)
    depth, queue = np.full(size, -1, np.int32), np.empty(size, np.int32)
    reached = 0
    for place in range(order.shape[0]):
        walk = walks[order[place]]
        if place == 0 or walk[0] != walks[order[place - 1], 0]:
            for k in range(reached):
                depth[queue[k]] = -1
            reached = search(indptr, indices, walk[0], depth, queue)
        for t in range(walks.shape[1]):
            if walk[t] >= 0:
                out[order[place], t] = depth[walk[t]]
    return out
