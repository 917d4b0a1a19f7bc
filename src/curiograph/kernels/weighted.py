"""Persistence of the gaps of walks on a weighted graph, by decreasing weight.

`indptr`, `indices` and `weights` are the rows of an undirected graph. An edge of weight 0 counts as no edge.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import find_slot
from curiograph.kernels.jit import inner_kernel, kernel


@kernel
def build_weights(indptr, indices, weights, walk):
    """Return the weights between the nodes of a walk as a matrix, with 0 on the diagonal."""
    n = walk.shape[0]
    inner = np.zeros((n, n))
    for s in range(n):
        for t in range(s + 1, n):
            slot = find_slot(indptr, indices, walk[s], walk[t])
            if slot >= 0:
                inner[s, t] = inner[t, s] = weights[slot]
    return inner


@kernel
def compute_persistence(indptr, indices, weights, nodes, offsets):
    """Return the gaps of the clique complexes of walks whose edges enter in order of decreasing weight.

    Walk i is `nodes[offsets[i]:offsets[i + 1]]`; edges of equal weight enter in order of their steps. Rows of the first
    array are (walk, both steps of the edge that opens the gap, both steps of the edge that closes it or -1 if the gap
    stays open). Rows of the second are the weights of both edges, 0 for a gap that stays open. Gaps that open and close
    at the same weight are left out. The last array contains the number of edges of every walk.
    """
    found = np.empty((16, 5), np.int32)
    values = np.empty((16, 2), np.float64)
    edge_counts = np.zeros(offsets.shape[0] - 1, np.int64)
    filled = 0
    for i in range(offsets.shape[0] - 1):
        inner = build_weights(indptr, indices, weights, nodes[offsets[i] : offsets[i + 1]])
        ends = _sort_edges(inner)
        edge_counts[i] = ends.shape[0]
        openers, closers = _pair_edges(inner.shape[0], ends)
        for g in range(openers.shape[0]):
            opener, closer = openers[g], closers[g]
            opened = inner[ends[opener, 0], ends[opener, 1]]
            closed = inner[ends[closer, 0], ends[closer, 1]] if closer >= 0 else 0.0
            if opened == closed:
                continue
            if filled == found.shape[0]:
                found = np.concatenate((found, np.empty_like(found)))
                values = np.concatenate((values, np.empty_like(values)))
            found[filled, 0] = i
            for side in range(2):
                found[filled, 1 + side] = ends[opener, side]
                found[filled, 3 + side] = ends[closer, side] if closer >= 0 else -1
            values[filled, 0], values[filled, 1] = opened, closed
            filled += 1
    return found[:filled], values[:filled], edge_counts


@inner_kernel
def _sort_edges(inner):
    """Return both ends of every edge of positive weight, by decreasing weight; equal weights in order of their ends."""
    n = inner.shape[0]
    ends = np.empty((n * (n - 1) // 2, 2), np.int32)
    keys = np.empty(n * (n - 1) // 2)
    count = 0
    for t in range(n):
        for s in range(t):
            if inner[s, t] > 0.0:
                ends[count, 0], ends[count, 1] = s, t
                keys[count] = -inner[s, t]
                count += 1
    return ends[np.argsort(keys[:count], kind="mergesort")]


@inner_kernel
def _pair_edges(n, ends):
    """Return, for every gap in order of opening, the edge that opens it and the edge that closes it, or -1.

    Every edge has an annotation: a bit for each open gap, whose sum over a loop shows which gaps the loop surrounds.
    An edge that closes a loop, but no triangle, opens a gap. A triangle whose annotations do not sum to zero closes the
    youngest gap of the sum.
    """
    count = ends.shape[0]
    component = np.arange(n)
    edge_at = np.full((n, n), -1, np.int32)
    bits = np.zeros((count, 1), np.uint64)
    openers = np.empty(count, np.int64)
    closers = np.full(count, -1, np.int64)
    gaps = 0
    for e in range(count):
        s, t = ends[e, 0], ends[e, 1]
        in_triangle = False
        for u in range(n):
            if edge_at[s, u] < 0 or edge_at[t, u] < 0:
                continue
            around = bits[e] ^ bits[edge_at[s, u]] ^ bits[edge_at[t, u]]
            if not in_triangle:  # the gap that the edge opens closes at once
                bits[e] = around
                in_triangle = True
                continue
            youngest = _find_last_bit(around)
            if youngest >= 0:
                closers[youngest] = e
                word, mask = youngest >> 6, np.uint64(1) << np.uint64(youngest & 63)
                for f in range(e + 1):
                    if bits[f, word] & mask:
                        bits[f] ^= around
        edge_at[s, t] = edge_at[t, s] = e
        if in_triangle:
            continue
        if component[s] != component[t]:
            old, new = component[t], component[s]
            for u in range(n):
                if component[u] == old:
                    component[u] = new
        else:
            if gaps == 64 * bits.shape[1]:
                bits = np.concatenate((bits, np.zeros_like(bits)), axis=1)
            bits[e, gaps >> 6] = np.uint64(1) << np.uint64(gaps & 63)
            openers[gaps] = e
            gaps += 1
    return openers[:gaps], closers[:gaps]


@inner_kernel
def _find_last_bit(words):
    """Return the index of the last bit that is set, -1 if there is none."""
    for word in range(words.shape[0] - 1, -1, -1):
        if words[word]:
            place = 63
            while not words[word] >> np.uint64(place) & np.uint64(1):
                place -= 1
            return 64 * word + place
    return -1
