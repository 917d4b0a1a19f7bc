"""Expected visits of a random walk from one node before its first teleport, by forward push.

Mass waits at nodes until it is pushed to their out-neighbors, first come, first served. A node is pushed once `least`
per out-neighbor waits there, so the number of edges that are read depends on `least` and not on the size of the graph.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import reserve
from curiograph.kernels.jit import kernel

VISITS, WAITING, LIMIT = 0, 1, 2


@kernel
def allocate_workspace(indptr, least):
    """Return the state of every node, which is in one cache line, and the queue."""
    nodes = indptr.shape[0] - 1
    work = np.zeros((nodes, 4), np.float32)
    for v in range(nodes):
        work[v, LIMIT] = least * (indptr[v + 1] - indptr[v])
    return work, np.empty(nodes, np.int32)


@kernel
def push_visits(indptr, indices, weights, share, alpha, spread, scale, start, work, queue):
    """Return the nodes reached, in order of discovery, their expected visits, and those of all nodes together.

    The mass that waits in the end has spread far: after its next visit, the walk is at node v with probability
    `spread[v] / scale`. `share` is 1 / strength of every node, or None if all weights are equal. `work` and `queue` are
    from `allocate_workspace`, and can be used again.
    """
    touched, count = np.empty(1024, np.int32), np.int64(1)
    touched[0] = queue[0] = start
    work[start, WAITING] = 1.0
    head, queued = 0, 1
    while queued > 0:
        v = queue[head]
        head, queued = (head + 1) % queue.shape[0], queued - 1
        amount = work[v, WAITING]
        work[v, VISITS] += amount
        work[v, WAITING] = 0.0
        first, end = indptr[v], indptr[v + 1]
        amount *= alpha * (share[v] if share is not None else 1.0 / (end - first) if end > first else 0.0)
        touched = reserve(touched, count, end - first)
        for slot in range(first, end):
            u = indices[slot]
            before = work[u, WAITING]
            after = np.float32(before + (amount if weights is None else amount * weights[slot]))
            work[u, WAITING] = after
            if before <= work[u, LIMIT] < after:
                queue[(head + queued) % queue.shape[0]] = u
                queued += 1
            if before == 0.0 < after and work[u, VISITS] == 0.0:
                touched[count] = u
                count += 1
    left = 0.0
    for k in range(count):
        left += work[touched[k], WAITING]
    left /= 1.0 - alpha
    nodes, expected, total = touched[:count].copy(), np.empty(count), left
    for k in range(count):
        v = nodes[k]
        total += work[v, VISITS]
        expected[k] = work[v, VISITS] + work[v, WAITING] + alpha * left * spread[v] / scale
        work[v, VISITS] = work[v, WAITING] = 0.0
    return nodes, expected, total
