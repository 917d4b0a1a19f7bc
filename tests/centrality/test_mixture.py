"""Mixtures of centralities and their weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.centrality.mixture import normalize_weights


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
        ({"a": [1.0], "b": [2.0]}, {"a": 0, "b": 0}, "'a': 0"),
        ({"a": [1.0]}, {"a": float("nan")}, "nan"),
        ({"a": [1.0]}, {"a": "x"}, "'x'"),
        ({"a": [1.0]}, {"a": 1, "c": 1}, "'c'"),
        ({"a": [1.0]}, [1], "[1]"),
        ({"a": [1.0], "b": [1.0, 2.0]}, None, "different shapes"),
        ({"a": ["x"]}, None, "['x']"),
        ({}, None, "at least one"),
    ],
)
def test_bad_mixtures(components, weights, message):
    with pytest.raises(cg.SettingError) as caught:
        cg.mixture(components, weights)
    assert message in str(caught.value)
