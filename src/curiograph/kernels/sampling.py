"""Where random walkers go: to a candidate by its rank, or along an out-link by its weight."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel
from curiograph.kernels.random import draw_bits, draw_uniform

_MOVE = np.uint64(2**64 - 1)  # the item of the draw that moves a walker; items of the draws that break ties are nodes


@kernel
def sample_by_rank(offsets, nodes, scores, streams, steps, p_g):
    """Index of a candidate of each walk: rank r of n has the chance (1 - p_g) p_g^(r - 1) / (1 - p_g^n).

    The highest score ranks first, equal ones in random order from the walk's stream: with p_g = 0 the choice is that of
    `walks.best`. -1 where there is no candidate.
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
        chosen[i] = first + _placed(scores, first, luck, order, size, place)
    return chosen


@kernel
def sample_geometric(luck, p_g, count):
    """The place, 0 to count - 1, at which the cumulative chances of the rank transition pass `luck` from [0, 1)."""
    if p_g == 0.0:
        return 0
    if p_g == 1.0:
        return min(int(luck * count), count - 1)
    # 1 - p^r > luck (1 - p^n), solved for r without taking a difference of numbers close to 1
    decay = np.log(p_g)
    return min(int(np.log1p(luck * np.expm1(count * decay)) / decay), count - 1)


@kernel
def _placed(scores, first, luck, order, size, place):
    """The entry of `order` that belongs at `place`, best first; partitions like quicksort, but only around `place`."""
    low = 0
    high = size - 1
    while low < high:
        pivot = order[(low + high) >> 1]
        i = low
        j = high
        while i <= j:
            while _before(scores, first, luck, order[i], pivot):
                i += 1
            while _before(scores, first, luck, pivot, order[j]):
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


@kernel
def _before(scores, first, luck, a, b):
    """Whether candidate `a` of a walk ranks before `b`."""
    if scores[first + a] != scores[first + b]:
        return scores[first + a] > scores[first + b]
    return luck[a] > luck[b] or (luck[a] == luck[b] and a < b)


@kernel
def sample_markov_walks(indptr, indices, weights, starts, streams, steps):
    """Walks of up to `steps` nodes along out-links, each in proportion to its weight (all alike if there are none).

    Nodes may come again. A walk ends where no link, or none with a weight, leads on; -1 beyond.
    """
    nodes = np.full((starts.shape[0], steps), -1, np.int32)
    for i in range(starts.shape[0]):
        nodes[i, 0] = starts[i]
        for t in range(1, steps):
            slot = _link(indptr, weights, nodes[i, t - 1], draw_uniform(streams[i], t, _MOVE))
            if slot < 0:
                break
            nodes[i, t] = indices[slot]
    return nodes


@kernel
def _link(indptr, weights, u, luck):
    """The slot of one of the links of `u`, or -1."""
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
            chosen = slot  # rounding may leave a crumb after the last one
            if left < share:
                break
            left -= share
    return chosen
