"""Sums of sparse vectors at some nodes, in time that does not depend on the size of the graph."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import get_map_size
from curiograph.kernels.jit import inner_kernel, kernel


@kernel
def sum_values(nodes, values, wanted):
    """Return for each wanted node the sum of the values of all entries of this node."""
    size = get_map_size(nodes.shape[0])
    keys, sums = np.empty(size, np.int32), np.zeros(size)
    for place in range(size):
        keys[place] = -1
    for k in range(nodes.shape[0]):
        place = _find_place(keys, nodes[k])
        keys[place] = nodes[k]
        sums[place] += values[k]
    out = np.empty(wanted.shape[0])
    for k in range(wanted.shape[0]):
        out[k] = sums[_find_place(keys, wanted[k])]  # zero if the place is empty
    return out


@inner_kernel
def _find_place(keys, node):
    """Return the place of a node in a hash table, or the empty place where it belongs (linear probing)."""
    mask = keys.shape[0] - 1
    place = (node * 0x9E3779B1) & mask
    while keys[place] != -1 and keys[place] != node:
        place = (place + 1) & mask
    return place
