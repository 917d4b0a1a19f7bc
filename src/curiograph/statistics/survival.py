"""Kaplan-Meier estimates of lifetimes that are partly censored, in whole steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.statistics.bootstrap import INTERVAL_PERCENTILES, NUM_RESAMPLES, Estimate, Seed, draw_weights

_NORMAL_QUANTILE = 1.959963984540054  # of 97.5 %


@dataclass(frozen=True, eq=False)
class LifeTable:
    """Lifetimes counted by cluster (a person, or a walk) and by time 0, 1, ..., the longest lifetime.

    Examples
    --------
    >>> table = LifeTable.from_lifetimes(np.array([1, 2, 2]), np.array([False, False, True]), np.array([0, 0, 1]))
    >>> table.events.tolist(), table.at_risk.tolist()
    ([[0, 1, 1], [0, 0, 0]], [[2, 2, 1], [1, 1, 1]])
    >>> compute_survival(table.events.sum(axis=0), table.at_risk.sum(axis=0)).round(3).tolist()
    [1.0, 0.667, 0.333]
    """

    events: Int64
    """Clusters x times: number of lifetimes that end at each time."""
    at_risk: Int64
    """Clusters x times: number of lifetimes that have not ended before each time."""

    @classmethod
    def from_lifetimes(
        cls, lifetimes: Int64, censored: NDArray[np.bool_], clusters: Int64, num_clusters: int | None = None
    ) -> LifeTable:
        """Count lifetimes in whole steps, 0 or more; `clusters` holds the number of the cluster of each."""
        rows = int(clusters.max(initial=-1)) + 1 if num_clusters is None else num_clusters
        shape = (rows, int(lifetimes.max(initial=0)) + 1)
        cells = clusters * shape[1] + lifetimes
        ended = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
        events = np.bincount(cells[~censored], minlength=shape[0] * shape[1]).reshape(shape)
        return cls(events=events, at_risk=np.cumsum(ended[:, ::-1], axis=1)[:, ::-1])

    def rows(self, which: Any) -> LifeTable:
        """Return the table of some clusters, selected by numbers, a slice or a mask."""
        return LifeTable(events=self.events[which], at_risk=self.at_risk[which])


def compute_survival(events: Any, at_risk: Any) -> Float64:
    """Return the Kaplan-Meier estimate of P(lifetime > t) for every time, which is the last axis.

    >>> compute_survival(np.array([0, 1, 0, 1]), np.array([4, 4, 2, 2])).tolist()
    [1.0, 0.75, 0.75, 0.375]
    """
    survival: Float64 = np.cumprod(1 - events / np.maximum(at_risk, 1), axis=-1)
    return survival


def compute_restricted_mean(survival: Float64, horizon: int) -> Any:
    """Return the mean of min(lifetime, horizon): the area under the curve up to the horizon.

    >>> float(compute_restricted_mean(np.array([1.0, 0.75, 0.75, 0.375]), 3))
    2.5
    """
    return survival[..., :horizon].sum(axis=-1)


def find_median(survival: Float64) -> Any:
    """Return the first time at which survival is 0.5 or less; infinity if there is none.

    >>> find_median(np.array([[1.0, 0.75, 0.5], [1.0, 0.9, 0.8]])).tolist()
    [2.0, inf]
    """
    reached = survival <= 0.5 + 1e-12
    return np.where(reached.any(axis=-1), np.argmax(reached, axis=-1).astype(np.float64), np.inf)


@dataclass(frozen=True, eq=False)
class Survival:
    """A Kaplan-Meier curve with 95 % intervals."""

    survival: Float64
    """P(lifetime > t) for t = 0, 1, ..."""
    low: Float64
    """Lower bounds; NaN where they cannot be estimated."""
    high: Float64
    """Upper bounds; NaN where they cannot be estimated."""
    at_risk: Int64
    """Number of lifetimes that have not ended before each time."""
    events: Int64
    """Number of lifetimes that end at each time."""
    restricted_mean: Estimate
    """Mean of min(lifetime, horizon)."""
    median: Estimate
    """First time at which half of the lifetimes have ended; infinity if that is never observed."""

    def __repr__(self) -> str:
        return f"Survival({len(self.survival)} times, median {self.median}, restricted mean {self.restricted_mean})"


def estimate_survival(table: LifeTable, horizon: int, seed: Seed = 0) -> Survival:
    """Estimate a survival curve, with intervals by resampling clusters.

    Lifetimes of one cluster depend on each other, so Greenwood's formula, which takes all lifetimes as independent, is
    only used for a single cluster, where nothing can be resampled.
    """
    events, at_risk = table.events.sum(axis=0), table.at_risk.sum(axis=0)
    survival = compute_survival(events, at_risk)
    mean, median = float(compute_restricted_mean(survival, horizon)), float(find_median(survival))
    if len(table.events) > 1:
        samples = resample_survival(table, seed)
        low, high = np.percentile(samples, INTERVAL_PERCENTILES, axis=0)
        mean_bounds = np.percentile(compute_restricted_mean(samples, horizon), INTERVAL_PERCENTILES)
        # medians can be infinite, so bounds are not interpolated
        median_bounds = np.percentile(find_median(samples), INTERVAL_PERCENTILES, method="inverted_cdf")
    else:
        low, high = compute_log_log_interval(survival, events, at_risk)
        error = _NORMAL_QUANTILE * _compute_restricted_mean_error(survival, events, at_risk, horizon)
        mean_bounds = np.array([max(0.0, mean - error), min(float(horizon), mean + error)])
        median_bounds = np.array([find_median(np.nan_to_num(bound, nan=1.0)) for bound in (low, high)])
    return Survival(
        survival=survival,
        low=low,
        high=high,
        at_risk=at_risk,
        events=events,
        restricted_mean=Estimate(mean, *mean_bounds.tolist()),
        median=Estimate(median, *median_bounds.tolist()),
    )


def resample_survival(table: LifeTable, seed: Seed = 0) -> Float64:
    """Return survival curves (`NUM_RESAMPLES` x times) of clusters drawn with replacement."""
    samples = np.empty((NUM_RESAMPLES, table.events.shape[1]))
    first = 0
    for times in draw_weights(len(table.events), seed):
        samples[first : first + len(times)] = compute_survival(times @ table.events, times @ table.at_risk)
        first += len(times)
    return samples


def compute_log_log_interval(survival: Float64, events: Int64, at_risk: Int64) -> tuple[Float64, Float64]:
    """Return 95 % bounds of S(t) by Greenwood's variance on the scale of log(-log S), for independent lifetimes.

    Both bounds are 1 before the first event, and NaN where S is 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(events > 0, events / (at_risk * (at_risk - events)), 0.0)
        variance = np.cumsum(terms)
        factor = np.exp(_NORMAL_QUANTILE * np.sqrt(variance) / np.log(survival))
        low, high = survival ** (1 / factor), survival**factor
    no_event = np.cumsum(events) == 0
    no_survivor = survival == 0
    low[no_event] = high[no_event] = 1.0
    low[no_survivor] = high[no_survivor] = np.nan
    return low, high


def _compute_restricted_mean_error(survival: Float64, events: Int64, at_risk: Int64, horizon: int) -> float:
    """Return the standard error of the restricted mean of independent lifetimes, by Greenwood's formula."""
    areas = compute_restricted_mean(survival, horizon) - np.cumsum(survival) + survival  # from each time to the horizon
    areas = np.where(np.arange(len(survival)) < horizon, areas, 0.0)
    left = at_risk - events
    terms = np.divide(events * areas**2, at_risk * left, out=np.zeros(len(survival)), where=left > 0)
    return float(np.sqrt(terms.sum()))
