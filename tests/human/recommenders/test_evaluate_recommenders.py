"""`evaluate_recommenders`: methods, re-ranked paths, and results."""

from __future__ import annotations

import json
import sys
from itertools import pairwise

import numpy as np
import pytest

import curiograph as cg
from curiograph.errors import GraphError, MissingExtraError, RankerError, SettingError, UnknownNameError, WalkError
from curiograph.human.recommenders import rankers
from curiograph.human.recommenders.metrics import Catalog
from curiograph.human.recommenders.rankers import Blend, Discounted, Ease, ImplicitAls, Sampled
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
    assert found["popularity"]["serendipity@10"].value == 0  # both are in the order of training users
    assert found["popularity"]["coverage@10"].value < found["item-knn"]["coverage@10"].value
    for result in found.values():
        for estimate in result.values():
            assert estimate.low <= estimate.value <= estimate.high
        for measure in ("coverage@5", "coverage@10", "gini@5", "gini@10"):
            assert 0 <= result[measure].low <= result[measure].high <= 1


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
    assert json.loads(json.dumps(restored.to_dict())) == document
    for compare in (restored.compare_paths, lambda: restored.difference("ease", "als", "ndcg@10")):
        with pytest.raises(SettingError, match="has no bootstrap samples"):
            compare()
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


@pytest.mark.parametrize("ranker", [Blend, Discounted, Sampled])
def test_negative_scores_are_not_reranked(walks, ranker):
    class Negative(cg.Ranker):
        name = "negative"

        def scores(self, graph, histories, candidates):
            return -1.0 - candidates.nodes

    graph = cg.toys.complete(4)
    arguments = {Blend: (cg.PageRankRanker(), 0.5), Discounted: (np.ones(4), 0.5), Sampled: (0.5,)}
    with pytest.raises(RankerError, match="'negative' gave the score -4, and negative scores cannot be re-ranked"):
        cg.check_ranker(ranker(Negative(), *arguments[ranker]), graph)


def test_all_sessions_of_a_user_count_as_one(walks):
    """Only markov depends on how the events of a user are divided into sessions."""
    import pandas as pd

    log = pd.DataFrame(people.tastes(users=80, items=40), columns=["user", "item", "time"])
    apart = Trajectories.from_frame(log.assign(session=log.index), session="session")
    assert len(apart) > len(walks)
    methods = ["popularity", "markov", "item-knn", "rp3beta", "ease"]
    first, second = (
        cg.human.evaluate_recommenders(each, "last", methods=methods, ks=[5], item_users=2) for each in (walks, apart)
    )
    assert [name for name in methods if dict(first[name]) != dict(second[name])] == ["markov"]


def test_popularity_counts_the_first_event_of_a_user():
    walks = Trajectories.from_walks([["hit", "x", "new"], ["x", "z", "hit"]] * 4 + [["x", "w", "new"]] * 2)
    found = cg.human.evaluate_recommenders(walks, "last", methods=["popularity"], ks=[1], item_users=1)
    assert found["popularity"]["hit@1"].value == 1  # after x and z, hit comes before w; new is not in the catalog


def test_methods_of_ones_own_get_the_links_of_the_graph(walks):
    seen = []

    class Own:
        name = "own"

        @classmethod
        def from_walks(cls, graph, walks):
            seen.append(graph.num_edges)
            return cg.PageRankRanker(name="another")

    ring = cg.Graph.from_edges(list(pairwise(walks.names)))
    options = {"ks": [5], "item_users": 2}
    for graph in (None, ring):
        own = cg.human.evaluate_recommenders(walks, "last", methods=["popularity", Own], graph=graph, **options)
        named = cg.human.evaluate_recommenders(walks, "last", methods=["pagerank"], graph=graph, **options)
        assert dict(own["own"]) == dict(named["pagerank"])
        assert own.facts["graph"] == named.facts["graph"]
    assert seen[0] > 0
    assert seen[1] == ring.num_edges
    curious = cg.CuriousRanker("greedy", "igt", walks=8)
    alone = cg.human.evaluate_recommenders(walks, "last", methods=["popularity", curious], **options)
    assert alone["curious"]["coverage@5"].value != alone["popularity"]["coverage@5"].value
    counted = cg.human.evaluate_recommenders(walks, "last", methods=["popularity"], graph=ring, **options)
    assert counted.facts["items_with_links"] == len(ring.labels)
    with pytest.raises(SettingError, match="two methods are named 'curious'; give them different names"):
        cg.human.evaluate_recommenders(walks, "last", methods=[curious, cg.CuriousRanker(walks=4)])


@pytest.mark.parametrize(("item", "label"), [(str, int), (int, str)])
def test_labels_match_as_text_or_numbers(item, label):
    lists = [[item((user * step) % 11) for step in range(1, 8)] for user in range(1, 30)]
    walks = Trajectories.from_walks(lists)
    ring = cg.Graph.from_edges([(label(v), label(v + 1)) for v in range(1, 10)])
    found = cg.human.evaluate_recommenders(walks, "last", methods=["pagerank"], graph=ring, item_users=1)
    assert found.facts["graph"] == repr(ring)


def test_only_methods_with_links_are_skipped_without_links():
    apart = Trajectories.from_walks([["a"], ["b"], ["c"]] * 4 + [["a", "b"], ["b", "c"], ["c", "a"]])
    found = cg.human.evaluate_recommenders(apart, "last", item_users=1, ks=[1], methods=["popularity", "mixture"])
    assert list(found) == ["popularity"]
    assert found.facts["graph"] is None
    assert "no two of the 3 items were visited by the same user" in found.skipped_methods["mixture"]
    with pytest.raises(WalkError, match="no two of the 3 items"):
        cg.human.evaluate_recommenders(apart, "last", item_users=1, methods=["popularity"], bases=["popularity"])
    few = Trajectories.from_walks([["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"], ["c", "b", "a"]])
    found = cg.human.evaluate_recommenders(few, "last", item_users=1, ks=[1], methods=["popularity", "pagerank"])
    assert not found.skipped_methods


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
        ({"bases": "pagerank"}, "bases is 'pagerank'; give a list of methods"),
        ({"bases": ["als"]}, "bases is 'als', whose scores may be negative"),
        ({"max_users": "10"}, "max_users is '10'"),
        ({"test": 0.5}, "test is 0.5, but the last split"),
        ({"graph": [(1, 2)]}, "is a list, not a curiograph Graph"),
        (
            {"neighbours": 3},
            "there is no option 'neighbours'; the options of the graph are similarity, keep, neighbors",
        ),
        ({"graph": cg.toys.cycle(3), "neighbors": 3}, r"options of the co-occurrence graph \(neighbors\) are given"),
        ({"neighbors": 0}, "neighbors is 0"),
    ],
)
def test_bad_settings_are_named(walks, options, message):
    with pytest.raises((SettingError, GraphError), match=message):
        cg.human.evaluate_recommenders(walks, "last", item_users=2, **options)
