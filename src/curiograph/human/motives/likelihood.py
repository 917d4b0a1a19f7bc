"""How likely a choice is when people follow the order of a motive: the rank transition, and p_g that fits best.

P(rank r of n) = (1 - p_g) p_g^(r - 1) / (1 - p_g^n); equal scores stand in random order, and P is the mean over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from curiograph.arrays import Float64, Int64
from curiograph.human.choices.choice_sets import ChoiceSet

_LEAST = 1e-6  # p_g = 0 would rule out whatever is not best
_TRIED = np.concatenate([[1.0], 1 - np.geomspace(1e-6, 1 - _LEAST, 80)])  # dense where many candidates need it


@dataclass(frozen=True, eq=False)
class Places:
    """Where the chosen candidate stands in the order of a motive: all that the rank transition asks for."""

    above: Int64
    """Candidates with a higher score."""
    tied: Int64
    """Candidates with the same score, itself included."""
    count: Int64
    """All candidates."""

    @classmethod
    def of(cls, choices: ChoiceSet, scores: Float64) -> Places:
        """Compare the scores of all candidates with that of the chosen one."""
        starts = choices.candidates.offsets[:-1]
        theirs = scores[choices.chosen][choices.candidates.walks]
        above = np.add.reduceat((scores > theirs).astype(np.int64), starts)
        tied = np.add.reduceat((scores == theirs).astype(np.int64), starts)
        return cls(above, tied, choices.candidates.counts)

    def rows(self, which: Any) -> Places:
        """Some of them, by number or by a mask."""
        return Places(self.above[which], self.tied[which], self.count[which])

    @property
    def percentiles(self) -> Float64:
        """The rank of each choice from 0 to 1, the best; ties share their mean rank."""
        percentiles: Float64 = 1 - (self.above + (self.tied - 1) / 2) / (self.count - 1)
        return percentiles


def log_likelihood(places: Places, p_g: float) -> Float64:
    """Logarithm of the chance of every choice, in bits.

    >>> places = Places(np.array([0, 1]), np.array([1, 2]), np.array([3, 3]))
    >>> (2 ** log_likelihood(places, 0.5)).round(4).tolist()  # 4/7, and the mean of 2/7 and 1/7
    [0.5714, 0.2143]
    """
    if p_g == 1:
        return -np.log2(places.count)
    slope = np.log(p_g)  # expm1 keeps the digits where p_g is close to 1
    shares = np.expm1(places.tied * slope) / np.expm1(places.count * slope)
    bits: Float64 = (places.above * slope + np.log(shares) - np.log(places.tied)) / np.log(2)
    return bits


def fit_p_g(places: Places) -> float:
    """The p_g from 1e-6 to 1 that makes the choices likeliest; 1 if nothing does better than uniform.

    >>> fit_p_g(Places(np.array([0, 0, 0, 1]), np.ones(4, np.int64), np.full(4, 1000))).__round__(3)
    0.2
    >>> fit_p_g(Places(np.array([1]), np.array([1]), np.array([2])))
    1.0
    """
    table = np.column_stack([places.above, places.tied, places.count])
    distinct, times = np.unique(table, axis=0, return_counts=True)
    kinds = Places(*distinct.T)

    def badness(p_g: float) -> float:
        return -float(times @ log_likelihood(kinds, p_g))

    tried = [badness(p_g) for p_g in _TRIED]
    best = int(np.argmin(tried))
    around = _TRIED[min(best + 1, len(_TRIED) - 1)], _TRIED[max(best - 1, 0)]
    found = minimize_scalar(badness, bounds=around, method="bounded", options={"xatol": 1e-9})
    return float(found.x) if found.fun < tried[best] else float(_TRIED[best])
