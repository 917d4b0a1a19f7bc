"""Branch weighted walkers to all their candidates and resample if there are too many.

Resampling follows Fearnhead and Clifford (2003): with a threshold t such that the sum of min(weight / t, 1) is the
wanted number, walkers heavier than t are kept unchanged, and the lighter ones are thinned by systematic sampling, each
kept with weight t. This preserves expected weights and the total weight, with the least variance.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel


@kernel
def branch_walkers(bounds, states, weights, offsets, chances, wanted, luck):
    """Branch the walkers of each group and keep about `wanted` of the branches.

    `states` and `weights` of the walkers of group g are at `bounds[g]:bounds[g + 1]`. `luck[g]` is uniform in [0, 1).
    Return the bounds of the new groups, and for every new walker its candidate (an index of `chances`) and weight.
    """
    groups = bounds.shape[0] - 1
    new_bounds = np.empty(groups + 1, np.int64)
    new_bounds[0] = 0
    room = 0
    for g in range(groups):
        room += min(_count_branches(bounds[g], bounds[g + 1], states, offsets, chances), wanted + 1)
    chosen = np.empty(room, np.int64)
    kept = np.empty(room, np.float64)
    filled = 0
    for g in range(groups):
        threshold = _find_threshold(bounds[g], bounds[g + 1], states, weights, offsets, chances, wanted)
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
                if filled < room:  # rounding may produce one more than expected
                    chosen[filled] = c
                    kept[filled] = weight
                    filled += 1
        new_bounds[g + 1] = filled
    return new_bounds, chosen[:filled].copy(), kept[:filled].copy()


@inner_kernel
def _count_branches(first, last, states, offsets, chances):
    """Count the candidates of positive probability of walkers `first:last`."""
    count = 0
    for k in range(first, last):
        for c in range(offsets[states[k]], offsets[states[k] + 1]):
            count += chances[c] > 0.0
    return count


@inner_kernel
def _find_threshold(first, last, states, weights, offsets, chances, wanted):
    """Return the weight from which walkers are kept unchanged; 0 if all are kept."""
    if _count_branches(first, last, states, offsets, chances) <= wanted:
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
        if heavy <= known or heavy >= wanted:  # rounding may miss walkers exactly at the threshold
            return threshold
        threshold = light / (wanted - heavy)
        known = heavy
