"""`evaluate_recommenders`: measures against slow definitions, methods, and results."""

from __future__ import annotations

from functools import partial
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import ndcg_score

import curiograph as cg
from curiograph.errors import GraphError, SettingError, UnknownNameError
from curiograph.human.trajectories import Trajectories
from curiograph.recommendation import count_rankers
from curiograph.recommendation.evaluation import (
    METHODS,
    USER_MEASURES,
    Catalog,
    RecommenderEvaluation,
    measure_gini,
    measure_users,
    rank_items,
)
from curiograph.recommendation.log_split import split_log
from support import people

LINKS = partial(cg.human.cooccurrence_graph, fewest=2)
FEW = {"ks": [5], "item_users": 2}


@pytest.fixture(scope="module")
def walks() -> Trajectories:
    """Users who like one of several groups of items, with times."""
    return Trajectories.from_frame(pd.DataFrame(people.tastes(users=80, items=40), columns=["user", "item", "time"]))


@pytest.fixture(scope="module")
def found(walks) -> RecommenderEvaluation:
    return cg.evaluate_recommenders(walks, "last", ks=[5, 10], walkers=8, item_users=2, graph=LINKS)


# ---- measures -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    walks = Trajectories.from_walks([rng.permutation(20)[: rng.integers(4, 12)].tolist() for _ in range(60)])
    split = split_log(walks, "user", test=0.5, item_users=1, seed=1)
    catalog = Catalog.from_split(split)
    scores = rng.random((len(split.users), len(catalog.popular)))

    class Fixed(cg.Ranker):
        def scores(self, graph, histories, candidates):
            return scores[candidates.walks, candidates.nodes]

    graph = cg.Graph.from_edges([], nodes=list(split.train.names))
    return split, catalog, scores, *rank_items(Fixed(), graph, split, catalog, 8)


@pytest.mark.long  # ranx compiles its measures for a minute
@pytest.mark.parametrize("k", [1, 3, 8])
def test_accuracy_equals_ranx(case, k):
    ranx = pytest.importorskip("ranx")
    split, catalog, scores, top, popular, reciprocal = case
    qrels, run = {}, {}
    for row, (history, target) in enumerate(zip(split.histories, split.targets, strict=True)):
        qrels[f"u{row:03}"] = {str(item): 1 for item in target}
        run[f"u{row:03}"] = {str(i): float(scores[row, i]) for i in range(len(scores[row])) if i not in set(history)}
    names = [f"hit_rate@{k}", f"recall@{k}", f"ndcg@{k}", "mrr"]
    expected = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), names, return_mean=False)
    found = measure_users(top[:, :k], popular[:, :k], split.targets, catalog)
    for column, name in enumerate(names[:3]):
        np.testing.assert_allclose(found[:, column], expected[name], atol=1e-12)
    np.testing.assert_allclose(reciprocal, expected["mrr"], atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_other_measures_equal_their_definitions(case, k):
    split, catalog, scores, top, popular, _ = case
    measured = measure_users(top[:, :k], popular[:, :k], split.targets, catalog)
    found = dict(zip(USER_MEASURES, measured.T, strict=True))
    train, size = split.train, len(catalog.popular)
    visitors = [{int(train.users[walk]) for walk in range(len(train)) if v in train.walk(walk)} for v in range(size)]
    for row, (history, target) in enumerate(zip(split.histories, split.targets, strict=True)):
        listed, wanted = top[row, :k].tolist(), set(target.tolist())
        unseen = [v for v in np.argsort(-scores[row]).tolist() if v not in set(history)]
        assert listed == unseen[:k]
        ranked = np.where(np.isin(np.arange(size), unseen), scores[row], -1)
        hits = [v in wanted for v in listed]
        assert found["hit"][row] == any(hits)
        assert found["recall"][row] == pytest.approx(sum(hits) / len(wanted))
        assert found["ndcg"][row] == pytest.approx(ndcg_score([[v in wanted for v in range(size)]], [ranked], k=k))
        novelty = np.mean([-np.log2(len(visitors[v]) / train.num_users) for v in listed])
        assert found["novelty"][row] == pytest.approx(novelty)
        popular_unseen = [v for v in catalog.popular.tolist() if v not in set(history)][:k]
        assert [len(visitors[v]) for v in popular_unseen] == sorted([len(visitors[v]) for v in unseen])[::-1][:k]
        assert found["serendipity"][row] == sum(v in wanted and v not in popular_unseen for v in listed) / k
        distances = [
            1 - len(visitors[a] & visitors[b]) / np.sqrt(len(visitors[a]) * len(visitors[b]))
            for a, b in combinations(listed, 2)
        ]
        assert found["diversity"][row] == pytest.approx(np.mean(distances) if distances else np.nan, nan_ok=True)


def test_gini_equals_the_mean_difference():
    counts = np.random.default_rng(0).integers(0, 5, size=(3, 9)).astype(float)
    slow = [np.abs(row[:, None] - row).mean() / (2 * row.mean()) for row in counts]
    np.testing.assert_allclose(measure_gini(counts), slow)
    assert measure_gini(np.eye(1, 50))[0] == pytest.approx(0.98)


# ---- methods --------------------------------------------------------------------------------------------------------


def test_methods_that_know_tastes_are_better_than_popularity(found):
    assert tuple(found.estimates) == METHODS
    for method in ("item-knn", "ease"):
        assert found.difference(method, "popularity", "ndcg@10").low > 0, method
    assert found.estimates["popularity"]["serendipity@10"].value == 0
    assert found.estimates["popularity"]["coverage@10"].value < found.estimates["item-knn"]["coverage@10"].value
    for each in found.estimates.values():
        assert all(estimate.low <= estimate.value <= estimate.high for estimate in each.values())
        assert each["ndcg@10"].value <= each["hit@10"].value
        assert each["hit@5"].value <= each["hit@10"].value == pytest.approx(each["recall@10"].value)  # one target each
        for measure in ("coverage@5", "gini@10"):
            assert 0 <= each[measure].low <= each[measure].high <= 1


def test_samples_are_paired_and_the_same_seed_gives_the_same_result(walks, found):
    options = {"ks": [5, 10], "walkers": 8, "item_users": 2, "graph": LINKS}
    again = cg.evaluate_recommenders(walks, "last", methods=["ease", "mixture"], **options)
    for method, estimates in again.estimates.items():
        assert estimates == found.estimates[method]
        assert np.array_equal(again.samples[method]["mrr"], found.samples[method]["mrr"])
    hits = found.estimates["ease"]["hit@5"].value
    spread = np.sqrt(hits * (1 - hits) / found.facts["test_users"])
    assert found.samples["ease"]["hit@5"].std() == pytest.approx(spread, rel=0.1)


def test_only_markov_depends_on_sessions(walks):
    log = pd.DataFrame(people.tastes(users=80, items=40), columns=["user", "item", "time"])
    apart = Trajectories.from_frame(log.assign(session=log.index), session="session")
    assert len(apart) > len(walks)
    methods = ["popularity", "markov", "item-knn", "ease"]
    first, second = (
        cg.evaluate_recommenders(each, "last", methods=methods, **FEW).estimates for each in (walks, apart)
    )
    assert [name for name in methods if first[name] != second[name]] == ["markov"]


def test_own_rankers_get_the_links_of_the_graph(walks):
    class Own:
        name = "own"

        @classmethod
        def from_walks(cls, graph, walks):
            assert graph.num_nodes == len(walks.names)
            return cg.PageRankRanker(name="another")

    items = list(walks.names)
    ring = cg.Graph.from_edges([*pairwise(items), (items[0], "elsewhere")])
    for graph in (LINKS, ring):
        methods = ["pagerank", Own, cg.PageRankRanker(name="third")]
        result = cg.evaluate_recommenders(walks, "last", methods=methods, graph=graph, **FEW)
        assert result.estimates["own"] == result.estimates["pagerank"] == result.estimates["third"]
        assert 0 < result.facts["items_with_links"] <= len(items)
    with pytest.raises(SettingError, match="'curious'"):
        cg.evaluate_recommenders(walks, "last", methods=[cg.CuriousRanker(), cg.CuriousRanker(walks=4)])


def test_methods_that_cannot_be_fitted_are_skipped(walks, monkeypatch):
    monkeypatch.setattr(count_rankers, "MAX_EASE_ITEMS", 3)
    methods = ["popularity", "ease", "mixture", cg.CuriousRanker(name="mine")]
    result = cg.evaluate_recommenders(walks, "last", methods=methods, **FEW)
    assert list(result.estimates) == ["popularity"]
    assert "3 items" in result.skipped_methods["ease"]
    assert result.skipped_methods.keys() == {"ease", "mixture", "mine"}  # the last two need links
    with pytest.raises(SettingError, match="no method is left"):
        cg.evaluate_recommenders(walks, "last", methods=["ease"], **FEW)
    apart = Trajectories.from_walks([["a"], ["b"], ["c"]] * 4 + [["a", "b"], ["b", "c"], ["c", "a"]])
    links = partial(cg.human.cooccurrence_graph, fewest=1)
    methods = ["popularity", "mixture"]
    found = cg.evaluate_recommenders(apart, "last", item_users=1, ks=[1], methods=methods, graph=links)
    assert "3 items" in found.skipped_methods["mixture"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["svd"]}, "'svd'"),
        ({"methods": "ease"}, "'ease'"),
        ({"ks": []}, "ks is \\[\\]"),
        ({"ks": 10}, "ks is 10"),
        ({"ks": [0]}, "k is 0"),
        ({"walkers": 0}, "walkers is 0"),
        ({"graph": [(1, 2)]}, "list"),
    ],
)
def test_bad_settings_are_named(walks, options, message):
    with pytest.raises((SettingError, GraphError, UnknownNameError), match=message):
        cg.evaluate_recommenders(walks, "last", item_users=2, **options)


def test_answer_says_what_was_left_out_and_whether_the_graph_knows_test_events(walks):
    found = cg.evaluate_recommenders(walks, "last", methods=["popularity", "pagerank"], **FEW)
    assert "Left out: pagerank, it needs links; give graph=" in repr(found)
    with pytest.raises(UnknownNameError, match="'pagerank'"):
        found.difference("pagerank", "popularity", "mrr")
    assert set(cg.evaluate_recommenders(walks, "last", **FEW).estimates) <= set(count_rankers.FITTED_RANKERS)
    build = partial(cg.human.cooccurrence_graph, fewest=1)
    for graph, knows_more in ((build, False), (build(walks), True)):
        found = cg.evaluate_recommenders(walks, "last", methods=["pagerank"], graph=graph, **FEW)
        assert found.to_dict()["graph_knows_test_events"] == ("may know test items" in found.answer) == knows_more


def test_pagerank_is_evaluated_with_recency_and_alpha():
    lists = [["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"], ["d", "c", "b"]] * 3
    walks = cg.human.Trajectories.from_walks(lists)
    settings = {"ks": [2], "item_users": 1, "graph": cg.human.cooccurrence_graph}
    named = cg.evaluate_recommenders(walks, "last", methods=["pagerank:0.5"], alpha=0.2, **settings)
    given = cg.evaluate_recommenders(walks, "last", methods=[cg.PageRankRanker(0.2, 0.5)], **settings)
    assert named.estimates["pagerank:0.5"] == given.estimates["pagerank"]
    with pytest.raises(cg.SettingError, match="recency is 2"):
        cg.evaluate_recommenders(walks, "last", methods=["pagerank:2"], **settings)
