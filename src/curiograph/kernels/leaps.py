"""Leaps of walks between communities, and whether later visits link them back."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import find_root
from curiograph.kernels.jit import kernel
from curiograph.kernels.subgraph_measures import link_nodes


@kernel
def measure_leaps(indptr, indices, nodes, offsets, community):
    """Return the shares of steps that are leaps, and leaps that are linked later, for every walk; NaN for one node.

    A leap is the first visit of a node in another community than the one before it, without a link to any earlier node.
    It is linked later if both nodes are connected in the subgraph of the whole walk.
    """
    out = np.full((offsets.shape[0] - 1, 2), np.nan)
    for i in range(offsets.shape[0] - 1):
        starts, links = link_nodes(indptr, indices, nodes, offsets[i], offsets[i + 1])
        size = starts.shape[0] - 1
        parent = np.arange(size)
        leaps = np.zeros(size, np.bool_)
        for t in range(size):
            leaps[t] = t > 0 and community[nodes[offsets[i] + t]] != community[nodes[offsets[i] + t - 1]]
            for slot in range(starts[t], starts[t + 1]):
                if links[slot] < t:
                    leaps[t] = False
                    parent[find_root(parent, links[slot])] = find_root(parent, t)
        linked = 0
        for t in range(1, size):
            linked += leaps[t] and find_root(parent, t) == find_root(parent, t - 1)
        if size > 1:
            out[i, 0], out[i, 1] = leaps.sum() / (size - 1), linked / (size - 1)
    return out
