"""Fits of mixtures: deterministic, able to recover a mixture, and blind to test users."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from curiograph.human.prediction.components import PAGERANK, Mixture
from curiograph.human.prediction.fitting import fit_mixture, fit_split


def replace_nexts(components, nexts):
    """Components of the same choices with other chosen nodes."""
    choices = components.choices
    return replace(components, choices=replace(choices, windows=replace(choices.windows, nexts=nexts)))


def test_fit_is_deterministic_and_no_worse_than_its_starting_points(scored):
    begin = [Mixture({PAGERANK: 1.0}, 0.3, 1), Mixture({PAGERANK: -1.0, "greedy cpt": 2.0}, 0.9, 2)]
    best = fit_mixture(scored, [PAGERANK, "greedy cpt"], 5, seed=3, begin=begin)
    value = np.nanmean(scored.rank_choices(best).percentile)
    assert all(value >= np.nanmean(scored.rank_choices(mix).percentile) - 1e-12 for mix in begin)
    assert best == fit_mixture(scored, [PAGERANK, "greedy cpt"], 5, seed=3, begin=begin)


def test_fit_recovers_a_mixture(scored):
    """All choices are the best candidates by walkers minus PageRank, which no single component finds."""
    truth = Mixture({PAGERANK: -3.0, "greedy igt": 1.0}, 0.85, 3)
    scores, offsets = scored.score_mixture(truth), scored.choices.candidates.offsets
    best = [offsets[i] + np.argmax(scores[offsets[i] : offsets[i + 1]]) for i in range(len(scored.choices))]
    followed = replace_nexts(scored, scored.choices.candidates.nodes[best])
    plain = fit_mixture(followed, [PAGERANK], 12, seed=0)
    mix = fit_mixture(followed, [PAGERANK, "greedy igt"], 25, seed=0, begin=[plain])
    value, before = (np.nanmean(followed.rank_choices(each).percentile) for each in (mix, plain))
    assert value > 0.9 > before


def test_choices_of_test_users_do_not_change_the_fits(prediction_run, scored):
    is_test = prediction_run.study.split(0, scored.choices.windows.users)
    rng = np.random.default_rng(0)
    offsets = scored.choices.candidates.offsets
    other = [scored.choices.candidates.nodes[rng.integers(offsets[i], offsets[i + 1])] for i in range(len(is_test))]
    nexts = np.where(is_test, other, scored.choices.windows.nexts).astype(np.int32)
    changed = replace_nexts(scored, nexts)
    before, after = (fit_split((each, 4), (is_test, 0)) for each in (scored, changed))
    assert before["fits"] == after["fits"]
    assert any(not np.array_equal(before[method], after[method]) for method in before["fits"])
