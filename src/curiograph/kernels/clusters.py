"""Clusters of a joint distribution: information rates, the cost of a merge, and merging two clusters.

The joint probabilities w (w_ij = stationary probability of i times the probability of a step to j) merge like the
counts in `kernels.compressibility`. All kernels take two kinds of arrays. For an unweighted, undirected graph w are
integer counts and `table` contains f(x) = x log2 x, so that everything is exact. Otherwise w are floating-point numbers
and `table` is None. `wt` is the transpose of w for a directed graph, and None if w is symmetric.

Clusters occupy slots in the order of their lowest node, which is their name. The slot of a merged cluster is set to
zero, which changes no sum; `compact_slots` removes such slots from time to time.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from curiograph.kernels.jit import inner_kernel

_EQUAL = 1e-13  # merges closer than this are equal: the order of summation changes them by as much


def xlogx(table, x):
    """Return x log2(x), 0 for x = 0; from the table if there is one."""


@overload(xlogx)
def _compile_xlogx(table, x):  # a branch in one kernel would turn the integers of the table into floats
    if isinstance(table, types.NoneType):
        return lambda table, x: x * np.log2(x) if x > 0.0 else 0.0
    return lambda table, x: table[x]


def get_margin(table):
    """Return the difference up to which costs are equal: 0 for integers."""


@overload(get_margin)
def _compile_margin(table):
    return (lambda table: _EQUAL) if isinstance(table, types.NoneType) else (lambda table: 0)


@inner_kernel
def compute_gain(table, x, y):
    """Return f(x + y) - f(x) - f(y)."""
    return xlogx(table, x + y) - xlogx(table, x) - xlogx(table, y)


@inner_kernel
def compute_rate(table, w, p):
    """Return the information rate of a chain with joint probabilities w: sum f(p) - sum f(w)."""
    total = xlogx(table, p[0]) - xlogx(table, p[0])  # zero of the right type
    for i in range(w.shape[0]):
        total += xlogx(table, p[i])
        for j in range(w.shape[1]):
            total -= xlogx(table, w[i, j])
    return total


@inner_kernel
def compute_own_cost(table, a, b, w, p):
    """Return the terms of the cost of a merge that do not depend on other clusters."""
    aa, ab, ba, bb = w[a, a], w[a, b], w[b, a], w[b, b]
    change = compute_gain(table, p[a], p[b]) - xlogx(table, aa + ab + ba + bb)
    return change + xlogx(table, aa) + xlogx(table, ab) + xlogx(table, ba) + xlogx(table, bb)


@inner_kernel
def compute_merge_cost(table, a, b, size, w, wt, p):
    """Return the change of the rate when clusters a and b merge, summed in a fixed order."""
    change = compute_own_cost(table, a, b, w, p)
    for k in range(size):
        if k not in (a, b):
            gain = change - change
            if w[a, k] > 0 and w[b, k] > 0:
                gain = compute_gain(table, w[a, k], w[b, k])
                change -= gain
            if wt is None:
                change -= gain
            elif wt[a, k] > 0 and wt[b, k] > 0:
                change -= compute_gain(table, wt[a, k], wt[b, k])
    return change


@inner_kernel
def merge_clusters(a, b, size, w, wt, p):
    """Merge cluster b into a and set the slot of b to zero."""
    own = w[a, a] + (w[a, b] + w[b, a] + w[b, b])
    _merge_slots(a, b, size, w, own)
    if wt is not None:
        _merge_slots(a, b, size, wt, own)
    p[a] += p[b]
    p[b] = 0


@inner_kernel
def _merge_slots(a, b, size, w, own):
    for k in range(size):
        w[k, a] += w[k, b]
        w[a, k] += w[b, k]
        w[k, b] = w[b, k] = 0
    w[a, a] = own
    w[a, b] = w[b, a] = 0


@inner_kernel
def compact_slots(size, alive, name, w, wt, p):
    """Remove the slots of merged clusters and keep the order of the others; return their number."""
    kept = np.flatnonzero(alive[:size])
    for s in range(kept.shape[0]):
        name[s] = name[kept[s]]
        p[s] = p[kept[s]]
        alive[s] = True
    _compact_matrix(kept, w)
    if wt is not None:
        _compact_matrix(kept, wt)
    return kept.shape[0]


@inner_kernel
def _compact_matrix(kept, w):
    for s in range(kept.shape[0]):
        for t in range(kept.shape[0]):
            w[s, t] = w[kept[s], kept[t]]  # never overwrites an entry that is still needed: both slots only move down
