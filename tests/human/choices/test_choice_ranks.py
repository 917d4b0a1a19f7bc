"""Rank metrics of choices against a reference that averages over all orders of equal candidates."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import RankerError, WalkError
from curiograph.exploration.mdp import Candidates
from curiograph.human.choices.choice_sets import ChoiceRanks, find_chosen

MEASURES = ("percentile", "reciprocal", "hit10", "ndcg10")


def choice_ranks(scores, candidates, nexts):
    return ChoiceRanks.from_scores(scores, candidates, find_chosen(candidates, nexts))


def flatten(rows):
    """Candidates 0, 1, ... of every window, and their scores."""
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    nodes = np.concatenate([np.arange(len(row)) for row in rows]).astype(np.int32)
    return np.concatenate([np.asarray(row, float) for row in rows]), Candidates(offsets, nodes)


def compute_reference(row, chosen):
    """The measures of one choice, averaged over all orders of the candidates that respect the scores."""
    if len(row) == 1:
        return [np.nan] * 4
    kept = [order for order in permutations(range(len(row))) if all(row[a] >= row[b] for a, b in pairwise(order))]
    places = [order.index(chosen) + 1 for order in kept]
    measures = [
        [(len(row) - place) / (len(row) - 1) for place in places],
        [1 / place for place in places],
        [float(place <= 10) for place in places],
        [1 / log2(1 + place) * (place <= 10) for place in places],
    ]
    return [np.mean(each) for each in measures]


rows_of_scores = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=4)


@given(rows_of_scores, st.data())
def test_measures_are_means_over_orders_of_ties(rows, data):
    nexts = np.array([data.draw(st.integers(0, len(row) - 1)) for row in rows], np.int32)
    ranks = choice_ranks(*flatten(rows), nexts)
    found = np.array([getattr(ranks, name) for name in MEASURES])
    expected = np.transpose([compute_reference(row, chosen) for row, chosen in zip(rows, nexts, strict=True)])
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 30))
def test_cutoff_is_at_rank_ten(above, equal, below):
    if above + equal + below < 2:
        return
    ranks = choice_ranks(*flatten([[2.0] * above + [1.0] * equal + [0.0] * below]), np.array([above]))
    places = [above + 1 + i for i in range(equal)]
    assert ranks.hit10[0] == pytest.approx(np.mean([place <= 10 for place in places]))
    assert ranks.ndcg10[0] == pytest.approx(np.mean([(place <= 10) / log2(1 + place) for place in places]))
    assert ranks.reciprocal[0] == pytest.approx(np.mean([1 / place for place in places]))


def test_single_candidates_are_left_out_of_means():
    ranks = choice_ranks(*flatten([[1.0], [1.0, 0.0]]), np.array([0, 0]))
    assert ranks.mean() == dict.fromkeys(MEASURES, 1.0)


@pytest.mark.parametrize("rows", [[], [[1.0]]])
def test_mean_without_ranked_choices_raises(rows):
    scores, candidates = flatten(rows) if rows else (np.empty(0), Candidates(np.array([0]), np.empty(0, np.int32)))
    with pytest.raises(WalkError, match="none with 2 candidates or more"):
        choice_ranks(scores, candidates, np.zeros(len(rows), np.int32)).mean()


@pytest.mark.parametrize(
    ("scores", "nodes", "nexts", "error", "message"),
    [
        ([0.0, 1.0], [1, 2], [7], WalkError, "window 0, 7, is 0 times among its candidates"),
        ([0.0, 1.0], [1, 1], [1], WalkError, "window 0, 1, is 2 times"),
        ([0.0], [1, 2], [1], RankerError, r"shape \(1,\) .* each of the 2 candidates"),
        ([0.0, np.nan], [1, 2], [1], RankerError, "1 of them are NaN"),
    ],
)
def test_mismatched_input_raises(scores, nodes, nexts, error, message):
    candidates = Candidates(np.array([0, len(nodes)]), np.array(nodes, np.int32))
    with pytest.raises(error, match=message):
        choice_ranks(np.array(scores), candidates, np.array(nexts, np.int32))


def test_window_without_candidates_raises():
    with pytest.raises(WalkError, match="window 1, 0, is 0 times"):
        choice_ranks(np.array([1.0]), Candidates(np.array([0, 1, 1]), np.array([0], np.int32)), np.array([0, 0]))
