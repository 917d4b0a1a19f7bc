"""The candidates with the largest scores."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.cluster_merging import push_largest
from curiograph.kernels.jit import kernel


@kernel
def find_largest(offsets, scores, offered, sizes):
    """Return the number and the indices of the largest offered scores of each user, up to `sizes`, in any order.

    The scores of user i are at `offsets[i] : offsets[i + 1]`, and the indices found at `bounds[i]`, which is returned
    as well. Of equal scores, the first are taken.
    """
    users = sizes.shape[0]
    bounds, counts = np.zeros(users + 1, np.int64), np.zeros(users, np.int64)
    for user in range(users):
        bounds[user + 1] = bounds[user] + min(sizes[user], offsets[user + 1] - offsets[user])
    values, found = np.empty(bounds[users]), np.empty(bounds[users], np.int64)
    for user in range(users):
        own_values, own = values[bounds[user] : bounds[user + 1]], found[bounds[user] : bounds[user + 1]]
        count = 0
        for i in range(offsets[user], offsets[user + 1]):
            if offered[i] and (count < own.shape[0] or scores[i] > own_values[0]):
                count = push_largest(own_values, own, count, scores[i], i)
        counts[user] = count
    return bounds, counts, found
