"""Voids: beta_2 of the clique complex of the subgraphs that walks induce, over GF(2).

A node or an edge whose link is a cone (one of its neighbors, or common neighbors, is linked to all the others) can be
removed without a change of homotopy type. What remains of a subgraph is usually small. There

    beta_2 = triangles - rank d_2 - rank d_3,        rank d_2 = edges - (nodes - beta_0) - beta_1,

so that only the rank of d_3, the boundary matrix of the tetrahedra, has to be computed, by column reduction.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.subgraph_measures import link_nodes

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel
def count_voids(indptr, indices, nodes, offsets, beta0, beta1):
    """Return beta_2 of the subgraph of every walk, given its other Betti numbers."""
    out = np.zeros(offsets.shape[0] - 1, np.int64)
    for i in range(offsets.shape[0] - 1):
        starts, links = link_nodes(indptr, indices, nodes, offsets[i], offsets[i + 1])
        size = starts.shape[0] - 1
        rows = np.zeros((size, (size + 63) >> 6), np.uint64)
        for u in range(size):
            for slot in range(starts[u], starts[u + 1]):
                rows[u, links[slot] >> 6] |= _ONE << np.uint64(links[slot] & 63)
        removed = collapse(rows)
        out[i] = _count_cycles(_drop_isolated(rows), size - removed - beta0[i], beta1[i])
    return out


@kernel
def collapse(rows):
    """Remove dominated nodes and edges from rows of neighbors as bits, in place; return the number of removed nodes."""
    size, words = rows.shape
    common = np.empty(words, np.uint64)
    removed = 0
    changed = True
    while changed:
        changed = False
        for u in range(size):
            for b in range(words):
                common[b] = rows[u, b]
            if _is_cone(rows, common):
                for v in range(size):
                    rows[v, u >> 6] &= ~(_ONE << np.uint64(u & 63))
                for b in range(words):
                    rows[u, b] = _ZERO
                removed += 1
                changed = True
        for u in range(size):
            for v in range(u + 1, size):
                if not _has_bit(rows, u, v):
                    continue
                for b in range(words):
                    common[b] = rows[u, b] & rows[v, b]
                if _is_cone(rows, common):
                    rows[u, v >> 6] &= ~(_ONE << np.uint64(v & 63))
                    rows[v, u >> 6] &= ~(_ONE << np.uint64(u & 63))
                    changed = True
    return removed


@inner_kernel
def _drop_isolated(rows):
    """Return the rows of the nodes that still have neighbors, renumbered."""
    size = rows.shape[0]
    number = np.full(size, -1, np.int64)
    kept = 0
    for u in range(size):
        for b in range(rows.shape[1]):
            if rows[u, b] != _ZERO:
                number[u] = kept
                kept += 1
                break
    out = np.zeros((kept, (kept + 63) >> 6), np.uint64)
    for u in range(size):
        for v in range(size):
            if number[u] >= 0 and _has_bit(rows, u, v):
                out[number[u], number[v] >> 6] |= _ONE << np.uint64(number[v] & 63)
    return out


@inner_kernel
def _has_bit(rows, u, v):
    return (rows[u, v >> 6] >> np.uint64(v & 63)) & _ONE != _ZERO


@inner_kernel
def _is_cone(rows, common):
    """Return whether one of the nodes in `common` is linked to all the others."""
    words = common.shape[0]
    for word in range(words):
        x = common[word]
        while x != _ZERO:
            low = x & (~x + _ONE)
            x ^= low
            w = 64 * word + _find_bit(low)
            apex = True
            for b in range(words):
                rest = common[b] & ~rows[w, b]
                if b == word:
                    rest &= ~low
                if rest != _ZERO:
                    apex = False
                    break
            if apex:
                return True
    return False


@inner_kernel
def _find_bit(x):
    """Return the position of the only bit of x."""
    place = 0
    for shift in (32, 16, 8, 4, 2, 1):
        if x >> np.uint64(shift) != _ZERO:
            x >>= np.uint64(shift)
            place += shift
    return place


@inner_kernel
def _count_cycles(rows, rank1, beta1):
    """Return beta_2 of the clique complex, given the rank of d_1 and beta_1."""
    size = rows.shape[0]
    first = np.full((size, size), -1, np.int64)  # number of the first triangle (u, v, w) with u < v < w
    edges = 0
    triangles = 0
    for u in range(size):
        for v in range(u + 1, size):
            if _has_bit(rows, u, v):
                edges += 1
                first[u, v] = triangles
                for w in range(v + 1, size):
                    triangles += _has_bit(rows, u, w) and _has_bit(rows, v, w)
    cycles = triangles - (edges - rank1 - beta1)
    if cycles <= 0:
        return 0
    place = np.full((size, size), -1, np.int64)  # of the current u: number of the triangle (u, v, w)
    column_of = np.full(triangles, -1, np.int64)  # reduced column whose last triangle this is
    bounds = [np.int64(0)]
    entries = [np.int64(0) for _ in range(0)]
    work = np.zeros((triangles >> 6) + 1, np.uint64)
    rank = 0
    for u in range(size):
        for v in range(u + 1, size):
            number = first[u, v]
            if number >= 0:
                for w in range(v + 1, size):
                    if _has_bit(rows, u, w) and _has_bit(rows, v, w):
                        place[v, w] = number
                        number += 1
        for v in range(u + 1, size):
            if first[u, v] < 0:
                continue
            for w in range(v + 1, size):
                if not (_has_bit(rows, u, w) and _has_bit(rows, v, w)):
                    continue
                number = first[v, w]
                for x in range(w + 1, size):
                    if not (_has_bit(rows, v, x) and _has_bit(rows, w, x)):
                        continue
                    if _has_bit(rows, u, x):
                        _flip(work, place[v, w])
                        _flip(work, place[v, x])
                        _flip(work, place[w, x])
                        _flip(work, number)
                        if _reduce(work, number, column_of, bounds, entries):
                            rank += 1
                            if rank == cycles:
                                return 0
                    number += 1
    return cycles - rank


@inner_kernel
def _flip(work, place):
    work[place >> 6] ^= _ONE << np.uint64(place & 63)


@inner_kernel
def _reduce(work, last, column_of, bounds, entries):
    """Reduce the column in `work`, whose last entry is `last`, and clear it; store it if anything is left of it."""
    while True:
        word = last >> 6
        while word >= 0 and work[word] == _ZERO:
            word -= 1
        if word < 0:
            return False
        x = work[word]
        last = 64 * word + 63
        while (x >> np.uint64(last & 63)) & _ONE == _ZERO:
            last -= 1
        column = column_of[last]
        if column < 0:
            break
        for slot in range(bounds[column], bounds[column + 1]):
            _flip(work, entries[slot])
    for word in range((last >> 6) + 1):
        x = work[word]
        work[word] = _ZERO
        while x != _ZERO:
            low = x & (~x + _ONE)
            x ^= low
            entries.append(64 * word + _find_bit(low))
    column_of[last] = len(bounds) - 1
    bounds.append(np.int64(len(entries)))
    return True
