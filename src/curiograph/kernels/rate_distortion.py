"""Greedy merging of clusters of any joint distribution: weighted, directed, with a limited number of pairs per merge.

The joint probabilities w (w_ij = stationary probability of i times the probability of a step to j) merge like the
counts in `kernels.compressibility`, with floating-point logarithms. A cluster is named by its lowest node; `alive`
lists the names.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel

_EQUAL = 1e-13  # merges closer than this are equal: the order of summation changes them by as much


@kernel
def compute_rate(w, p):
    """Return the information rate of a chain with joint probabilities w: sum f(p) - sum f(w), f(x) = x log2 x."""
    total = 0.0
    for i in range(w.shape[0]):
        total += _xlogx(p[i])
        for j in range(w.shape[1]):
            total -= _xlogx(w[i, j])
    return total


@kernel
def find_best_merge(first, second, alive, w, p):
    """Return the pair (first[c], second[c]) whose merge lowers the rate most, and the change; ties: the lowest pair."""
    a, b, least = -1, -1, np.inf
    for c in range(first.shape[0]):
        i, j = first[c], second[c]
        cost = _compute_cost(i, j, alive, w, p)
        if cost < least - _EQUAL or (cost <= least + _EQUAL and (i < a or (i == a and j < b))):
            a, b, least = i, j, cost
    return a, b, least


@kernel
def find_linked_pairs(alive, w):
    """Return the pairs of clusters with a joint probability above zero, lower name first, and that probability."""
    count = 0
    for s in range(alive.shape[0]):
        for t in range(s + 1, alive.shape[0]):
            count += w[alive[s], alive[t]] + w[alive[t], alive[s]] > 0.0
    first = np.empty(count, np.int64)
    second = np.empty(count, np.int64)
    strength = np.empty(count, np.float64)
    count = 0
    for s in range(alive.shape[0]):
        for t in range(s + 1, alive.shape[0]):
            x = w[alive[s], alive[t]] + w[alive[t], alive[s]]
            if x > 0.0:
                first[count] = alive[s]
                second[count] = alive[t]
                strength[count] = x
                count += 1
    return first, second, strength


@kernel
def merge_clusters(a, b, alive, w, p):
    """Merge cluster b into a; the caller has removed b from `alive`."""
    for s in range(alive.shape[0]):
        k = alive[s]
        if k != a:
            w[a, k] += w[b, k]
            w[k, a] += w[k, b]
    w[a, a] += w[a, b] + w[b, a] + w[b, b]
    p[a] += p[b]


@kernel
def compute_lower_rates(joint, p, merges, lower):
    """Fill `lower` with lower bounds on the rate: the entropy of the next cluster given the node.

    Rows of `joint` are nodes; it is overwritten.
    """
    lower[0] = compute_rate(joint, p)
    for k in range(lower.shape[0] - 1):
        a, b = merges[k, 0], merges[k, 1]
        lower[k + 1] = lower[k]
        for i in range(joint.shape[0]):
            lower[k + 1] += _xlogx(joint[i, a]) + _xlogx(joint[i, b]) - _xlogx(joint[i, a] + joint[i, b])
            joint[i, a] += joint[i, b]
            joint[i, b] = 0.0


@kernel
def _xlogx(x):
    """Return x log2(x), 0 for x = 0."""
    return x * np.log2(x) if x > 0.0 else 0.0


@kernel
def _compute_cost(a, b, alive, w, p):
    """Return the change of the rate when clusters a and b merge."""
    change = _xlogx(p[a] + p[b]) - _xlogx(p[a]) - _xlogx(p[b])
    change -= (
        _xlogx(w[a, a] + w[a, b] + w[b, a] + w[b, b])
        - _xlogx(w[a, a])
        - _xlogx(w[a, b])
        - _xlogx(w[b, a])
        - _xlogx(w[b, b])
    )
    for s in range(alive.shape[0]):
        k = alive[s]
        if k not in (a, b):
            if w[a, k] > 0.0 and w[b, k] > 0.0:
                change -= _xlogx(w[a, k] + w[b, k]) - _xlogx(w[a, k]) - _xlogx(w[b, k])
            if w[k, a] > 0.0 and w[k, b] > 0.0:
                change -= _xlogx(w[k, a] + w[k, b]) - _xlogx(w[k, a]) - _xlogx(w[k, b])
    return change
