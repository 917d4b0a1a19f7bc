"""The rank transition against its formula."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.centrality.rank_transition import rank_transition


@pytest.mark.parametrize("p_g", [0.0, 1e-300, 0.2, 0.999999999, 1.0])
def test_rank_transition_is_the_formula(p_g):
    scores = np.array([3.0, -1.0, 10.0, 0.5])
    rank = np.array([1, 3, 0, 2])
    wanted = p_g ** rank.astype(float)
    np.testing.assert_allclose(rank_transition(scores, p_g), wanted / wanted.sum(), rtol=1e-9)


def test_ties_share_the_mean_of_their_ranks():
    by_rank = rank_transition([4.0, 3.0, 2.0, 1.0], 0.4)
    np.testing.assert_allclose(rank_transition([1.0, 2.0, 2.0, 2.0], 0.4), [by_rank[3], *[by_rank[:3].mean()] * 3])
    for bad in ([np.nan], "abc", [[1.0]]):
        with pytest.raises(cg.SettingError, match="the scores are"):
            rank_transition(bad, 0.5)
