"""Curiosity styles: planted styles, intervals, reliability, and bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import curiograph as cg
from curiograph.human.people.profile import cut_blocks
from curiograph.human.people.styles import Styles, estimate_split_half, resample_blocks
from oracles.profile import cut_walk
from support.people_styles import simulate_styles


def find_styles(graph: cg.Graph, people: cg.human.Trajectories, block: int | None = 10) -> Styles:
    return cg.profile(graph, people, measures="structure").styles(block)


@pytest.mark.parametrize("family", ["ws", "rg"])
def test_planted_styles_are_recovered(family: str) -> None:
    graph = cg.generate(family, nodes=200, seed=0)
    areas, reliabilities = [], []
    for strength in (0.1, 0.3, 0.6):
        people = simulate_styles(graph, people=200, visits=50, strength=strength, seed=1)
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
    people = simulate_styles(graph, people=60, visits=60, strength=0.9, seed=3)
    found = find_styles(graph, people)
    assert found.measures == ("clustering", "efficiency", "edge_weight")
    hunters = found.scores[::2].mean()
    assert hunters > 0 > found.scores[1::2].mean()
    styles = found.labels
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
    people = simulate_styles(graph, people=8, visits=20, strength=1.0, seed=0)
    found = find_styles(graph, people, None)
    profile = cg.profile(graph, people)
    columns = [profile.measures[name] for name in ("clustering", "efficiency")]
    expected = np.mean([(values - values.mean()) / values.std(ddof=1) for values in columns], axis=0)
    np.testing.assert_allclose(found.scores, expected, atol=1e-12)
    assert np.isnan(found.low).all()  # one walk per person
    assert math.isnan(found.reliability.value)


@pytest.mark.parametrize("count", [2, 5, 20])
def test_intervals_cover_the_mean(count: int) -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(size=1000)
    spread = np.where(np.arange(1000) % 2, 1.0, 2.0)
    scores = means[:, None] + spread[:, None] * rng.standard_normal((1000, count))
    width = resample_blocks(scores.ravel(), np.full(1000, count), seed=0)
    covered = np.abs(scores.mean(axis=1) - means) < width
    assert covered.mean() > 0.93
    assert covered[spread == 2.0].mean() > 0.85


def test_equal_blocks_of_a_person_give_no_narrow_interval() -> None:
    rng = np.random.default_rng(0)
    scores = (rng.random((100, 10)) < 0.03).astype(float)  # most people have ten equal blocks
    scores -= scores.mean()
    width = resample_blocks(scores.ravel(), np.full(100, 10), seed=0)
    assert np.mean(np.abs(scores.mean(axis=1)) > width) <= 0.06
    assert np.isnan(resample_blocks(np.zeros(100), np.full(10, 10), seed=0)).all()
    assert np.isnan(resample_blocks(rng.normal(size=20), np.full(10, 2), seed=0)).all()  # too few blocks


def test_returns_do_not_make_a_hunter() -> None:
    graph = cg.generate("ba", nodes=200, seed=0)
    rng = np.random.default_rng(0)
    jumps = rng.integers(200, size=(60, 80)).tolist()
    for walk in jumps[1::2]:  # every other person goes back and forth between two pages for a while
        walk[2:40] = walk[:2] * 19
    pages = [0, graph.neighbors(0)[0]]
    people = cg.human.Trajectories.from_walks([*jumps, pages * 40], graph=graph)
    found = find_styles(graph, people)
    assert found.left_out == [60]
    assert 0.25 < roc_auc_score(np.arange(60) % 2, found.scores) < 0.75
    whole = cg.human.Trajectories.from_walks([*jumps, pages], graph=graph)
    assert find_styles(graph, whole, None).left_out == [60]


def test_people_without_links_keep_a_low_score() -> None:
    plain = cg.generate("ws", nodes=2000, seed=0)
    graph = cg.Graph(plain.indptr, plain.indices, np.full(len(plain.indices), 0.5))
    people = simulate_styles(graph, people=40, visits=60, strength=1.0, seed=0)
    found = find_styles(graph, people)
    assert found.measures == ("clustering", "efficiency", "edge_weight")
    hunters = np.array([style == "hunter" for style in found.people["planted"]])
    assert np.count_nonzero(~hunters) == 20
    assert found.scores[hunters].min() > found.scores[~hunters].max()


def test_reliability_by_definition() -> None:
    rng = np.random.default_rng(0)
    trait = rng.normal(size=400)
    halves = [trait + rng.normal(size=400) for _ in range(2)]
    r = np.corrcoef(*halves)[0, 1]
    found = estimate_split_half(*halves)
    assert found.value == pytest.approx(2 * r / (1 + r), abs=1e-12)
    assert found.low < 2 / 3 < found.high
    assert math.isnan(estimate_split_half(np.ones(5), np.arange(5.0)).value)
    opposed = estimate_split_half(trait, -trait + rng.normal(size=400))
    assert -1 <= opposed.low < opposed.value == pytest.approx(-0.7, abs=0.1)


@pytest.mark.parametrize("family", ["ws", "er"])
def test_equal_people_get_no_style(family: str) -> None:
    graph = cg.generate(family, nodes=200, seed=0)
    excluded, labeled = [], []
    for seed in range(3):
        found = find_styles(graph, simulate_styles(graph, people=100, visits=50, strength=0.0, seed=seed))
        excluded.append(np.mean((found.low > 0) | (found.high < 0)))
        labeled.append(np.mean([label != "unclear" for label in found.labels]))
    assert np.mean(excluded) < 0.06
    assert np.mean(labeled) < 0.03


def test_table_answer_and_plot() -> None:
    graph = cg.generate("ws", nodes=200, seed=0)
    people = simulate_styles(graph, people=60, visits=60, strength=0.6, seed=5)
    found = find_styles(graph, people)
    assert 10 < found.visits_per_block < 13
    frame = found.to_frame()
    assert list(frame.columns[:4]) == ["user", "planted", "blocks", "score"]
    assert "hunter" in found.answer
    assert 0 < found.predicted < 60
    assert found.plot().get_xlabel() == "people"
    np.testing.assert_array_equal(find_styles(graph, people).low, found.low)


@pytest.mark.parametrize(
    ("walks", "options", "words"),
    [
        ([[0, 1, 2, 3]] * 2, {"block": 2}, "block is 2"),
        ([[0, 1, 2, 3]] * 2, {"block": 100}, "100"),
        ([[0, 1, 2, 3]] * 2, {"seed": -1}, "seed is -1"),
        ([0, 1, 2, 3], {"block": None}, "one person"),
    ],
)
def test_bad_options(walks: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(cg.CuriographError, match=words):
        cg.profile(cg.toys.cycle(5), walks).styles(**options)


def test_blocks_have_equal_numbers_of_nodes() -> None:
    rng = np.random.default_rng(0)
    walks = [rng.integers(12, size=rng.integers(1, 60)).tolist() for _ in range(30)]
    people = cg.human.Trajectories.from_walks(walks)
    for size in (3, 5, 12):
        expected = [(i, block) for i in range(30) for block in cut_walk(people.walk(i).tolist(), size)]
        blocks = zip(*cut_blocks(people, size), strict=True)
        assert [(walk, people.nodes[begin:end].tolist()) for walk, begin, end in blocks] == expected
