"""Shortest path lengths along out-edges (breadth-first search)."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel


@kernel
def compute_distances(indptr, indices, walks, order):
    """Return the distance from the first node of each walk to each of its nodes; -1 if unreachable or beyond the end.

    `order` lists walks with the same first node consecutively: these share one search, which stops when all of their
    nodes are found.
    """
    size = indptr.shape[0] - 1
    out = np.full(walks.shape, -1, np.int32)
    wanted = np.full(size, -1, np.int64)  # number of the latest search that has the node as a target
    found = np.full(size, -1, np.int64)  # number of the latest search that reached the node
    depth = np.empty(size, np.int32)
    queue = np.empty(size, np.int32)
    low = 0
    while low < order.shape[0]:
        start = walks[order[low], 0]
        high = low
        missing = 0
        while high < order.shape[0] and walks[order[high], 0] == start:
            for v in walks[order[high]]:
                if v >= 0 and wanted[v] != low:
                    wanted[v] = low
                    missing += 1
            high += 1
        found[start] = low
        depth[start] = 0
        queue[0] = start
        missing -= 1  # the start is a target
        head, tail = 0, 1
        while head < tail and missing > 0:
            u = queue[head]
            head += 1
            for slot in range(indptr[u], indptr[u + 1]):
                v = indices[slot]
                if found[v] != low:
                    found[v] = low
                    depth[v] = depth[u] + 1
                    queue[tail] = v
                    tail += 1
                    missing -= wanted[v] == low
        for walk in order[low:high]:
            for t in range(walks.shape[1]):
                v = walks[walk, t]
                if v >= 0 and found[v] == low:
                    out[walk, t] = depth[v]
        low = high
    return out
