"""The learned value of partial walks: features of candidates, and the small network that reads them.

A candidate v of a walk S is described by its exact reward, its links into S, and what it makes possible one step later:
the links into S + v of the free neighbors of v. Links are bit masks over the last `RECENT` visited nodes, so that the
gaps which a later node would open follow from a few bit operations.
"""

from __future__ import annotations

import math

import numpy as np

from curiograph.kernels.adjacency import count_bits, count_pieces, fill, find_lowest
from curiograph.kernels.jit import inner_kernel, kernel

RECENT = 63
"""Number of last nodes of a walk that have a bit in a mask."""
AGES = 10
"""Number of last nodes of a walk that have features of their own."""
HORIZON = 9
"""Number of steps over which rewards are predicted to grow; later ones are expected to stay as they are."""

# features of a walk, which its candidates share
STEPS_LEFT = 0  # log of the steps left after the candidate, at most `HORIZON`
LENGTH = 1  # log of the length of the walk
INVERSE_LEFT = 2  # 1 / (1 + these steps)
NUM_CANDIDATES = 3  # log of the number of candidates
ADVANTAGE = 4  # best minus mean value of the candidates
VALUE_PER_NODE = 5  # value of the walk per node
DENSITY = 6  # share of pairs of recent nodes that are linked
NUM_EDGES = 7  # log of twice the links among recent nodes
BEST_GAIN = 8  # best gain of a candidate

# features of a candidate and its links into the walk
GAIN = 9  # gain of the candidate: its value minus that of the walk
VALUE = 10  # its value x as x / (1 + |x|)
REGRET = 11  # best gain minus its gain
LINKS = 12  # its links to recent nodes
PIECES = 13  # components of the recent nodes that it is linked to
DEGREE = 14  # log of its degree
TRIANGLES = 15  # links among the recent nodes that it is linked to
INNER_DEGREE = 16  # mean number of links of these nodes
LINKED = 17  # first of ten features: whether it is linked to each of the last `AGES` nodes

# features of the free neighbors of a candidate
FREE = 27  # log of its free neighbors
HAS_FREE = 28  # whether it has any
LOOSE_SHARE = 29  # share of them without links to recent nodes
FREE_DEGREE = 30  # mean log of their degrees
MEAN_LINKS = 31  # mean number of their links to recent nodes
MOST_LINKS = 32  # largest number of these links
MEAN_SHARED = 33  # mean number of links shared with the candidate
MEAN_OPENED = 34  # mean number of gaps that they would open
MOST_OPENED = 35  # largest number of gaps
OPENER_SHARE = 36  # share of them that open more gaps than they can close
BEST_NET = 37  # most gaps opened minus most that can close
NUM_OPENERS = 38  # log of the number of such neighbors
MEAN_CYCLES = 39  # mean number of loops in their links
NESTED_SHARE = 40  # share of them whose links are all shared
NUM_LINKED = 41  # log of the number with links
LOG_MOST_LINKS = 42  # log of the largest number of links
SUM_OPENED = 43  # log of the sum of the gaps
REACHED = 44  # log of the number of recent nodes that they are linked to

COMMON = 45  # first of ten features: log of the free common neighbors with each of the last `AGES` nodes
NUM_FEATURES = COMMON + AGES

_VISITED = np.uint64(1) << np.uint64(63)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_LOGS = np.log1p(np.arange(1024)).astype(np.float32)


@kernel
def compute_features(
    out_indptr, out_indices, indptr, indices, nodes, lengths, now, offsets, candidates, values, steps, fan, masks
):
    """Return the features of every candidate, and the unit of its value.

    Parameters
    ----------
    out_indptr, out_indices : out-neighbors, along which walks move.
    indptr, indices : neighbors in either direction, which define subgraphs.
    nodes, lengths : the walks.
    now : F(S) of every walk.
    offsets, candidates, values : candidates v of every walk, and F(S + v).
    steps : number of nodes of a complete walk.
    fan : maximum number of neighbors read per candidate; of more, an evenly spaced sample is read.
    masks : workspace, a zero per node.
    """
    features = np.zeros((candidates.shape[0], NUM_FEATURES), np.float32)
    unit = np.empty(candidates.shape[0], np.float64)
    adjacent = np.zeros(RECENT, np.uint64)
    for i in range(lengths.shape[0]):
        first, last = offsets[i], offsets[i + 1]
        if first == last:
            continue
        walk, length = nodes[i], lengths[i]
        _mark_walk(indptr, indices, walk, length, masks, adjacent)
        scale = _describe_walk(features[first], length, steps, now[i], values, first, last, adjacent)
        for c in range(first, last):
            row, v = features[c], candidates[c]
            for k in range(GAIN):
                row[k] = features[first, k]
            unit[c] = scale
            _describe_links(row, indptr, now[i], v, values[c], masks[v], adjacent)
            _describe_ahead(row, out_indptr, out_indices, indptr, v, adjacent, fan, masks)
        _unmark_walk(indptr, indices, walk, length, masks)
    return features, unit


@kernel
def estimate_returns(
    out_indptr, out_indices, indptr, indices, nodes, lengths, now, offsets, candidates, values, steps, fan, masks,
    groups, gained, budget, v1, c1, v2, c2, w1, b1, w2, b2, w3, b3,
):  # fmt: skip
    """Estimate the return of every extension of partial walks: what the walk has gained, and what is still to come.

    To come are the reward of the candidate, repeated to the end of the walk, and a learned residual of the next
    `HORIZON` steps, from a network with the weights w1 to b3. The walks `groups[g]:groups[g + 1]` compete. If they have
    more than 1.5 times `budget` extensions, a first network, with the weights v1 to c2, chooses the best from the
    features that need no neighbors of the candidate, and the others are ranked below those. `gained` are the rewards of
    every walk so far; the other parameters are those of `compute_features`.
    """
    out = np.empty(candidates.shape[0], np.float64)
    chosen = np.ones(candidates.shape[0], np.bool_)
    adjacent = np.zeros(RECENT, np.uint64)
    row = np.empty(NUM_FEATURES, np.float32)
    screen_start, screen_layer = np.empty_like(c1), np.empty_like(c1)
    start, first_layer, second_layer = np.empty_like(b1), np.empty_like(b1), np.empty_like(b2)
    for g in range(groups.shape[0] - 1):
        begin, end = offsets[groups[g]], offsets[groups[g + 1]]
        screening = end - begin > budget + budget // 2  # to evaluate a few more costs less than to screen all
        for _ in range(1 + screening):
            for i in range(groups[g], groups[g + 1]):
                first, last = offsets[i], offsets[i + 1]
                wanted = False
                for c in range(first, last):
                    wanted |= chosen[c]
                if not wanted:
                    continue
                walk, length, left = nodes[i], lengths[i], steps - 1 - lengths[i]
                if left == 0:  # nothing to predict
                    for c in range(first, last):
                        out[c] = gained[i] + values[c]
                        chosen[c] = True
                    continue
                near = min(left, HORIZON)
                _mark_walk(indptr, indices, walk, length, masks, adjacent)
                scale = _describe_walk(row, length, steps, now[i], values, first, last, adjacent)
                if screening:
                    _start_layer(row, v1, c1, screen_start)
                else:
                    _start_layer(row, w1, b1, start)
                for c in range(first, last):
                    if not chosen[c]:
                        continue
                    v = candidates[c]
                    _describe_links(row, indptr, now[i], v, values[c], masks[v], adjacent)
                    if screening:
                        _complete_layer(row, v1, screen_start, screen_layer)
                        slope = _sum_layer(screen_layer, v2, c2)
                    else:
                        _describe_ahead(row, out_indptr, out_indices, indptr, v, adjacent, fan, masks)
                        _complete_layer(row, w1, start, first_layer)
                        for h in range(b2.shape[0]):
                            second_layer[h] = b2[h]
                        for k in range(b1.shape[0]):
                            if first_layer[k] > 0.0:
                                for h in range(b2.shape[0]):
                                    second_layer[h] += first_layer[k] * w2[k, h]
                        slope = _sum_layer(second_layer, w3, b3)
                    out[c] = gained[i] + values[c] * (1 + left) + slope * scale * near * (near + 1) / 2
                _unmark_walk(indptr, indices, walk, length, masks)
            if screening:
                least = _find_threshold(out, begin, end, budget)
                for c in range(begin, end):
                    chosen[c] = out[c] >= least
                screening = False
        lowest = np.inf
        for c in range(begin, end):
            if chosen[c]:
                lowest = min(lowest, out[c])
        for c in range(begin, end):
            if not chosen[c]:
                out[c] = lowest - abs(lowest) - 1.0
    return out


@inner_kernel
def _find_threshold(scores, first, last, rank):
    """Return the score of this rank, counted from 1 for the largest (Hoare's selection)."""
    copy = scores[first:last].copy()
    low, high = 0, last - first - 1
    while low < high:
        pivot = copy[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while copy[i] > pivot:
                i += 1
            while copy[j] < pivot:
                j -= 1
            if i <= j:
                copy[i], copy[j] = copy[j], copy[i]
                i += 1
                j -= 1
        if rank - 1 <= j:
            high = j
        elif rank - 1 >= i:
            low = i
        else:
            break
    return copy[rank - 1]


@inner_kernel
def _start_layer(row, w1, b1, start):
    """Write to `start` the part of the first layer that the candidates of a walk share."""
    for h in range(start.shape[0]):
        start[h] = b1[h]
    for k in range(GAIN):
        x = row[k]
        for h in range(start.shape[0]):
            start[h] += x * w1[k, h]


@inner_kernel
def _complete_layer(row, w1, start, layer):
    """Write to `layer` the first layer of a candidate: `start` and the part of its own features."""
    for h in range(layer.shape[0]):
        layer[h] = start[h]
    for k in range(GAIN, w1.shape[0]):
        x = row[k]
        if x != 0.0:
            for h in range(layer.shape[0]):
                layer[h] += x * w1[k, h]


@inner_kernel
def _sum_layer(layer, w, b):
    """Return the output of a network from its last hidden layer."""
    total = np.float64(b[0])
    for h in range(layer.shape[0]):
        total += max(layer[h], np.float32(0.0)) * w[h]
    return total


@inner_kernel
def _describe_walk(row, length, steps, now, values, first, last, adjacent):
    """Set the features that the candidates of a walk share; return the unit of their values."""
    recent = min(length, RECENT)
    edges = 0
    for age in range(recent):
        edges += count_bits(adjacent[age])
    best = values[first]
    mean = 0.0
    for c in range(first, last):
        best = max(best, values[c])
        mean += values[c]
    mean /= last - first
    left = min(steps - 1 - length, HORIZON)
    row[STEPS_LEFT] = _log1p(left)
    row[LENGTH] = _log1p(length)
    row[INVERSE_LEFT] = 1.0 / (1.0 + left)
    row[NUM_CANDIDATES] = _log1p(last - first)
    row[ADVANTAGE] = best - mean
    row[VALUE_PER_NODE] = now / length
    row[DENSITY] = edges / (recent * max(recent - 1, 1))
    row[NUM_EDGES] = _log1p(edges)
    row[BEST_GAIN] = best - now
    return max(1.0, best - now)


@inner_kernel
def _describe_links(row, indptr, now, v, value, mask, adjacent):
    """Set the features of a candidate that need no neighbors of it but the visited ones, in `mask`."""
    row[GAIN] = value - now
    row[VALUE] = value / (1.0 + abs(value))
    row[REGRET] = row[BEST_GAIN] - row[GAIN]
    row[LINKS] = count_bits(mask)
    row[PIECES] = count_pieces(mask, adjacent) if mask & (mask - _ONE) else row[LINKS]
    row[DEGREE] = _log1p(indptr[v + 1] - indptr[v])
    triangles = 0
    inner_degrees = 0
    rest = mask
    while rest != _ZERO:
        links = adjacent[find_lowest(rest)]
        triangles += count_bits(links & mask)
        inner_degrees += count_bits(links)
        rest &= rest - _ONE
    row[TRIANGLES] = triangles / 2
    row[INNER_DEGREE] = inner_degrees / max(row[LINKS], np.float32(1.0))
    for age in range(AGES):
        row[LINKED + age] = np.int64((mask >> np.uint64(age)) & _ONE)


@inner_kernel
def _describe_ahead(row, out_indptr, out_indices, indptr, v, adjacent, fan, masks):
    """Set the features of a candidate that look one step ahead, at its free neighbors."""
    for k in range(FREE, NUM_FEATURES):
        row[k] = 0.0
    slot, mask = out_indptr[v], masks[v]
    degree = out_indptr[v + 1] - slot
    read = min(degree, fan)
    free = 0
    loose = 0
    most_links = 0
    sum_links = 0
    sum_shared = 0
    most_opened = 0
    sum_opened = 0
    openers = 0
    best_net = -100
    sum_cycles = 0
    nested = 0
    log_degree = 0.0
    seen = _ZERO
    for s in range(read):
        x = out_indices[slot + (s if read == degree else (s * degree) // read)]
        if masks[x] & _VISITED:
            continue
        free += 1
        log_degree += _log1p(indptr[x + 1] - indptr[x])
        near = masks[x]
        if near == _ZERO:
            loose += 1
            continue
        links = count_bits(near)
        shared = count_bits(near & mask)
        inner, parts = _measure_link(near, mask, adjacent)
        cycles = inner - links - 1 + parts
        opened = parts - 1
        most_links = max(most_links, links)
        sum_links += links
        sum_shared += shared
        sum_opened += opened
        openers += opened > cycles
        most_opened = max(most_opened, opened)
        best_net = max(best_net, opened - cycles)
        sum_cycles += cycles
        nested += shared == links
        young = near & np.uint64((1 << AGES) - 1)
        while young != _ZERO:
            row[COMMON + find_lowest(young)] += 1.0
            young &= young - _ONE
        seen |= near
    scale = degree / max(read, 1)
    row[FREE] = _log1p(np.int64(free * scale))
    row[HAS_FREE] = free > 0
    if free > 0:
        row[LOOSE_SHARE] = loose / free
        row[FREE_DEGREE] = log_degree / free
        row[MEAN_LINKS] = sum_links / free
        row[MOST_LINKS] = most_links
        row[MEAN_SHARED] = sum_shared / free
        row[MEAN_OPENED] = sum_opened / free
        row[MOST_OPENED] = most_opened
        row[OPENER_SHARE] = openers / free
        row[BEST_NET] = max(best_net, -3) if best_net > -100 else 0.0
        row[NUM_OPENERS] = _log1p(np.int64(openers * scale))
        row[MEAN_CYCLES] = sum_cycles / free
        row[NESTED_SHARE] = nested / free
        row[NUM_LINKED] = _log1p(np.int64((free - loose) * scale))
        row[LOG_MOST_LINKS] = _log1p(most_links)
        row[SUM_OPENED] = _log1p(np.int64(sum_opened * scale))
        row[REACHED] = _log1p(count_bits(seen))
    for k in range(COMMON, NUM_FEATURES):
        if row[k] > 0.0:
            row[k] = _log1p(np.int64(row[k] * scale))


@inner_kernel
def _log1p(k):
    return _LOGS[k] if k < _LOGS.shape[0] else np.float32(math.log1p(k))


@inner_kernel
def _mark_walk(indptr, indices, walk, length, masks, adjacent):
    """Set the masks of the neighbors of the last nodes, and their links among each other; mark all visited nodes."""
    recent = min(length, RECENT)
    for age in range(recent):
        u = walk[length - 1 - age]
        for slot in range(indptr[u], indptr[u + 1]):
            masks[indices[slot]] |= _ONE << np.uint64(age)
    for age in range(recent):
        adjacent[age] = masks[walk[length - 1 - age]]
    for t in range(length):
        masks[walk[t]] |= _VISITED


@inner_kernel
def _unmark_walk(indptr, indices, walk, length, masks):
    for age in range(min(length, RECENT)):
        u = walk[length - 1 - age]
        for slot in range(indptr[u], indptr[u + 1]):
            masks[indices[slot]] = _ZERO
    for t in range(length):
        masks[walk[t]] = _ZERO


@inner_kernel
def _measure_link(near, mask, adjacent):
    """Return the edges and components of the link of a node with neighbors `near` and v; v has the links `mask`."""
    inner = 0
    rest = near
    while rest != _ZERO:
        inner += count_bits(adjacent[find_lowest(rest)] & near)
        rest &= rest - _ONE
    shared = near & mask
    beyond = near & ~fill(shared, near & ~shared, adjacent) if shared != _ZERO else near
    return inner // 2 + count_bits(shared), 1 + count_pieces(beyond, adjacent)
