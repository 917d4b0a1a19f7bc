"""Components, walkers and fits of mixtures: definitions, recovery of a mixture, and blindness to test users."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from curiograph.centrality.curious_pagerank import curious_pagerank
from curiograph.exploration.mdp import Candidates
from curiograph.graph.toys import library
from curiograph.human.prediction.methods import (
    ALPHAS,
    PAGERANK,
    Mixture,
    fit_mixture,
    fit_split,
    score_visits,
    simulate_walkers,
)
from curiograph.recommendation.rankers import PageRankRanker


def replace_nexts(components, nexts):
    """Components of the same choices with other chosen nodes."""
    choices = components.choices
    return replace(components, choices=replace(choices, windows=replace(choices.windows, nexts=nexts)))


def test_pagerank_matches_pagerank_ranker(study, scored):
    histories = scored.choices.windows.list_histories()
    for row in (0, 7, 11):
        ranker = PageRankRanker(ALPHAS[row]).scores(study.graph, histories, scored.choices.candidates)
        assert np.allclose(scored.pagerank[row], ranker, rtol=1e-5)


def test_degree_is_in_degree(study, scored):
    graph, nodes = study.graph, scored.choices.candidates.nodes
    assert scored.baselines["degree"].tolist() == [int(np.sum(graph.indices == node)) for node in nodes]


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
    some, everything = (part.choices.rank(part.score_mixture(mix)).percentile for part in (scored.rows(which), scored))
    assert np.allclose(some, everything[which], equal_nan=True)


@pytest.mark.parametrize("reward", ["igt", "cpt"])
def test_all_paths_of_walkers_give_curious_pagerank(reward):
    graph, history = library(), ["music", "logic"]
    positions = graph.positions(history)
    visits = simulate_walkers(graph, "greedy", reward, positions, p_g=0.5, steps=12, count=1_000_000)
    nodes = np.setdiff1d(np.arange(12), positions).astype(np.int32)
    found = score_visits(visits, positions[None, :], Candidates(np.array([0, len(nodes)]), nodes))
    scores = (0.85 ** np.arange(1, 13)) @ found
    exact = curious_pagerank(graph, "greedy", 0.85, history, p_g=0.5, reward=reward, exact=True).scores[nodes]
    assert np.allclose(scores / scores.sum(), exact / exact.sum(), rtol=2e-5)


def test_sampled_walkers_are_unbiased():
    few, exact = (
        np.array([simulate_walkers(library(), "greedy", "igt", [0], steps=5, count=count, seed=seed)[4].toarray()
                  for seed in range(seeds)])
        for count, seeds in ((10, 200), (1_000_000, 1))
    )  # fmt: skip
    assert np.all(np.abs(few.mean(axis=0) - exact[0]) < 5 * few.std(axis=0) / np.sqrt(200) + 1e-6)


def test_fit_is_deterministic_and_no_worse_than_its_starting_points(scored):
    begin = [Mixture({PAGERANK: 1.0}, 0.3, 1), Mixture({PAGERANK: -1.0, "greedy cpt": 2.0}, 0.9, 2)]
    best = fit_mixture(scored, [PAGERANK, "greedy cpt"], 5, seed=3, begin=begin)
    assert all(scored.evaluate(best) >= scored.evaluate(mixture) - 1e-12 for mixture in begin)
    assert best == fit_mixture(scored, [PAGERANK, "greedy cpt"], 5, seed=3, begin=begin)


@pytest.mark.long
def test_fit_recovers_a_mixture(scored):
    """All choices are the best candidates by walkers minus PageRank, which no single component finds."""
    truth = Mixture({PAGERANK: -3.0, "greedy igt": 1.0}, 0.85, 3)
    scores, offsets = scored.score_mixture(truth), scored.choices.candidates.offsets
    best = [offsets[i] + np.argmax(scores[offsets[i] : offsets[i + 1]]) for i in range(len(scored.choices))]
    followed = replace_nexts(scored, scored.choices.candidates.nodes[best])
    plain = max((Mixture({PAGERANK: 1.0}, alpha) for alpha in ALPHAS), key=followed.evaluate)
    mixture = fit_mixture(followed, [PAGERANK, "greedy igt"], 25, seed=0, begin=[plain])
    assert followed.evaluate(mixture) > 0.9 > followed.evaluate(plain)


def test_choices_of_test_users_do_not_change_the_fits(study, scored):
    is_test = study.split(0, scored.choices.windows.users)
    rng = np.random.default_rng(0)
    offsets = scored.choices.candidates.offsets
    other = [scored.choices.candidates.nodes[rng.integers(offsets[i], offsets[i + 1])] for i in range(len(is_test))]
    changed = replace_nexts(scored, np.where(is_test, other, scored.choices.windows.nexts).astype(np.int32))
    before, after = (fit_split((each, 4), (is_test, 0)) for each in (scored, changed))
    assert before["fits"] == after["fits"]
    assert any(not np.array_equal(before[method], after[method]) for method in before["fits"])
