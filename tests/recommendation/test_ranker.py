"""The contract of rankers, checked on built-in and custom ones, and their names."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.recommendation.rankers import as_ranker

ONE_WAY = cg.Graph.from_edges([(0, 1, 2.0), (1, 2, 0.5), (2, 0, 1.0), (2, 3, 4.0), (4, 0, 1.0)], directed=True)


class Popular:
    """A custom ranker that does not inherit from Ranker."""

    name = "popular"

    def scores(self, graph, histories, candidates):
        return graph.degrees[candidates.nodes]


@pytest.mark.parametrize("ranker", ["pagerank", "igt", "cpt", "mixture"])
def test_named_rankers_fulfill_the_contract(ranker):
    assert as_ranker(ranker).name == ranker
    cg.check_ranker(ranker)
    cg.check_ranker(ranker, ONE_WAY, seed=3)


@pytest.mark.parametrize(
    "ranker",
    [
        Popular(),
        cg.CuriousRanker("igt-rg", walks=16),
        cg.CuriousRanker("random", p_g=1, alpha=0.01, fallback="anywhere"),
        cg.MixtureRanker({"popular": Popular(), "pagerank": cg.PageRankRanker(0.5)}, {"popular": -1, "pagerank": 2}),
        cg.MixtureRanker({"inner": cg.MixtureRanker({"popular": Popular()})}),
    ],
    ids=lambda ranker: getattr(ranker, "name", ""),
)
def test_other_rankers_fulfill_the_contract(ranker):
    cg.check_ranker(ranker)


def test_local_push_fulfills_the_contract(monkeypatch):
    for limit in ("MAX_EXACT_NODES", "MAX_SOLVED_NODES"):
        monkeypatch.setattr(f"curiograph.recommendation.rankers.{limit}", 0)
    cg.check_ranker("pagerank")


def make_ranker(scores, name="mine"):
    """Return a ranker with the given function."""
    return type("Mine", (), {"scores": lambda self, *given: scores(*given), "name": name})()


def modify_input(what):
    def scores(graph, histories, candidates):
        count = len(candidates.nodes)
        array = histories[0] if what == "histories" else getattr(candidates, what)
        array[...] = array[::-1].copy() if what == "nodes" else 0
        return np.zeros(count)

    return scores


def count_calls():
    calls = []

    def scores(graph, histories, candidates):
        calls.append(None)
        return np.full(len(candidates.nodes), float(len(calls)))

    return scores


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (lambda g, h, c: np.zeros(len(c.nodes) + 1), "shape"),
        (lambda g, h, c: np.zeros((len(c.nodes), 1)), "shape"),
        (lambda g, h, c: None, "shape"),
        (lambda g, h, c: np.full(len(c.nodes), np.nan), "nan for candidate 0"),
        (lambda g, h, c: np.full(len(c.nodes), np.inf), "inf for candidate 0"),
        (lambda g, h, c: ["high"] * len(c.nodes), "'high'"),
        (lambda g, h, c: dict.fromkeys(c.nodes.tolist(), 1.0), "one number per candidate"),
        (count_calls(), "repeated call"),
        (modify_input("histories"), "modifies its input"),
        (modify_input("nodes"), "modifies its input"),
        (modify_input("offsets"), "modifies its input"),
        (lambda g, h, c: np.full(len(c.nodes), float(len(h))), "user 0 differently alone"),
        (lambda g, h, c: np.repeat(c.counts, c.counts), "when there are fewer of them"),
    ],
)
def test_every_violation_is_named(scores, message):
    with pytest.raises(cg.errors.RankerError, match=f"'mine'.*{message}"):
        cg.check_ranker(make_ranker(scores))


def test_parts_must_join_to_the_scores():
    class Twice(cg.Ranker):
        name = "twice"

        def scores(self, graph, histories, candidates):
            return 2 * self.parts()["pagerank"].scores(graph, histories, candidates)

        def parts(self):
            return {"pagerank": cg.PageRankRanker()}

        def joined(self, scores):
            return scores["pagerank"]

    with pytest.raises(cg.errors.RankerError, match="'twice' joins"):
        cg.check_ranker(Twice())


def test_recommend_names_an_invalid_ranker():
    bad = make_ranker(lambda g, h, c: np.full(len(c.nodes), np.nan), "dizzy")
    for ranker in (bad, cg.MixtureRanker({"dizzy": bad, "pagerank": cg.PageRankRanker()})):
        with pytest.raises(cg.errors.RankerError, match="'dizzy' gave nan"):
            cg.recommend(cg.toys.library(), ["music"], ranker=ranker)


def test_as_ranker_accepts_objects_and_refuses_other_values():
    own = cg.PageRankRanker(0.5)
    assert as_ranker(own) is own
    assert as_ranker(Popular()).name == "popular"
    assert as_ranker(type("Nameless", (), {"scores": Popular.scores})()).name == "Nameless"
    assert as_ranker("igt", alpha=0.5).alpha == 0.5
    assert as_ranker("pagerank:0.9", alpha=0.5) == cg.PageRankRanker(0.5, 0.9)
    for ranker in ("ight", 3, None, np.ones(3), Popular, cg.PageRankRanker, lambda g, h, c: 0):
        with pytest.raises(cg.errors.UnknownNameError, match="mixture, pagerank, pagerank:RECENCY, igt, cpt"):
            as_ranker(ranker)
    for ranker in ("igt", Popular(), own):
        with pytest.raises(cg.SettingError, match="weights"):
            as_ranker(ranker, weights={"igt": 1})
    for components in ({}, None, [own], {"a": "moon"}, {"a": cg.PageRankRanker}):
        with pytest.raises((cg.SettingError, cg.errors.UnknownNameError)):
            cg.MixtureRanker(components)
