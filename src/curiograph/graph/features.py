"""Node features from the topology of the whole graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int32, Int64
from curiograph.graph.csr import concatenate_ranges

PROFILE_SIZE = 5

Float32 = NDArray[np.float32]


def compute_degree_profile(indptr: Int64, indices: Int32, nodes: NDArray[Any]) -> Float32:
    """Return the local degree profile of some nodes, one row each.

    The columns are the degree, and the minimum, maximum, mean and population standard deviation of the neighbors'
    degrees. A node without neighbors has zeros. A row does not depend on the other nodes.

    >>> from curiograph.graph.toys import cycle
    >>> g = cycle(4)
    >>> compute_degree_profile(g.indptr, g.indices, np.array([1])).tolist()
    [[2.0, 2.0, 2.0, 2.0, 0.0]]
    """
    degrees = indptr[nodes + 1] - indptr[nodes]
    first = np.cumsum(degrees) - degrees
    neighbors = indices[concatenate_ranges(indptr[nodes], degrees)]
    around = (indptr[neighbors + 1] - indptr[neighbors]).astype(np.float64)  # degrees of the neighbors
    profile = np.zeros((len(degrees), PROFILE_SIZE), np.float32)
    profile[:, 0] = degrees
    some = np.flatnonzero(degrees > 0)
    if len(some) == 0:
        return profile
    first = first[some]
    mean = np.add.reduceat(around, first) / degrees[some]
    spread = (around - np.repeat(mean, degrees[some])) ** 2
    profile[some, 1] = np.minimum.reduceat(around, first)
    profile[some, 2] = np.maximum.reduceat(around, first)
    profile[some, 3] = mean
    profile[some, 4] = np.sqrt(np.add.reduceat(spread, first) / degrees[some])
    return profile
