"""Rankers that are fitted to walks, against slow reference implementations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.recommendation import count_rankers
from curiograph.recommendation.count_rankers import FITTED_RANKERS, Ease, ItemKnn, Markov, Popularity, fit_ranker
from support.rankers import make_walks, random_walks, score_all_nodes

SIZE = 6
RING = cg.Graph.from_edges([(i, (i + 1) % SIZE) for i in range(SIZE)])
ONE_WAY = cg.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (4, 0)], directed=True)

some_walks = st.lists(st.lists(st.integers(0, SIZE - 1), max_size=6), max_size=8)
some_histories = st.lists(
    st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=4, unique=True), min_size=1, max_size=4
)


def list_steps(walks):
    """Pairs of consecutive nodes that differ."""
    return [(a, b) for walk in walks for a, b in pairwise(walk) if a != b]


@pytest.mark.parametrize("name", FITTED_RANKERS)
def test_fitted_rankers_fulfill_the_contract_and_recommend(name):
    for graph in (cg.toys.library(), cg.toys.grid(3, 3), ONE_WAY):
        for walks in (random_walks(graph), make_walks(graph, [])):
            cg.check_ranker(fit_ranker(name, graph, walks), graph)
    graph, walks = cg.toys.library(), random_walks(cg.toys.library())
    ranker = fit_ranker(name, graph, walks)
    top = cg.Recommender(graph, cg.MixtureRanker({"pagerank": cg.PageRankRanker(), name: ranker})).recommend(["music"])
    assert top.components == ["pagerank", name]
    wanted = score_all_nodes(ranker, graph, [[graph.position("music")]])[0]
    best = cg.recommend(graph, ["music"], k=3, ranker=ranker)
    assert [score for _, score in best] == sorted(np.delete(wanted, graph.position("music")), reverse=True)[:3]
    with pytest.raises(cg.errors.RankerError, match="12 nodes"):
        cg.check_ranker(ranker, ONE_WAY)
    with pytest.raises(cg.errors.WalkError, match=r"walks\.on\(graph\)"):
        fit_ranker(name, ONE_WAY, walks)


@given(some_walks, some_histories)
def test_popularity_counts_steps_or_users(walks, histories):
    trajectories = make_walks(RING, walks)
    steps, users = np.zeros(SIZE), np.zeros(SIZE)
    for _, node in list_steps(walks):
        steps[node] += 1
    for walk in walks:
        users[list(set(walk))] += 1
    for by_user, expected in ((False, steps), (True, users)):
        found = score_all_nodes(Popularity.from_walks(RING, trajectories, by_user=by_user), RING, histories)
        assert np.array_equal(found, np.tile(expected / max(expected.sum(), 1), (len(histories), 1)))


@given(some_walks, some_histories, st.sampled_from([0.5, 1, 20]))
def test_markov_matches_its_formula(walks, histories, k):
    taken = list_steps(walks)
    found = score_all_nodes(Markov.from_walks(RING, make_walks(RING, walks), k), RING, histories)
    for row, history in enumerate(histories):
        leaving = [b for a, b in taken if a == history[-1]]
        for node in range(SIZE):
            share = sum(b == node for _, b in taken) / max(len(taken), 1)
            assert found[row, node] == pytest.approx((leaving.count(node) + k * share) / (len(leaving) + k))


@given(some_walks, some_histories, st.integers(1, SIZE))
def test_item_knn_matches_dense_matrices(walks, histories, neighbors):
    seen = np.zeros((len(walks), SIZE))
    for row, walk in enumerate(walks):
        seen[row, walk] = 1
    length = np.sqrt(np.maximum(seen.sum(axis=0), 1))
    similar = (seen.T @ seen) / (length[:, None] * length)
    nearest = np.zeros_like(similar)
    for row in range(SIZE):
        others = [column for column in range(SIZE) if column != row]
        for column in sorted(others, key=lambda j: (-similar[row, j], j))[:neighbors]:
            nearest[row, column] = similar[row, column]
    found = score_all_nodes(ItemKnn.from_walks(RING, make_walks(RING, walks), neighbors), RING, histories)
    sums = [nearest[history].sum(axis=0) for history in histories]
    np.testing.assert_allclose(found, [each / (each.sum() or 1) for each in sums], atol=1e-12)


def test_ease_solves_a_ridge_regression_of_each_item_on_the_others():
    from sklearn.linear_model import Ridge

    graph = cg.toys.library()
    walks = random_walks(graph)
    visits = np.zeros((len(walks), graph.num_nodes))
    for row in range(len(walks)):
        visits[row, walks.walk(row)] = 1
    weights = Ease.from_walks(graph, walks, l2=3.0).weights
    for item in (0, 5):
        others = np.delete(np.arange(graph.num_nodes), item)
        ridge = Ridge(alpha=3.0, fit_intercept=False).fit(visits[:, others], visits[:, item])
        np.testing.assert_allclose(weights[others, item], ridge.coef_, atol=1e-8)
    assert not np.diag(weights).any()


def test_scores_of_all_rankers_have_the_same_scale():
    graph = cg.toys.library()
    walks = random_walks(graph)
    histories = [[0], [1, 2, 3], list(range(8))]
    for name in FITTED_RANKERS:
        totals = np.abs(score_all_nodes(fit_ranker(name, graph, walks), graph, histories)).sum(axis=1)
        assert np.all(totals <= 1 + 1e-9) if name == "ease" else totals == pytest.approx(1)


def test_invalid_settings_raise(monkeypatch):
    walks = random_walks(RING)
    for kind, settings, message in (
        (Markov, {"k": 0}, "k is 0"),
        (Markov, {"k": float("nan")}, "k is nan"),
        (ItemKnn, {"neighbors": 0}, "neighbors is 0"),
        (Ease, {"l2": -1}, "l2 is -1"),
    ):
        with pytest.raises(cg.SettingError, match=message):
            kind.from_walks(RING, walks, **settings)
    with pytest.raises(cg.errors.UnknownNameError, match="'svd'"):
        fit_ranker("svd", RING, walks)
    with pytest.raises(cg.SettingError, match="'events'"):
        fit_ranker("ease", RING, "events")
    monkeypatch.setattr(count_rankers, "MAX_EASE_ITEMS", 3)
    with pytest.raises(cg.SettingError, match="3 items"):
        fit_ranker("ease", RING, walks)
