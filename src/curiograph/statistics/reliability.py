"""Split-half reliability of scores of people, with the Spearman-Brown formula."""

from __future__ import annotations

import numpy as np

from curiograph.arrays import Float64
from curiograph.statistics.bootstrap import INTERVAL_PERCENTILES, Estimate, Seed, draw_weights


def estimate_split_half(first: Float64, second: Float64, *, doubled: bool = True, seed: Seed = 0) -> Estimate:
    """Return the reliability of scores from two halves of the data of each person, with a 95 % interval over people.

    It is the Pearson correlation r of the halves over people, or, if `doubled`, 2 r / (1 + r): the reliability of both
    halves together (Spearman 1910, Brown 1910). The formula has no meaning for a negative r, which is returned as it
    is. NaN if there are fewer than 3 people or if a half does not vary.

    >>> first, second = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])
    >>> estimate_split_half(first, second, doubled=False).value, estimate_split_half(first, second).value.__round__(3)
    (0.8, 0.889)
    """
    if len(first) < 3:
        return Estimate(np.nan, np.nan, np.nan)
    first, second = first - first.mean(), second - second.mean()
    table = np.column_stack([np.ones(len(first)), first, second, first**2, second**2, first * second])
    value = float(_correlate(table.sum(axis=0)[None, :], doubled)[0])
    if np.isnan(value):
        return Estimate(np.nan, np.nan, np.nan)
    samples = np.concatenate([_correlate(times @ table, doubled) for times in draw_weights(len(first), seed)])
    return Estimate(value, *np.nanpercentile(samples, INTERVAL_PERCENTILES).tolist())


def _correlate(sums: Float64, doubled: bool) -> Float64:
    """Return the correlations from rows of sums: of 1, x, y, x^2, y^2 and x y."""
    count, x, y, xx, yy, xy = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (xy - x * y / count) / np.sqrt((xx - x**2 / count) * (yy - y**2 / count))
        r = np.clip(r, -1.0, 1.0)
        return np.asarray(np.where(r > 0, 2 * r / (1 + r), r) if doubled else r)


def predict_length(reliability: float, length: float, wanted: float) -> float:
    """Return the length at which a reliability is expected, given that of scores from data of some length.

    Infinite if the known reliability is zero or below.

    >>> predict_length(0.5, 10, 0.75)
    30.0
    """
    if not reliability > 0:
        return float("inf")
    return length * wanted / (1 - wanted) * (1 - min(reliability, 1.0)) / reliability
