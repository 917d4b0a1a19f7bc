"""The rank transition: the probability that a walker moves to each candidate, given only the order of their scores.

A candidate of rank r among n has probability (1 - p) p^(r - 1) / (1 - p^n). Candidates with equal scores are in random
order, so each of them gets the mean probability of their ranks. On a weighted graph, this probability is multiplied by
the weight of the link, and those of all candidates are scaled to the sum 1.
"""

from __future__ import annotations

import math

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel


@kernel
def compute_probabilities(offsets, scores, p_g):
    """Return the probability of every candidate; those of walk i, at `offsets[i]:offsets[i + 1]`, sum to 1."""
    chances = np.empty(scores.shape[0], np.float64)
    longest = 0
    for i in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    order = np.empty(longest, np.int64)
    for i in range(offsets.shape[0] - 1):
        first = offsets[i]
        count = offsets[i + 1] - first
        for c in range(count):
            order[c] = first + c
        _sort_by_score(scores, order, count)
        c = np.int64(0)
        while c < count:
            end = c + 1
            while end < count and scores[order[end]] == scores[order[c]]:
                end += 1
            share = (sum_tail(c, count, p_g) - sum_tail(end, count, p_g)) / (end - c)
            for tied in range(c, end):
                chances[order[tied]] = share
            c = end
    return chances


@kernel
def weigh_probabilities(indptr, indices, weights, lasts, offsets, nodes, chances):
    """Multiply the probabilities of all candidates by the weights of their links, as `apply_weights` does."""
    for i in range(offsets.shape[0] - 1):
        apply_weights(indptr, indices, weights, lasts[i], nodes, chances, offsets[i], offsets[i + 1])


@inner_kernel
def apply_weights(indptr, indices, weights, last, nodes, chances, first, end):
    """Multiply the probabilities of candidates `first:end`, ascending, by the weights of the links from node `last`.

    Then scale them to the sum 1; if all are zero, walkers teleport. Candidates of a fallback have no links: they stay.
    """
    slot, total = indptr[last], 0.0
    for c in range(first, end):
        while slot < indptr[last + 1] and indices[slot] < nodes[c]:
            slot += 1
        if slot == indptr[last + 1] or indices[slot] != nodes[c]:
            return
        chances[c] *= weights[slot]
        total += chances[c]
    for c in range(first, end):
        chances[c] = chances[c] / total if total > 0.0 else 0.0


@inner_kernel
def sum_tail(rank, count, p_g):
    """Return the probability of a rank worse than `rank` of `count`."""
    if rank == 0:
        return 1.0
    if rank == count or p_g == 0.0:
        return 0.0
    if p_g == 1.0:
        return (count - rank) / count
    slope = math.log(p_g)  # expm1 is accurate for p_g close to 1
    return math.exp(rank * slope) * math.expm1((count - rank) * slope) / math.expm1(count * slope)


@inner_kernel
def _sort_by_score(scores, order, count):
    """Sort `order[:count]` by score, highest first (Shellsort)."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            value = order[i]
            j = i
            while j >= gap and scores[order[j - gap]] < scores[value]:
                order[j] = order[j - gap]
                j -= gap
            order[j] = value
        gap //= 3
