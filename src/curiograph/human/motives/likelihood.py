"""Likelihood of choices under the rank transition, and the p_g that fits them best.

P(rank r of n) = (1 - p_g) p_g^(r - 1) / (1 - p_g^n); equal scores are in random order, and P is the mean over orders.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from curiograph.arrays import Float64
from curiograph.human.choices.choice_sets import ChoiceRanks

_MIN_P_G = 1e-6  # p_g = 0 would make all candidates but the best impossible
_GRID = np.concatenate([[1.0], 1 - np.geomspace(1e-6, 1 - _MIN_P_G, 40)])  # dense near 1, for many candidates


def log_likelihood(ranks: ChoiceRanks, p_g: float) -> Float64:
    """Return the base-2 logarithm of the probability of every choice.

    >>> ranks = ChoiceRanks(np.array([0, 1]), np.array([1, 2]), np.array([3, 3]))
    >>> (2 ** log_likelihood(ranks, 0.5)).round(4).tolist()  # 4/7, and the mean of 2/7 and 1/7
    [0.5714, 0.2143]
    """
    if p_g == 1:
        return -np.log2(ranks.count)
    slope = np.log(p_g)  # expm1 is accurate where p_g is close to 1
    shares = np.expm1(ranks.tied * slope) / np.expm1(ranks.count * slope)
    bits: Float64 = (ranks.above * slope + np.log(shares) - np.log(ranks.tied)) / np.log(2)
    return bits


def fit_p_g(ranks: ChoiceRanks) -> tuple[float, float]:
    """Return the p_g from 1e-6 to 1 with the largest likelihood, and the bits of the choices with it.

    p_g is 1 if no other is better than uniform.

    >>> fit_p_g(ChoiceRanks(np.array([0, 0, 0, 1]), np.ones(4, np.int64), np.full(4, 1000)))[0].__round__(3)
    0.2
    >>> fit_p_g(ChoiceRanks(np.array([1]), np.array([1]), np.array([2])))
    (1.0, -1.0)
    """
    size = int(ranks.count.max(initial=0)) + 1
    keys, times = np.unique((ranks.above * size + ranks.tied) * size + ranks.count, return_counts=True)
    distinct = ChoiceRanks(keys // size**2, keys // size % size, keys % size)

    def loss(p_g: float) -> float:
        return -float(times @ log_likelihood(distinct, p_g))

    losses = [loss(p_g) for p_g in _GRID]
    best = int(np.argmin(losses))
    bounds = _GRID[min(best + 1, len(_GRID) - 1)], _GRID[max(best - 1, 0)]
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    if found.fun < losses[best]:
        return float(found.x), -float(found.fun)
    return float(_GRID[best]), -losses[best]
