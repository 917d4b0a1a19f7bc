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


def estimate_spearman(
    values: Float64, scores: Float64, permutations: int, seed: int = 0
) -> tuple[list[Estimate], Float64]:
    """Return the correlation of each column with the scores, with bootstrap intervals, and permutation p-values.

    People are resampled and their scores permuted, in the same way for all columns. Columns without variation have NaN.
    """
    rng = np.random.default_rng([seed, 0])
    samples = np.empty((NUM_RESAMPLES, values.shape[1]))
    for start in range(0, NUM_RESAMPLES, _TOGETHER):
        part = samples[start : start + _TOGETHER]
        drawn = rng.integers(len(scores), size=(len(part), len(scores)))
        for column, entries in enumerate(values.T):
            part[:, column] = compute_spearman(entries[drawn], scores[drawn])
    ranks = rankdata(values, axis=0)
    score_ranks = rankdata(scores)
    centered = score_ranks - score_ranks.mean()
    p_values = compute_permutation_p(
        np.arange(len(scores)), lambda rows: np.abs(centered[rows] @ ranks), permutations, seed
    )
    estimates = []
    for column, entries in enumerate(values.T):
        rho = float(compute_spearman(entries, scores))
        # a sample of one person drawn every time has no correlation
        bounds = [np.nan, np.nan] if np.isnan(rho) else np.nanpercentile(samples[:, column], INTERVAL_PERCENTILES)
        estimates.append(Estimate(rho, float(bounds[0]), float(bounds[1])))
    return estimates, np.where(np.isnan([estimate.value for estimate in estimates]), np.nan, p_values)
