"""The contract of rankers, checked on built-in and custom ones."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg

ONE_WAY = cg.Graph.from_edges([(0, 1, 2.0), (1, 2, 0.5), (2, 0, 1.0), (2, 3, 4.0), (4, 0, 1.0)], directed=True)


class Popular:
    """A custom ranker that does not inherit from Ranker."""

    name = "popular"

    def scores(self, graph, histories, candidates):
        return graph.degrees[candidates.nodes]


@pytest.mark.parametrize("ranker", ["pagerank", "igt", "cpt", "mixture"])
def test_named_rankers_fulfill_the_contract(ranker):
    cg.check_ranker(ranker)
    cg.check_ranker(ranker, ONE_WAY, seed=3)


@pytest.mark.parametrize(
    "ranker",
    [
        Popular(),
        cg.CuriousRanker("igt-rg", walks=16),
        cg.CuriousRanker("random", p_g=1, alpha=0, fallback="anywhere"),
        cg.MixtureRanker({"popular": Popular(), "pagerank": cg.PageRankRanker(0.5)}, {"popular": -1, "pagerank": 2}),
        cg.MixtureRanker({"inner": cg.MixtureRanker({"popular": Popular()})}),
    ],
    ids=lambda ranker: getattr(ranker, "name", ""),
)
def test_other_rankers_fulfill_the_contract(ranker):
    cg.check_ranker(ranker)


def test_local_push_fulfills_the_contract(monkeypatch):
    monkeypatch.setattr("curiograph.recommendation.rankers.MAX_EXACT_NODES", 0)
    cg.check_ranker("pagerank")


def make_ranker(scores, name="mine"):
    """Return a ranker with the given function."""
    return type("Mine", (), {"scores": lambda self, *given: scores(*given), "name": name})()


def modify_input(what):
    def scores(graph, histories, candidates):
        array = histories[0] if what == "histories" else getattr(candidates, what)
        array[...] = array[::-1].copy() if what == "nodes" else 0
        return np.zeros(count)

    count = 0

    def counted(graph, histories, candidates):
        nonlocal count
        count = len(candidates.nodes)
        return scores(graph, histories, candidates)

    return counted


def count_calls():
    calls = []

    def scores(graph, histories, candidates):
        calls.append(None)
        return np.full(len(candidates.nodes), float(len(calls)))

    return scores


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (lambda g, h, c: np.zeros(len(c.nodes) + 1), "gave scores of shape"),
        (lambda g, h, c: np.zeros((len(c.nodes), 1)), "gave scores of shape"),
        (lambda g, h, c: None, "gave scores of shape"),
        (lambda g, h, c: np.full(len(c.nodes), np.nan), "gave nan for candidate 0; scores are finite numbers"),
        (lambda g, h, c: np.full(len(c.nodes), np.inf), "gave inf for candidate 0"),
        (lambda g, h, c: ["high"] * len(c.nodes), "it must give one number per candidate"),
        (lambda g, h, c: dict.fromkeys(c.nodes.tolist(), 1.0), "it must give one number per candidate"),
        (count_calls(), "different scores in a repeated call"),
        (modify_input("histories"), "modifies its input"),
        (modify_input("nodes"), "modifies its input"),
        (modify_input("offsets"), "modifies its input"),
        (lambda g, h, c: np.full(len(c.nodes), float(len(h))), "scores user 0 differently alone than among others"),
        (lambda g, h, c: np.repeat(c.counts, c.counts), "differently when there are fewer of them"),
    ],
)
def test_every_violation_is_named(scores, message):
    with pytest.raises(cg.RankerError) as caught:
        cg.check_ranker(make_ranker(scores))
    assert "ranker 'mine'" in str(caught.value)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 250


def test_parts_must_join_to_the_scores():
    class Twice(cg.Ranker):
        name = "twice"

        def scores(self, graph, histories, candidates):
            return 2 * self.parts()["pagerank"].scores(graph, histories, candidates)

        def parts(self):
            return {"pagerank": cg.PageRankRanker()}

        def joined(self, scores):
            return scores["pagerank"]

    with pytest.raises(cg.RankerError, match="joins the scores of its parts to others than its own"):
        cg.check_ranker(Twice())


def test_recommend_names_an_invalid_ranker():
    bad = make_ranker(lambda g, h, c: np.full(len(c.nodes), np.nan), "dizzy")
    for ranker in (bad, cg.MixtureRanker({"dizzy": bad, "pagerank": cg.PageRankRanker()})):
        with pytest.raises(cg.RankerError, match="ranker 'dizzy' gave nan"):
            cg.recommend(cg.toys.library(), ["music"], ranker=ranker)


def test_graphs_without_edges_are_refused():
    with pytest.raises(cg.GraphError, match="no edges"):
        cg.check_ranker("pagerank", cg.Graph.from_edges([], nodes=[0, 1]))
