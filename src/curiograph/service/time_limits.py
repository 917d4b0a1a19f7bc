"""Time limits: cost estimates, and rewards and agents that check often whether to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curiograph.agents.base import Agent
from curiograph.agents.heuristics import GreedyAgent
from curiograph.agents.registry import PLANNING_AGENTS
from curiograph.arrays import Float64, Int32, Int64
from curiograph.exploration.mdp import Exploration
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.parallel.chunks import split_by_size
from curiograph.rewards.base import Tracker
from curiograph.rewards.combined import Term, list_terms
from curiograph.rewards.pairs import MAX_ALL
from curiograph.rewards.registry import as_reward

StopCheck = Callable[[], None]
"""Function that raises if the work is to stop."""

_SECONDS = {"igt": 2.5e-11, "cpt": 2e-9, "cct": 2.5e-11}
"""Seconds to evaluate one candidate, divided by the cube of the visited nodes; measured on graphs of density 0.5.
That of cct, which is proportional to the visited nodes, is an upper bound."""
_BEST_COST = 4
"""How many times longer the best of several heuristics takes than all pairs, for walks of more than `MAX_ALL` nodes."""
_CHECK_INTERVAL = 0.25
"""Seconds of work between two checks."""


def estimate_explore_seconds(graph: Graph, agent: Agent, reward: str, steps: int, visited: int = 1) -> float:
    """Estimate the time of an agent to extend a walk of `visited` nodes to `steps`.

    The estimate is 0 for cct, and for igt, which is slow on dense graphs only.

    >>> from curiograph.graph.toys import complete
    >>> round(estimate_explore_seconds(complete(600), GreedyAgent(), "cpt", 500))
    6...
    """
    if all(term.name != "cpt" for _, term in list_terms(as_reward(reward))):
        return 0.0
    lengths = np.arange(visited, min(steps, graph.num_nodes), dtype=np.float64)
    num_evaluated = np.ones(len(lengths))
    if isinstance(agent, (GreedyAgent, *PLANNING_AGENTS)):
        unvisited_neighbors = float(graph.degrees.mean()) * (1 - lengths / graph.num_nodes)
        num_evaluated = getattr(agent, "width", 1) * np.maximum(1, unvisited_neighbors)
    return float(np.sum(_SECONDS["cpt"] * num_evaluated * lengths**3))


def estimate_step_seconds(graph: Graph, agent: Agent, reward: str, visited: int, ahead: int) -> float:
    """Estimate the time of an agent to choose the next node; planners plan `ahead` nodes."""
    steps = visited + (ahead if isinstance(agent, PLANNING_AGENTS) else 1)
    return estimate_explore_seconds(graph, agent, reward, steps, visited)


def estimate_measure_seconds(lengths: Iterable[int]) -> float:
    """Estimate the time to compute the compressibility of walks of these lengths, after every step.

    >>> round(estimate_measure_seconds([500]))
    125
    """

    def sum_cubes(length: int) -> float:
        return length**4 / 4 if length <= MAX_ALL else _BEST_COST * length**4 / 4

    return _SECONDS["cpt"] * sum(map(sum_cubes, lengths))


@dataclass(frozen=True)
class CancellableReward:
    """A reward with the same values that calls `check` before every piece of work.

    All agents need rewards at every step, so this stops any of them, planners too.

    >>> CancellableReward("igt", lambda: None).name
    'igt'
    """

    name: str
    check: StopCheck

    @property
    def terms(self) -> tuple[Term, ...]:
        """Weights and rewards that are added up; one term unless the reward is a sum."""
        return tuple(list_terms(as_reward(self.name)))

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> Tracker:
        """Track the values of walks."""
        reward = as_reward(self.name)
        seconds = sum(_SECONDS[term.name] for _, term in list_terms(reward))
        return _CancellableTracker(reward.track(stack, nodes, lengths), self.check, seconds)


class _CancellableTracker(Tracker):
    def __init__(self, tracker: Tracker, check: StopCheck, seconds: float) -> None:
        self._tracker, self._check, self._seconds = tracker, check, seconds
        self.depends_on_order = tracker.depends_on_order

    def values(self) -> Float64:
        self._check()
        return self._tracker.values()

    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        values = np.empty(len(candidates))
        costs = np.repeat(self._tracker.lengths, np.diff(offsets)) ** 3
        for first, last in split_by_size(costs, int(_CHECK_INTERVAL / self._seconds)):
            self._check()
            chunk = np.clip(offsets, first, last) - first
            values[first:last] = self._tracker.candidate_values(chunk, candidates[first:last])
        return values

    def advance(self, new: Int32, parents: Int64 | None = None) -> None:
        self._check()
        self._tracker.advance(new, parents)

    def hash_order(self) -> NDArray[np.uint64]:
        return self._tracker.hash_order()


@dataclass(frozen=True)
class CancellableAgent(Agent):
    """An agent with the same scores that calls `check` before every step."""

    agent: Agent
    check: Callable[[Exploration], None]

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.agent.name

    def scores(self, exploration: Exploration) -> Float64:
        self.check(exploration)
        return self.agent.scores(exploration)
