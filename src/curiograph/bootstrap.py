"""Bootstrap confidence intervals, clustered by user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curiograph.arrays import Float64, Int64

NUM_RESAMPLES = 2000
"""Number of bootstrap samples."""
INTERVAL_PERCENTILES = (2.5, 97.5)
"""Bounds of the confidence interval, as percentiles of the bootstrap samples."""
_MAX_DRAWN = 2**18  # users drawn together; bounds the memory

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
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"


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


def estimate_means(sums: Float64, counts: Int64, seed: int = 0) -> list[Estimate]:
    """Return the mean and confidence interval of every quantity; arguments as for `resample_means`.

    >>> estimate_means(np.array([[2.0], [4.0]]), np.array([1, 2]))
    [Estimate(value=2.0, low=2.0, high=2.0)]
    """
    low, high = np.percentile(resample_means(sums, counts, seed), INTERVAL_PERCENTILES, axis=0)
    means = sums.sum(axis=0) / counts.sum()
    return [Estimate(*numbers) for numbers in zip(means.tolist(), low.tolist(), high.tolist(), strict=True)]


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
