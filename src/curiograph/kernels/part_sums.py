"""Parts: the most visited nodes from one start, and sums over the parts of many histories."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import find_lowest
from curiograph.kernels.jit import kernel


@kernel
def keep_most_visited(nodes, visits, most, least, step):
    """Return the `most` nodes with the most visits, ascending, and their visits in multiples of `step`.

    Visits of `least` or fewer are left out; of equal visits, the lower node counts as more visited.
    """
    rounded = np.empty(nodes.shape[0], np.float32)
    # keys of visits, whose bits are in the order of the numbers, and of complements of nodes
    bits, keys, count = rounded.view(np.int32), np.empty(nodes.shape[0], np.int64), 0
    for i in range(nodes.shape[0]):
        rounded[i] = np.rint(visits[i] / step) * step
        if rounded[i] > least:
            keys[count] = np.int64(bits[i]) << 32 | np.int64(~nodes[i] & 0xFFFFFFFF)
            count += 1
    keys = keys[:count]
    if count > most:
        keys = np.partition(keys, count - most)[count - most :]
    for k in range(keys.shape[0]):
        keys[k] = (~keys[k] & 0xFFFFFFFF) << 32 | keys[k] >> 32
    keys = np.sort(keys)
    return (keys >> 32).astype(np.int32), keys.astype(np.int32).view(np.float32)


@kernel
def sum_parts(rows, bounds, weights, nodes, visits, totals, excluded_bounds, excluded, num_nodes):
    """Return offsets by user, nodes (ascending) that some part reaches, and their shares of the visits by component.

    The parts of user i and component c are `rows[r] : rows[r + 1]` with r = i * components + c, and the entries of part
    p are at `bounds[p] : bounds[p + 1]`. The sums of visits times `weights[p]` are divided by `totals[i, c]`. Nodes
    that are `excluded` for a user are left out.
    """
    users, components = totals.shape
    most = 0
    for user in range(users):
        most += min(num_nodes, bounds[rows[(user + 1) * components]] - bounds[rows[user * components]])
    sums = np.zeros((num_nodes, components))
    words = np.zeros(num_nodes // 64 + 1, np.uint64)  # a bit of each node that is reached
    offsets, reached, shares = np.zeros(users + 1, np.int64), np.empty(most, np.int32), np.empty((components, most))
    count = 0
    for user in range(users):
        for c in range(components):
            row = user * components + c
            for part in range(rows[row], rows[row + 1]):
                weight = weights[part]
                for k in range(bounds[part], bounds[part + 1]):
                    v = np.uint32(nodes[k])  # unsigned: negative indices need not be handled
                    sums[v, c] += weight * visits[k]
                    words[v >> np.uint32(6)] |= np.uint64(1) << np.uint64(v & np.uint32(63))
        for k in range(excluded_bounds[user], excluded_bounds[user + 1]):
            v = np.uint32(excluded[k])
            words[v >> np.uint32(6)] &= ~(np.uint64(1) << np.uint64(v & np.uint32(63)))
            for c in range(components):
                sums[v, c] = 0.0
        for word in range(words.shape[0]):
            bits = words[word]
            words[word] = 0
            while bits != np.uint64(0):
                v = 64 * word + find_lowest(bits)
                bits &= bits - np.uint64(1)
                reached[count] = v
                for c in range(components):
                    shares[c, count] = sums[v, c] / totals[user, c]
                    sums[v, c] = 0.0
                count += 1
        offsets[user + 1] = count
    return offsets, reached[:count], shares[:, :count]
