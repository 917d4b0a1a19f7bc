"""Rate-distortion curves by greedy merging of clusters; arrays as in `clusters`.

At every merge all pairs are evaluated or, in large graphs, the `NUM_PAIRS` pairs of largest joint probability.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.clusters import (
    compact_slots,
    compute_gain,
    compute_merge_cost,
    compute_rate,
    get_margin,
    merge_clusters,
)
from curiograph.kernels.jit import inner_kernel, kernel

NUM_PAIRS = 100


@kernel
def compute_curve(fast, table, w, wt, p, rates, merges):
    """Merge clusters greedily, with all pairs, in O(n^4), or the fast heuristic. w, wt and p are overwritten.

    Fill `rates` (`rates[k]` after k merges) and `merges` (the names of the two merged clusters, the lower first).
    """
    n = p.shape[0]
    rates[0] = compute_rate(table, w, p)
    name = np.arange(n)
    alive = np.ones(n, np.bool_)
    values = np.empty(NUM_PAIRS, p.dtype)
    keys = np.empty(NUM_PAIRS if fast else n * (n - 1) // 2, np.int64)
    bounds = np.full(n, 2 * p.sum() + 1)
    size = n
    for k in range(n - 1):
        if 4 * (n - k) < 3 * size:
            bounds[: n - k] = bounds[:size][alive[:size]]
            size = compact_slots(size, alive, name, w, wt, p)
        count = _select_pairs(size, alive, w, wt, bounds, values, keys) if fast else _list_pairs(size, alive, keys)
        if count == 0:  # no cluster is linked to another, so that every merge costs nothing
            left = np.flatnonzero(alive)
            a, b = left[0], left[1]
            cost = compute_merge_cost(table, a, b, size, w, wt, p)
        else:
            a, b, cost = _find_best_merge(table, keys[:count], size, w, wt, p)
        rates[k + 1] = rates[k] + cost
        merges[k, 0] = name[a]
        merges[k, 1] = name[b]
        merge_clusters(a, b, size, w, wt, p)
        alive[b] = False
        for i in range(size):
            if i != a:
                bounds[min(a, i)] = max(bounds[min(a, i)], w[a, i] + w[i, a])


@inner_kernel
def compute_likely_bits(n, f, unit, counts):
    """Return the compressibility in bits of the counts in `counts[:n, :n]`, by the fast heuristic.

    Rates above the entropy rate count as the entropy rate.
    """
    w = counts[:n, :n].copy()
    p = np.zeros(n, np.int64)
    for s in range(n):
        for t in range(n):
            p[s] += w[s, t]
    total = p.sum()
    rates = np.empty(n, np.int64)
    compute_curve(True, f, w, None, p, rates, np.empty((n, 2), np.int64))
    rates[n - 1] = 0
    above = 0.0
    for k in range(n):
        above += max(0, rates[0] - rates[k])
    return above * unit / (n * total)


@kernel
def compute_lower_rates(joint, p, merges):
    """Return lower bounds on the rates: the entropy of the next cluster given the node.

    Rows of `joint` are nodes; it is overwritten.
    """
    lower = np.zeros(p.shape[0])
    lower[0] = compute_rate(None, joint, p)
    for k in range(lower.shape[0] - 1):
        a, b = merges[k, 0], merges[k, 1]
        lower[k + 1] = lower[k]
        for i in range(joint.shape[0]):
            if joint[i, a] > 0.0 and joint[i, b] > 0.0:
                lower[k + 1] -= compute_gain(None, joint[i, a], joint[i, b])
            joint[i, a] += joint[i, b]
            joint[i, b] = 0.0
    lower[-1] = 0.0
    return lower


# ---- the pairs of a merge -------------------------------------------------------------------------------------------


@inner_kernel
def _find_best_merge(table, keys, size, w, wt, p):
    """Return the pair i * size + j of `keys` whose merge lowers the rate most, ties: the lowest pair; and its cost."""
    margin = get_margin(table)
    best = keys[0]
    least = compute_merge_cost(table, best // size, best % size, size, w, wt, p)
    for c in range(1, keys.shape[0]):
        cost = compute_merge_cost(table, keys[c] // size, keys[c] % size, size, w, wt, p)
        if cost < least - margin or (cost <= least + margin and keys[c] < best):
            best, least = keys[c], cost
    return best // size, best % size, least


@inner_kernel
def _list_pairs(size, alive, keys):
    """Write all pairs i * size + j to `keys`, ascending; return their number."""
    count = 0
    for i in range(size):
        for j in range(i + 1, size):
            if alive[i] and alive[j]:
                keys[count] = i * size + j
                count += 1
    return count


@inner_kernel
def _select_pairs(size, alive, w, wt, bounds, values, keys):
    """Write the pairs i * size + j of largest joint probability to `keys`, as a heap; return their number.

    Of equal values, the lowest pairs are taken. `bounds` are upper bounds on the values in the row of each slot; rows
    that cannot contain a selected pair are skipped, and the bounds of the others are recomputed.
    """
    limit = keys.shape[0]
    count = 0
    for i in range(size):
        if not alive[i] or (count == limit and bounds[i] <= values[0]):
            continue
        largest = bounds[i] - bounds[i]
        for j in range(i + 1, size):
            value = w[i, j] + (w[i, j] if wt is None else wt[i, j])
            largest = max(largest, value)
            if value > 0 and (count < limit or value > values[0]) and alive[j]:
                count = push_largest(values, keys, count, value, i * size + j)
        bounds[i] = largest
    return count


@inner_kernel
def push_largest(values, keys, count, value, key):
    """Add an entry to a heap of the largest values, smallest first; of equal values the lower key counts as larger.

    A full heap drops its smallest entry. Return the number of entries.
    """
    if count < values.shape[0]:
        place = count
        count += 1
        while place > 0:
            above = (place - 1) // 2
            if not _is_smaller(value, key, values[above], keys[above]):
                break
            values[place] = values[above]
            keys[place] = keys[above]
            place = above
    elif _is_smaller(value, key, values[0], keys[0]):
        return count
    else:
        place = 0
        while 2 * place + 1 < count:
            below = 2 * place + 1
            if below + 1 < count and _is_smaller(values[below + 1], keys[below + 1], values[below], keys[below]):
                below += 1
            if not _is_smaller(values[below], keys[below], value, key):
                break
            values[place] = values[below]
            keys[place] = keys[below]
            place = below
    values[place] = value
    keys[place] = key
    return count


@inner_kernel
def _is_smaller(value, key, other_value, other_key):
    return value < other_value or (value == other_value and key > other_key)
