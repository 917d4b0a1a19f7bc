"""Heuristic agents, the baselines of the paper: random, max-degree, min-degree and greedy."""

from __future__ import annotations

import numpy as np

from curiograph.agents.agent import Agent
from curiograph.arrays import Float64
from curiograph.exploration.mdp import Exploration


class RandomAgent(Agent):
    """Chooses uniformly at random: all scores are equal."""

    name = "random"

    def scores(self, exploration: Exploration) -> Float64:
        return np.zeros(len(exploration.candidates.nodes))


class MaxDegreeAgent(Agent):
    """Chooses the candidate with the most (out-)neighbors in the whole graph."""

    name = "max-degree"

    def scores(self, exploration: Exploration) -> Float64:
        indptr, nodes = exploration.stack.out.indptr, exploration.candidates.nodes
        return (indptr[nodes + 1] - indptr[nodes]).astype(np.float64)


class MinDegreeAgent(MaxDegreeAgent):
    """Chooses the candidate with the fewest (out-)neighbors in the whole graph."""

    name = "min-degree"

    def scores(self, exploration: Exploration) -> Float64:
        return -super().scores(exploration)


class GreedyAgent(Agent):
    """Chooses the candidate with the highest reward after the step."""

    name = "greedy"

    def scores(self, exploration: Exploration) -> Float64:
        return exploration.round_scores(exploration.candidate_values)
