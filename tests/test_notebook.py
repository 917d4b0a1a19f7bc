"""Short reprs and HTML of results."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

import curiograph as cg
from curiograph.human.prediction.results import Outcome, Prediction
from curiograph.notebook import draw_sparkline, render_result
from curiograph.plotting import COLORS

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def results() -> dict:
    names = [EVIL, *(f'a very long name of the node number {number}, with & and "' for number in range(24))]
    edges = cg.generate("er", nodes=25, seed=0).to_networkx().edges
    graph = cg.Graph.from_edges([(names[a], names[b]) for a, b in edges], nodes=names)
    walks = [cg.explore(graph, ["greedy", "random"][n % 2], "igt", names[n], 9, seed=n) for n in range(24)]
    people = cg.human.Trajectories.from_walks(
        walks, users=[EVIL if n % 12 == 0 else f"{n % 12}" for n in range(24)], graph=graph
    )
    growths = cg.measure(graph, people)
    motives = cg.human.hypotheses(graph, people, motives=["uniform", "igt"], burn_in=2, weights=True)
    ranks = {name: np.full((4, 1, 50), 0.5, np.float32) for name in ("pagerank", "igt")}
    outcome = Outcome("last", users=np.arange(50), ranks=ranks, fits={}, seed=0)
    return {
        "graph": graph,
        "walk": walks[0],
        "growth": growths[0],
        "growths": growths,
        "survival": growths.gap_survival(),
        "groups": cg.compare_groups(growths, dict(zip(dict.fromkeys(growths.users), [EVIL, "b"] * 6, strict=True))),
        "score": cg.correlate_growth(growths, {user: n for n, user in enumerate(dict.fromkeys(growths.users))}),
        "motives": motives,
        "weights": motives.weights,
        "returns": cg.human.measure_returns(people),
        "levy": cg.human.fit_levy_walks(graph, people),
        "null models": cg.human.compare_growth(graph, people, nulls=["shuffled"], steps=5),
        "recommendations": cg.recommend(graph, names[:2], k=3),
        "evaluation": cg.evaluate("random", [graph, graph], steps=5, episodes=40),
        "outcome": outcome,
        "prediction": Prediction(EVIL, facts={}, outcomes={"last": outcome}, agents={}),
    }


NAMES = ["graph", "walk", "growth", "growths", "survival", "groups", "score", "motives", "weights",
         "returns", "levy", "null models",
         "recommendations", "evaluation", "outcome", "prediction"]  # fmt: skip


class Checker(HTMLParser):
    """Collects tags and the balance of opened and closed elements."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", NAMES)
def test_html_is_small_escaped_and_balanced(results, name):
    html = results[name]._repr_html_()
    checker = Checker()
    checker.feed(html)
    assert not checker.open
    assert "script" not in checker.tags
    assert "table" in checker.tags
    assert len(html) < 12_000


@pytest.mark.parametrize("name", ["growth", "growths", "survival", "null models"])
def test_curves_have_sparklines(results, name):
    assert "<polyline" in results[name]._repr_html_()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "recommendations"])
def test_reprs_are_short_and_without_arrays(results, name):
    text = repr(results[name])
    assert len(text) < 400
    assert "array(" not in text
    assert "\n" not in text


def test_other_results_have_short_reprs():
    graph = cg.toys.library()
    statistics = cg.walk_statistics(graph, "random", walks=10, steps=5, seed=0)
    for result in (
        cg.pagerank(graph),
        cg.curious_pagerank(graph, "greedy", history=["music"], exact=True),
        cg.pagerank_top(graph, ["music"], k=5),
        cg.rate_distortion(graph),
        statistics,
        statistics.distance,
    ):
        assert len(repr(result)) < 200
        assert "array(" not in repr(result)


@pytest.mark.parametrize("name", ["groups", "score", "motives", "null models", "outcome"])
def test_keys_are_completed(results, name):
    assert results[name]._ipython_key_completions_() == list(results[name])
    assert results["prediction"]._ipython_key_completions_() == ["last"]


def test_repr_of_a_long_walk_is_cut():
    graph = cg.generate("ws", nodes=300, seed=0)
    walk = cg.explore(graph, "random", "igt", 0, 200, seed=0)
    assert len(repr(walk)) < 150
    assert repr(walk).startswith("Walk(200 nodes by random looking for igt")


def test_sparklines_keep_the_shape_of_a_curve():
    html = draw_sparkline([0, 1, float("nan"), 3])
    points = [tuple(map(float, point.split(","))) for point in html.split('points="')[1].split('"')[0].split()]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert points[0][1] > points[1][1] > points[2][1]
    assert (points[1][0] - points[0][0]) * 2 == pytest.approx(points[2][0] - points[1][0], abs=0.2)
    assert draw_sparkline([float("nan")]) == ""
    assert draw_sparkline(range(100_000)).count(",") <= 202
    assert COLORS["igt"] in html


def test_long_tables_are_cut():
    html = render_result("t", {"a": list(range(1000))})
    assert html.count("<tr>") == 9
    assert "992 more rows" in html
