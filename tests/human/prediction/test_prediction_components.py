"""Components: PageRank, mixtures and scaling."""

from __future__ import annotations

import numpy as np
import pytest

from curiograph.human.prediction.components import ALPHAS, PAGERANK, Mixture
from curiograph.recommendation.rankers import PageRankRanker


def test_pagerank_matches_pagerank_ranker(prediction_run, scored):
    histories = scored.choices.windows.list_histories()
    for row in (0, 7, 11):
        ranker = PageRankRanker(ALPHAS[row]).scores(prediction_run.study.graph, histories, scored.choices.candidates)
        assert np.allclose(scored.pagerank[row], ranker, rtol=1e-5)


def test_mixture_is_the_weighted_sum_of_its_components(scored):
    mix = Mixture({PAGERANK: -3.0, "greedy igt": 4.0}, 0.6, 2)
    visits = scored.walkers["greedy igt"]
    curious = (0.6 * visits[0] + 0.36 * visits[1]) / 1.96
    wanted = -0.6 * scored.pagerank[ALPHAS.index(0.6)] + 0.8 * curious
    assert np.allclose(scored.score_mixture(mix), wanted, rtol=1e-5)
    assert Mixture(**mix.to_dict()).weights == {PAGERANK: -0.6, "greedy igt": 0.8}


def test_scaled_components_are_standardized(scored):
    scores = scored.score_mixture(Mixture({"markov": 1.0}, scaled=True))
    for a, b in zip(scored.choices.candidates.offsets[:-1], scored.choices.candidates.offsets[1:], strict=True):
        assert abs(scores[a:b].mean()) < 1e-9
        assert scores[a:b].std() == pytest.approx(1) or np.ptp(scored.baselines["markov"][a:b]) == 0


def test_rows_select_choices(scored):
    which = np.arange(len(scored.choices)) % 3 == 0
    mix = Mixture({PAGERANK: 1.0, "memory": -1.0}, 0.45, 3)
    assert np.allclose(
        scored.rows(which).rank_choices(mix).percentile, scored.rank_choices(mix).percentile[which], equal_nan=True
    )
