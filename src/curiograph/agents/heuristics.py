"""Heuristic agents, the baselines of the paper: random, max-degree, min-degree and greedy."""

from __future__ import annotations

from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.agents.agent import Agent
from curiograph.arrays import Float64
from curiograph.exploration.mdp import Exploration
from curiograph.rewards.cpt import Compressibility, list_tables
from curiograph.rewards.igt import InformationGaps


class HeuristicAgent(Agent):
    """An agent with a simple rule, whose walks for igt and cpt run to the end in one call of a kernel."""

    def run(self, exploration: Exploration) -> Exploration:
        rule, reward = RULES.get(type(self)), type(exploration.reward)
        if rule is None or reward not in (InformationGaps, Compressibility):
            return super().run(exploration)
        ended = exploration.rows(np.arange(len(exploration.lengths)))  # a copy
        out, rows = ended.stack.out, ended.stack.skeleton
        tables: Any = [(1, ended.steps, None, 0.0)]
        if reward is Compressibility:
            tables = list_tables(2, ended.steps, len(rows.indices))
        for _, most, *table in tables:
            kernels.heuristic_walks.run_walks(
                out.indptr, out.indices, rows.indptr, rows.indices, *ended.candidate_rule, ended.streams, rule, *table,
                most, ended.nodes, ended.lengths, ended.rewards,
            )  # fmt: skip
        return ended


class RandomAgent(HeuristicAgent):
    """Chooses uniformly at random: all scores are equal."""

    name = "random"

    def scores(self, exploration: Exploration) -> Float64:
        return np.zeros(len(exploration.candidates.nodes))


class MaxDegreeAgent(HeuristicAgent):
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


class GreedyAgent(HeuristicAgent):
    """Chooses the candidate with the highest reward after the step."""

    name = "greedy"

    def scores(self, exploration: Exploration) -> Float64:
        return exploration.round_scores(exploration.candidate_values)


RULES: dict[type, int] = {MinDegreeAgent: -1, RandomAgent: 0, MaxDegreeAgent: 1, GreedyAgent: 2}
"""Codes of the rules in `kernels.heuristic_walks`; subclasses with other scores have none."""
