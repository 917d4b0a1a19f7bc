"""Shortest loops around the gaps of a whole graph: a minimal basis of H_1 of its clique complex over GF(2).

Every edge has an annotation, the gaps that run through it, so that the sum around a loop is its class: empty if
triangles fill the loop. Nodes are added one by one, as in `homology`, but annotations are lists, since most are short.
Loops of length 4, 5, ... are found by breadth-first search: the paths of a search tree from a root to two linked nodes,
and their link. They contain a minimal basis (Horton 1987; Dey, Sun and Wang 2010), for any one root on every loop. A
loop is kept if elimination shows that its class does not depend on those of loops before.

    columns  [gaps, 2]   the older gaps that replace a gap that is closed, or has been eliminated: a list, or -1
    lists    [edges, 2]  the annotation of every edge: a list
    pool     [any]       the gaps of all lists, which are given by start and length

A set of gaps is built as bits, with a bit of `summary` for every word that is not zero. The younger a gap, the lower
its number: the first bit of a set is its youngest gap. The reference implementation in the tests tries all loops.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import find_lowest, find_root, find_slot, reserve
from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.random import mix_bits

_ONE, _ZERO = np.uint64(1), np.uint64(0)
_SEEN = 2**18  # recent classes that are remembered, so that few loops are found for each


@kernel
def annotate_edges(indptr, indices, order):
    """Return the number of the edge of every slot; `columns`, `lists`, `pool` and its filled part; beta_0 and beta_1.

    Nodes are added in this order; if the best linked nodes are first, few gaps have to be closed.
    """
    size, room = indptr.shape[0] - 1, indices.shape[0] // 2
    edges, num_edges, beta0, beta1 = np.full(indices.shape[0], -1), 0, size, 0
    columns, lists = np.full((room, 2), -1), np.zeros((room, 2), np.int64)
    pool, filled, youngest = np.empty(room + 1, np.int32), 0, room
    bits, summary = np.zeros(room // 64 + 1, np.uint64), np.zeros(room // 4096 + 1, np.uint64)
    component, queue, edge_to = np.arange(size), np.empty(size, np.int64), np.empty(size, np.int64)
    state = np.full(size, -1)  # 0: added, 1: and linked to v, 2: reached from another neighbor of v, 3: scanned
    for v in order:
        for slot in range(indptr[v], indptr[v + 1]):
            u = indices[slot]
            if state[u] == 0:
                state[u] = 1
                edge_to[u] = edges[slot] = edges[find_slot(indptr, indices, u, v)] = num_edges
                num_edges += 1
        for slot in range(indptr[v], indptr[v + 1]):
            root = np.int64(indices[slot])
            if state[root] != 1:
                continue
            one, other = find_root(component, root), find_root(component, v)
            if one == other:  # a further component of the neighbors opens a gap
                youngest -= 1
                beta1 += 1
                _flip(bits, summary, youngest)
            else:
                component[other] = one
                beta0 -= 1
            pool, filled = _move_bits(bits, summary, pool, filled, youngest, lists[edge_to[root]])
            state[root], queue[0], first, last = 2, root, 0, 1
            while first < last:
                x = queue[first]
                state[x], first = 3, first + 1
                for near in range(indptr[x], indptr[x + 1]):
                    y = indices[near]
                    if state[y] != 1 and state[y] != 2:
                        continue
                    _add(bits, summary, pool, lists[edges[near]])
                    _add(bits, summary, pool, lists[edge_to[x]])
                    if state[y] == 1:
                        _reduce(bits, summary, pool, columns, youngest)
                        pool, filled = _move_bits(bits, summary, pool, filled, youngest, lists[edge_to[y]])
                        state[y], queue[last], last = 2, y, last + 1
                        continue
                    _add(bits, summary, pool, lists[edge_to[y]])  # all around the triangle v, x, y
                    _reduce(bits, summary, pool, columns, youngest)
                    gap = _find_gap(bits, summary, youngest)
                    if gap >= 0:
                        _flip(bits, summary, gap)
                        pool, filled = _move_bits(bits, summary, pool, filled, gap, columns[gap])
                        beta1 -= 1
        for slot in range(indptr[v], indptr[v + 1]):
            state[indices[slot]] = min(state[indices[slot]], 0)
        state[v] = 0
    return edges, columns, lists, pool, filled, beta0, beta1


@kernel
def find_loops(indptr, indices, edges, columns, lists, pool, rank, length, most):
    """Return loops of one length, as rows of nodes, whose classes span all that do not depend on shorter loops.

    Also return the work done, which stops when it exceeds `most`. Roots are the ends of higher `rank` of edges with a
    class, in descending order; loops through earlier roots are left out. To compare classes, every edge has a hash, the
    sum of random numbers of the gaps of its annotation; a class is taken for another one with probability 2**-64.
    """
    numbers, hashes = np.zeros(columns.shape[0], np.uint64), np.zeros(lists.shape[0], np.uint64)
    for gap in range(columns.shape[0] - 1, -1, -1):  # columns contain higher numbers
        numbers[gap] = mix_bits(gap) if columns[gap, 0] < 0 else _add_numbers(numbers, pool, columns[gap])
    for edge in range(lists.shape[0]):
        hashes[edge] = _add_numbers(numbers, pool, lists[edge])
    size, half, is_odd = indptr.shape[0] - 1, length // 2, length % 2
    is_root, by_rank = np.zeros(size, np.bool_), np.empty(size, np.int64)
    for u in range(size):
        by_rank[rank[u]] = u
        for slot in range(indptr[u], indptr[u + 1]):
            is_root[u] |= hashes[edges[slot]] != _ZERO and rank[u] > rank[indices[slot]]
    depth, parent, queue = np.full(size, -1), np.empty(size, np.int64), np.empty(size, np.int64)
    sums, seen = np.zeros(size, np.uint64), np.zeros(_SEEN, np.uint64)
    loops, filled, work = np.empty(16 * length, np.int32), 0, 0
    for place in range(size - 1, -1, -1):
        root = by_rank[place]
        if not is_root[root] or work > most:
            continue
        depth[root], sums[root], queue[0], first, last = 0, _ZERO, root, 0, 1
        while first < last and depth[queue[first]] < half + is_odd:
            u = queue[first]
            first += 1
            work += indptr[u + 1] - indptr[u]
            for slot in range(indptr[u], indptr[u + 1]):
                v = np.int64(indices[slot])
                if is_root[v] and rank[v] > place:
                    continue
                around = sums[u] ^ hashes[edges[slot]]
                if depth[v] < 0:
                    if depth[u] < half:
                        depth[v], parent[v], sums[v], queue[last], last = depth[u] + 1, u, around, v, last + 1
                    continue
                around ^= sums[v]
                if around == _ZERO or depth[u] + depth[v] + 1 != length or seen[around % np.uint64(_SEEN)] == around:
                    continue
                seen[around % np.uint64(_SEEN)] = around
                loops = reserve(loops, filled, length)
                work += length
                loops[filled], node = root, u
                for k in range(filled + depth[u], filled, -1):
                    loops[k], node = node, parent[node]
                node = v
                for k in range(filled + depth[u] + 1, filled + length):
                    loops[k], node = node, parent[node]
                filled += length
        for k in range(last):
            depth[queue[k]] = -1
    return loops[:filled].reshape(-1, length), work


@kernel
def select_loops(indptr, indices, edges, columns, lists, pool, filled, loops, starts, most):
    """Return which loops `loops[starts[i]:starts[i + 1]]` do not depend on those before, and give these columns.

    Also return `pool`, its filled part, and the work done, which stops when it exceeds `most`.
    """
    kept, room, work = np.zeros(starts.shape[0] - 1, np.bool_), columns.shape[0], 0
    bits, summary = np.zeros(room // 64 + 1, np.uint64), np.zeros(room // 4096 + 1, np.uint64)
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            after = loops[k + 1 if k + 1 < starts[i + 1] else starts[i]]
            _add(bits, summary, pool, lists[edges[find_slot(indptr, indices, loops[k], after)]])
        work += _reduce(bits, summary, pool, columns, 0)
        gap = _find_gap(bits, summary, 0)
        if gap >= 0:
            kept[i] = True
            _flip(bits, summary, gap)
            pool, filled = _move_bits(bits, summary, pool, filled, gap, columns[gap])
        if work > most:
            break
    return kept, pool, filled, work


@inner_kernel
def _add_numbers(numbers, pool, part):
    """Return the sum over GF(2) of the numbers of the gaps of a list."""
    total = _ZERO
    for k in range(part[0], part[0] + part[1]):
        total ^= numbers[pool[k]]
    return total


@inner_kernel
def _flip(bits, summary, gap):
    """Add a gap to the set over GF(2)."""
    word = gap >> 6
    bits[word] ^= _ONE << np.uint64(gap & 63)
    mask = _ONE << np.uint64(word & 63)
    summary[word >> 6] = summary[word >> 6] | mask if bits[word] else summary[word >> 6] & ~mask


@inner_kernel
def _add(bits, summary, pool, part):
    """Add the gaps of a list to the set over GF(2)."""
    for k in range(part[0], part[0] + part[1]):
        _flip(bits, summary, np.int64(pool[k]))


@inner_kernel
def _find_gap(bits, summary, least):
    """Return the first gap of the set from number `least` on, or -1."""
    word = least >> 6
    if word >= bits.shape[0]:
        return -1
    rest = bits[word] >> np.uint64(least & 63)
    if rest:
        return least + find_lowest(rest)
    part = word >> 6
    rest = summary[part] >> np.uint64(word & 63) >> _ONE << np.uint64(word & 63) << _ONE  # words after this one
    while not rest:
        part += 1
        if part == summary.shape[0]:
            return -1
        rest = summary[part]
    word = 64 * part + find_lowest(rest)
    return 64 * word + find_lowest(bits[word])


@inner_kernel
def _reduce(bits, summary, pool, columns, least):
    """Replace all gaps of the set that have a column, from number `least` on; return the work done."""
    work, gap = 0, _find_gap(bits, summary, least)
    while gap >= 0:
        if columns[gap, 0] >= 0:
            _flip(bits, summary, gap)
            _add(bits, summary, pool, columns[gap])
            work += columns[gap, 1] + 1
        gap = _find_gap(bits, summary, gap + 1)
    return work


@inner_kernel
def _move_bits(bits, summary, pool, filled, least, part):
    """Move the set, all from number `least` on, to a new list `part`; return `pool` and its filled part."""
    part[0], gap = filled, _find_gap(bits, summary, least)
    while gap >= 0:
        pool = reserve(pool, filled, 1)
        pool[filled], filled = gap, filled + 1
        _flip(bits, summary, gap)
        gap = _find_gap(bits, summary, gap + 1)
    part[1] = filled - part[0]
    return pool, filled
