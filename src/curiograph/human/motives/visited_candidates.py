"""Scores of agents for candidates that include visited nodes."""

from __future__ import annotations

import numpy as np

from curiograph.agents.base import Agent, score_candidates
from curiograph.agents.heuristics import GreedyAgent, MaxDegreeAgent, RandomAgent
from curiograph.arrays import Float64
from curiograph.errors import SettingError
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.rewards.registry import RewardLike

_DIGITS = 9  # of scores relative to the largest of a choice; beyond, they differ by rounding


def score_with_returns(agent: Agent, choices: ChoiceSet, reward: RewardLike) -> Float64:
    """Score the candidates of choices that include visited nodes.

    A visit of a visited node leaves the subgraph S unchanged, so its reward is F(S). Degrees are those of the node,
    visited or not. Other agents do not score visited nodes.
    """
    if isinstance(agent, (RandomAgent, MaxDegreeAgent)):
        batches = [score_candidates(agent, walks) for walks in choices.iterate_explorations(reward, with_visited=True)]
        return np.concatenate([np.empty(0), *batches])
    if not isinstance(agent, GreedyAgent):
        raise SettingError(
            f"agent {agent.name!r} scores unvisited nodes only; leave it out, or leave out returns to visited nodes."
        )
    unvisited, unchanged = [np.empty(0)], [np.empty(0)]
    for walks in choices.iterate_explorations(reward):
        unvisited.append(walks.candidate_values)
        unchanged.append(walks.values)
    rows = choices.candidates.walks
    scores = np.concatenate(unchanged)[rows]
    scores[~choices.is_visited] = np.concatenate(unvisited)
    largest = np.maximum.reduceat(np.abs(scores), choices.candidates.offsets[:-1])
    scale = np.where(largest > 0, largest, 1.0)[rows]
    return (scores / scale).round(_DIGITS) * scale
