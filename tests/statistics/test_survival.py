"""Kaplan-Meier estimates against statsmodels and against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from curiograph.statistics.survival import (
    LifeTable,
    compute_log_log_interval,
    compute_restricted_mean,
    compute_survival,
    estimate_survival,
    find_median,
)

duration = pytest.importorskip("statsmodels.duration.survfunc")


def draw_lifetimes(seed: int, size: int = 150):
    rng = np.random.default_rng(seed)
    ends, censorings = rng.geometric(0.12, size), rng.integers(0, 25, size)
    return np.minimum(ends, censorings), ends > censorings


@pytest.mark.parametrize("seed", range(4))
def test_one_cluster_equals_statsmodels(seed):
    lifetimes, censored = draw_lifetimes(seed)
    table = LifeTable.from_lifetimes(lifetimes, censored, np.zeros(len(lifetimes), np.int64))
    found = estimate_survival(table, horizon=12)
    oracle = duration.SurvfuncRight(lifetimes, (~censored).astype(int))
    times = oracle.surv_times.astype(int)
    np.testing.assert_allclose(found.survival[times], oracle.surv_prob, rtol=1e-12)
    assert found.at_risk[times].tolist() == oracle.n_risk.tolist()
    # the log-log interval from the standard errors of statsmodels
    with np.errstate(divide="ignore", invalid="ignore"):
        error = 1.959964 * oracle.surv_prob_se / (oracle.surv_prob * np.log(oracle.surv_prob))
    positive = oracle.surv_prob > 0
    for bound, sign in ((found.low, -1), (found.high, 1)):
        expected = oracle.surv_prob ** np.exp(sign * error)
        np.testing.assert_allclose(bound[times][positive], expected[positive], rtol=1e-6)
    assert found.median.value == oracle.quantile(0.5)
    assert (found.median.low, found.median.high) == pytest.approx(oracle.quantile_ci(0.5, method="cloglog"))


def test_restricted_mean_is_the_area_under_the_curve():
    lifetimes, censored = draw_lifetimes(7)
    table = LifeTable.from_lifetimes(lifetimes, censored, np.zeros(len(lifetimes), np.int64))
    survival = compute_survival(table.events[0], table.at_risk[0])
    fine = np.linspace(0, 9, 9001)[:-1]
    assert compute_restricted_mean(survival, 9) == pytest.approx(np.mean(survival[fine.astype(int)]) * 9)
    everything = np.arange(10)
    without_censoring = LifeTable.from_lifetimes(everything, np.zeros(10, bool), np.zeros(10, np.int64))
    curve = compute_survival(without_censoring.events[0], without_censoring.at_risk[0])
    assert compute_restricted_mean(curve, 9) == pytest.approx(everything.mean())


def test_median_that_is_never_reached_is_infinite():
    table = LifeTable.from_lifetimes(np.array([1, 5, 5, 5]), np.array([False, True, True, True]), np.zeros(4, np.int64))
    found = estimate_survival(table, 5)
    assert found.median.value == np.inf
    assert find_median(np.array([1.0, 0.5])) == 1


def test_bounds_before_the_first_event_and_without_survivors():
    low, high = compute_log_log_interval(np.array([1.0, 0.5, 0.0]), np.array([0, 1, 1]), np.array([2, 2, 1]))
    assert (low[0], high[0]) == (1, 1)
    assert 0 < low[1] < 0.5 < high[1] < 1
    assert np.isnan(low[2])
    assert np.isnan(high[2])


def test_clusters_are_resampled_as_a_whole():
    """Forty equal lifetimes of each of six people hold no more information than one of each."""
    ends = np.array([1, 2, 2, 3, 5, 9])
    people = np.arange(6)
    once = LifeTable.from_lifetimes(ends, np.zeros(6, bool), people)
    often = LifeTable.from_lifetimes(np.repeat(ends, 40), np.zeros(240, bool), np.repeat(people, 40))
    alone = LifeTable.from_lifetimes(np.repeat(ends, 40), np.zeros(240, bool), np.zeros(240, np.int64))
    few, many, independent = (estimate_survival(table, 9) for table in (once, often, alone))
    np.testing.assert_allclose(few.low, many.low)
    np.testing.assert_allclose(few.high, many.high)
    assert independent.high[2] - independent.low[2] < 0.5 * (many.high[2] - many.low[2])
    assert estimate_survival(once, 9, seed=0).restricted_mean == few.restricted_mean


def test_bootstrap_interval_covers_the_truth():
    """Of 60 samples of 40 people, about 95 % have an interval that contains the true share."""
    truth, covered = 0.8**3, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        ends, censorings = rng.geometric(0.2, 40), rng.integers(2, 12, 40)
        table = LifeTable.from_lifetimes(np.minimum(ends, censorings), ends > censorings, np.arange(40))
        found = estimate_survival(table, 5, seed)
        covered += found.low[3] <= truth <= found.high[3]
    assert 52 <= covered <= 60
