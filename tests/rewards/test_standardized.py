"""Standardized rewards: zero mean and unit variance over random walks at every length."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.agents.evaluate import Rollouts
from curiograph.agents.registry import as_agent
from curiograph.rewards.standardized import StandardizedReward


@pytest.fixture(scope="module")
def graphs():
    return [cg.generate("ba", nodes=40, seed=seed) for seed in range(3)]


def test_random_walks_have_mean_zero_and_variance_one_at_every_length(graphs):
    for name in ("igt", "cpt"):
        reward = cg.standardize_reward(name, graphs, steps=9, episodes=50, seed=4)
        rollouts = Rollouts.create("random", graphs, reward, 9, 50, seed=4)
        rewards = as_agent("random").run(rollouts.initial).rewards
        varies = np.array(reward.scales[1:]) > 0
        assert varies[3:].all()
        np.testing.assert_allclose(rewards.mean(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(rewards.std(axis=0)[varies], 1, atol=1e-9)


def test_weights_multiply_the_standardized_terms(graphs):
    both = cg.standardize_reward("2*igt-0.5*cpt", graphs, steps=6)
    assert sorted(weight for weight, _ in both.terms) == [-0.5, 2.0]
    assert all(isinstance(term, StandardizedReward) for _, term in both.terms)


def test_the_contract_of_rewards_holds(graphs):
    cg.check_reward(cg.standardize_reward("igt+cpt+cct", graphs[0], steps=14), graphs[0])


def test_a_constant_reward_is_zero(graphs):
    reward = cg.standardize_reward(lambda subgraph: 3.0, graphs[0], steps=5, episodes=3)
    assert cg.evaluate("greedy", graphs[0], reward, steps=5, episodes=3).mean == 0


def test_longer_walks_than_standardized_are_refused(graphs):
    reward = cg.standardize_reward("igt", graphs[0], steps=5, episodes=3)
    with pytest.raises(cg.SettingError, match=r"up to 5 nodes.*larger steps"):
        cg.explore(graphs[0], agent="greedy", reward=reward, start=0, steps=8)
