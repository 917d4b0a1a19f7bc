"""The contract of rankers, checked on built-in and custom ones; mixtures and their weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.centrality.mixture import normalize_weights
from curiograph.recommendation.ranker import AdaptedRanker
from curiograph.recommendation.recommender import as_ranker

ONE_WAY = cg.Graph.from_edges([(0, 1, 2.0), (1, 2, 0.5), (2, 0, 1.0), (2, 3, 4.0), (4, 0, 1.0)], directed=True)


class Popular:
    """A custom ranker that does not inherit from Ranker."""

    name = "popular"

    def scores(self, graph, histories, candidates):
        return graph.degrees[candidates.nodes]


# ---- valid rankers --------------------------------------------------------------------------------------------------


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


# ---- invalid rankers ------------------------------------------------------------------------------------------------


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


# ---- names and objects ----------------------------------------------------------------------------------------------


def test_as_ranker_accepts_names_and_objects():
    assert [as_ranker(name).name for name in ("pagerank", "igt", "cpt", "mixture")] == [
        "pagerank",
        "igt",
        "cpt",
        "mixture",
    ]
    own = cg.PageRankRanker(0.5)
    assert as_ranker(own) is own
    assert isinstance(as_ranker(Popular()), AdaptedRanker)
    assert as_ranker(make_ranker(len, name="x")).name == "x"
    nameless = type("Nameless", (), {"scores": Popular.scores})()
    assert as_ranker(nameless).name == "Nameless"
    assert as_ranker("igt", alpha=0.5).alpha == 0.5


@pytest.mark.parametrize("ranker", ["ight", 3, None, np.ones(3), Popular, cg.PageRankRanker, lambda g, h, c: 0])
def test_as_ranker_refuses_other_values(ranker):
    with pytest.raises(cg.UnknownNameError, match=r"mixture, pagerank, igt, cpt, or an object with a method scores"):
        as_ranker(ranker)


@pytest.mark.parametrize("ranker", ["igt", Popular(), cg.PageRankRanker()])
def test_weights_without_a_mixture_are_refused(ranker):
    with pytest.raises(cg.SettingError, match="weights are for the mixture"):
        as_ranker(ranker, weights={"igt": 1})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 1.0}, "alpha is 1.0"),
        ({"p_g": 2}, "p_g is 2"),
        ({"walks": 0}, "walks is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"fallback": "home"}, "fallback is 'home'"),
        ({"agent": "gready"}, "there is no agent 'gready'"),
        ({"reward": "joy"}, "there is no reward 'joy'"),
    ],
)
def test_bad_settings_of_curious_rankers(settings, message):
    with pytest.raises(cg.CuriographError) as caught:
        cg.CuriousRanker(**settings)
    assert message in str(caught.value)


@pytest.mark.parametrize("components", [{}, None, [cg.PageRankRanker()], {"a": "pagerank"}, {"a": cg.PageRankRanker}])
def test_bad_components_of_a_mixture(components):
    with pytest.raises(cg.SettingError, match="component"):
        cg.MixtureRanker(components)


# ---- mixtures -------------------------------------------------------------------------------------------------------


@given(st.dictionaries(st.sampled_from("abc"), st.floats(-100, 100).filter(lambda w: abs(w) > 1e-3), min_size=1))
def test_weights_are_normalized_to_the_unit_sphere(weights):
    unit = normalize_weights("abc", weights)
    assert sum(w * w for w in unit.values()) == pytest.approx(1)
    for name in "abc":
        assert np.sign(unit[name]) == np.sign(weights.get(name, 0))
    scores = {name: np.arange(3.0) + ord(name) for name in "abc"}
    np.testing.assert_allclose(cg.mixture(scores, weights), sum(unit[name] * scores[name] for name in "abc"))


def test_mixture_of_both_kinds_of_results():
    g, history = cg.toys.library(), ["music"]
    plain, curious = cg.pagerank(g, 0.85, history), cg.curious_pagerank(g, "greedy", 0.5, history)
    found = cg.mixture({"pagerank": plain, "igt": curious}, {"pagerank": 3, "igt": -4})
    np.testing.assert_allclose(found, 0.6 * plain.scores - 0.8 * curious.scores)
    np.testing.assert_allclose(cg.mixture({"a": plain, "b": curious}), (plain.scores + curious.scores) / 2**0.5)


@pytest.mark.parametrize(
    ("components", "weights", "message"),
    [
        ({"a": [1.0], "b": [2.0]}, {"a": 0, "b": 0}, "give finite numbers that are not all zero"),
        ({"a": [1.0]}, {}, "not all zero"),
        ({"a": [1.0]}, {"a": float("nan")}, "give finite numbers"),
        ({"a": [1.0]}, {"a": "x"}, "give a number for each component"),
        ({"a": [1.0]}, {"a": 1, "c": 1}, "there is a weight for 'c'; the components are a"),
        ({"a": [1.0]}, [1], "the weights are [1]; give numbers by name, as in {'a': 1.0}"),
        ({"a": [1.0], "b": [1.0, 2.0]}, None, "different shapes"),
        ({"a": ["x"]}, None, "the scores of 'a' are ['x']; give one number per node"),
        ({"a": [float("nan")]}, None, "the scores of 'a' hold a number that is not finite"),
        ({}, None, "give scores by name, at least one"),
        ([1.0], None, "give scores by name"),
    ],
)
def test_bad_mixtures(components, weights, message):
    with pytest.raises(cg.SettingError) as caught:
        cg.mixture(components, weights)
    assert message in str(caught.value)
