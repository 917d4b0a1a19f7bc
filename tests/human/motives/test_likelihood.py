"""Likelihood of choices against its definition, and the fit of p_g."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph import kernels
from curiograph.human.choices.choice_sets import ChoiceRanks


def compute_reference(scores, chosen, p_g):
    """Average the probability over all orders of equal scores."""
    n = len(scores)
    orders = [o for o in permutations(range(n)) if all(scores[o[i]] >= scores[o[i + 1]] for i in range(n - 1))]
    chances = [p_g ** o.index(chosen) / sum(p_g**r for r in range(n)) for o in orders]
    return np.mean(chances)


@given(st.lists(st.integers(0, 2), min_size=2, max_size=5), st.data(), st.floats(0.01, 1))
def test_likelihood_is_the_mean_over_orders_of_ties(scores, data, p_g):
    chosen = data.draw(st.integers(0, len(scores) - 1))
    values = np.array(scores)
    above, tied = np.sum(values > values[chosen]), np.sum(values == values[chosen])
    ranks = ChoiceRanks(np.array([above]), np.array([tied]), np.array([len(scores)]))
    wanted = compute_reference(scores, chosen, p_g)
    assert 2 ** ranks.log_likelihood(p_g)[0] == pytest.approx(wanted)
    chances = kernels.rank_probabilities.compute_probabilities(np.array([0, len(values)]), values, p_g)
    assert chances[chosen] == pytest.approx(wanted)


@pytest.mark.parametrize("p_g", [0.0, 1e-300, 0.999999999, 1.0])
def test_probabilities_at_extreme_p_g(p_g):
    wanted = p_g ** np.array([1.0, 3, 0, 2])
    found = kernels.rank_probabilities.compute_probabilities(np.array([0, 4]), np.array([3.0, -1.0, 10.0, 0.5]), p_g)
    np.testing.assert_allclose(found, wanted / wanted.sum(), rtol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4), st.integers(0, 30)), min_size=1, max_size=20))
def test_fitted_p_g_maximizes_the_likelihood(rows):
    above, tied, below = np.array(rows).T
    ranks = ChoiceRanks(above, tied, above + tied + below)
    found, bits = ranks.fit_p_g()
    assert 1e-6 <= found <= 1
    best = ranks.log_likelihood(found).sum()
    assert bits == pytest.approx(best)
    others = [ranks.log_likelihood(p_g).sum() for p_g in np.linspace(1e-6, 1, 97)]
    assert best >= max(others) - 1e-6
