"""Rate-distortion curves by greedy merging of clusters; a heuristic selects the pairs evaluated at every merge.

Arrays are described in `clusters`.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.all_pairs import merge_all
from curiograph.kernels.clusters import (
    compact_slots,
    compute_merge_cost,
    compute_rate,
    find_best_merge,
    find_next,
    merge_clusters,
    sum_rows,
    xlogx,
)
from curiograph.kernels.compressibility import build_adjacency, sort_walk
from curiograph.kernels.jit import inner_kernel, kernel

ALL, EDGES, JOINT, JOINT_SELF, STATIONARY, SINGLE = 0, 1, 2, 3, 4, 5
"""Heuristics, which determine the pairs of clusters evaluated at every merge."""


@kernel
def compute_curve(heuristic, num_pairs, table, w, wt, p, rates, merges):
    """Merge clusters greedily; a heuristic selects the pairs evaluated at every merge. w, wt and p are overwritten.

    Fill `rates` (`rates[k]` after k merges) and `merges` (the names of the two merged clusters, the lower first).
    """
    if heuristic in (ALL, EDGES):
        merge_all(heuristic == EDGES, table, w, wt, p, rates, merges)
    else:
        _merge_selected(heuristic, num_pairs, table, w, wt, p, rates, merges)


@kernel
def compute_growth_compressibility(
    indptr, indices, nodes, offsets, least, most, heuristics, num_pairs, cap, f, unit, out
):
    """Write to `out` the compressibility, with self-loops, of every walk after each step from `least` to `most` nodes.

    Of several heuristics, take the largest value. With `cap`, rates above the entropy rate count as the entropy rate.
    Walk i is `nodes[offsets[i]:offsets[i + 1]]`, with its values at the same indices of `out`.
    """
    inner = np.empty((most, most), np.int8)
    for i in range(offsets.shape[0] - 1):
        begin = offsets[i]
        longest = min(most, offsets[i + 1] - begin)
        if longest < least:
            continue
        walk = sort_walk(nodes[begin:], longest)
        build_adjacency(indptr, indices, walk, inner)
        step = np.empty(longest, np.int64)
        for s in range(longest):
            step[s] = 0
            while nodes[begin + step[s]] != walk[s]:
                step[s] += 1
        for length in range(least, longest + 1):
            kept = np.flatnonzero(step < length)
            for h in range(heuristics.shape[0]):
                area = _compute_area(heuristics[h], num_pairs, kept, inner, cap, f, unit)
                if h == 0 or area > out[begin + length - 1]:
                    out[begin + length - 1] = area


@inner_kernel
def _compute_area(heuristic, num_pairs, kept, inner, cap, f, unit):
    """Return C = H - mean R of the subgraph on some nodes, in bits."""
    n = kept.shape[0]
    w = np.empty((n, n), np.int32)
    p = np.zeros(n, np.int64)
    for s in range(n):
        for t in range(n):
            w[s, t] = inner[kept[s], kept[t]]
            p[s] += w[s, t]
    total = p.sum()
    rates = np.empty(n, np.int64)
    compute_curve(heuristic, num_pairs, f, w, None, p, rates, np.empty((n, 2), np.int64))
    rates[n - 1] = 0
    above = 0.0
    for k in range(n):
        above += max(0, rates[0] - rates[k]) if cap else rates[0] - rates[k]
    return above * unit / (n * total)


@inner_kernel
def _merge_selected(heuristic, num_pairs, table, w, wt, p, rates, merges):
    """Merge clusters by a heuristic that evaluates a limited number of pairs."""
    n = p.shape[0]
    rates[0] = compute_rate(table, w, p)
    name = np.arange(n)
    alive = np.ones(n, np.bool_)
    rows = np.empty_like(rates)
    sum_rows(table, n, w, rows)
    columns = rows.copy()
    if wt is not None:
        sum_rows(table, n, wt, columns)
    limit = max(1, min(num_pairs, n * (n - 1) // 2))
    first = np.empty(limit, np.int64)
    second = np.empty(limit, np.int64)
    bounds = np.full(n, 2 * p.sum() + 1)
    size = n
    for k in range(n - 1):
        if 4 * (n - k) < 3 * size:
            bounds[: n - k] = bounds[:size][alive[:size]]
            size = compact_slots(table, size, alive, name, w, wt, p, rows, columns)
        if heuristic == SINGLE:
            a, b = 0, n - 1 if k == 0 else find_next(alive, 1)
        else:
            count = _select_pairs(heuristic, limit, size, n - k, alive, w, wt, p, bounds, first, second)
            if count > 1:
                a, b = find_best_merge(table, count, first, second, size, w, wt, p, rows, columns)
            elif count == 1:
                a, b = first[0], second[0]
            else:  # no cluster is linked to another, so that every merge costs nothing
                a = find_next(alive, 0)
                b = find_next(alive, a + 1)
        rates[k + 1] = rates[k] + compute_merge_cost(table, a, b, size, w, p)
        merges[k, 0] = name[a]
        merges[k, 1] = name[b]
        merge_clusters(table, a, b, size, w, wt, p, rows, columns)
        alive[b] = False
        if heuristic in (JOINT, JOINT_SELF):
            for i in range(size):
                if i != a:
                    value = w[a, i] + w[i, a] + (w[a, a] + w[i, i] if heuristic == JOINT_SELF else 0)
                    bounds[min(a, i)] = max(bounds[min(a, i)], value)


@kernel
def compute_lower_rates(joint, p, merges, lower):
    """Fill `lower` with lower bounds on the rate: the entropy of the next cluster given the node.

    Rows of `joint` are nodes; it is overwritten.
    """
    lower[0] = compute_rate(None, joint, p)
    for k in range(lower.shape[0] - 1):
        a, b = merges[k, 0], merges[k, 1]
        lower[k + 1] = lower[k]
        for i in range(joint.shape[0]):
            x, y = joint[i, a], joint[i, b]
            if x > 0.0 and y > 0.0:
                lower[k + 1] += xlogx(None, x) + xlogx(None, y) - xlogx(None, x + y)
            joint[i, a] += joint[i, b]
            joint[i, b] = 0.0


# ---- selection of pairs ---------------------------------------------------------------------------------------------


@inner_kernel
def _select_pairs(heuristic, limit, size, left, alive, w, wt, p, bounds, first, second):
    """Write the pairs of largest value to `first` and `second`, at most `limit`, ascending; return their number.

    Of equal values, the lowest pairs are taken. `bounds` are upper bounds on the values in the row of each slot; rows
    that cannot contain a selected pair are skipped, and the bounds of the others are recomputed.
    """
    values = np.empty(limit, p.dtype)
    keys = np.empty(limit, np.int64)
    count = 0
    if heuristic == STATIONARY:
        slots = _select_slots(min(limit + 1, left), size, alive, p)
        for s in range(slots.shape[0]):
            for t in range(s + 1, slots.shape[0]):
                value = p[slots[s]] + p[slots[t]]
                if count < limit or value > values[0]:
                    count = push_largest(values, keys, count, value, slots[s] * size + slots[t])
    else:
        own = np.zeros(size, p.dtype)
        if heuristic == JOINT_SELF:
            for i in range(size):
                own[i] = w[i, i]
        for i in range(size):
            if not alive[i] or (count == limit and bounds[i] <= values[0]):
                continue
            largest = own[i] - own[i]
            for j in range(i + 1, size):
                value = w[i, j] + (w[i, j] if wt is None else wt[i, j]) + own[i] + own[j]
                largest = max(largest, value)
                if value > 0 and (count < limit or value > values[0]) and alive[j]:
                    count = push_largest(values, keys, count, value, i * size + j)
            bounds[i] = largest
    chosen = np.sort(keys[:count])
    for c in range(count):
        first[c] = chosen[c] // size
        second[c] = chosen[c] % size
    return count


@inner_kernel
def _select_slots(limit, size, alive, p):
    """Return the slots of largest stationary probability, ascending."""
    values = np.empty(limit, p.dtype)
    keys = np.empty(limit, np.int64)
    count = 0
    for i in range(size):
        if alive[i]:
            count = push_largest(values, keys, count, p[i], i)
    return np.sort(keys[:count])


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


@kernel
def find_linked_pairs(size, w):
    """Return the pairs of slots with a joint probability above zero, the lower first, ascending."""
    count = 0
    for i in range(size):
        for j in range(i + 1, size):
            count += w[i, j] + w[j, i] > 0
    first = np.empty(count, np.int64)
    second = np.empty(count, np.int64)
    count = 0
    for i in range(size):
        for j in range(i + 1, size):
            if w[i, j] + w[j, i] > 0:
                first[count] = i
                second[count] = j
                count += 1
    return first, second
