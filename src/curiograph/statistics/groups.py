"""Compare groups of people: effect sizes, permutation tests, and correction for several tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.statistics.bootstrap import INTERVAL_PERCENTILES, NUM_RESAMPLES, Estimate, draw_weights

_MAX_DRAWN = 2**20  # labels permuted together; bounds the memory
_TOLERANCE = 1e-9  # relative; permutations that are equal to the data may differ in the last bits


def compute_hedges_g(first: Float64, second: Float64) -> float:
    """Return Hedges' g: the difference of two means in pooled standard deviations, corrected for small samples.

    NaN if a group has fewer than two values or if no value differs from the mean of its group.

    >>> compute_hedges_g(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0])).__round__(3)
    -0.8
    """
    counts = np.array([[len(first)], [len(second)]], np.float64)
    sums, squares = np.empty((2, 2, 1))
    for number, values in enumerate(_center(first, second)):
        sums[number], squares[number] = values.sum(), (values**2).sum()
    return float(_standardize(counts, sums, squares)[0])


def _center(first: Float64, second: Float64) -> list[Float64]:
    """Subtract the common mean, so that differences of sums of squares keep their precision."""
    mean = np.concatenate([first, second]).mean()
    return [first - mean, second - mean]


def _standardize(counts: Float64, sums: Float64, squares: Float64) -> Float64:
    """Return Hedges' g from the counts, sums and sums of squares of two groups (2 x samples)."""
    freedom = counts.sum(axis=0) - 2
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums / counts
        deviations = np.maximum(squares - counts * means**2, 0.0)
        # deviations at the level of rounding errors are zero
        deviations = np.where(deviations <= 1e-12 * squares, 0.0, deviations)
        pooled = np.sqrt(deviations.sum(axis=0) / freedom)
        g = (means[0] - means[1]) / pooled * (1 - 3 / (4 * freedom - 1))
    return np.where((counts.min(axis=0) < 2) | (pooled == 0), np.nan, g)


def estimate_differences(first: Float64, second: Float64, seed: tuple[int, ...]) -> tuple[Estimate, Estimate]:
    """Return the difference of two means and Hedges' g, with 95 % intervals by resampling the people of each group.

    >>> difference, effect = estimate_differences(np.arange(20.0), np.arange(20.0) + 3, (0,))
    >>> difference.value, difference.low < -3 < difference.high, effect.value.__round__(2)
    (-3.0, True, -0.5)
    """
    counts, sums, squares = np.empty((3, 2, NUM_RESAMPLES))
    for number, values in enumerate(_center(first, second)):
        table = np.column_stack([values, values**2])
        rows = [times @ table for times in draw_weights(len(values), [*seed, number])]
        sums[number], squares[number] = np.concatenate(rows).T
        counts[number] = len(values)
    differences = sums[0] / counts[0] - sums[1] / counts[1]
    effects = _standardize(counts, sums, squares)
    g = compute_hedges_g(first, second)
    bounds = [np.nan, np.nan] if np.isnan(g) else np.nanpercentile(effects, INTERVAL_PERCENTILES).tolist()
    return (
        Estimate(float(first.mean() - second.mean()), *np.percentile(differences, INTERVAL_PERCENTILES).tolist()),
        Estimate(g, *bounds),
    )


def permute_labels(labels: Int64, permutations: int, seed: int) -> Iterator[Int64]:
    """Yield random permutations of the labels of people, in blocks of rows; same seed, same permutations."""
    rng = np.random.default_rng(seed)
    together = max(1, min(permutations, _MAX_DRAWN // max(len(labels), 1)))
    for first in range(0, permutations, together):
        rows = min(together, permutations - first)
        yield rng.permuted(np.broadcast_to(labels, (rows, len(labels))), axis=1)


def compute_permutation_p(
    labels: Int64, statistic: Callable[[Int64], Float64], permutations: int, seed: int = 0
) -> Float64:
    """Return the share of permutations of the labels whose statistic is at least that of the data, which counts as one.

    `statistic` maps rows of labels to rows of statistics (rows x quantities), larger for larger differences. The labels
    are those of people: all walks of a person keep their label.
    """
    observed = statistic(labels[None, :])[0]
    least = observed - _TOLERANCE * np.abs(observed)
    exceeding = np.zeros(observed.shape, np.int64)
    for rows in permute_labels(labels, permutations, seed):
        exceeding += np.count_nonzero(statistic(rows) >= least, axis=0)
    return (exceeding + 1) / (permutations + 1)


def compute_between_groups(labels: Int64, values: Float64, num_groups: int) -> Float64:
    """Return the sum of squares between groups of every quantity (rows of labels x quantities).

    `values` are people x quantities. For two groups, the sum increases with the absolute difference of their means.

    >>> labels, values = np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), np.array([[1.0], [2.0], [3.0], [6.0]])
    >>> compute_between_groups(labels, values, 2).tolist()
    [[9.0], [4.0]]
    """
    centered = values - values.mean(axis=0)
    total = np.zeros((len(labels), values.shape[1]))
    for group in range(num_groups):
        members = (labels == group).astype(np.float64)
        total += (members @ centered) ** 2 / members.sum(axis=1, keepdims=True)
    return total


def adjust_holm(p_values: Float64) -> Float64:
    """Return p-values adjusted for several tests by the method of Holm; NaN is no test.

    >>> adjust_holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(len(p_values), np.nan)
    order = np.argsort(p_values)[: np.count_nonzero(~np.isnan(p_values))]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return adjusted
