"""Upper bounds on the gaps that walks can still open, for exact search.

A node opens at most as many gaps as the graph on its visited neighbors has components beyond the first. Let c be the
number of components of its links into the walk so far, and x_1, x_2, ... the nodes to come. Consecutive nodes are
linked, so the links of x_i to x_1, ..., x_{i-1} have at most floor(i / 2) components, or floor((i + b) / 2) if the walk
had to continue elsewhere after b dead ends. So x_i opens at most c + min(floor((i + b) / 2), i - 1) - 1 gaps.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import count_bits, count_pieces, has_edge
from curiograph.kernels.jit import inner_kernel, kernel

LONGEST = 63
"""Maximum number of nodes of a walk: each has a bit of a word."""
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel
def bound_returns(out_indptr, out_indices, indptr, indices, nodes, lengths, offsets, candidates, values, steps, masks):
    """Return an upper bound on the rewards that follow that of every candidate, to the end of its walk.

    The parameters are those of `lookahead.compute_features`.
    """
    out = np.zeros(candidates.shape[0], np.float64)
    adjacent = np.zeros(LONGEST + 1, np.uint64)
    pieces = np.zeros(masks.shape[0], np.int64)  # components of the links of a node into the walk; -1 if visited
    touched, changed = np.empty(masks.shape[0], np.int64), np.empty(masks.shape[0], np.int64)
    free, dead = np.zeros(LONGEST + 2, np.int64), np.zeros(LONGEST + 2, np.int64)  # nodes and possible dead ends by c
    highest = np.empty(LONGEST + 2, np.int64)
    for i in range(lengths.shape[0]):
        length, left = lengths[i], steps - 1 - lengths[i]
        if offsets[i] == offsets[i + 1] or left == 0:
            continue
        free[:] = 0
        dead[:] = 0
        count = 0
        for t in range(length):
            u = nodes[i, t]
            for slot in range(indptr[u], indptr[u + 1]):
                x = indices[slot]
                if masks[x] == _ZERO:
                    touched[count] = x
                    count += 1
                masks[x] |= _ONE << np.uint64(t)
        for t in range(length):
            adjacent[t] = masks[nodes[i, t]]
            pieces[nodes[i, t]] = -1
        for k in range(count):
            x = touched[k]
            if pieces[x] != -1:
                pieces[x] = count_pieces(masks[x], adjacent)
                _tally(x, pieces[x], 1, out_indptr, masks, left, free, dead)
        new_bit = _ONE << np.uint64(length)
        for c in range(offsets[i], offsets[i + 1]):
            v = candidates[c]
            if masks[v] != _ZERO:
                _tally(v, pieces[v], -1, out_indptr, masks, left, free, dead)
            adjacent[length] = masks[v]
            for t in range(length):
                if masks[v] >> np.uint64(t) & _ONE:
                    adjacent[t] |= new_bit
            first = -1  # most components of a next node
            for slot in range(indptr[v], indptr[v + 1]):
                x = indices[slot]
                if pieces[x] == -1:
                    continue
                if masks[x] != _ZERO:
                    _tally(x, pieces[x], -1, out_indptr, masks, left, free, dead)
                more = count_pieces(masks[x] | new_bit, adjacent)
                changed[slot - indptr[v]] = more
                _tally(x, more, 1, out_indptr, masks, left, free, dead)
                if more > first and has_edge(out_indptr, out_indices, v, x):
                    first = more
            out[c] = _bound_rewards(values[c], left, first, free, dead, highest)
            for slot in range(indptr[v], indptr[v + 1]):
                x = indices[slot]
                if pieces[x] != -1:
                    _tally(x, changed[slot - indptr[v]], -1, out_indptr, masks, left, free, dead)
                    if masks[x] != _ZERO:
                        _tally(x, pieces[x], 1, out_indptr, masks, left, free, dead)
            for t in range(length):
                adjacent[t] &= ~new_bit
            if masks[v] != _ZERO:
                _tally(v, pieces[v], 1, out_indptr, masks, left, free, dead)
        for k in range(count):
            masks[touched[k]] = _ZERO
            pieces[touched[k]] = 0
        for t in range(length):
            pieces[nodes[i, t]] = 0
    return out


@inner_kernel
def _tally(x, c, change, out_indptr, masks, left, free, dead):
    """Count a node with c components; it may become a dead end if it has few neighbors outside the walk."""
    free[c] += change
    if out_indptr[x + 1] - out_indptr[x] - count_bits(masks[x]) <= left + 1:
        dead[c] += change


@inner_kernel
def _bound_rewards(value, left, first, free, dead, highest):
    """Return the largest sum of `left` rewards after `value`, over all numbers of dead ends."""
    bound = -np.inf
    for ends in range(max(left - 1, 1)):
        # the components of the nodes to come, highest first: `ends` of them possible dead ends
        filled, c, unused = 0, free.shape[0] - 1, ends
        rest = left - ends
        while filled < left and c > 0:
            dead_here, free_here = min(dead[c], unused), min(free[c], rest)
            for _ in range(min(dead_here + free_here, left - filled)):
                highest[filled] = c
                filled += 1
            unused -= dead_here
            rest -= free_here
            c -= 1
        while filled < left:
            highest[filled] = 0
            filled += 1
        total, opened, after = 0.0, 0, 0  # `after`: gaps opened if the first node is the best that v leads to
        for i in range(1, left + 1):
            extra = min((i + ends) // 2, i - 1) - 1
            opened += max(highest[i - 1] + extra, 0)
            after += max((first if i == 1 else highest[i - 2]) + extra, 0)
            total += value + (min(opened, after) if first >= 0 else opened)
        bound = max(bound, total)
    return bound
