"""Rate-distortion by greedy merging for any joint distribution: weighted, directed, and with few pairs tried per merge.

The joint probabilities w (w_ij = stationary probability of i times the chance to step to j) merge like counts do in
`kernels.compress`; logarithms are taken as they come. Clusters are named by their lowest node.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.compile import kernel
from curiograph.kernels.random import draw

ALL = 0
RANDOM = 1
EDGES = 2
JOINT = 3
STATIONARY = 4

_EQUAL = 1e-13  # merges closer than this are equal: the order of summation alone moves them that far


@kernel
def merge_all(w, heuristic, most, seed, upper, merges):
    """Merge the joint distribution `w` (destroyed) down to one cluster; `upper[k]` is the rate after k merges."""
    n = w.shape[0]
    p = w.sum(axis=1)
    alive = np.arange(n)
    pairs = np.empty((max(1, n * (n - 1) // 2 if heuristic in (ALL, EDGES) else most), 2), np.int64)
    rate = 0.0
    for i in range(n):
        rate += _f(p[i])
        for j in range(n):
            rate -= _f(w[i, j])
    upper[0] = rate
    for k in range(n - 1):
        m = n - k
        found = _pairs(m, alive, w, p, heuristic, most, seed, k, pairs)
        a, b, cost = _cheapest(m, found, pairs, alive, w, p)
        rate += cost
        upper[k + 1] = rate
        merges[k, 0] = a
        merges[k, 1] = b
        _join(m, a, b, alive, w, p)
    upper[n - 1] = 0.0


@kernel
def lower_rates(joint, p, merges, lower):
    """Lower bound on the rate: the entropy of the next cluster given the node; `joint` rows are nodes (destroyed)."""
    n = joint.shape[0]
    rate = 0.0
    for i in range(n):
        rate += _f(p[i])
        for j in range(n):
            rate -= _f(joint[i, j])
    lower[0] = rate
    for k in range(n - 1):
        a, b = merges[k]
        for i in range(n):
            rate += _f(joint[i, a]) + _f(joint[i, b]) - _f(joint[i, a] + joint[i, b])
            joint[i, a] += joint[i, b]
            joint[i, b] = 0.0
        lower[k + 1] = rate
    lower[n - 1] = 0.0


@kernel
def _f(x):
    return x * np.log2(x) if x > 0.0 else 0.0


@kernel
def _cost(a, b, m, alive, w, p):
    """Change in the rate when clusters a and b merge."""
    change = _f(p[a] + p[b]) - _f(p[a]) - _f(p[b])
    change -= _f(w[a, a] + w[a, b] + w[b, a] + w[b, b]) - _f(w[a, a]) - _f(w[a, b]) - _f(w[b, a]) - _f(w[b, b])
    for s in range(m):
        k = alive[s]
        if k in (a, b):
            continue
        if w[a, k] > 0.0 and w[b, k] > 0.0:
            change -= _f(w[a, k] + w[b, k]) - _f(w[a, k]) - _f(w[b, k])
        if w[k, a] > 0.0 and w[k, b] > 0.0:
            change -= _f(w[k, a] + w[k, b]) - _f(w[k, a]) - _f(w[k, b])
    return change


@kernel
def _cheapest(m, found, pairs, alive, w, p):
    a, b, least = -1, -1, np.inf
    for c in range(found):
        i, j = pairs[c]
        cost = _cost(i, j, m, alive, w, p)
        lower_pair = i < a or (i == a and j < b)
        if cost < least - _EQUAL or (cost <= least + _EQUAL and lower_pair):
            a, b, least = i, j, cost
    return a, b, least


@kernel
def _join(m, a, b, alive, w, p):
    kept = 0
    for s in range(m):
        k = alive[s]
        if k != b:
            alive[kept] = k
            kept += 1
    for s in range(kept):
        k = alive[s]
        if k != a:
            w[a, k] += w[b, k]
            w[k, a] += w[k, b]
    w[a, a] += w[a, b] + w[b, a] + w[b, b]
    p[a] += p[b]


@kernel
def _pairs(m, alive, w, p, heuristic, most, seed, step, pairs):
    """Fill `pairs` with those to try, and return how many; all of them where the heuristic offers none."""
    found = 0
    if heuristic == RANDOM:
        found = _random_pairs(m, alive, most, seed, step, pairs)
    elif heuristic == EDGES:
        for s in range(m - 1):
            for t in range(s + 1, m):
                if w[alive[s], alive[t]] + w[alive[t], alive[s]] > 0.0:
                    pairs[found] = alive[s], alive[t]
                    found += 1
    elif heuristic == JOINT:
        found = _largest_joint(m, alive, w, most, pairs)
    elif heuristic == STATIONARY:
        found = _largest_stationary(m, alive, p, most, pairs)
    if found == 0:
        for s in range(m - 1):
            for t in range(s + 1, m):
                if found < pairs.shape[0]:
                    pairs[found] = alive[s], alive[t]
                    found += 1
    return found


@kernel
def _random_pairs(m, alive, most, seed, step, pairs):
    """Distinct random pairs, by Floyd's sampling of pair numbers."""
    total = m * (m - 1) // 2
    wanted = min(most, total)
    taken = {np.int64(-1)}
    found = 0
    for upper in range(total - wanted, total):
        number = np.int64(draw(seed, step, upper) % np.uint64(upper + 1))
        if number in taken:
            number = np.int64(upper)
        taken.add(number)
        t = np.int64((1.0 + np.sqrt(1.0 + 8.0 * number)) / 2.0)
        while t * (t - 1) // 2 > number:
            t -= 1
        while (t + 1) * t // 2 <= number:
            t += 1
        s = number - t * (t - 1) // 2
        pairs[found] = alive[s], alive[t]
        found += 1
    return found


@kernel
def _largest_joint(m, alive, w, most, pairs):
    """The pairs with the largest joint transition probability, by a threshold found on a sorted copy."""
    count = 0
    strength = np.empty(m * (m - 1) // 2)
    for s in range(m - 1):
        for t in range(s + 1, m):
            x = w[alive[s], alive[t]] + w[alive[t], alive[s]]
            if x > 0.0:
                strength[count] = x
                count += 1
    if count == 0:
        return 0
    wanted = min(most, count)
    least = np.partition(strength[:count], count - wanted)[count - wanted]
    found = 0
    for strict in (True, False):
        for s in range(m - 1):
            for t in range(s + 1, m):
                x = w[alive[s], alive[t]] + w[alive[t], alive[s]]
                if found < wanted and ((strict and x > least) or (not strict and x == least)):
                    pairs[found] = alive[s], alive[t]
                    found += 1
    return found


@kernel
def _largest_stationary(m, alive, p, most, pairs):
    """The pairs with the largest combined stationary probability: they lie among the few largest clusters."""
    order = np.argsort(-p[alive[:m]], kind="mergesort")
    top = min(m, most + 1)
    count = top * (top - 1) // 2
    sums = np.empty(count)
    ends = np.empty((count, 2), np.int64)
    c = 0
    for s in range(top - 1):
        for t in range(s + 1, top):
            i, j = alive[order[s]], alive[order[t]]
            sums[c] = p[i] + p[j]
            ends[c] = min(i, j), max(i, j)
            c += 1
    best = np.argsort(-sums, kind="mergesort")
    found = min(most, count)
    for c in range(found):
        pairs[c] = ends[best[c]]
    return found
