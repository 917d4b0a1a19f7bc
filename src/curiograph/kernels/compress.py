"""Compressibility without logarithms, for unweighted undirected graphs.

With joint counts w (w_ij = 1 for an edge or self-loop) every clustering has the information rate

    R = (sum_I f(p_I) - sum_IJ f(w_IJ)) / total,        f(x) = x log2 x,  p_I = sum_J w_IJ,

and every w and p is a whole number, so f is a table. Greedy merging keeps, for every pair of clusters, the change in R
that their merging would bring; one merge alters it only for pairs that both touch the merged cluster, by O(1) terms
each. A whole curve takes O(n^3) additions.

The table holds x * L(x) where L is a fixed-point log2 that is *additive* (L(ab) = L(a) + L(b), built from primes). Two
merges that are equal on paper are then equal to the last bit, whatever the order of summation, so that "equal merges:
the lowest pair" is well defined.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.compile import kernel
from curiograph.kernels.csr import has_edge, sort


@kernel
def table(size, bits):
    """f(x) = x log2(x) for x < size, in units of 2**-bits."""
    log = np.zeros(size, np.int64)
    factor = np.zeros(size, np.int64)
    out = np.zeros(size, np.int64)
    for p in range(2, size):
        if factor[p] == 0:
            for multiple in range(p, size, p):
                if factor[multiple] == 0:
                    factor[multiple] = p
            log[p] = np.int64(np.round(np.log2(p) * 2.0**bits))
        else:
            log[p] = log[factor[p]] + log[p // factor[p]]
        out[p] = p * log[p]
    return out


@kernel
def workspace(n):
    """Scratch for graphs of up to n nodes: counts, row sums, merging costs, clusters alive, neighbours, terms, ..."""
    return (
        np.empty((n, n), np.int32),
        np.empty(n, np.int64),
        np.empty((n, n), np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty((n, (n + 63) // 64), np.uint64),
        np.empty(n, np.int64),
    )


@kernel
def curve(n, f, work, rates, merges):
    """Greedy merging of the counts in `work[0][:n, :n]` (destroyed).

    Fills `rates` (R times total, in table units; `rates[k]` after k merges) and `merges` (the two clusters joined, each
    named by its lowest node; the lower name stays). Returns the total count.
    """
    w, p, cost, alive, near, term, bits, row = work
    total = 0
    rate = 0
    for i in range(n):
        p[i] = 0
        alive[i] = i
        for j in range(n):
            p[i] += w[i, j]
            rate -= f[w[i, j]]
        total += p[i]
        rate += f[p[i]]
    rates[0] = rate
    _first_costs(n, f, w, p, cost, bits)
    for k in range(n - 1):
        m = n - k
        a, b = _cheapest(m, alive, cost)
        rate += cost[a, b]
        rates[k + 1] = rate
        merges[k, 0] = a
        merges[k, 1] = b
        _merge(m, a, b, f, w, p, cost, alive, near, term, row)
    return total


@kernel
def _first_costs(n, f, w, p, cost, bits):
    words = (n + 63) // 64
    for i in range(n):
        for b in range(words):
            bits[i, b] = 0
        for j in range(n):
            if w[i, j] and i != j:
                bits[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
    for i in range(n):
        for j in range(i + 1, n):
            common = 0
            for b in range(words):
                common += _popcount(bits[i, b] & bits[j, b])
            cost[i, j] = f[p[i] + p[j]] - f[p[i]] - f[p[j]] - f[w[i, i] + w[j, j] + 2 * w[i, j]] - 2 * common * f[2]


@kernel
def _popcount(x):
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def _cheapest(m, alive, cost):
    """The merge that lowers the rate most; of equal ones the lowest pair, since `alive` ascends."""
    a = alive[0]
    b = alive[1]
    least = cost[a, b]
    for s in range(m - 1):
        i = alive[s]
        for t in range(s + 1, m):
            j = alive[t]
            if cost[i, j] < least:
                least = cost[i, j]
                a = i
                b = j
    return a, b


@kernel
def _merge(m, a, b, f, w, p, cost, alive, near, term, row):
    """Join cluster b into a < b and bring the costs of all pairs up to date."""
    touched = 0
    kept = 0
    for s in range(m):
        i = alive[s]
        if i == b:
            continue
        alive[kept] = i
        kept += 1
        if i != a and w[i, a] + w[i, b] > 0:
            near[touched] = i
            term[touched] = f[w[i, a] + w[i, b]] - f[w[i, a]] - f[w[i, b]]
            touched += 1
    for s in range(touched):
        i = near[s]
        x = w[i, a]
        y = w[i, b]
        for t in range(s + 1, touched):
            j = near[t]
            change = f[x + y + w[j, a] + w[j, b]] - f[x + w[j, a]] - f[y + w[j, b]] - term[s] - term[t]
            cost[i, j] -= 2 * change
    w[a, a] += w[b, b] + 2 * w[a, b]
    p[a] += p[b]
    for s in range(kept):
        row[alive[s]] = 0
    for s in range(touched):
        i = near[s]
        w[i, a] += w[i, b]
        w[a, i] = w[i, a]
    for s in range(touched):
        i = near[s]
        x = w[i, a]
        for t in range(kept):
            j = alive[t]
            if w[i, j] and j != i:
                row[j] += f[x + w[i, j]] - f[x] - f[w[i, j]]
    for t in range(kept):
        j = alive[t]
        if j == a:
            continue
        value = f[p[a] + p[j]] - f[p[a]] - f[p[j]] - 2 * row[j]
        value -= f[w[a, a] + w[j, j] + 2 * w[a, j]] - f[w[a, a]] - f[w[j, j]] - 2 * f[w[a, j]]
        if j < a:
            cost[j, a] = value
        else:
            cost[a, j] = value


@kernel
def _area(n, rates, total, unit):
    """C = H - mean R, in bits."""
    above = 0.0
    for k in range(n):
        above += rates[0] - rates[k]
    return above * unit / (n * total) if total > 0 else 0.0


@kernel
def candidate_compressibility(indptr, indices, nodes, lengths, offsets, candidates, f, unit):
    """Compressibility, with self-loops, of S + v for every candidate v of every walk.

    Nodes are taken in ascending order, so the value depends on the set alone and not on the order of the walk.
    """
    most = nodes.shape[1] + 1
    work = workspace(most)
    rates = np.empty(most, np.int64)
    merges = np.empty((most, 2), np.int64)
    inner = np.empty((most, most), np.int8)
    out = np.empty(candidates.shape[0], np.float64)
    for i in range(offsets.shape[0] - 1):
        if offsets[i] == offsets[i + 1]:
            continue
        length = lengths[i]
        walk = _ascending(nodes[i], length)
        _induced(indptr, indices, walk, inner)
        for c in range(offsets[i], offsets[i + 1]):
            v = candidates[c]
            _fill(indptr, indices, walk, inner, v, work[0])
            total = curve(length + 1, f, work, rates, merges)
            out[c] = _area(length + 1, rates, total, unit)
    return out


@kernel
def walk_compressibility(indptr, indices, nodes, lengths, f, unit):
    """Compressibility, with self-loops, of the subgraph of every walk."""
    most = nodes.shape[1]
    work = workspace(most)
    rates = np.empty(most, np.int64)
    merges = np.empty((most, 2), np.int64)
    inner = np.empty((most, most), np.int8)
    out = np.zeros(nodes.shape[0], np.float64)
    for i in range(nodes.shape[0]):
        length = lengths[i]
        if length == 0:
            continue
        walk = _ascending(nodes[i], length)
        _induced(indptr, indices, walk, inner)
        for s in range(length):
            for t in range(length):
                work[0][s, t] = inner[s, t]
        total = curve(length, f, work, rates, merges)
        out[i] = _area(length, rates, total, unit)
    return out


@kernel
def _ascending(nodes, length):
    out = np.empty(length, np.int32)
    for t in range(length):
        out[t] = nodes[t]
    sort(out, 0, length)
    return out


@kernel
def _induced(indptr, indices, walk, inner):
    for s in range(walk.shape[0]):
        inner[s, s] = 1
        for t in range(s + 1, walk.shape[0]):
            u, v = walk[s], walk[t]
            if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
                u, v = v, u
            edge = has_edge(indptr, indices, u, v)
            inner[s, t] = edge
            inner[t, s] = edge


@kernel
def _fill(indptr, indices, walk, inner, v, w):
    """Counts of the walk with v put at its place in ascending order."""
    length = walk.shape[0]
    place = 0
    while place < length and walk[place] < v:
        place += 1
    for s in range(length):
        row = s + (s >= place)
        for t in range(length):
            w[row, t + (t >= place)] = inner[s, t]
        edge = has_edge(indptr, indices, v, walk[s])
        w[place, row] = edge
        w[row, place] = edge
    w[place, place] = 1
