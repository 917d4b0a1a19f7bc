"""Measures of recommendation lists, checked against ranx and against slow definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from curiograph.human.recommenders.metrics import (
    USER_MEASURES,
    Catalog,
    Lists,
    measure_gini,
    rank_items,
    resample_measures,
)
from curiograph.human.recommenders.splits import split_log
from curiograph.human.trajectories import Trajectories


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    walks = Trajectories.from_walks([rng.permutation(20)[: rng.integers(4, 12)].tolist() for _ in range(60)])
    split = split_log(walks, "user", test=0.5, item_users=1, seed=1)
    catalog = Catalog.from_split(split)
    scores = rng.random((len(split.users), split.num_items))
    orders = [rank_items(row, history, catalog) for row, history in zip(scores, split.histories, strict=True)]
    reciprocal = np.array(
        [1 / (1 + np.argmax(np.isin(order, target))) for order, target in zip(orders, split.targets, strict=True)]
    )
    lists = Lists(np.stack([order[:8] for order in orders]), reciprocal)
    popular = [catalog.list_popular(history, 8) for history in split.histories]
    return split, catalog, scores, lists, popular


@pytest.mark.long  # ranx compiles its measures for a minute
@pytest.mark.parametrize("k", [1, 3, 8])
def test_accuracy_equals_ranx(case, k):
    ranx = pytest.importorskip("ranx")
    split, catalog, scores, lists, popular = case
    qrels, run = {}, {}
    for row, (history, target) in enumerate(zip(split.histories, split.targets, strict=True)):
        qrels[f"u{row:03}"] = {str(item): 1 for item in target}
        run[f"u{row:03}"] = {str(i): float(scores[row, i]) for i in range(split.num_items) if i not in set(history)}
    names = [f"hit_rate@{k}", f"recall@{k}", f"ndcg@{k}", "mrr"]
    expected = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), names, return_mean=False)
    found = lists.measure_users(k, split.targets, popular, catalog)
    for column, name in enumerate(names[:3]):
        np.testing.assert_allclose(found[:, column], expected[name], atol=1e-12)
    np.testing.assert_allclose(lists.reciprocal, expected["mrr"], atol=1e-12)


def rank_scores(top, size):
    """Return scores by which the listed items come first, in order."""
    scores = -np.arange(size, dtype=float) - 100
    scores[top] = -np.arange(len(top), dtype=float)
    return scores


@pytest.mark.parametrize("k", [1, 2, 5])
def test_other_measures_equal_their_definitions(case, k):
    split, catalog, _, lists, popular = case
    found = dict(zip(USER_MEASURES, lists.measure_users(k, split.targets, popular, catalog).T, strict=True))
    visitors = [
        {
            user
            for user, walk in zip(split.train.users, range(len(split.train)), strict=True)
            if v in split.train.walk(walk)
        }
        for v in range(split.num_items)
    ]
    num_users = split.train.num_users
    for row, (history, target) in enumerate(zip(split.histories, split.targets, strict=True)):
        top = lists.top[row, :k].tolist()
        found_items = [v in set(target) for v in top]
        assert found["hit"][row] == any(found_items)
        assert found["recall"][row] == pytest.approx(sum(found_items) / len(target))
        assert found["ndcg"][row] == pytest.approx(
            ndcg_score([[v in set(target) for v in range(split.num_items)]], [rank_scores(top, split.num_items)], k=k)
        )
        novelty = np.mean([-np.log2(len(visitors[v]) / num_users) for v in top])
        assert found["novelty"][row] == pytest.approx(novelty)
        unseen = [v for v in catalog.popular.tolist() if v not in set(history)]
        serendipity = len([v for v in top if v in set(target) and v not in unseen[:k]]) / k
        assert found["serendipity"][row] == pytest.approx(serendipity)
        distances = [
            1 - len(visitors[a] & visitors[b]) / np.sqrt(len(visitors[a]) * len(visitors[b]))
            for a, b in combinations(top, 2)
        ]
        assert found["diversity"][row] == pytest.approx(np.mean(distances) if distances else np.nan, nan_ok=True)


def test_popular_items_have_no_serendipity_and_come_first_among_ties(case):
    split, catalog, *_, popular = case
    tops = [rank_items(np.zeros(split.num_items), history, catalog)[:8] for history in split.histories]
    assert all(np.array_equal(a, b) for a, b in zip(tops, popular, strict=True))
    counts = catalog.counts[tops[0]]
    assert (np.diff(counts) <= 0).all()


def test_gini_equals_the_mean_difference():
    counts = np.random.default_rng(0).integers(0, 5, size=(3, 9)).astype(float)
    slow = [np.abs(row[:, None] - row).mean() / (2 * row.mean()) for row in counts]
    np.testing.assert_allclose(measure_gini(counts), slow)
    assert measure_gini(np.eye(1, 50))[0] == pytest.approx(0.98)


def test_samples_are_paired_and_have_the_right_spread(case):
    split, catalog, _, lists, popular = case
    values = lists.measure_users(5, split.targets, popular, catalog)
    counts = lists.count_items(5, split.num_items)
    means, listed = resample_measures(values, counts)
    again, _ = resample_measures(values, counts)
    assert np.array_equal(means, again)
    assert means[:, 1].std() == pytest.approx(values[:, 1].std() / np.sqrt(len(values)), rel=0.1)
    assert listed["coverage"].mean() <= len(np.unique(lists.top[:, :5])) / split.num_items
