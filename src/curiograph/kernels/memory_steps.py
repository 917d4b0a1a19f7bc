"""Probabilities of walks of 1, 2, 3, ... random steps between given pairs of nodes.

A graph that is remembered with an exponential kernel of memory has the transition probabilities (1 - eta) P (1 +
eta P + eta^2 P^2 + ...): the terms do not depend on eta, so they are computed once.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel


@kernel
def compute_powers(indptr, indices, chances, sources, bounds, ends, terms):
    """Return P^k from `sources[i]` to `ends[bounds[i]:bounds[i + 1]]`, for k = 1 to `terms`: terms x ends.

    A walk that reaches a node without out-edges stays there.
    """
    found = np.zeros((terms, ends.shape[0]))
    size = indptr.shape[0] - 1
    now, then = np.zeros(size), np.zeros(size)
    active, reached = np.empty(size, np.int64), np.empty(size, np.int64)
    for i in range(sources.shape[0]):
        now[sources[i]] = 1.0
        active[0], num_active = sources[i], 1
        for k in range(terms):
            num_reached = 0
            for place in range(num_active):
                u = active[place]
                mass = now[u]
                now[u] = 0.0
                if indptr[u] == indptr[u + 1]:
                    if then[u] == 0.0:
                        reached[num_reached] = u
                        num_reached += 1
                    then[u] += mass
                for slot in range(indptr[u], indptr[u + 1]):
                    v, amount = indices[slot], mass * chances[slot]
                    if then[v] == 0.0 and amount > 0.0:
                        reached[num_reached] = v
                        num_reached += 1
                    then[v] += amount
            now, then = then, now
            active, reached = reached, active
            num_active = num_reached
            for j in range(bounds[i], bounds[i + 1]):
                found[k, j] = now[ends[j]]
        for place in range(num_active):
            now[active[place]] = 0.0
    return found


@kernel
def count_reachable(indptr, indices, steps):
    """Return the number of other nodes that can be reached from every node in at most `steps` steps."""
    size = indptr.shape[0] - 1
    counts = np.empty(size, np.int64)
    mark, queue = np.full(size, -1, np.int64), np.empty(size, np.int64)
    for source in range(size):
        mark[source] = source
        queue[0], begin, end = source, 0, 1
        for _ in range(steps):
            stop = end
            for place in range(begin, stop):
                for slot in range(indptr[queue[place]], indptr[queue[place] + 1]):
                    v = indices[slot]
                    if mark[v] != source:
                        mark[v] = source
                        queue[end] = v
                        end += 1
            begin = stop
        counts[source] = end - 1
    return counts
