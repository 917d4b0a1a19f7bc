"""`standardize_reward`: express rewards in standard deviations of random walks of the same length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curiograph.agents.evaluate import Rollouts
from curiograph.agents.heuristics import RandomAgent
from curiograph.exploration.mdp import Fallback
from curiograph.graph.graph import Graph
from curiograph.rewards.base import Reward
from curiograph.rewards.combined import combine_rewards, list_terms
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.rewards.standardized import StandardizedReward


def standardize_reward(
    reward: RewardLike,
    graphs: Sequence[Graph] | Graph,
    steps: int = 10,
    *,
    episodes: int = 100,
    fallback: Fallback = "frontier",
    seed: int = 0,
) -> Reward:
    """Standardize every term of a reward per walk length, so that terms of different units have equal influence.

    A term is replaced by (F(S_t) - mean_t) / deviation_t, with the mean and the standard deviation of F over random
    walks of t nodes on the same graphs. Where F does not vary, such as the gaps of very short walks, the term is 0.

    Parameters
    ----------
    reward : str, mapping, Reward or callable
        The reward, usually a weighted sum such as "igt+cpt"; its weights multiply the standardized terms.
    graphs : Graph or sequence of Graph
        Graphs on which the random walks are taken.
    steps : int
        Length of the longest walk that the result is used for, in nodes.
    episodes : int
        Number of random walks per graph.
    fallback : {"frontier", "anywhere"}
        Candidates at a dead end; see `explore`.
    seed : int
        Seed of the random walks.

    Returns
    -------
    Reward
        The standardized reward, or the sum of them.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.generate("ba", nodes=50, seed=0)
    >>> both = cg.standardize_reward("igt+cpt", g, steps=8)
    >>> both.name
    'standardized cpt+standardized igt'
    >>> abs(cg.evaluate("random", g, both, steps=8, episodes=100).mean) < 1
    True
    """
    terms = []
    for weight, term in list_terms(as_reward(reward)):
        rollouts = Rollouts.create(RandomAgent(), graphs, term, steps, episodes, fallback, seed)
        starts = rollouts.initial.values[:, None]
        rewards = np.column_stack([starts, RandomAgent().run(rollouts.initial).rewards])
        known = ~np.isnan(rewards)
        counts = np.maximum(known.sum(axis=0), 1)
        means = np.where(known, rewards, 0.0).sum(axis=0) / counts
        variances = np.where(known, (rewards - means) ** 2, 0.0).sum(axis=0) / counts
        deviations = np.sqrt(variances)
        varies = deviations > 1e-9 * np.maximum(np.abs(means), 1.0)
        scales = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=varies)
        terms.append((weight, StandardizedReward(term, tuple(means.tolist()), tuple(scales.tolist()))))
    return combine_rewards(terms)
