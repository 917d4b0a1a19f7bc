"""Recommendations against the definitions: candidates and scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.graph.labels import as_labels
from support.small_graphs import graphs, histories

BY_DEGREE = cg.CuriousRanker("max-degree", p_g=0.5, name="degree")


def list_labels(top) -> list:
    return [label for label, _ in top]


def test_rankers_of_weight_zero_are_left_out():
    graph, alone = cg.toys.cycle(20), cg.CuriousRanker("greedy", "igt", name="igt")
    mixed = cg.Recommender(graph, weights={"igt": 2, "cpt": 0})
    top = mixed.recommend([0], 9)
    assert list(top) == list(cg.recommend(graph, [0], 9, ranker=alone))
    assert (len(top), top.components, list(mixed.part_rankers)) == (6, ["igt"], ["igt"])  # three steps either way


def allowed(graph: cg.Graph, history: list, which: str) -> set:
    """Return the candidates by definition."""
    seen = set(history)
    if which == "all":
        return set(graph.labels) - seen
    around = set(graph.neighbors(history[-1])) - seen
    if which == "last" and around:
        return around
    return {v for u in seen for v in graph.neighbors(u)} - seen


def reachable(graph: cg.Graph, history: list) -> set:
    found, todo = set(), list(history)
    while todo:
        u = todo.pop()
        if u not in found:
            found.add(u)
            row = graph.position(u)
            slots = range(graph.indptr[row], graph.indptr[row + 1])
            todo += [graph.label(graph.indices[s]) for s in slots if graph.weights is None or graph.weights[s] > 0]
    return found


# ---- candidates ------------------------------------------------------------------------------------------------------


@given(st.data(), st.sampled_from(["last", "history", "all"]), st.sampled_from(["pagerank", BY_DEGREE]))
def test_candidates_follow_the_definition(data, which, ranker):
    g = data.draw(graphs())
    history = data.draw(histories(g))
    top = cg.recommend(g, history, k=50, candidates=which, ranker=ranker)
    wanted = allowed(g, history, which)
    if which == "all" and ranker == "pagerank":
        wanted = wanted & reachable(g, history) or wanted  # if nothing is reached, the most popular
    if which == "all" and ranker is BY_DEGREE:
        linked = reachable(cg.Graph(g.indptr, g.indices, directed=g.directed), history)
        assert set(list_labels(top)) <= (wanted & linked or wanted)
    else:
        assert set(list_labels(top)) == wanted
    assert len(list_labels(top)) == len(set(list_labels(top)))
    assert not set(list_labels(top)) & set(history)
    scores = [score for _, score in top]
    assert scores == sorted(scores, reverse=True)
    assert list_labels(cg.recommend(g, history, k=2, candidates=which, ranker=ranker)) == list_labels(top)[:2]


def test_last_node_may_be_a_revisit():
    g = cg.Graph.from_edges([("a", "b"), ("a", "x"), ("b", "y")])
    assert list_labels(cg.recommend(g, ["a", "b", "a"], candidates="last", ranker="pagerank")) == ["x"]
    assert list_labels(cg.recommend(g, ["a", "b"], candidates="last", ranker="pagerank")) == ["y"]
    assert cg.recommend(g, ["a", "b", "a"], ranker="pagerank").history == ["a", "b"]


def test_custom_rankers_may_offer_scores_of_zero():
    class Even:
        name = "even"

        def scores(self, graph, histories, candidates):
            return -(candidates.nodes % 2).astype(float)

    g = cg.Graph.from_edges([(0, 1), (2, 3), (3, 4)])
    assert cg.recommend(g, [0], ranker=Even()) == [(2, 0.0), (4, 0.0), (1, -1.0), (3, -1.0)]


def test_histories_may_be_lists_tuples_arrays_or_walks():
    g = cg.toys.cycle(6)
    wanted = [cg.recommend(g, [0, 1], ranker="pagerank"), cg.recommend(g, [2, 3], ranker="pagerank")]
    for several in ([[0, 1], [2, 3]], [(0, 1), (2, 3)], np.array([[0, 1], [2, 3]]), [np.array([0, 1]), [2, 3]]):
        assert list(map(list_labels, cg.recommend(g, several, ranker="pagerank"))) == list(map(list_labels, wanted))
    grid = cg.toys.grid(3, 3)
    assert len(cg.recommend(grid, [((0, 0), (0, 1)), ((1, 1),)], ranker="pagerank")) == 2
    walk = cg.explore(g, "greedy", "igt", 0, 3)
    assert list_labels(cg.recommend(g, walk, ranker="pagerank")) == list_labels(
        cg.recommend(g, walk.nodes, ranker="pagerank")
    )


@pytest.mark.parametrize("which", ["last", "history", "all"])
@pytest.mark.parametrize("ranker", ["pagerank", BY_DEGREE])
def test_batch_equals_single_users(which, ranker):
    g = cg.generate("ws", nodes=40, seed=2)
    many = [[v, (7 * v) % 40, v] for v in range(40)]
    together = cg.recommend(g, many, k=5, candidates=which, ranker=ranker)
    for history, top in zip(many, together, strict=True):
        alone = cg.recommend(g, history, k=5, candidates=which, ranker=ranker)
        assert list_labels(top) == list_labels(alone)
        np.testing.assert_allclose([s for _, s in top], [s for _, s in alone], rtol=0, atol=2e-10)


# ---- scores ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, {"pagerank": 3, "igt": -4}, {"pagerank": -1, "igt": 0.5, "cpt": 2}])
def test_mixture_is_the_weighted_sum_on_the_unit_sphere(weights):
    g, history = cg.toys.library(), ["music", "logic"]
    rankers = {"pagerank": cg.PageRankRanker()}
    rankers |= {name: cg.CuriousRanker("greedy", name, steps=None) for name in ("igt", "cpt")}
    top = cg.recommend(g, history, k=12, ranker=cg.MixtureRanker(rankers, weights))
    given = weights or {"pagerank": 1, "igt": 1, "cpt": 1}
    length = sum(w * w for w in given.values()) ** 0.5
    parts = {
        "pagerank": cg.pagerank(g, 0.85, history).scores,
        "igt": cg.curious_pagerank(g, "greedy", 0.85, history, reward="igt", exact=True).scores,
        "cpt": cg.curious_pagerank(g, "greedy", 0.85, history, reward="cpt", exact=True).scores,
    }
    wanted = sum(w / length * parts[name] for name, w in given.items())
    for label, score in top:  # 256 walkers a node, against all paths
        assert score == pytest.approx(wanted[g.position(label)], abs=0.01)
    only = cg.recommend(g, history, k=12, weights={"pagerank": -2})
    for label, score in only:
        assert score == pytest.approx(-parts["pagerank"][g.position(label)], abs=1e-9)


# ---- large graphs, bad input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["last", "all"])
@pytest.mark.parametrize("directed", [False, True])
def test_local_push_agrees_with_the_exact_solution(monkeypatch, directed, which):
    rng = np.random.default_rng(0)
    hubs = (3000 * rng.random(12000) ** 3).astype(int)
    g = cg.Graph.from_edges(np.column_stack([rng.integers(0, 3000, 12000), hubs]), directed=directed)
    many = [g.labels[i : i + 3] for i in range(0, 60, 3)]
    whole = cg.recommend(g, many, k=5, candidates=which, ranker="pagerank")
    monkeypatch.setattr("curiograph.recommendation.rankers.MAX_EXACT_NODES", 0)
    monkeypatch.setattr("curiograph.recommendation.rankers.MAX_SOLVED_NODES", 0)
    around = cg.recommend(g, many, k=5, candidates=which, ranker="pagerank")
    for exact, close in zip(map(dict, whole), map(dict, around), strict=True):
        shared = exact.keys() & close.keys()
        assert len(shared) >= len(exact) - 1
        assert all(abs(close[v] - exact[v]) < 0.05 * exact[v] for v in shared)


@pytest.mark.parametrize(
    ("history", "settings", "error", "message"),
    [
        ("music", {}, cg.errors.WalkError, "'music'"),
        (3, {}, cg.errors.WalkError, "the history is 3"),
        (np.array(3), {}, cg.errors.WalkError, "the history is array(3)"),
        (["musik"], {}, cg.UnknownNodeError, "'musik'"),
        ([["music"], ["musik"]], {}, cg.UnknownNodeError, "history 1: the graph has no node 'musik'"),
        (["music"], {"exclude": "logic"}, cg.SettingError, "'logic'"),
        (["music"], {"filter": 3}, cg.SettingError, "filter is 3"),
        (["music"], {"unknown": "ignore"}, cg.errors.UnknownNameError, "'ignore'"),
        (["music"], {"diversity": 1.5}, cg.SettingError, "1.5"),
        (["music"], {"k": 0}, cg.SettingError, "k is 0"),
        (["music"], {"alpha": 1}, cg.SettingError, "alpha is 1"),
        (["music"], {"candidates": "near"}, cg.errors.UnknownNameError, "'near'"),
        (["music"], {"weights": {"joy": 1}}, cg.SettingError, "'joy'"),
    ],
)
def test_bad_input(history, settings, error, message):
    with pytest.raises(error) as caught:
        cg.recommend(cg.toys.library(), history, **settings)
    assert message in str(caught.value)


def test_a_list_longer_than_the_graph_has_all_that_is_reached():
    for settings in ({}, {"diversity": 0.5}, {"filter": lambda label: True}):
        assert len(cg.recommend(cg.toys.library(), ["music"], k=10**30, ranker="pagerank", **settings)) == 11


def test_recent_visits_weigh_more():
    g = cg.toys.library()
    recommender = cg.Recommender(g, cg.PageRankRanker(alpha=0.6, recency=0.5))
    expected = cg.pagerank(g, alpha=0.6, history={"music": 0.25, "logic": 0.5, "physics": 1}).scores
    for _ in range(2):
        top = recommender.recommend(["music", "logic", "physics"], k=5)
        assert [score for _, score in top] == pytest.approx([expected[g.position(label)] for label in list_labels(top)])
        cg.check_ranker(recommender.ranker, g)
        recommender.prepare()
    with pytest.raises(cg.SettingError, match="recency is 0"):
        cg.PageRankRanker(recency=0)


def test_visited_items_of_few_visitors_weigh_less():
    lists = [["a", "b"], ["a", "c"], ["a", "d", "c"], ["b", "c", "a"], ["e", "c", "f"]]
    g = cg.human.cooccurrence_graph(cg.human.Trajectories.from_walks(lists), fewest=1)
    expected = cg.pagerank(g, alpha=0.6, history={"a": 4 / 9 * 0.5, "e": 1 / 6}).scores
    recommender = cg.Recommender(g, "pagerank:0.5", alpha=0.6)
    for _ in range(2):
        top = recommender.recommend(["a", "e"])
        assert [score for _, score in top] == pytest.approx([expected[g.position(label)] for label in list_labels(top)])
        recommender.prepare()
    for ranker in (recommender.ranker, "mixture", "igt", cg.CuriousRanker(support=20)):
        cg.check_ranker(ranker, g)
    mixed = {support: cg.recommend(g, ["a", "e"], ranker=cg.CuriousRanker(support=support)) for support in (0, 5)}
    assert dict(mixed[0].reasons[0].shares)["e"] > dict(mixed[5].reasons[0].shares)["e"]


def test_items_that_nothing_links_to_are_followed_by_popular_ones():
    g = cg.Graph.from_arrays(
        np.array([0, 1]), np.array([1, 2]), names=as_labels(range(4)), visitors=np.array([5, 9, 2, 1])
    )
    top = cg.recommend(g, [3], k=2)
    assert list(top) == [(1, 0.0), (0, 0.0)]
    assert str(top.reasons[0]) == "Not linked to what you visited, but visited by 9 people."


def test_without_a_history_the_most_visited_come_first():
    lists = [["a", "b"], ["a", "c"], ["a", "d", "c"], ["b", "c", "a"], ["e", "c"]]
    g = cg.human.cooccurrence_graph(cg.human.Trajectories.from_walks(lists), fewest=1)
    top = cg.recommend(g, [], k=5)
    assert list(top) == [("a", 4.0), ("c", 4.0), ("b", 2.0), ("d", 1.0), ("e", 1.0)]
    assert [reason.sentence for reason in top.reasons][1::2] == [
        "Popular: visited by 4 people.",
        "Popular: visited by 1 person.",
    ]


def test_graphs_without_edges_are_refused():
    with pytest.raises(cg.GraphError, match="3 nodes but no edges"):
        cg.recommend(cg.Graph.from_edges([], nodes=[0, 1, 2]), [0])


def test_recency_follows_the_last_visits():
    recommender = cg.Recommender(cg.toys.library(), "pagerank:0.1")
    repeated = recommender.recommend(["mathematics", "logic", "physics", "mathematics", "music"], 3)
    assert repeated == recommender.recommend(["logic", "physics", "mathematics", "music"], 3)
    assert repeated != recommender.recommend(["mathematics", "logic", "physics", "music"], 3)


@pytest.mark.parametrize("ranker", ["mixture", "pagerank"])
@pytest.mark.parametrize("as_function", [False, True])
def test_a_filter_is_filled_up_with_popular_nodes(ranker, as_function):
    walks = cg.human.Trajectories.from_walks([["a", "b", "c"]] * 3 + [["x", "y"]] * 2 + [["x", "z"]] * 4)
    g = cg.human.cooccurrence_graph(walks, fewest=1)
    allowed = ["c", "x", "y", "z"]
    top = cg.recommend(
        g, ["a"], 3, filter=allowed.__contains__ if as_function else allowed, exclude=["y"], ranker=ranker
    )
    assert [label for label, _ in top] == ["c", "x", "z"]  # visited by 3, 6 and 4 people
    assert (top[0][1] > 0, [score for _, score in top[1:]]) == (True, [0, 0])
    assert [reason.ranks["pagerank"] for reason in top.reasons] == [1, 3, 3]  # after b and c
    assert len(cg.recommend(g, ["a"], 3, ranker=ranker)) == 2
