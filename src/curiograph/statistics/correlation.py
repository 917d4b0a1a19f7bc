"""Rank correlation of a score with measures, over people."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from curiograph.arrays import Float64
from curiograph.statistics.bootstrap import INTERVAL_PERCENTILES, NUM_RESAMPLES, Estimate
from curiograph.statistics.groups import compute_permutation_p

_TOGETHER = 50  # samples drawn together; bounds the memory


def compute_spearman(first: Float64, second: Float64) -> Float64:
    """Return Spearman's rank correlation along the last axis; NaN if all values of one side are equal.

    >>> float(compute_spearman(np.array([1.0, 2.0, 5.0]), np.array([1.0, 4.0, 9.0])))
    1.0
    """
    one, other = (rankdata(values, axis=-1) for values in (first, second))
    one, other = (ranks - ranks.mean(axis=-1, keepdims=True) for ranks in (one, other))
    scale = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    with np.errstate(invalid="ignore"):
        return np.asarray((one * other).sum(axis=-1) / scale)


def estimate_spearman(first: Float64, second: Float64, permutations: int, seed: int = 0) -> tuple[Estimate, float]:
    """Return Spearman's correlation with a 95 % bootstrap interval over people, and its permutation p-value."""
    value = float(compute_spearman(first, second))
    if np.isnan(value):
        return Estimate(np.nan, np.nan, np.nan), np.nan
    rng = np.random.default_rng([seed, 0])
    samples = np.empty(NUM_RESAMPLES)
    for start in range(0, NUM_RESAMPLES, _TOGETHER):
        drawn = rng.integers(len(first), size=(len(samples[start : start + _TOGETHER]), len(first)))
        samples[start : start + _TOGETHER] = compute_spearman(first[drawn], second[drawn])
    ranks = rankdata(second)
    centered, own = ranks - ranks.mean(), rankdata(first)
    p_value = compute_permutation_p(
        np.arange(len(first)), lambda rows: np.abs(centered[rows] @ own)[:, None], permutations, seed
    )
    # a sample of one person drawn every time has no correlation
    return Estimate(value, *np.nanpercentile(samples, INTERVAL_PERCENTILES).tolist()), float(p_value[0])
