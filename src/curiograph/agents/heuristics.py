"""The paper's baselines: random, max degree, min degree, greedy."""

from __future__ import annotations

import numpy as np

from curiograph.agents.base import Agent
from curiograph.arrays import Float64
from curiograph.exploration.mdp import Exploration


class RandomAgent(Agent):
    """Any candidate, with equal chance: all scores tie."""

    name = "random"

    def scores(self, exploration: Exploration) -> Float64:
        return np.zeros(len(exploration.candidates.nodes))


class MaxDegreeAgent(Agent):
    """The candidate with the most neighbours in the whole graph (out-neighbours if it is directed)."""

    name = "max-degree"

    def scores(self, exploration: Exploration) -> Float64:
        indptr, nodes = exploration.stack.out.indptr, exploration.candidates.nodes
        return (indptr[nodes + 1] - indptr[nodes]).astype(np.float64)


class MinDegreeAgent(MaxDegreeAgent):
    """The candidate with the fewest neighbours in the whole graph."""

    name = "min-degree"

    def scores(self, exploration: Exploration) -> Float64:
        return -super().scores(exploration)


class GreedyAgent(Agent):
    """The candidate with the highest reward after the step."""

    name = "greedy"

    def scores(self, exploration: Exploration) -> Float64:
        return exploration.round_scores(exploration.candidate_values)
