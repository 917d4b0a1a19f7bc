"""Variance decomposition, compared with an analysis of variance of statsmodels and with a case by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from curiograph.errors import SettingError
from curiograph.statistics.factorial import decompose_variance

FACTORS = {"a": range(2), "b": range(3), "c": range(4)}


def test_main_effects_are_those_of_an_analysis_of_variance():
    pandas = pytest.importorskip("pandas")
    formula = pytest.importorskip("statsmodels.formula.api")
    anova = pytest.importorskip("statsmodels.stats.anova")
    values = np.random.default_rng(0).normal(size=(2, 3, 4)) + np.arange(3)[:, None]
    frame = pandas.DataFrame(list(product(*FACTORS.values())), columns=list(FACTORS)).assign(y=values.ravel())
    squares = anova.anova_lm(formula.ols("y ~ C(a) * C(b) + C(a) * C(c) + C(b) * C(c)", frame).fit())["sum_sq"]
    shares = decompose_variance(values, FACTORS)
    total = squares.sum()
    for name, share in shares.items():
        assert share.main == pytest.approx(squares[f"C({name})"] / total)
        terms = [term for term in squares.index if f"C({name})" in term or term == "Residual"]  # with a:b:c
        assert share.total == pytest.approx(squares[terms].sum() / total)


def test_a_pure_interaction_has_no_main_effect():
    shares = decompose_variance(np.array([[1.0, -1.0], [-1.0, 1.0]]), {"a": range(2), "b": range(2)})
    assert [share.main for share in shares.values()] == [0, 0]
    assert [share.total for share in shares.values()] == [1, 1]


def test_constant_and_incomplete_values():
    assert np.isnan(decompose_variance(np.ones((2, 3, 4)), FACTORS)["a"].main)
    for values in (np.ones((2, 3)), np.full((2, 3, 4), np.nan)):
        with pytest.raises(SettingError, match=r"give one finite number for each of the \(2, 3, 4\) combinations"):
            decompose_variance(values, FACTORS)
