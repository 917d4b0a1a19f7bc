"""Shortest paths along out-links, counted in links."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel


@kernel
def compute_distances(indptr, indices, walks, order):
    """Links from the first node of each walk to each of its nodes; -1 where no path leads, and beyond the end.

    `order` lists the walks with equal first nodes next to each other: these share a search, which goes no further than
    to the last node that one of them visits.
    """
    size = indptr.shape[0] - 1
    out = np.full(walks.shape, -1, np.int32)
    wanted = np.full(size, -1, np.int64)  # the search that looks for a node, and the one that found it:
    found = np.full(size, -1, np.int64)  # numbered, so that nothing is cleared between searches
    depth = np.empty(size, np.int32)
    queue = np.empty(size, np.int32)
    low = 0
    while low < order.shape[0]:
        start = walks[order[low], 0]
        high = low + 1
        while high < order.shape[0] and walks[order[high], 0] == start:
            high += 1
        targets = _mark(walks, order, low, high, wanted)
        _search(indptr, indices, start, low, targets, wanted, found, depth, queue)
        for place in range(low, high):
            walk = order[place]
            for t in range(walks.shape[1]):
                v = walks[walk, t]
                if v >= 0 and found[v] == low:
                    out[walk, t] = depth[v]
        low = high
    return out


@kernel
def _mark(walks, order, low, high, wanted):
    """Mark the nodes of some walks as wanted by search number `low`; returns how many there are."""
    targets = 0
    for place in range(low, high):
        for t in range(walks.shape[1]):
            v = walks[order[place], t]
            if v >= 0 and wanted[v] != low:
                wanted[v] = low
                targets += 1
    return targets


@kernel
def _search(indptr, indices, start, number, targets, wanted, found, depth, queue):
    """Breadth first from `start`, until all targets are found or nothing is left."""
    found[start] = number
    depth[start] = 0
    queue[0] = start
    head = 0
    tail = 1
    missing = targets - 1  # the start is a target
    while head < tail and missing > 0:
        u = queue[head]
        head += 1
        for slot in range(indptr[u], indptr[u + 1]):
            v = indices[slot]
            if found[v] != number:
                found[v] = number
                depth[v] = depth[u] + 1
                queue[tail] = v
                tail += 1
                if wanted[v] == number:
                    missing -= 1
