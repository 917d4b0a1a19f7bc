"""Weighted sums of rewards, against sums of separately computed rewards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import curiograph as cg
from curiograph.exploration.mdp import begin
from curiograph.parallel.fingerprint import fingerprint
from curiograph.rewards.combined import CombinedReward, list_terms
from curiograph.rewards.reward_names import as_reward

SUMS = {
    "igt+cpt": {"igt": 1.0, "cpt": 1.0},
    "igt+0.5*cpt": {"igt": 1.0, "cpt": 0.5},
    "2*igt-cpt": {"igt": 2.0, "cpt": -1.0},
    "-0.25*cpt": {"cpt": -0.25},
}


def count_edges(subgraph: cg.Graph) -> float:
    return subgraph.num_edges


class Marked:
    """A user's reward that can be stored."""

    __name__ = "marked"
    fingerprint = "v1"

    def __call__(self, subgraph: cg.Graph) -> float:
        return float(len(subgraph))


@pytest.mark.parametrize(("name", "weights"), SUMS.items())
def test_name_and_mapping_are_the_same_reward(name: str, weights: dict[str, float]) -> None:
    assert as_reward(name) == as_reward(weights) == as_reward(as_reward(name).name)
    assert as_reward(name).name == name
    assert {term.name: weight for weight, term in list_terms(as_reward(name))} == weights


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cpt+igt", "igt+cpt"),
        (" 0.5 * cpt + 1*igt ", "igt+0.5*cpt"),
        ("igt+igt", "2*igt"),
        ("1e-7*igt+.5*cpt", "1e-07*igt+0.5*cpt"),
        ("0.1*igt+0.2*igt", "0.30000000000000004*igt"),
    ],
)
def test_names_are_canonical_and_round_trip(text: str, name: str) -> None:
    assert as_reward(text).name == name
    assert as_reward(name).name == name
    assert as_reward(name) == as_reward(text)


@pytest.mark.parametrize("agent", ["random", "greedy", "beam:8"])
def test_rewards_of_a_walk_are_the_sum_of_its_terms(agent: str) -> None:
    graph = cg.generate("er", nodes=30, seed=2)
    walk = cg.explore(graph, agent, {"igt": 1.0, "cpt": 0.5}, start=0, steps=12, seed=4)
    growth = cg.measure(graph, walk.nodes)
    np.testing.assert_allclose(walk.rewards, growth.beta1[1:] + 0.5 * growth.compressibility[1:], atol=1e-12)
    assert walk.reward == "igt+0.5*cpt"


def test_branching_moves_every_term() -> None:
    """The beam copies and reorders walks; a tracker that missed this would report other rewards than a fresh one."""
    graph = cg.generate("ws", nodes=40, seed=5)
    batch = begin([graph], [[0, 7, 9]], "igt+cpt", 8)
    rng = np.random.default_rng(0)
    for _ in range(5):
        chosen = rng.choice(len(batch.candidates.nodes), 6)
        batch = batch.branch(batch.candidates.walks[chosen], chosen)
    fresh = batch.rows(np.arange(6))
    np.testing.assert_array_equal(batch.values, fresh.values)
    np.testing.assert_array_equal(batch.candidate_values, fresh.candidate_values)


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ("igt+", cg.errors.UnknownNameError, r"'igt\+'; the rewards are igt, cpt"),
        ("igt+edges", cg.errors.UnknownNameError, "'edges'"),
        ("igt*0.5", cg.errors.UnknownNameError, r"igt\+0.5\*cpt"),
        ("1e999*igt", cg.SettingError, "inf; give a number"),
        ({}, cg.SettingError, "no terms"),
        ("igt-igt", cg.SettingError, "no terms"),
        ({"igt": float("nan")}, cg.SettingError, "nan"),
        ({count_edges: 1, cg.CallableReward(len, "count_edges"): 1}, cg.SettingError, "two different rewards"),
    ],
)
def test_bad_sums(bad: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        as_reward(bad)


def test_fingerprint_covers_own_terms() -> None:
    assert fingerprint("reward", as_reward("igt+0.5*cpt")) == "1.0*igt+0.5*cpt"
    marked = as_reward({"igt": 1, Marked(): 2})
    assert fingerprint("reward", marked) == "1.0*igt+2.0*marked v1"
    assert marked.fingerprint == "['v1']"
    unmarked = as_reward({"igt": 1, count_edges: 2})
    assert isinstance(unmarked, CombinedReward)
    assert unmarked.fingerprint is None
    with pytest.raises(cg.SettingError, match="count_edges"):
        fingerprint("reward", unmarked)
