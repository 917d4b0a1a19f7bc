"""Greedy merging of clusters that evaluates all pairs, or all linked pairs, at every merge; arrays as in `clusters`."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.clusters import (
    compact_matrix,
    compact_slots,
    compute_merge_cost,
    compute_rate,
    find_next,
    get_margin,
    merge_clusters,
    xlogx,
)
from curiograph.kernels.jit import inner_kernel


@inner_kernel
def merge_all(only_linked, table, w, wt, p, rates, merges):
    """Merge clusters greedily; evaluate all pairs, or all linked pairs, at every merge, in O(n^3) altogether.

    The costs of all pairs are stored. A merge changes the cost of two other clusters only if both are linked to a
    merged one.
    """
    n = p.shape[0]
    rates[0] = compute_rate(table, w, p)
    name = np.arange(n)
    alive = np.ones(n, np.bool_)
    rows = np.empty_like(rates)
    columns = np.empty_like(rates)
    cost = np.empty((n, n), rates.dtype)
    _compute_costs(table, w, p, cost)
    _add_common_gains(table, w, cost, 2 if wt is None else 1)
    if wt is not None:
        _add_common_gains(table, wt, cost, 1)
    bounds = _compute_row_bounds(cost)
    size = n
    for k in range(n - 1):
        if 4 * (n - k) < 3 * size:
            compact_matrix(np.flatnonzero(alive[:size]), cost)
            bounds[: n - k] = bounds[:size][alive[:size]]
            size = compact_slots(table, size, alive, name, w, wt, p, rows, columns)
        a, b = _find_cheapest(only_linked, table, size, alive, w, wt, cost, bounds)
        if a < 0:  # no cluster is linked to another, so that every merge costs nothing
            a = find_next(alive, 0)
            b = find_next(alive, a + 1)
        rates[k + 1] = rates[k] + compute_merge_cost(table, a, b, size, w, p)
        merges[k, 0] = name[a]
        merges[k, 1] = name[b]
        _update_costs(table, a, b, size, w if wt is None else wt, cost, bounds, 2 if wt is None else 1)
        if wt is not None:
            _update_costs(table, a, b, size, w, cost, bounds, 1)
        merge_clusters(table, a, b, size, w, wt, p, rows, columns)
        alive[b] = False
        _compute_row_costs(table, a, size, alive, w, wt, p, cost, bounds)


@inner_kernel
def _compute_costs(table, w, p, cost):
    """Set the costs of all pairs to their terms without common neighbors."""
    n = p.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            cost[i, j] = _compute_own_cost(table, i, j, w, p)


@inner_kernel
def _compute_own_cost(table, i, j, w, p):
    change = xlogx(table, p[i] + p[j]) - xlogx(table, p[i]) - xlogx(table, p[j])
    change -= xlogx(table, w[i, i] + w[i, j] + w[j, i] + w[j, j])
    return change + xlogx(table, w[i, i]) + xlogx(table, w[i, j]) + xlogx(table, w[j, i]) + xlogx(table, w[j, j])


@inner_kernel
def _add_common_gains(table, w, cost, times):
    """Subtract the gain of every common neighbor k of two clusters i and j, where row k holds their entries."""
    n = w.shape[0]
    for k in range(n):
        linked = np.flatnonzero(w[k])
        for s in range(linked.shape[0]):
            i = linked[s]
            for t in range(s + 1, linked.shape[0]):
                j = linked[t]
                if k not in (i, j):
                    gain = xlogx(table, w[k, i] + w[k, j]) - xlogx(table, w[k, i]) - xlogx(table, w[k, j])
                    cost[i, j] -= times * gain


@inner_kernel
def _compute_row_bounds(cost):
    """Return the lowest cost of every row above the diagonal."""
    out = cost[:, 0].copy()
    for i in range(cost.shape[0] - 1):
        out[i] = cost[i, i + 1 :].min()
    return out


@inner_kernel
def _find_cheapest(only_linked, table, size, alive, w, wt, cost, bounds):
    """Return the pair of lowest cost, of equal ones the lowest; (-1, -1) if there is none.

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
            is_lower = (not found or cost[i, j] < lowest) and alive[j]
            if is_lower and (not only_linked or w[i, j] > 0 or (wt is not None and wt[i, j] > 0)):
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
            term[count] = xlogx(table, w[a, i] + w[b, i]) - xlogx(table, w[a, i]) - xlogx(table, w[b, i])
            count += 1
    for s in range(count):
        row, x_s, y_s, term_s = cost[near[s]], x[s], y[s], term[s]
        lowest = bounds[near[s]]
        for t in range(s + 1, count):
            left, right = x_s + x[t], y_s + y[t]
            if left > 0 and right > 0:  # otherwise both are linked to the same cluster only, and nothing changes
                change = xlogx(table, left + right) - xlogx(table, left) - xlogx(table, right) - term_s - term[t]
                row[near[t]] -= times * change
                lowest = min(lowest, row[near[t]])
        bounds[near[s]] = lowest


@inner_kernel
def _compute_row_costs(table, a, size, alive, w, wt, p, cost, bounds):
    """Compute the costs of all pairs with cluster a."""
    total = np.zeros(size, cost.dtype)
    _add_row_gains(table, a, size, w, total, 2 if wt is None else 1)
    if wt is not None:
        _add_row_gains(table, a, size, wt, total, 1)
    for j in range(size):
        if alive[j] and j != a:
            low = min(a, j)
            cost[low, max(a, j)] = _compute_own_cost(table, a, j, w, p) - total[j]
            bounds[low] = min(bounds[low], cost[low, max(a, j)])


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
            gain -= xlogx(table, w[a, j] + row[j]) - xlogx(table, w[a, j]) - xlogx(table, row[j])
        total[j] += times * gain
