"""Greedy merging of clusters of any joint distribution, with a limited choice of pairs per merge.

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

from curiograph.kernels.compressibility import build_adjacency, sort_walk
from curiograph.kernels.jit import kernel

ALL, EDGES, JOINT, JOINT_SELF, STATIONARY, SINGLE = 0, 1, 2, 3, 4, 5
"""Heuristics, which determine the pairs of clusters evaluated at every merge."""

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


@kernel
def sum_merged_row(table, a, b, size, w):
    """Return sum_k f(w_ak + w_bk) over all clusters k other than a and b."""
    total = xlogx(table, w[a, 0] + w[b, 0])
    for k in range(1, size):
        total += xlogx(table, w[a, k] + w[b, k])
    return total - xlogx(table, w[a, a] + w[b, a]) - xlogx(table, w[a, b] + w[b, b])


@kernel
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


@kernel
def _fill_corner(w, a, b, own):
    w[a, a] = own
    w[a, b] = 0
    w[b, a] = 0
    w[b, b] = 0


@kernel
def _sum_row(table, size, w, a):
    total = xlogx(table, w[a, 0])
    for k in range(1, size):
        total += xlogx(table, w[a, k])
    return total


@kernel
def compact_slots(table, size, alive, name, w, wt, p, rows, columns):
    """Remove the slots of merged clusters, keep the order of the others, and compute all sums anew."""
    kept = np.flatnonzero(alive[:size])
    for s in range(kept.shape[0]):
        name[s] = name[kept[s]]
        p[s] = p[kept[s]]
        alive[s] = True
    _compact_matrix(kept, w)
    sum_rows(table, kept.shape[0], w, rows)
    if wt is not None:
        _compact_matrix(kept, wt)
        sum_rows(table, kept.shape[0], wt, columns)
    return kept.shape[0]


@kernel
def _compact_matrix(kept, w):
    for s in range(kept.shape[0]):
        for t in range(kept.shape[0]):
            w[s, t] = w[kept[s], kept[t]]  # never overwrites an entry that is still needed: both slots only move down


@kernel
def compute_curve(heuristic, num_pairs, table, w, wt, p, rates, merges):
    """Merge clusters greedily; a heuristic selects the pairs evaluated at every merge. w, wt and p are overwritten.

    Fill `rates` (`rates[k]` after k merges) and `merges` (the names of the two merged clusters, the lower first).
    """
    if heuristic in (ALL, EDGES):
        _merge_all(heuristic == EDGES, table, w, wt, p, rates, merges)
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


@kernel
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


@kernel
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
def find_next(alive, slot):
    """Return the first slot in use from `slot` on."""
    while not alive[slot]:
        slot += 1
    return slot


# ---- selection of pairs ---------------------------------------------------------------------------------------------


@kernel
def _select_pairs(heuristic, limit, size, left, alive, w, wt, p, bounds, first, second):
    """Write the pairs of largest value to `first` and `second`, at most `limit`, ascending; return their number.

    Of equal values, the lowest pairs are taken. `bounds` are upper bounds on the values in the row of each slot; rows
    that cannot contain a selected pair are skipped, and the bounds of the others computed anew.
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


@kernel
def _select_slots(limit, size, alive, p):
    """Return the slots of largest stationary probability, ascending."""
    values = np.empty(limit, p.dtype)
    keys = np.empty(limit, np.int64)
    count = 0
    for i in range(size):
        if alive[i]:
            count = push_largest(values, keys, count, p[i], i)
    return np.sort(keys[:count])


@kernel
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


@kernel
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


# ---- all pairs, or all linked pairs ---------------------------------------------------------------------------------


@kernel
def _merge_all(only_linked, table, w, wt, p, rates, merges):
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
            _compact_matrix(np.flatnonzero(alive[:size]), cost)
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


@kernel
def _compute_costs(table, w, p, cost):
    """Set the costs of all pairs to their terms without common neighbors."""
    n = p.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            cost[i, j] = _compute_own_cost(table, i, j, w, p)


@kernel
def _compute_own_cost(table, i, j, w, p):
    change = xlogx(table, p[i] + p[j]) - xlogx(table, p[i]) - xlogx(table, p[j])
    change -= xlogx(table, w[i, i] + w[i, j] + w[j, i] + w[j, j])
    return change + xlogx(table, w[i, i]) + xlogx(table, w[i, j]) + xlogx(table, w[j, i]) + xlogx(table, w[j, j])


@kernel
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


@kernel
def _compute_row_bounds(cost):
    """Return the lowest cost of every row above the diagonal."""
    out = cost[:, 0].copy()
    for i in range(cost.shape[0] - 1):
        out[i] = cost[i, i + 1 :].min()
    return out


@kernel
def _find_cheapest(only_linked, table, size, alive, w, wt, cost, bounds):
    """Return the pair of lowest cost, of equal ones the lowest; (-1, -1) if there is none.

    `bounds` are lower bounds on the costs in the row of each slot; rows that cannot contain the lowest cost are
    skipped, and the bounds of the others computed anew.
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


@kernel
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


@kernel
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


@kernel
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
