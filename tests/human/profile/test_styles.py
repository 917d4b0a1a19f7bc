"""Curiosity styles: planted styles, intervals, reliability, and bad input."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import curiograph as cg
from curiograph.human.profile.styles import _resample_blocks
from curiograph.statistics.reliability import estimate_split_half, predict_length


def find_styles(graph: cg.Graph, people: cg.human.Trajectories, block: int | None = 10) -> cg.human.Styles:
    return cg.profile(graph, people, measures="structure", workers=1).styles(block)


@pytest.mark.parametrize("family", ["ws", "rg"])
def test_planted_styles_are_recovered(family: str) -> None:
    graph = cg.generate(family, nodes=200, seed=0)
    areas, reliabilities = [], []
    for strength in (0.1, 0.3, 0.6):
        people = cg.human.simulate_styles(graph, people=200, visits=50, strength=strength, seed=1)
        found = find_styles(graph, people)
        planted = [style == "hunter" for style in people.user_columns["planted"]]
        areas.append(roc_auc_score(planted, found.scores))
        reliabilities.append(found.reliability.value)
    assert areas[1] > 0.9
    assert areas == sorted(areas)
    assert reliabilities == sorted(reliabilities)


def test_scores_rise_with_tightness_and_weights_count() -> None:
    plain = cg.generate("ws", nodes=100, seed=0)
    ends = np.repeat(np.arange(100), plain.degrees)
    gap = np.abs(ends - plain.indices)
    graph = cg.Graph(plain.indptr, plain.indices, 1 / (1.0 + np.minimum(gap, 100 - gap)))
    people = cg.human.simulate_styles(graph, people=60, visits=60, strength=0.9, seed=3)
    found = find_styles(graph, people)
    assert found.measures == ("clustering", "efficiency", "edge_weight")
    hunters = found.scores[::2].mean()
    assert hunters > 0 > found.scores[1::2].mean()
    styles = found.styles
    assert styles[::2].count("hunter") > 5
    assert styles[::2].count("busybody") == styles[1::2].count("hunter") == 0


def test_scores_do_not_depend_on_the_length_of_walks() -> None:
    graph = cg.generate("er", nodes=100, seed=0)
    rng = np.random.default_rng(0)
    walks = [rng.integers(100, size=visits).tolist() for visits in [30] * 100 + [90] * 100]
    for block, differs in ((10, False), (None, True)):
        found = find_styles(graph, cg.human.Trajectories.from_walks(walks), block)
        difference = abs(found.scores[:100].mean() - found.scores[100:].mean())
        assert (difference > 4 * found.scores[:100].std() / 10) == differs


def test_score_is_the_mean_of_standardized_measures() -> None:
    graph = cg.generate("ws", nodes=60, seed=0)
    people = cg.human.simulate_styles(graph, people=8, visits=20, strength=1.0, seed=0)
    found = find_styles(graph, people, None)
    profile = cg.profile(graph, people)
    columns = [profile[name] for name in ("clustering", "efficiency")]
    expected = np.mean([(values - values.mean()) / values.std(ddof=1) for values in columns], axis=0)
    np.testing.assert_allclose(found.scores, expected, atol=1e-12)
    assert np.isnan(found.low).all()  # one walk per person
    assert math.isnan(found.reliability.value)
    assert found.shortest is None


def test_intervals_cover_the_mean() -> None:
    rng = np.random.default_rng(0)
    for count, least in ((5, 0.9), (20, 0.92)):
        low, high = _resample_blocks(rng.normal(size=1000 * count), np.full(1000, count), seed=0)
        assert np.mean((low < 0) & (high > 0)) > least


def test_simulated_people_stay_near_as_often_as_planted() -> None:
    graph = cg.generate("ws", nodes=150, seed=0)
    people = cg.human.simulate_styles(graph, people=20, visits=400, strength=0.4, seed=0)
    near = np.zeros((20, 399))
    for number in range(20):
        walk = people.labels(number)
        assert all(first != second for first, second in pairwise(walk))
        for step in range(1, 400):
            recent = walk[max(0, step - 5) : step]
            near[number, step - 1] = any(walk[step] in graph.neighbors(v) for v in recent)
    shares = near.mean(axis=1)
    by_chance = 20 / 150  # at most 20 of the nodes are neighbors of the last five
    for side, tightness in ((0, 0.7), (1, 0.3)):
        assert tightness - 0.02 < shares[side::2].mean() < tightness + (1 - tightness) * by_chance + 0.02
    again = cg.human.simulate_styles(graph, people=20, visits=400, strength=0.4, seed=0)
    assert again.nodes.tolist() == people.nodes.tolist()


def test_reliability_by_definition() -> None:
    rng = np.random.default_rng(0)
    trait = rng.normal(size=400)
    halves = [trait + rng.normal(size=400) for _ in range(2)]
    r = np.corrcoef(*halves)[0, 1]
    assert estimate_split_half(*halves, doubled=False).value == pytest.approx(r, abs=1e-12)
    found = estimate_split_half(*halves)
    assert found.value == pytest.approx(2 * r / (1 + r), abs=1e-12)
    assert found.low < 2 / 3 < found.high
    assert math.isnan(estimate_split_half(np.ones(5), np.arange(5.0)).value)
    assert predict_length(0.0, 10, 0.7) == math.inf


def test_curve_and_tables() -> None:
    graph = cg.generate("ws", nodes=200, seed=0)
    people = cg.human.simulate_styles(graph, people=80, visits=60, strength=0.6, seed=5)
    found = find_styles(graph, people)
    assert found.curve["visits"] == [10, 20, 40, 60]
    assert found.curve["people"] == [80] * 4
    assert found.curve["reliability"][-1] == pytest.approx(found.reliability.value)
    assert found.shortest in found.curve["visits"]
    frame = found.to_frame()
    assert list(frame.columns[:4]) == ["user", "planted", "tightness", "blocks"]
    assert found.to_dict()["people"][0]["score"] == found.scores[0]
    assert "hunter" in found.answer
    assert len(found.plot().axes) == 2
    assert "Styles(80 people" in found._repr_html_()
    again = find_styles(graph, people)
    np.testing.assert_array_equal(again.low, found.low)


def test_people_with_short_walks_are_left_out() -> None:
    graph = cg.generate("ws", nodes=50, seed=0)
    rng = np.random.default_rng(0)
    walks = [rng.permutation(50)[:size].tolist() for size in (30, 20, 9, 25)]
    found = find_styles(graph, cg.human.Trajectories.from_walks(walks, users=["a", "b", "c", "d"]))
    assert found.left_out == ["c"]
    assert found.blocks.tolist() == [3, 2, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block": 2}, "block is 2; clustering needs"),
        ({"block": 100}, "block is 100, but the longest walk has 20 visits"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    graph = cg.generate("ws", nodes=30, seed=0)
    profile = cg.profile(graph, cg.human.simulate_styles(graph, 4, 20))
    with pytest.raises(cg.CuriographError, match=message):
        profile.styles(**options)


def test_bad_input() -> None:
    graph = cg.toys.cycle(5)
    with pytest.raises(cg.SettingError, match="profile is 3"):
        cg.human.curiosity_styles(3)
    with pytest.raises(cg.WalkError, match="relative to others"):
        cg.profile(graph, [0, 1, 2, 3]).styles(None)
    for options, message in (({"strength": 2}, "strength is 2"), ({"people": 1}, "people is 1")):
        with pytest.raises(cg.SettingError, match=message):
            cg.human.simulate_styles(graph, **options)
    with pytest.raises(cg.SettingError, match="has 1 nodes"):
        cg.human.simulate_styles(cg.Graph.from_edges([], nodes=[0]))
