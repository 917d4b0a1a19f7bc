"""Sums of sparse vectors at some nodes, in time that does not depend on the size of the graph."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import get_map_size, map_clear, map_get, map_put
from curiograph.kernels.jit import kernel


@kernel
def sum_values(nodes, values, wanted):
    """Return for each wanted node the sum of the values of all entries of this node."""
    places = np.empty((get_map_size(nodes.shape[0]), 2), np.int32)
    map_clear(places)
    sums, count = np.zeros(nodes.shape[0]), 0
    for k in range(nodes.shape[0]):
        place = map_get(places, nodes[k])
        if place == -1:
            place = count
            map_put(places, nodes[k], place)
            count += 1
        sums[place] += values[k]
    out = np.zeros(wanted.shape[0])
    for k in range(wanted.shape[0]):
        place = map_get(places, wanted[k])
        if place >= 0:
            out[k] = sums[place]
    return out
