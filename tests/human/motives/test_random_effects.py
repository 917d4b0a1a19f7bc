"""Random effects: coverage of the intervals in simulation, and limits."""

from __future__ import annotations

import numpy as np
import pytest

from curiograph.human.motives.logit import fit_population, update_population
from support.people_choices import simulate_choices

MEAN, SPREAD = (0.5, -0.3), (0.6, 0.3)


def measure_coverage(replications, people, choices, mean, spread):
    """Return the share of true means, spreads and weights of people inside their 95 % intervals."""
    means, spreads, weights = [], [], []
    for seed in range(replications):
        data, truth = simulate_choices(seed, people, choices, 8, mean, spread)
        fit = fit_population(data, data.fit_common(), seed)
        means += [found.low <= true <= found.high for found, true in zip(fit.mean, mean, strict=True)]
        spreads += [found.low <= true <= found.high for found, true in zip(fit.spread, spread, strict=True)]
        weights.append(np.mean((fit.people_low <= truth) & (truth <= fit.people_high)))
    return np.mean(means), np.mean(spreads), np.mean(weights)


def test_intervals_cover_the_true_weights():
    """Twelve replications: three standard errors of 24 means and 24 spreads, and 2.5 % of 960 weights of people."""
    means, spreads, weights = measure_coverage(12, 40, 15, MEAN, SPREAD)
    error = np.sqrt(0.95 * 0.05 / 24)
    assert means >= 0.95 - 3 * error
    assert spreads >= 0.95 - 3 * error
    assert weights == pytest.approx(0.95, abs=0.025)


@pytest.mark.long
@pytest.mark.parametrize(
    ("people", "choices", "mean", "spread"),
    [(40, 20, MEAN, SPREAD), (60, 10, (0.5, 0.0, -0.3), (0.5, 0.5, 0.3)), (150, 4, (0.8, 0.2), (0.6, 0.4))],
)
def test_intervals_cover_93_to_97_percent(people, choices, mean, spread):
    means, spreads, weights = measure_coverage(400, people, choices, mean, spread)
    assert 0.93 <= means <= 0.97
    assert 0.92 <= spreads <= 0.98
    assert 0.93 <= weights <= 0.97


def test_people_without_choices_have_the_distribution_of_the_population():
    data, _ = simulate_choices(0, 60, 20, 6, MEAN, SPREAD)
    first = data.select_choices(np.arange(20, len(data.chosen)))  # none of the first person
    fit = fit_population(first, np.zeros(2))
    assert fit.people[0] == pytest.approx([estimate.value for estimate in fit.mean], abs=0.05)
    assert fit.people_errors[0] == pytest.approx([estimate.value for estimate in fit.spread], rel=0.25)
    assert np.all(fit.people_errors[1:].mean(axis=0) < fit.people_errors[0])


def test_equal_people_have_a_small_spread():
    data, _ = simulate_choices(1, 80, 30, 6, (0.5, -0.5), (0.0, 0.0))
    fit = fit_population(data, np.zeros(2))
    assert all(estimate.value < 0.15 for estimate in fit.spread)
    assert [estimate.value for estimate in fit.mean] == pytest.approx([0.5, -0.5], abs=0.1)


def test_choices_that_a_motive_determines_give_finite_weights():
    data, _ = simulate_choices(2, 20, 5, 6, (100.0,), (0.0,))
    fit = fit_population(data, data.fit_common())
    assert np.all(np.isfinite(fit.people))
    assert fit.mean[0].low > 1


def test_same_seed_gives_the_same_fit_and_updates_agree():
    data, _ = simulate_choices(3, 50, 20, 6, MEAN, SPREAD)
    one, two, other = (fit_population(data, np.zeros(2), seed) for seed in (4, 4, 5))
    assert np.array_equal(one.people, two.people)
    assert not np.array_equal(one.people, other.people)
    assert np.max(np.abs(one.people - other.people) / one.people_errors) < 0.25
    mean, spread = (np.array([estimate.value for estimate in values]) for values in (one.mean, one.spread))
    new_mean, new_spread, _ = update_population(data, mean, spread)
    assert new_mean == pytest.approx(mean, abs=0.03)
    assert new_spread == pytest.approx(spread, abs=0.08)
