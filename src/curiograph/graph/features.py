"""Local degree profiles: features of a node from its degree and the degrees of its neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float32, Int32, Int64
from curiograph.graph.csr import concatenate_ranges

PROFILE_SIZE = 5
"""Number of values of a local degree profile."""


def compute_degree_profile(indptr: Int64, indices: Int32, nodes: NDArray[Any]) -> Float32:
    """Compute the local degree profiles of nodes.

    A profile is the degree, and the minimum, maximum, mean and population standard deviation of the neighbors' degrees.
    A node without neighbors has zeros.

    Row i is the profile of `nodes[i]`, on the graph of the CSR arrays `indptr` and `indices`.

    >>> from curiograph.graph.toys import cycle
    >>> g = cycle(4)
    >>> compute_degree_profile(g.indptr, g.indices, np.array([1])).tolist()
    [[2.0, 2.0, 2.0, 2.0, 0.0]]
    """
    degrees = indptr[nodes + 1] - indptr[nodes]
    profile = np.zeros((len(degrees), PROFILE_SIZE), np.float32)
    profile[:, 0] = degrees
    linked = np.flatnonzero(degrees > 0)  # reduceat needs groups that are not empty
    if len(linked) == 0:
        return profile
    neighbors = indices[concatenate_ranges(indptr[nodes], degrees)]
    neighbor_degrees = (indptr[neighbors + 1] - indptr[neighbors]).astype(np.float64)
    counts = degrees[linked]
    starts = np.cumsum(counts) - counts
    mean = np.add.reduceat(neighbor_degrees, starts) / counts
    squares = (neighbor_degrees - np.repeat(mean, counts)) ** 2
    profile[linked, 1] = np.minimum.reduceat(neighbor_degrees, starts)
    profile[linked, 2] = np.maximum.reduceat(neighbor_degrees, starts)
    profile[linked, 3] = mean
    profile[linked, 4] = np.sqrt(np.add.reduceat(squares, starts) / counts)
    return profile
