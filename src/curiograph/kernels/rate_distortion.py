"""Merging clusters of any joint distribution: weighted, directed, and with few pairs tried per merge.

The joint probabilities w (w_ij = stationary probability of i times the chance to step to j) merge like counts do in
`kernels.compress`; logarithms are taken as they come. Clusters are named by their lowest node; `alive` lists them.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel

_EQUAL = 1e-13  # merges closer than this are equal: the order of summation alone moves them that far


@kernel
def compute_rate(w, p):
    """Information rate of the chain with these joint probabilities: sum f(p) - sum f(w), f(x) = x log2 x."""
    total = 0.0
    for i in range(w.shape[0]):
        total += _f(p[i])
        for j in range(w.shape[1]):
            total -= _f(w[i, j])
    return total


@kernel
def find_best_merge(first, second, alive, w, p):
    """The pair (first[c], second[c]) whose merging lowers the rate most, and by how much; of equal ones the lowest."""
    a, b, least = -1, -1, np.inf
    for c in range(first.shape[0]):
        i, j = first[c], second[c]
        cost = _cost(i, j, alive, w, p)
        if cost < least - _EQUAL or (cost <= least + _EQUAL and (i < a or (i == a and j < b))):
            a, b, least = i, j, cost
    return a, b, least


@kernel
def find_linked_pairs(alive, w):
    """The pairs of clusters that the walk steps between, lower name first, and how often it does."""
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
    """Merge cluster b into a; `alive` no longer holds b."""
    for s in range(alive.shape[0]):
        k = alive[s]
        if k != a:
            w[a, k] += w[b, k]
            w[k, a] += w[k, b]
    w[a, a] += w[a, b] + w[b, a] + w[b, b]
    p[a] += p[b]


@kernel
def compute_lower_rates(joint, p, merges, lower):
    """Lower bound on the rate: the entropy of the next cluster given the node; `joint` rows are nodes (destroyed)."""
    lower[0] = compute_rate(joint, p)
    for k in range(lower.shape[0] - 1):
        a, b = merges[k, 0], merges[k, 1]
        lower[k + 1] = lower[k]
        for i in range(joint.shape[0]):
            lower[k + 1] += _f(joint[i, a]) + _f(joint[i, b]) - _f(joint[i, a] + joint[i, b])
            joint[i, a] += joint[i, b]
            joint[i, b] = 0.0


@kernel
def _f(x):
    return x * np.log2(x) if x > 0.0 else 0.0


@kernel
def _cost(a, b, alive, w, p):
    """Change in the rate when clusters a and b merge."""
    change = _f(p[a] + p[b]) - _f(p[a]) - _f(p[b])
    change -= _f(w[a, a] + w[a, b] + w[b, a] + w[b, b]) - _f(w[a, a]) - _f(w[a, b]) - _f(w[b, a]) - _f(w[b, b])
    for s in range(alive.shape[0]):
        k = alive[s]
        if k not in (a, b):
            if w[a, k] > 0.0 and w[b, k] > 0.0:
                change -= _f(w[a, k] + w[b, k]) - _f(w[a, k]) - _f(w[b, k])
            if w[k, a] > 0.0 and w[k, b] > 0.0:
                change -= _f(w[k, a] + w[k, b]) - _f(w[k, a]) - _f(w[k, b])
    return change
