"""The rank transition against its formula."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg


@pytest.mark.parametrize("p_g", [0.0, 1e-300, 0.2, 0.999999999, 1.0])
def test_rank_transition_is_the_formula(p_g):
    scores = np.array([3.0, -1.0, 10.0, 0.5])
    rank = np.array([1, 3, 0, 2])
    wanted = p_g ** rank.astype(float)
    np.testing.assert_allclose(cg.rank_transition(scores, p_g), wanted / wanted.sum(), rtol=1e-9)


def test_ties_are_random_with_a_seed_and_averaged_without():
    scores = [1.0, 2.0, 2.0, 2.0]
    drawn = np.array([cg.rank_transition(scores, 0.4, seed=s) for s in range(600)])
    np.testing.assert_array_equal(drawn[7], cg.rank_transition(scores, 0.4, seed=7))
    np.testing.assert_allclose(drawn.mean(axis=0), cg.rank_transition(scores, 0.4), atol=0.04)
    assert len({tuple(row) for row in drawn.round(9).tolist()}) == 6
    with pytest.raises(cg.SettingError, match="none of them NaN"):
        cg.rank_transition([np.nan], 0.5)
