"""Weighted walkers branch to all candidates; where that makes too many, few are drawn to stand for all.

The draw is that of Fearnhead and Clifford (2003): with a threshold t such that min(weight / t, 1) adds up to the
number wanted, walkers heavier than t all stay as they are, and of the lighter ones some stay, by systematic sampling,
each with weight t. Expected weights are unchanged, the total weight is unchanged, and no other draw errs less.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel


@kernel
def branch_walkers(bounds, states, weights, offsets, chances, wanted, luck):
    """Branch the walkers of each group and keep about `wanted` of the branches.

    Walkers of group g stand at `bounds[g]:bounds[g + 1]`: their state and their weight. `luck[g]` is a number in
    [0, 1). Gives the bounds of the new groups, and of every new walker its candidate (a place in `chances`) and weight.
    """
    groups = bounds.shape[0] - 1
    new_bounds = np.zeros(groups + 1, np.int64)
    room = 0
    for g in range(groups):
        room += min(_branches(bounds[g], bounds[g + 1], states, offsets, chances), wanted + 1)
    chosen = np.empty(room, np.int64)
    kept = np.empty(room, np.float64)
    filled = 0
    for g in range(groups):
        threshold = _threshold(bounds[g], bounds[g + 1], states, weights, offsets, chances, wanted)
        passed = luck[g]
        for k in range(bounds[g], bounds[g + 1]):
            for c in range(offsets[states[k]], offsets[states[k] + 1]):
                weight = weights[k] * chances[c]
                if weight <= 0.0:
                    continue
                if weight < threshold:
                    passed += weight / threshold
                    if passed < 1.0:
                        continue
                    passed -= 1.0
                    weight = threshold
                if filled < room:  # rounding may make one too many
                    chosen[filled] = c
                    kept[filled] = weight
                    filled += 1
        new_bounds[g + 1] = filled
    return new_bounds, chosen[:filled].copy(), kept[:filled].copy()


@kernel
def _branches(first, last, states, offsets, chances):
    count = 0
    for k in range(first, last):
        for c in range(offsets[states[k]], offsets[states[k] + 1]):
            count += chances[c] > 0.0
    return count


@kernel
def _threshold(first, last, states, weights, offsets, chances, wanted):
    """The weight from which on walkers stay as they are; 0 where all may stay."""
    if _branches(first, last, states, offsets, chances) <= wanted:
        return 0.0
    threshold = np.inf
    known = -1
    while True:
        heavy = 0
        light = 0.0
        for k in range(first, last):
            for c in range(offsets[states[k]], offsets[states[k] + 1]):
                weight = weights[k] * chances[c]
                if weight >= threshold:
                    heavy += 1
                else:
                    light += weight
        if heavy <= known or heavy >= wanted:  # rounding may lose some that are exactly at the threshold
            return threshold
        threshold = light / (wanted - heavy)
        known = heavy
