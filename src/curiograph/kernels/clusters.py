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

from curiograph.kernels.jit import inner_kernel, kernel

_EQUAL = 1e-13  # merges closer than this are equal: the order of summation changes them by as much


# ---- rates ----------------------------------------------------------------------------------------------------------


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


@kernel
def compute_rate(table, w, p):
    """Return the information rate of a chain with joint probabilities w: sum f(p) - sum f(w)."""
    total = xlogx(table, p[0]) - xlogx(table, p[0])  # zero of the right type
    for i in range(w.shape[0]):
        total += xlogx(table, p[i])
        for j in range(w.shape[1]):
            total -= xlogx(table, w[i, j])
    return total


@kernel
def compute_merge_cost(table, a, b, size, w, p):
    """Return the change of the rate when clusters a and b merge, summed in a fixed order."""
    change = xlogx(table, p[a] + p[b]) - xlogx(table, p[a]) - xlogx(table, p[b])
    change -= (
        xlogx(table, w[a, a] + w[a, b] + w[b, a] + w[b, b])
        - xlogx(table, w[a, a])
        - xlogx(table, w[a, b])
        - xlogx(table, w[b, a])
        - xlogx(table, w[b, b])
    )
    for k in range(size):
        if k not in (a, b):
            if w[a, k] > 0 and w[b, k] > 0:
                change -= xlogx(table, w[a, k] + w[b, k]) - xlogx(table, w[a, k]) - xlogx(table, w[b, k])
            if w[k, a] > 0 and w[k, b] > 0:
                change -= xlogx(table, w[k, a] + w[k, b]) - xlogx(table, w[k, a]) - xlogx(table, w[k, b])
    return change


@kernel
def sum_rows(table, size, w, out):
    """Fill `out` with sum_k f(w_ik) for every slot i."""
    for i in range(size):
        total = xlogx(table, w[i, 0])
        for k in range(1, size):
            total += xlogx(table, w[i, k])
        out[i] = total


@inner_kernel
def sum_merged_row(table, a, b, size, w):
    """Return sum_k f(w_ak + w_bk) over all clusters k other than a and b."""
    total = xlogx(table, w[a, 0] + w[b, 0])
    for k in range(1, size):
        total += xlogx(table, w[a, k] + w[b, k])
    return total - xlogx(table, w[a, a] + w[b, a]) - xlogx(table, w[a, b] + w[b, b])


@inner_kernel
def estimate_merge_cost(table, a, b, size, w, wt, p, rows, columns):
    """Return the change of the rate when clusters a and b merge, fast: one logarithm or look-up per cluster."""
    aa, ab = xlogx(table, w[a, a]), xlogx(table, w[a, b])
    ba, bb = xlogx(table, w[b, a]), xlogx(table, w[b, b])
    own = aa + ab + ba + bb
    change = xlogx(table, p[a] + p[b]) - xlogx(table, p[a]) - xlogx(table, p[b])
    change -= xlogx(table, w[a, a] + w[a, b] + w[b, a] + w[b, b]) - own
    gain = sum_merged_row(table, a, b, size, w) - (rows[a] + rows[b] - own)
    if wt is None:
        return change - 2 * gain
    return change - gain - (sum_merged_row(table, a, b, size, wt) - (columns[a] + columns[b] - own))


@kernel
def find_best_merge(table, count, first, second, size, w, wt, p, rows, columns):
    """Return the pair (first[c], second[c]) whose merge lowers the rate most; ties: the lowest pair."""
    margin = get_margin(table)
    a, b = first[0], second[0]
    least = estimate_merge_cost(table, a, b, size, w, wt, p, rows, columns)
    for c in range(1, count):
        i, j = first[c], second[c]
        cost = estimate_merge_cost(table, i, j, size, w, wt, p, rows, columns)
        if cost < least - margin or (cost <= least + margin and (i < a or (i == a and j < b))):
            a, b, least = i, j, cost
    return a, b


# ---- merging --------------------------------------------------------------------------------------------------------


@kernel
def merge_clusters(table, a, b, size, w, wt, p, rows, columns):
    """Merge cluster b into a and set the slot of b to zero; update the sums of all rows and columns."""
    for k in range(size):
        if k in (a, b):
            continue
        if w[k, a] > 0 and w[k, b] > 0:
            rows[k] += xlogx(table, w[k, a] + w[k, b]) - xlogx(table, w[k, a]) - xlogx(table, w[k, b])
        w[k, a] += w[k, b]
        w[k, b] = 0
        if wt is not None:
            if w[a, k] > 0 and w[b, k] > 0:
                columns[k] += xlogx(table, w[a, k] + w[b, k]) - xlogx(table, w[a, k]) - xlogx(table, w[b, k])
            wt[k, a] += wt[k, b]
            wt[k, b] = 0
        w[a, k] += w[b, k]
        w[b, k] = 0
        if wt is not None:
            wt[a, k] += wt[b, k]
            wt[b, k] = 0
    own = w[a, a] + (w[a, b] + w[b, a] + w[b, b])
    _fill_corner(w, a, b, own)
    if wt is not None:
        _fill_corner(wt, a, b, own)
    p[a] += p[b]
    p[b] = 0
    rows[b] = 0
    columns[b] = 0
    rows[a] = _sum_row(table, size, w, a)
    if wt is not None:
        columns[a] = _sum_row(table, size, wt, a)


@inner_kernel
def _fill_corner(w, a, b, own):
    w[a, a] = own
    w[a, b] = 0
    w[b, a] = 0
    w[b, b] = 0


@inner_kernel
def _sum_row(table, size, w, a):
    total = xlogx(table, w[a, 0])
    for k in range(1, size):
        total += xlogx(table, w[a, k])
    return total


@inner_kernel
def compact_slots(table, size, alive, name, w, wt, p, rows, columns):
    """Remove the slots of merged clusters, keep the order of the others, and recompute all sums."""
    kept = np.flatnonzero(alive[:size])
    for s in range(kept.shape[0]):
        name[s] = name[kept[s]]
        p[s] = p[kept[s]]
        alive[s] = True
    compact_matrix(kept, w)
    sum_rows(table, kept.shape[0], w, rows)
    if wt is not None:
        compact_matrix(kept, wt)
        sum_rows(table, kept.shape[0], wt, columns)
    return kept.shape[0]


@inner_kernel
def compact_matrix(kept, w):
    for s in range(kept.shape[0]):
        for t in range(kept.shape[0]):
            w[s, t] = w[kept[s], kept[t]]  # never overwrites an entry that is still needed: both slots only move down


@inner_kernel
def find_next(alive, slot):
    """Return the first slot in use from `slot` on."""
    while not alive[slot]:
        slot += 1
    return slot
