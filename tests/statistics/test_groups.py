"""Effect sizes, permutation tests, Holm's correction and rank correlations against statsmodels and scipy."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from curiograph.statistics.correlation import compute_spearman, estimate_spearman
from curiograph.statistics.groups import (
    adjust_holm,
    compute_between_groups,
    compute_hedges_g,
    compute_permutation_p,
    estimate_differences,
)
from scipy import stats


@pytest.mark.parametrize("sizes", [(5, 5), (12, 4), (30, 45)])
def test_hedges_g_equals_statsmodels(sizes):
    meta = pytest.importorskip("statsmodels.stats.meta_analysis")
    rng = np.random.default_rng(sizes[0])
    one, other = rng.normal(1000, 2, sizes[0]), rng.normal(1001, 3, sizes[1])
    expected, _ = meta.effectsize_smd(
        one.mean(), one.std(ddof=1), len(one), other.mean(), other.std(ddof=1), len(other)
    )
    assert compute_hedges_g(one, other) == pytest.approx(expected, rel=1e-9)


def test_no_effect_size_without_variation():
    assert np.isnan(compute_hedges_g(np.array([0.1, 0.1, 0.1]), np.array([0.7, 0.7])))
    assert np.isnan(compute_hedges_g(np.array([1.0]), np.array([2.0, 3.0])))
    difference, effect = estimate_differences(np.array([2.0, 2.0]), np.array([1.0, 1.0]), (0,))
    assert (difference.value, difference.low, difference.high) == (1, 1, 1)
    assert np.isnan([effect.value, effect.low, effect.high]).all()


def test_interval_of_a_difference_is_close_to_that_of_a_t_test():
    rng = np.random.default_rng(0)
    one, other = rng.normal(0, 1, 80), rng.normal(0.5, 2, 60)
    difference, effect = estimate_differences(one, other, (0,))
    low, high = stats.ttest_ind(one, other, equal_var=False).confidence_interval()
    assert (difference.low, difference.high) == pytest.approx((low, high), abs=0.05)
    assert effect.low < effect.value < effect.high
    assert estimate_differences(one, other, (0,)) == (difference, effect)


@pytest.mark.parametrize("counts", [(4, 4), (3, 4), (2, 2, 3)])
def test_permutation_p_equals_all_permutations(counts):
    rng = np.random.default_rng(sum(counts))
    labels = np.repeat(np.arange(len(counts)), counts)
    values = rng.normal(size=len(labels)) + 0.8 * labels

    def explain(labels):
        return sum(len(v := values[labels == group]) * (v.mean() - values.mean()) ** 2 for group in range(len(counts)))

    every = [explain(np.array(order)) for order in set(permutations(labels.tolist()))]
    exact = np.mean(np.array(every) >= explain(labels) - 1e-9)
    found = compute_permutation_p(
        labels, lambda rows: compute_between_groups(rows, values[:, None], len(counts)), 20_000, seed=1
    )
    assert found[0] == pytest.approx(exact, abs=0.01)


def test_two_groups_equal_the_permutation_test_of_scipy():
    rng = np.random.default_rng(3)
    one, other = rng.normal(0, 1, 15), rng.normal(0.7, 1, 12)
    labels, values = np.repeat([0, 1], [15, 12]), np.concatenate([one, other])
    found = compute_permutation_p(labels, lambda rows: compute_between_groups(rows, values[:, None], 2), 9999)
    expected = stats.permutation_test(
        (one, other), lambda a, b, axis: abs(a.mean(axis=axis) - b.mean(axis=axis)),
        alternative="greater", vectorized=True, n_resamples=9999, rng=np.random.default_rng(0),
    )  # fmt: skip
    assert found[0] == pytest.approx(expected.pvalue, abs=0.01)


def test_p_values_are_uniform_without_a_difference():
    found = []
    for seed in range(100):
        values = np.random.default_rng(seed).exponential(size=(20, 1))
        labels = np.arange(20) % 2
        found += compute_permutation_p(labels, lambda rows, v=values: compute_between_groups(rows, v, 2), 199).tolist()
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_holm_equals_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p_values = np.random.default_rng(0).random(9) ** 2
    expected = multitest.multipletests(p_values, method="holm")[1]
    np.testing.assert_allclose(adjust_holm(p_values), expected)
    with_gap = adjust_holm(np.insert(p_values, 4, np.nan))
    assert np.isnan(with_gap[4])
    np.testing.assert_allclose(np.delete(with_gap, 4), expected)


def test_spearman_equals_scipy():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 6, 40).astype(float)
    other = one + rng.normal(0, 4, 40)
    expected = stats.spearmanr(one, other)
    columns = np.column_stack([other, np.ones(40), -other])
    (rho, constant, opposite), p_values = estimate_spearman(columns, one, 9999, seed=0)
    p_value = p_values[0]
    assert rho.value == pytest.approx(expected.statistic)
    assert p_value == pytest.approx(expected.pvalue, abs=0.01)
    assert rho.low < rho.value < rho.high
    assert (opposite.value, p_values[2]) == pytest.approx((-rho.value, p_value))
    assert np.isnan([constant.value, p_values[1]]).all()
    alone, p_alone = estimate_spearman(columns[:, :1], one, 9999, seed=0)
    assert (alone, p_alone.tolist()) == ([rho], [p_value])
    assert np.isnan(compute_spearman(np.ones(5), np.arange(5.0)))
