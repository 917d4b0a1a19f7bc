"""Greedy merging of clusters that evaluates all pairs at every merge; arrays as in `clusters`."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.clusters import (
    compact_matrix,
    compact_slots,
    compute_gain,
    compute_merge_cost,
    compute_own_cost,
    compute_rate,
    get_margin,
    merge_clusters,
    xlogx,
)
from curiograph.kernels.jit import inner_kernel


@inner_kernel
def merge_all(table, w, wt, p, rates, merges):
    """Merge clusters greedily, in O(n^3) altogether.

    The costs of all pairs are stored. A merge changes the cost of two other clusters only if both are linked to a
    merged one.
    """
    n = p.shape[0]
    times = 2 if wt is None else 1
    rates[0] = compute_rate(table, w, p)
    name = np.arange(n)
    alive = np.ones(n, np.bool_)
    cost = np.empty((n, n), rates.dtype)
    for i in range(n):
        for j in range(i + 1, n):
            cost[i, j] = compute_own_cost(table, i, j, w, p)
    _add_common_gains(table, w, cost, times)
    if wt is not None:
        _add_common_gains(table, wt, cost, times)
    bounds = cost[:, 0].copy()
    for i in range(n - 1):
        bounds[i] = cost[i, i + 1 :].min()
    size = n
    for k in range(n - 1):
        if 4 * (n - k) < 3 * size:
            compact_matrix(np.flatnonzero(alive[:size]), cost)
            bounds[: n - k] = bounds[:size][alive[:size]]
            size = compact_slots(size, alive, name, w, wt, p)
        a, b = _find_cheapest(table, size, alive, cost, bounds)
        rates[k + 1] = rates[k] + compute_merge_cost(table, a, b, size, w, wt, p)
        merges[k, 0] = name[a]
        merges[k, 1] = name[b]
        _update_costs(table, a, b, size, w if wt is None else wt, cost, bounds, times)
        if wt is not None:
            _update_costs(table, a, b, size, w, cost, bounds, times)
        merge_clusters(a, b, size, w, wt, p)
        alive[b] = False
        gains = np.zeros(size, cost.dtype)
        _add_row_gains(table, a, size, w, gains, times)
        if wt is not None:
            _add_row_gains(table, a, size, wt, gains, times)
        for j in range(size):
            if alive[j] and j != a:
                low, high = min(a, j), max(a, j)
                cost[low, high] = compute_own_cost(table, a, j, w, p) - gains[j]
                bounds[low] = min(bounds[low], cost[low, high])


@inner_kernel
def _add_common_gains(table, w, cost, times):
    """Subtract the gain of every common neighbor k of two clusters i and j, where row k holds their entries."""
    for k in range(w.shape[0]):
        linked = np.flatnonzero(w[k])
        for s in range(linked.shape[0]):
            i = linked[s]
            for t in range(s + 1, linked.shape[0]):
                j = linked[t]
                if k not in (i, j):
                    cost[i, j] -= times * compute_gain(table, w[k, i], w[k, j])


@inner_kernel
def _find_cheapest(table, size, alive, cost, bounds):
    """Return the pair of lowest cost, of equal ones the lowest.

    `bounds` are lower bounds on the costs in the row of each slot; rows that cannot contain the lowest cost are
    skipped, and the bounds of the others are recomputed.
    """
    a, b = -1, -1
    least = cost[0, 0]
    margin = get_margin(table)
    for i in range(size):
        if not alive[i] or (a >= 0 and bounds[i] >= least - margin):
            continue
        lowest, found = cost[i, i], False
        for j in range(i + 1, size):
            if (not found or cost[i, j] < lowest) and alive[j]:
                lowest, found = cost[i, j], True
                if a < 0 or lowest < least - margin:
                    a, b, least = i, j, lowest
        if found:
            bounds[i] = lowest
    return a, b


@inner_kernel
def _update_costs(table, a, b, size, w, cost, bounds, times):
    """Update the costs of pairs of neighbors of a or b, which merge, where rows a and b hold their entries."""
    near = np.empty(size, np.int64)
    x, y = np.empty(size, w.dtype), np.empty(size, w.dtype)
    term = np.empty(size, cost.dtype)
    count = 0
    for i in range(size):
        if i not in (a, b) and (w[a, i] > 0 or w[b, i] > 0):
            near[count] = i
            x[count], y[count] = w[a, i], w[b, i]
            term[count] = compute_gain(table, w[a, i], w[b, i])
            count += 1
    for s in range(count):
        row, x_s, y_s, term_s = cost[near[s]], x[s], y[s], term[s]
        lowest = bounds[near[s]]
        for t in range(s + 1, count):
            left, right = x_s + x[t], y_s + y[t]
            if left > 0 and right > 0:  # otherwise both are linked to the same cluster only, and nothing changes
                row[near[t]] -= times * (compute_gain(table, left, right) - term_s - term[t])
                lowest = min(lowest, row[near[t]])
        bounds[near[s]] = lowest


@inner_kernel
def _add_row_gains(table, a, size, w, total, times):
    """Add to total[j] the gain of every common entry k of the rows a and j."""
    near = np.empty(size, np.int64)
    x = np.empty(size, w.dtype)
    term = np.empty(size, total.dtype)
    count = 0
    for k in range(size):
        if k != a and w[a, k] > 0:
            near[count] = k
            x[count] = w[a, k]
            term[count] = xlogx(table, w[a, k])
            count += 1
    for j in range(size):
        row = w[j]
        gain = total[j] - total[j]
        for s in range(count):
            y = row[near[s]]
            if y > 0:
                gain += xlogx(table, x[s] + y) - term[s] - xlogx(table, y)
        if row[j] > 0 and w[a, j] > 0 and j != a:  # j itself is not a common entry
            gain -= compute_gain(table, w[a, j], row[j])
        total[j] += times * gain
