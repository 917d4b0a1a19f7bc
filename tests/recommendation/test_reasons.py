"""Reasons of recommendations: shares against a dense solution for each visited node, sentences, and theory."""

from __future__ import annotations

import re
from itertools import pairwise

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.centrality.history import History
from curiograph.exploration.mdp import Candidates
from curiograph.recommendation.ranker import find_candidates
from curiograph.recommendation.reasons import MAX_RECENT_NODES, Reason, explain_recommendations
from support.small_graphs import graphs, histories


def test_ranks_count_better_candidates():
    g, history = cg.toys.library(), ["music", "logic"]
    top = cg.recommend(g, history, k=12)
    assert top.components == ["pagerank", "igt", "cpt"]
    by_part = {name: dict(cg.recommend(g, history, k=12, ranker=name)) for name in top.components}
    for reason in top.reasons:
        assert reason.candidates == 10
        for name, scores in by_part.items():
            mine = scores.get(reason.node, 0.0)
            assert reason.ranks[name] == 1 + sum(other > mine for other in scores.values())


# ---- shares ---------------------------------------------------------------------------------------------------------


def solve_visits(graph: cg.Graph, alpha: float) -> np.ndarray:
    """Return the expected visits of each node (column) before the first teleport, from each start (row)."""
    weights = graph.to_scipy().toarray()
    steps = weights / np.where(weights.sum(axis=1) > 0, weights.sum(axis=1), 1)[:, None]
    return np.linalg.inv(np.eye(graph.num_nodes) - alpha * steps)


@given(st.data())
def test_shares_of_pagerank_are_those_of_each_visited_node_alone(data):
    g = data.draw(graphs())
    history = list(dict.fromkeys(data.draw(histories(g))))
    alpha, k = data.draw(st.sampled_from([0.1, 0.3, 0.85])), data.draw(st.sampled_from([1, 2, 12]))
    visits = solve_visits(g, alpha)[history]
    recommender = cg.Recommender(g, cg.PageRankRanker(alpha))
    if data.draw(st.booleans()):
        recommender.prepare()
    for (node, score), reason in zip(top := recommender.recommend(history, k), top.reasons, strict=True):
        if not visits[:, node].any():  # nothing is reached
            assert (score, reason.shares) == (0, ())
            continue
        expected = visits[:, node] / visits[:, node].sum()
        assert score == pytest.approx(visits[:, node].sum() / visits.sum(), rel=1e-6, abs=1e-9)
        shares = dict(reason.shares)
        assert [shares.get(v, 0.0) for v in history] == pytest.approx(expected.tolist(), abs=1e-6)
        assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
        assert list(shares.values()) == sorted(shares.values(), reverse=True)


def test_shares_of_other_rankers():
    g = cg.toys.library()
    walks = cg.human.Trajectories.from_walks([["music", "poetry", "logic"], ["music", "logic"], ["dance"]], graph=g)
    fitted = {name: cg.fit_ranker(name, g, walks) for name in ("item-knn", "ease", "popularity", "markov")}
    history = ["dance", "music", "physics"]
    nodes = find_candidates(g, [g.positions(history)], "all").nodes
    for ranker in ("mixture", "igt", fitted["item-knn"], fitted["ease"]):
        found = cg.Recommender(g, ranker).ranker
        rows = found.contributions(g, g.positions(history), nodes)
        scores = found.scores(g, [g.positions(history)], Candidates(np.array([0, len(nodes)]), nodes))
        np.testing.assert_allclose(rows.sum(axis=0), scores, rtol=1e-6, atol=1e-9)
    mixed = cg.MixtureRanker({"people": fitted["popularity"], "pagerank": cg.PageRankRanker()})
    for ranker in (fitted["popularity"], fitted["markov"], mixed):
        assert all(reason.shares == () for reason in cg.recommend(g, history, ranker=ranker).reasons)
    alone = cg.MixtureRanker(mixed.components, {"pagerank": 1})
    assert cg.recommend(g, history, ranker=alone).reasons[0].shares


def test_check_ranker_adds_contributions_up():
    class Uneven(cg.PageRankRanker):
        def contributions(self, graph, history, nodes):
            return 2 * super().contributions(graph, history, nodes)

    with pytest.raises(cg.errors.RankerError, match="'pagerank' gives contributions"):
        cg.check_ranker(Uneven())


# ---- sentences ------------------------------------------------------------------------------------------------------


@given(st.data())
def test_sentences_are_true(data):
    g = data.draw(graphs())
    history = data.draw(st.lists(st.integers(0, g.num_nodes - 1), min_size=1, max_size=12))
    visited = g.skeleton.to_networkx().subgraph(history)
    for reason in cg.recommend(g, history, k=20, ranker="pagerank").reasons:
        shares = dict(reason.shares)
        if not shares:  # nothing is reached
            assert reason.sentence.startswith("Linked" if reason.links else "Not linked")
            continue
        named = {int(v): share for v, share in re.findall(r"(\d+)(?: \((\d+) %\))?(?=[.,; ])(?! %)", reason.sentence)}
        assert shares[next(iter(named))] == max(shares.values())
        assert [shares[v] for v in named] == [share for _, share in reason.shares[: len(named)]]
        percents = {v: f"{100 * shares[v]:.0f}" if max(shares.values()) < 0.95 else "" for v in named}
        assert named == percents
        assert reason.sentence.endswith(" and others.") == (sum(shares[v] for v in named) < 0.5)
        if "it links the two" in reason.sentence:
            assert set(named) <= set(reason.links)
            assert not networkx.has_path(visited, *named)


def test_sentences_for_users():
    g = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "x"), ("b", "y"), ("y", "z")])

    def explain(history, node, ranker="pagerank"):
        (reason,) = cg.recommend(g, history, filter=[node], ranker=ranker).reasons
        assert reason.to_dict()["sentence"] == reason.sentence == str(reason)
        return reason.sentence

    assert explain(["a"], "z") == "Because of a."
    assert explain(["a", "b"], "y") == "Because of b (64 %) and a (36 %)."
    assert explain(["a", "c"], "d") == "Because of c (53 %) and a (47 %); it links the two."
    assert explain(["a", "b", "c"], "d") == "Because of c (39 %) and a (35 %)."
    assert explain([], "a") == "Popular: linked with 3 others."
    spokes = cg.Graph.from_edges([("hub", leaf) for leaf in range(12)])
    (reason,) = cg.explain(spokes, range(12), ["hub"])
    assert reason.sentence == "Because of 0 (8 %), 1 (8 %) and others."
    path = networkx.path_graph(3)
    networkx.set_node_attributes(path, {0: "Alien", 1: "Brazil", 2: "Contact"}, "label")
    assert cg.explain(cg.Graph.from_networkx(path), [0], [2])[0].sentence == "Because of Alien."


def test_sentences_of_rankers_whose_scores_are_not_sums():
    class Even(cg.Ranker):
        def scores(self, graph, histories, candidates):
            return np.ones(len(candidates.nodes))

    g = cg.Graph.from_edges([("a", "b"), ("b", "y"), ("a", "x"), ("y", "z")])
    sentences = {reason.node: reason.sentence for reason in cg.recommend(g, ["a", "b"], ranker=Even()).reasons}
    assert sentences == {
        "y": "Linked to what you visited last, b.",
        "x": "Linked to what you visited earlier, a.",
        "z": "Not linked to what you visited.",
    }


def test_negative_scores_and_shares_above_one_have_no_percent():
    g = cg.Graph.from_edges([("a", "x"), ("b", "x"), ("b", "c")])
    against = cg.MixtureRanker({"pagerank": cg.PageRankRanker()}, {"pagerank": -1})
    assert cg.recommend(g, ["a", "b"], ranker=against).reasons[0].shares == ()

    class Mixed(cg.PageRankRanker):
        def contributions(self, graph, history, nodes):
            return np.outer([2.0, -1.0], np.ones(len(nodes)))

    reason = cg.recommend(g, ["a", "b"], k=1, ranker=Mixed()).reasons[0]
    assert reason.shares == (("a", 2.0), ("b", -1.0))
    assert reason.sentence == "Because of a."


# ---- explain --------------------------------------------------------------------------------------------------------


def test_explain_gives_the_reasons_of_recommend_for_any_list():
    g, history = cg.toys.library(), ["music", "physics", "music"]
    top = cg.recommend(g, history, 12, theory=True)
    items = [label for label, _ in reversed(top)]
    settings = {"ranker": "mixture", "theory": True}
    assert cg.explain(g, history, items, **settings) == list(reversed(top.reasons))
    assert cg.explain(g, history, items[:2] + items[:1], **settings) == [top.reasons[i] for i in (-1, -2, -1)]
    assert cg.explain(g, [], ["music"])[0].sentence.startswith("Popular")
    ring = cg.Graph.from_edges([(v, (v + 1) % 400) for v in range(400)])
    near, far = cg.explain(ring, [0], [1, 200])
    assert str(near) == "Because of 0."
    assert str(far) == "Hardly related to what you visited; closest to 0."
    apart = cg.Graph.from_edges([("a", "b"), ("c", "d")])
    (reason,) = cg.explain(apart, ["a"], ["d"])
    assert (reason.shares, reason.sentence) == ((), "Not linked to what you visited.")


@pytest.mark.parametrize(
    ("items", "error", "value"),
    [
        (["poetry", "moon"], cg.UnknownNodeError, "'moon'"),
        (["music"], cg.errors.WalkError, "'music'"),
        ("poetry", cg.errors.WalkError, "'poetry'"),
        ([], cg.errors.WalkError, "empty"),
    ],
)
def test_explain_names_bad_items(items, error, value):
    with pytest.raises(error, match=value):
        cg.explain(cg.toys.library(), ["music"], items)


# ---- theory ---------------------------------------------------------------------------------------------------------


def check_theory(graph: cg.Graph, history: list, reason: Reason) -> None:
    """Compare a reason with `measure` of the walk extended by the node."""
    before, after = cg.measure(graph, history), cg.measure(graph, [*history, reason.node])
    seen = before.nodes
    opened = [gap for gap in after.gaps if gap.opened_at == len(after)]
    closed = [gap for gap in after.gaps if gap.closed_at == len(after) and gap.opened_at < len(after)]
    assert len(reason.opens) - len(reason.closes) == after.beta1[-1] - before.beta1[-1]
    assert len(reason.opens) == len(opened)
    assert sorted(map(str, reason.closes)) == sorted(str(gap.opened_by) for gap in closed)
    assert reason.compressibility == pytest.approx(after.compressibility[-1] - before.compressibility[-1], abs=1e-9)
    around = set(graph.skeleton.neighbors(reason.node))
    assert list(reason.links) == [u for u in seen if u in around]
    for loop in reason.opens:
        assert loop[0] == reason.node
        assert len(set(loop)) == len(loop) >= 4
        assert set(loop[1:]) <= set(seen)
        for u, v in pairwise([*loop, loop[0]]):
            assert v in graph.skeleton.neighbors(u)


@given(st.data())
def test_theory_agrees_with_measure(data):
    g = data.draw(graphs())
    history = data.draw(st.lists(st.integers(0, g.num_nodes - 1), min_size=1, max_size=12))
    for reason in cg.recommend(g, history, k=20, candidates="history", ranker="pagerank", theory=True).reasons:
        check_theory(g, history, reason)


def test_theory_on_larger_walks_with_many_gaps():
    opened = 0
    for seed in range(4):
        g = cg.generate("er", nodes=40, seed=seed)
        history = np.random.default_rng(seed).permutation(40)[:22].tolist()
        for reason in cg.recommend(g, history, k=18, ranker="pagerank", theory=True).reasons:
            check_theory(g, history, reason)
            opened += len(reason.opens)
    assert opened > 20


def test_theory_only_on_request_and_without_revisits():
    ring = cg.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (4, 0), (4, 1), (4, 2), (4, 3)])
    (reason,) = cg.recommend(ring, [0, 1, 2, 3, 0], ranker="pagerank", theory=True).reasons
    assert reason.closes == (3,)
    assert reason.story == "closes the gap opened by 3"
    assert str(reason).startswith(f"{reason.sentence} Closes the gap opened by 3; compressibility ")
    (plain,) = cg.recommend(ring, [0, 1, 2, 3, 0], ranker="pagerank").reasons
    assert (plain.opens, plain.closes, plain.compressibility, plain.story) == (None, None, None, "")
    assert plain.shares == reason.shares


def test_theory_of_a_long_history_uses_its_last_nodes():
    g = cg.toys.cycle(3 * MAX_RECENT_NODES)
    history = [*range(2 * MAX_RECENT_NODES), 0]
    (reason,) = cg.recommend(g, history, k=1, candidates="last", ranker="pagerank", theory=True).reasons
    assert (reason.node, reason.links, reason.opens) == (3 * MAX_RECENT_NODES - 1, (0,), ())
    visited, none = History.from_visits(g.positions(history).tolist()), np.empty(0, np.int32)
    assert explain_recommendations(g, cg.PageRankRanker(), visited, none, {}, 0) == []
