"""Confidence intervals over users: Student's t for means, and bootstrap samples of users for other quantities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student_t

from curiograph.arrays import Float64, Int64

NUM_RESAMPLES = 2000
"""Number of bootstrap samples."""
INTERVAL_PERCENTILES = (2.5, 97.5)
"""Bounds of the confidence interval, as percentiles of the bootstrap samples."""
_MAX_DRAWN = 2**18  # users drawn together; bounds the memory

_FEW_PEOPLE = 10  # below, a remark asks for caution

Seed = int | Sequence[int]
"""Seed of a random generator; a sequence holds the seed of a run and the number of a task."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % confidence interval over users."""

    value: float
    """The mean."""
    low: float
    """Lower bound of the interval."""
    high: float
    """Upper bound of the interval."""

    @classmethod
    def from_samples(cls, value: float, samples: Float64) -> Estimate:
        """Return a value with the interval of its bootstrap samples, of which those that are NaN are left out."""
        known = not np.isnan(value) and not np.isnan(samples).all()
        bounds = np.nanpercentile(samples, INTERVAL_PERCENTILES) if known else (np.nan, np.nan)
        return cls(float(value), *map(float, bounds))

    @property
    def clear(self) -> bool:
        """Whether zero is outside the interval."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        bounds = f"{self.low:.3g} to {self.high:.3g}" if self.low == self.low else "no interval"
        return f"{self.value:.3g} ({bounds})"


NO_ESTIMATE = Estimate(np.nan, np.nan, np.nan)
"""Estimate of a quantity that is not defined."""


def draw_weights(size: int, seed: Seed = 0) -> Iterator[Float64]:
    """Yield `NUM_RESAMPLES` bootstrap samples of `size` users in blocks; rows hold how often each user is drawn."""
    rng = np.random.default_rng(seed)
    together = max(1, min(NUM_RESAMPLES, _MAX_DRAWN // size))
    for first in range(0, NUM_RESAMPLES, together):
        rows = min(together, NUM_RESAMPLES - first)
        drawn = rng.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)


def resample_means(sums: Float64, counts: Float64 | Int64, seed: Seed = 0) -> Float64:
    """Return means (`NUM_RESAMPLES` x quantities) over users drawn with replacement; same seed, same samples.

    `sums` (users x quantities) are over the `counts` entries of each user. `counts` may differ between quantities: then
    they are users x quantities too, and a mean over no entries is NaN.
    """
    means = []
    for times in draw_weights(len(counts), seed):
        entries = times @ counts
        with np.errstate(invalid="ignore"):
            means.append(times @ sums / (entries[:, None] if counts.ndim == 1 else entries))
    return np.concatenate(means)


def estimate_means(sums: Float64, counts: Int64, least: Float64 | float = 0.0) -> list[Estimate]:
    """Return the mean and 95 % confidence interval over users of every quantity, by Student's t distribution.

    `sums` (users x quantities) are over the `counts` entries of each user, and the mean is over all entries. Its
    variance and degrees of freedom are corrected for few users who differ in their numbers of entries (Bell and
    McCaffrey 2002). Intervals are not narrower than by the standard errors in `least`, which are expected without any
    effect. The bounds are NaN for a single user.

    >>> estimate_means(np.array([[2.0], [4.0], [9.0]]), np.array([1, 1, 1]))
    [Estimate(value=5.0, low=-3.956..., high=13.956...)]
    """
    means = sums.sum(axis=0) / counts.sum()
    errors, freedom = compute_errors(sums, counts)
    widths = np.maximum(student_t.ppf(0.975, freedom) * errors, norm.ppf(0.975) * least)
    return [Estimate(*each) for each in np.column_stack([means, means - widths, means + widths]).tolist()]


def compute_upper_p(sums: Float64, counts: Int64) -> Float64:
    """Return the p-value of every mean being zero or below, by the same distribution; NaN for means of zero variance.

    >>> compute_upper_p(np.array([[2.0], [4.0], [9.0]]), np.array([1, 1, 1])).round(3)
    array([0.069])
    """
    errors, freedom = compute_errors(sums, counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(student_t.sf(sums.sum(axis=0) / counts.sum() / errors, freedom))


def compute_errors(sums: Float64, counts: Int64) -> tuple[Float64, float]:
    """Return the standard errors of means over entries of users, and their degrees of freedom; see `estimate_means`."""
    if len(counts) < 2:
        return np.full(sums.shape[1], np.nan), np.nan
    share = counts / counts.sum()
    squares = float(share @ share)
    # residual i has the variance leverage[i] if the means of all users have the same variance
    leverage = 1 - 2 * share + squares
    residuals = sums / counts[:, None] - sums.sum(axis=0) / counts.sum()
    factors = share**2 / leverage
    variances = factors @ residuals**2
    # Satterthwaite: moments of the quadratic form in the residuals, whose covariances are squares - share_i - share_j
    total, first, second = (float(factors @ share**power) for power in (0, 1, 2))
    mixed = squares**2 * total**2 + 2 * total * second - 4 * squares * total * first + 2 * first**2
    mixed += float(factors**2 @ (leverage**2 - (squares - 2 * share) ** 2))
    return np.sqrt(variances), squares**2 / mixed


def sum_by_user(values: Float64, users: Int64) -> Float64:
    """Return the sums of the rows of `values` for each user; `users` holds the user number of each row.

    >>> sum_by_user(np.array([[1.0], [2.0], [3.0]]), np.array([1, 0, 1])).tolist()
    [[2.0], [4.0]]
    """
    return np.column_stack([np.bincount(users, column) for column in values.T])


def make_columns(name: str, estimates: Sequence[Estimate]) -> dict[str, list[Any]]:
    """Return three columns of a table: `name`, `name_low` and `name_high`."""
    return {
        name: [estimate.value for estimate in estimates],
        f"{name}_low": [estimate.low for estimate in estimates],
        f"{name}_high": [estimate.high for estimate in estimates],
    }


def expand_estimates(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns, with three columns for each estimate; values that a row lacks are NaN or None."""
    columns: dict[str, list[Any]] = {}
    for name in max(rows, key=len):
        values = [row.get(name) for row in rows]
        if any(isinstance(value, Estimate) for value in values):
            columns |= make_columns(name, [NO_ESTIMATE if value is None else value for value in values])
        else:
            columns[name] = values
    return columns


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


def describe_few(people: int, start: str = "There are") -> list[str]:
    """Return a sentence if there are too few people to generalize from, and none otherwise."""
    if people >= _FEW_PEOPLE:
        return []
    if people == 1:
        return ["There is one person: no interval, and no conclusion about people."]
    return [f"{start} {people} people: intervals assume that their values are about normally distributed."]
