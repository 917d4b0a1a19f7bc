"""Compressibility without logarithms, for unweighted undirected graphs.

With joint counts w (w_ij = 1 for an edge or self-loop) every clustering has the information rate

    R = (sum_I f(p_I) - sum_IJ f(w_IJ)) / total,        f(x) = x log2 x,  p_I = sum_J w_IJ,

and every w and p is an integer, so f is a table. Greedy merging stores, for every pair of clusters, the change of R
if they merge; one merge alters it only for pairs that both touch the merged cluster, by O(1) terms each. A whole curve
takes O(n^3) additions.

The table contains x * L(x) where L is a fixed-point log2 that is *additive* (L(ab) = L(a) + L(b), built from primes).
Two merges of mathematically equal cost are then equal to the last bit, in any order of summation, so that the rule
"of equal merges, the pair with the lowest indices, in the order of visit" is well defined.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import count_bits, get_map_size, has_edge
from curiograph.kernels.cluster_merging import compute_likely_bits
from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.random import mix_bits


@kernel
def compute_compressibility(indptr, indices, nodes, begins, lengths, offsets, candidates, fast, f, unit):
    """Return the compressibility, with self-loops, of S + v for every candidate v of every walk.

    Walk i is `nodes[begins[i]:begins[i] + lengths[i]]`, and its candidates are `offsets[i]:offsets[i + 1]`. `fast` is
    None to try all pairs of clusters at every merge, otherwise those of `cluster_merging`. Candidates with
    the same links into a walk have the same value, which is computed once.
    """
    longest, most = np.int64(0), np.int64(0)
    for i in range(lengths.shape[0]):
        longest, most = max(longest, lengths[i]), max(most, offsets[i + 1] - offsets[i])
    work, inner = allocate_workspace(longest + 1), np.empty((longest, longest), np.int8)
    out, links = np.empty(candidates.shape[0], np.float64), np.empty(candidates.shape[0], np.uint64)
    first_with = np.empty(get_map_size(most), np.int64)  # map from links to the first candidate that has them
    begin, known = np.int64(-1), np.int64(0)
    for i in range(lengths.shape[0]):
        if offsets[i] == offsets[i + 1]:
            continue
        if begins[i] != begin or lengths[i] < known:
            begin, known = begins[i], np.int64(0)
        walk = nodes[begin : begin + lengths[i]]
        extend_adjacency(indptr, indices, walk, known, inner)
        known = lengths[i]
        size = get_map_size(offsets[i + 1] - offsets[i])
        for slot in range(size):
            first_with[slot] = -1
        for c in range(offsets[i], offsets[i + 1]):
            slot, links[c] = np.int64(0), 0
            if known <= 64 and offsets[i + 1] - offsets[i] > 1:
                for t in range(known):
                    links[c] |= np.uint64(has_edge(indptr, indices, candidates[c], walk[t])) << np.uint64(t)
                slot = np.int64(mix_bits(links[c]) & np.uint64(size - 1))
                while first_with[slot] != -1 and links[first_with[slot]] != links[c]:
                    slot = (slot + 1) & (size - 1)
                if first_with[slot] != -1:
                    out[c] = out[first_with[slot]]
                    continue
            first_with[slot] = c
            out[c] = compute_joined_bits(indptr, indices, walk, candidates[c], inner, fast, f, unit, work)
    return out


@inner_kernel
def compute_joined_bits(indptr, indices, walk, v, inner, fast, f, unit, work):
    """Return the compressibility of a walk followed by v; `inner` is that of `extend_adjacency`."""
    length, w = walk.shape[0], work[0]
    for s in range(length):
        for t in range(length):
            w[s, t] = inner[s, t]
        w[length, s] = w[s, length] = has_edge(indptr, indices, v, walk[s])
    w[length, length] = 1
    if fast is None:
        return compute_bits(length + 1, f, unit, work)
    return compute_likely_bits(length + 1, f, unit, w)


@inner_kernel
def extend_adjacency(indptr, indices, walk, known, inner):
    """Write to `inner` which nodes of a walk are linked, with a self-loop on each; the first `known` are there."""
    for t in range(known, walk.shape[0]):
        inner[t, t] = 1
        for s in range(t):
            u, v = walk[s], walk[t]
            if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
                u, v = v, u
            inner[s, t] = inner[t, s] = has_edge(indptr, indices, u, v)


@inner_kernel
def allocate_workspace(n):
    """Allocate the workspace for graphs of up to n nodes; the caller fills the first array, the counts."""
    return (
        np.empty((n, n), np.int32),  # counts between clusters
        np.empty((n, n), np.int64),  # change of the rate if two clusters merge
        np.empty((3, n), np.int64),  # per cluster: its count, its lowest node, and a partial sum
        np.empty((4, n), np.int64),  # per neighbor of a merged cluster: itself, its counts with both parts, its term
        np.empty((n, (n + 63) // 64), np.uint64),  # neighbors as bits
    )


@inner_kernel
def compute_bits(n, f, unit, work):
    """Merge the clusters of the counts in `work[0][:n, :n]` (overwritten) greedily; return C = H - mean R in bits.

    Of equal merges, the one of the clusters with the lowest nodes is taken.
    """
    w, cost, clusters, near, bits = work
    p, name, row = clusters[0], clusters[1], clusters[2]
    words = (n + 63) // 64
    total = 0
    entropy = 0  # times the total count, in units of the table
    for i in range(n):
        p[i] = 0
        name[i] = i
        for b in range(words):
            bits[i, b] = 0
        for j in range(n):
            p[i] += w[i, j]
            entropy -= f[w[i, j]]
            if w[i, j] and i != j:
                bits[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
        total += p[i]
        entropy += f[p[i]]
    for i in range(n):
        for j in range(i + 1, n):
            common = 0
            for b in range(words):
                common += count_bits(bits[i, b] & bits[j, b])
            cost[i, j] = f[p[i] + p[j]] - f[p[i]] - f[p[j]] - f[w[i, i] + w[j, j] + 2 * w[i, j]] - 2 * common * f[2]
            cost[j, i] = cost[i, j]
    rate, below = entropy, 0.0
    for m in range(n, 1, -1):
        least = cost[0, 1]
        for i in range(m - 1):
            for j in range(i + 1, m):
                least = min(least, cost[i, j])
        a, b, lowest = np.int64(-1), np.int64(-1), n * n
        for i in range(m - 1):
            for j in range(i + 1, m):
                if cost[i, j] == least and n * min(name[i], name[j]) + max(name[i], name[j]) < lowest:
                    lowest = n * min(name[i], name[j]) + max(name[i], name[j])
                    a, b = (i, j) if name[i] < name[j] else (j, i)
        rate += least
        below += entropy - rate
        _merge_clusters(m, a, b, f, w, p, name, cost, near, row)
    return below * unit / (n * total)


@inner_kernel
def _merge_clusters(m, a, b, f, w, p, name, cost, near, row):
    """Merge cluster b of m into a, update the costs of all pairs, and move the last cluster to the index of b."""
    who, x, y, term = near[0], near[1], near[2], near[3]
    touched = 0
    for i in range(m):
        row[i] = 0
        who[touched] = i  # written unconditionally: a branch here would be mispredicted half the time
        x[touched] = w[a, i]
        y[touched] = w[b, i]
        term[touched] = f[w[a, i] + w[b, i]] - f[w[a, i]] - f[w[b, i]]
        touched += (i != a) & (i != b) & (w[a, i] + w[b, i] > 0)
    for s in range(touched):
        i = who[s]
        for t in range(s + 1, touched):
            change = f[x[s] + y[s] + x[t] + y[t]] - f[x[s] + x[t]] - f[y[s] + y[t]] - term[s] - term[t]
            cost[i, who[t]] -= 2 * change
            cost[who[t], i] = cost[i, who[t]]
    w[a, a] += w[b, b] + 2 * w[a, b]
    p[a] += p[b]
    for s in range(touched):
        w[a, who[s]] = w[who[s], a] = x[s] + y[s]
    for s in range(touched):
        i = who[s]
        z = x[s] + y[s]
        for j in range(m):  # terms with w_ij = 0 are zero; only the term j = i must be subtracted again
            row[j] += f[z + w[i, j]] - f[w[i, j]] - f[z]
        row[i] -= f[z + w[i, i]] - f[w[i, i]] - f[z]
    for j in range(m):
        if j != a and j != b:
            value = f[p[a] + p[j]] - f[p[a]] - f[p[j]] - 2 * row[j]
            value -= f[w[a, a] + w[j, j] + 2 * w[a, j]] - f[w[a, a]] - f[w[j, j]] - 2 * f[w[a, j]]
            cost[a, j] = cost[j, a] = value
    last = m - 1
    if b == last:
        return
    p[b] = p[last]
    name[b] = name[last]
    w[b, b] = w[last, last]
    for i in range(last):
        if i != b:
            w[b, i] = w[i, b] = w[last, i]
            cost[b, i] = cost[i, b] = cost[last, i]
