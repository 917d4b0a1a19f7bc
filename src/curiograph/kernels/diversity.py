"""Selection of diverse nodes by maximal marginal relevance over shared neighbors."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel


@kernel
def compute_jaccard(indptr, indices, u, v):
    """Return the Jaccard similarity of two closed neighborhoods: the nodes u and v with all their neighbors.

    The rows of `indices` are sorted and contain no self-loops. The result is 1 for u = v, or if both have the same
    neighbors and are linked.
    """
    if u == v:
        return 1.0
    i, j = indptr[u], indptr[v]
    end_i, end_j = indptr[u + 1], indptr[v + 1]
    size = end_i - i + end_j - j + 2
    shared = 0
    while i < end_i and j < end_j:
        a, b = indices[i], indices[j]
        if a == b:
            shared += 1
        if a <= b:
            if a == v:  # u and v are linked, so both closed neighborhoods contain both
                shared += 2
            i += 1
        if b <= a:
            j += 1
    while i < end_i:
        if indices[i] == v:
            shared += 2
        i += 1
    return shared / (size - shared)


@kernel
def select_diverse(indptr, indices, nodes, relevance, diversity, count):
    """Select `count` of `nodes` one after the other, each with the largest marginal relevance; return their indices.

    The marginal relevance is `(1 - diversity) * relevance` minus `diversity` times the largest similarity to a node
    selected before. Ties go to the earlier node.
    """
    size = nodes.shape[0]
    count = min(count, size)
    selected = np.empty(count, np.int64)
    closest = np.zeros(size)
    taken = np.zeros(size, np.bool_)
    for place in range(count):
        best = -1
        best_value = 0.0
        for i in range(size):
            value = (1.0 - diversity) * relevance[i] - diversity * closest[i]
            if not taken[i] and (best < 0 or value > best_value):
                best, best_value = i, value
        selected[place] = best
        taken[best] = True
        for i in range(size):
            if not taken[i] and closest[i] < 1.0:
                closest[i] = max(closest[i], compute_jaccard(indptr, indices, nodes[best], nodes[i]))
    return selected
