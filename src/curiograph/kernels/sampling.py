"""Sample the next node of random walkers: a candidate by its rank, or an out-neighbor by the weight of its edge."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.random import draw_bits, draw_uniform

_MOVE = np.uint64(2**64 - 1)  # item of the draw that moves a walker; the draws that break ties use nodes as items


@kernel
def sample_by_rank(offsets, nodes, scores, streams, steps, p_g):
    """Sample one candidate of each walk: rank r of n has probability (1 - p_g) p_g^(r - 1) / (1 - p_g^n).

    The highest score has rank 1, equal scores are in random order from the walk's stream; with p_g = 0 the choice is
    that of `candidates.select_best`. Return indices of candidates, -1 for a walk without candidates.
    """
    count = offsets.shape[0] - 1
    chosen = np.full(count, -1, np.int64)
    widest = 0
    for i in range(count):
        widest = max(widest, offsets[i + 1] - offsets[i])
    order = np.empty(widest, np.int64)
    luck = np.empty(widest, np.uint64)
    for i in range(count):
        first = offsets[i]
        size = offsets[i + 1] - first
        if size == 0:
            continue
        for c in range(size):
            order[c] = c
            luck[c] = draw_bits(streams[i], steps[i], nodes[first + c])
        place = sample_geometric(draw_uniform(streams[i], steps[i], _MOVE), p_g, size)
        chosen[i] = first + _select_rank(scores, first, luck, order, size, place)
    return chosen


@kernel
def sample_geometric(luck, p_g, count):
    """Return the rank, 0 to count - 1, at which the cumulative probability of the rank transition exceeds `luck`."""
    if p_g == 0.0:
        return 0
    if p_g == 1.0:
        return min(int(luck * count), count - 1)
    # 1 - p^r > luck (1 - p^n), solved for r without taking a difference of numbers close to 1
    decay = np.log(p_g)
    return min(int(np.log1p(luck * np.expm1(count * decay)) / decay), count - 1)


@inner_kernel
def _select_rank(scores, first, luck, order, size, place):
    """Return the entry of `order` with rank `place`, best first (quickselect)."""
    low, high = 0, size - 1
    while low < high:
        pivot = order[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while _ranks_before(scores, first, luck, order[i], pivot):
                i += 1
            while _ranks_before(scores, first, luck, pivot, order[j]):
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return order[place]


@inner_kernel
def _ranks_before(scores, first, luck, a, b):
    """Return whether candidate `a` of a walk ranks before `b`."""
    if scores[first + a] != scores[first + b]:
        return scores[first + a] > scores[first + b]
    return luck[a] > luck[b] or (luck[a] == luck[b] and a < b)


@kernel
def sample_markov_walks(indptr, indices, weights, starts, streams, steps):
    """Sample walks of up to `steps` nodes along out-edges, in proportion to their weights (uniform without weights).

    Nodes may repeat. A walk ends at a node without out-edges of positive weight; -1 fills the rest of its row.
    """
    nodes = np.full((starts.shape[0], steps), -1, np.int32)
    for i in range(starts.shape[0]):
        nodes[i, 0] = starts[i]
        for t in range(1, steps):
            slot = _sample_edge(indptr, weights, nodes[i, t - 1], draw_uniform(streams[i], t, _MOVE))
            if slot < 0:
                break
            nodes[i, t] = indices[slot]
    return nodes


@inner_kernel
def _sample_edge(indptr, weights, u, luck):
    """Sample the slot of an out-edge of `u`; return -1 if there is none."""
    first = indptr[u]
    end = indptr[u + 1]
    if weights.shape[0] == 0:
        return first + int(luck * (end - first)) if end > first else -1
    largest = 0.0
    for slot in range(first, end):
        largest = max(largest, weights[slot])
    chosen = -1
    if largest == 0.0:
        return chosen
    left = 0.0
    for slot in range(first, end):
        left += weights[slot] / largest  # relative, so that a sum of huge weights stays finite
    left *= luck
    for slot in range(first, end):
        share = weights[slot] / largest
        if share > 0.0:
            chosen = slot  # rounding may leave a remainder after the last slot
            if left < share:
                break
            left -= share
    return chosen
