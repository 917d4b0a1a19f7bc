"""`evaluate_recommenders`: methods, re-ranked paths, and results."""

from __future__ import annotations

import json
import sys
from itertools import pairwise

import numpy as np
import pytest

import curiograph as cg
from curiograph.errors import MissingExtraError, SettingError, UnknownNameError
from curiograph.human.recommenders import rankers
from curiograph.human.recommenders.metrics import Catalog
from curiograph.human.recommenders.rankers import Discounted, Ease, ImplicitAls, Sampled
from curiograph.human.recommenders.results import RecommenderEvaluation, find_best_value
from curiograph.human.recommenders.splits import split_log
from curiograph.human.trajectories import Trajectories
from support import people


@pytest.fixture(scope="module")
def walks() -> Trajectories:
    """Users who like one of several groups of items, with times."""
    import pandas as pd

    return Trajectories.from_frame(pd.DataFrame(people.tastes(users=80, items=40), columns=["user", "item", "time"]))


@pytest.fixture(scope="module")
def found(walks) -> RecommenderEvaluation:
    return cg.human.evaluate_recommenders(
        walks, "last", ks=[5, 10], walkers=8, item_users=2, bases=["pagerank", "item-knn"]
    )


def test_methods_that_know_tastes_are_better_than_popularity(found):
    for method in ("item-knn", "ease", "rp3beta"):
        assert found.difference(method, "popularity", "ndcg@10").low > 0, method
    assert found["popularity"]["serendipity@10"].value < 0.01
    assert found["popularity"]["coverage@10"].value < found["item-knn"]["coverage@10"].value
    for result in found.values():
        for estimate in result.values():
            assert estimate.low <= estimate.value <= estimate.high


def test_measures_agree_with_each_other(found):
    for result in found.values():
        assert result["hit@5"].value <= result["hit@10"].value
        assert result["recall@10"].value == pytest.approx(result["hit@10"].value)  # one target per user
        assert result["ndcg@10"].value <= result["hit@10"].value


def test_same_seed_same_result(walks, found):
    again = cg.human.evaluate_recommenders(
        walks, "last", ks=[5, 10], walkers=8, item_users=2, methods=["als", "mixture"]
    )
    for method in again:
        assert dict(again[method]) == dict(found[method])


@pytest.mark.parametrize("split", ["time", "user"])
def test_other_splits(walks, split):
    result = cg.human.evaluate_recommenders(walks, split, methods=["popularity", "markov"], ks=[3], item_users=2)
    assert set(result) == {"popularity", "markov"}
    assert result.facts["graph"] is None
    assert 0 < result["markov"]["ndcg@3"].value <= 1


def test_frame_document_and_figure(found, tmp_path):
    frame = found.to_frame()
    assert list(frame.method) == list(found)
    assert {"mrr", "ndcg@10_low", "gini@5_high"} <= set(frame.columns)
    document = json.loads(json.dumps(found.to_dict()))
    restored = RecommenderEvaluation.from_dict(document)
    assert dict(restored["ease"]) == dict(found["ease"])
    restored.plot().savefig(tmp_path / "pareto.png")
    assert (tmp_path / "pareto.png").stat().st_size > 10_000
    assert "<table" in found._repr_html_()
    with pytest.raises(UnknownNameError, match="there is no method 'svd'"):
        found["svd"]
    with pytest.raises(UnknownNameError, match="there is no measure 'auc'"):
        found["ease"]["auc"]


def test_paths_are_compared_at_equal_accuracy(found):
    rows = found.compare_paths()
    assert [row["base"] for row in rows] == ["pagerank"] * 4 + ["item-knn"] * 4
    for row in rows:
        for kind in ("curious", "discounted", "sampled"):
            assert row[kind] >= row["base_value"]  # the base itself is on the path
        assert row["difference"]["low"] <= row["difference"]["high"]
    free = found.compare_paths(loss=0.99)
    assert all(a["sampled"] >= b["sampled"] for a, b in zip(free, rows, strict=True))
    with pytest.raises(SettingError, match="loss is 1"):
        found.compare_paths(loss=1)


def test_best_value_on_a_path_by_a_fine_grid():
    rng = np.random.default_rng(0)
    accuracy, values = rng.random((20, 5)) + 0.5, rng.random((20, 5))
    fine = np.linspace(0, 4, 40_001)
    for row in range(20):
        a, v = (np.interp(fine, np.arange(5), each[row]) for each in (accuracy, values))
        expected = v[a >= 0.9 * accuracy[row, 0]].max()
        assert find_best_value(accuracy, values, 0.1)[row] == pytest.approx(expected, abs=1e-3)


def test_ease_solves_a_ridge_regression_of_each_item_on_the_others(walks):
    from sklearn.linear_model import Ridge

    split = split_log(walks, "last", item_users=2)
    graph = cg.Graph.from_arrays(np.array([0]), np.array([1]), names=split.train.names)
    weights = Ease.from_walks(graph, split.train, l2=3.0).weights
    visits = Catalog.from_split(split).visitors.toarray()
    for item in (0, 5):
        others = np.delete(np.arange(split.num_items), item)
        ridge = Ridge(alpha=3.0, fit_intercept=False).fit(visits[:, others], visits[:, item])
        np.testing.assert_allclose(weights[others, item], ridge.coef_, atol=1e-8)
    assert not np.diag(weights).any()


def test_rankers_fulfill_the_contract():
    graph = cg.toys.library()
    walks = Trajectories.from_walks([list(graph.labels)[i : i + 5] for i in range(8)], graph=graph)
    base = cg.PageRankRanker()
    for ranker in (
        Ease.from_walks(graph, walks),
        Discounted(base, np.arange(graph.num_nodes), 0.5),
        Sampled(base, 0.5),
    ):
        cg.check_ranker(ranker, graph)


def test_als_fulfills_the_contract():
    pytest.importorskip("implicit")
    graph = cg.toys.library()
    walks = Trajectories.from_walks([list(graph.labels)[i : i + 5] for i in range(8)], graph=graph)
    cg.check_ranker(ImplicitAls.from_walks(graph, walks), graph)


def test_sampling_draws_in_proportion_to_scores():
    graph = cg.toys.complete(4)
    from curiograph.exploration.mdp import Candidates

    class Fixed(cg.Ranker):
        name = "fixed"

        def scores(self, graph, histories, candidates):
            return np.array([0.0, 1.0, 3.0])[candidates.nodes - 1]

    one = Candidates(np.array([0, 3]), np.array([1, 2, 3], np.int32))
    first = [np.argmax(Sampled(Fixed(), 1.0, seed).scores(graph, [np.array([0])], one)) for seed in range(2000)]
    assert np.bincount(first, minlength=3) / 2000 == pytest.approx([0, 0.25, 0.75], abs=0.03)


def test_missing_library_and_too_many_items_skip_a_method(walks, monkeypatch):
    monkeypatch.setitem(sys.modules, "implicit.als", None)
    monkeypatch.setattr(rankers, "MAX_EASE_ITEMS", 3)
    result = cg.human.evaluate_recommenders(walks, "last", methods=["popularity", "als", "ease"], item_users=2)
    assert list(result) == ["popularity"]
    assert "pip install 'curiograph[als]'" in result.skipped_methods["als"]
    assert "limited to 3 items" in result.skipped_methods["ease"]
    with pytest.raises(SettingError, match="no method is left"):
        cg.human.evaluate_recommenders(walks, "last", methods=["als"], item_users=2)
    with pytest.raises(MissingExtraError):
        ImplicitAls.from_walks(cg.toys.library(), walks)


def test_own_method_and_given_graph(walks):
    class Alphabet(cg.Ranker):
        name = "alphabet"

        @classmethod
        def from_walks(cls, graph, walks):
            return cls()

        def scores(self, graph, histories, candidates):
            return -candidates.nodes.astype(float)

    items = list(walks.names)
    ring = cg.Graph.from_edges([*pairwise(items), (items[0], "elsewhere")])
    result = cg.human.evaluate_recommenders(walks, "last", methods=["pagerank", Alphabet], graph=ring, item_users=2)
    assert result["alphabet"]["mrr"].value > 0
    assert result.facts["items_with_links"] <= len(items)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["svd"]}, "methods is 'svd'; the methods are popularity"),
        ({"methods": "ease"}, "give a list of names"),
        ({"ks": []}, "ks is \\[\\]"),
        ({"ks": [0]}, "k is 0"),
        ({"bases": ["ease"], "methods": ["popularity"]}, "bases is 'ease'"),
        ({"walkers": 0}, "walkers is 0"),
    ],
)
def test_bad_settings_are_named(walks, options, message):
    with pytest.raises(SettingError, match=message):
        cg.human.evaluate_recommenders(walks, "last", item_users=2, **options)
