"""Names and settings of rankers."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.recommendation.ranker import AdaptedRanker
from curiograph.recommendation.recommender import as_ranker


class Popular:
    """A custom ranker that does not inherit from Ranker."""

    name = "popular"

    def scores(self, graph, histories, candidates):
        return graph.degrees[candidates.nodes]


def test_as_ranker_accepts_names_and_objects():
    assert all(as_ranker(name).name == name for name in ("pagerank", "igt", "cpt", "mixture"))
    own = cg.PageRankRanker(0.5)
    assert as_ranker(own) is own
    assert isinstance(as_ranker(Popular()), AdaptedRanker)
    assert as_ranker(Popular()).name == "popular"
    nameless = type("Nameless", (), {"scores": Popular.scores})()
    assert as_ranker(nameless).name == "Nameless"
    assert as_ranker("igt", alpha=0.5).alpha == 0.5


@pytest.mark.parametrize("ranker", ["ight", 3, None, np.ones(3), Popular, cg.PageRankRanker, lambda g, h, c: 0])
def test_as_ranker_refuses_other_values(ranker):
    with pytest.raises(cg.UnknownNameError, match=r"mixture, pagerank, igt, cpt, or an object with a method scores"):
        as_ranker(ranker)


@pytest.mark.parametrize("ranker", ["igt", Popular(), cg.PageRankRanker()])
def test_weights_without_a_mixture_are_refused(ranker):
    with pytest.raises(cg.SettingError, match="weights are for the mixture"):
        as_ranker(ranker, weights={"igt": 1})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 1.0}, "alpha is 1.0"),
        ({"p_g": 2}, "p_g is 2"),
        ({"walks": 0}, "walks is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"fallback": "home"}, "fallback is 'home'"),
        ({"agent": "gready"}, "there is no agent 'gready'"),
        ({"reward": "joy"}, "there is no reward 'joy'"),
    ],
)
def test_bad_settings_of_curious_rankers(settings, message):
    with pytest.raises(cg.CuriographError) as caught:
        cg.CuriousRanker(**settings)
    assert message in str(caught.value)


@pytest.mark.parametrize("components", [{}, None, [cg.PageRankRanker()], {"a": "pagerank"}, {"a": cg.PageRankRanker}])
def test_bad_components_of_a_mixture(components):
    with pytest.raises(cg.SettingError, match="component"):
        cg.MixtureRanker(components)
