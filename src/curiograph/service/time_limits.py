"""Estimates of computing time: they decide where a request is computed, and refuse those that would take too long."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from curiograph.agents.base import Agent
from curiograph.agents.beam import BeamAgent
from curiograph.agents.heuristics import GreedyAgent, MaxDegreeAgent, MinDegreeAgent, RandomAgent
from curiograph.graph.graph import Graph
from curiograph.rewards.combined import list_terms
from curiograph.rewards.registry import as_reward

LIGHT_SECONDS = 0.02
"""Estimated time up to which a request is computed by a thread of the server, ahead of all longer ones."""

_SECONDS = {"igt": 2.5e-11, "cpt": 2e-9, "cct": 2.5e-11}
"""Seconds to evaluate one candidate, divided by the cube of the visited nodes; measured on graphs of density 0.5.
That of cct, which is proportional to the visited nodes, is an upper bound."""
_CANDIDATE_SECONDS = 1e-6
"""Least time to evaluate one candidate."""
_NETWORK_SECONDS = 2e-6
"""Time of a trained agent per step and edge of the graph."""


def estimate_explore_seconds(graph: Graph, agent: Agent, reward: str, steps: int, visited: int = 1) -> float:
    """Estimate the time of an agent to extend a walk of `visited` nodes to `steps`.

    The estimate is 0 for cct, and for igt, which is slow on dense graphs only.

    >>> from curiograph.graph.toys import complete
    >>> round(estimate_explore_seconds(complete(600), GreedyAgent(), "cpt", 500))
    6...
    """
    if all(term.name != "cpt" for _, term in list_terms(as_reward(reward))):
        return 0.0
    lengths, num_evaluated = _count_evaluated(graph, agent, steps, visited, float(graph.degrees.mean()))
    return float(np.sum(_SECONDS["cpt"] * num_evaluated * lengths**3))


def bound_explore_seconds(graph: Graph, agent: Agent, reward: str, steps: int, visited: int = 1) -> float:
    """Return a time that extending a walk takes at most, whatever the reward and the agent.

    >>> from curiograph.graph.toys import library
    >>> bound_explore_seconds(library(), GreedyAgent(), "igt", 10) < LIGHT_SECONDS
    True
    """
    lengths, num_evaluated = _count_evaluated(graph, agent, steps, visited, float(graph.degrees.max(initial=0)))
    per_cube = sum(_SECONDS[term.name] for _, term in list_terms(as_reward(reward)))
    seconds = float(np.sum(num_evaluated * (_CANDIDATE_SECONDS + per_cube * lengths**3)))
    if not isinstance(agent, (GreedyAgent, RandomAgent, MaxDegreeAgent, MinDegreeAgent, BeamAgent)):
        seconds += _NETWORK_SECONDS * (graph.num_edges + 100) * len(lengths)
    return seconds


def _count_evaluated(
    graph: Graph, agent: Agent, steps: int, visited: int, degree: float
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Return the length of the walk before each step, and the number of candidates evaluated there.

    All nodes are taken to have the given degree.
    """
    lengths = np.arange(visited, min(steps, graph.num_nodes), dtype=np.float64)
    num_evaluated = np.ones(len(lengths))
    if isinstance(agent, (GreedyAgent, BeamAgent)):
        unvisited_neighbors = degree * (1 - lengths / graph.num_nodes)
        num_evaluated = getattr(agent, "width", 1) * np.maximum(1, unvisited_neighbors)
    return lengths, num_evaluated


def estimate_step_seconds(graph: Graph, agent: Agent, reward: str, visited: int, ahead: int) -> float:
    """Estimate the time of an agent to choose the next node; planners plan `ahead` nodes."""
    steps = visited + (ahead if isinstance(agent, BeamAgent) else 1)
    return estimate_explore_seconds(graph, agent, reward, steps, visited)


def bound_step_seconds(graph: Graph, agent: Agent, reward: str, visited: int, ahead: int) -> float:
    """Return a time that viewing the next step takes at most: the choice of the agent, and the values of candidates."""
    steps = visited + (ahead if isinstance(agent, BeamAgent) else 1)
    choice = bound_explore_seconds(graph, agent, reward, steps, visited)
    return choice + bound_explore_seconds(graph, GreedyAgent(), "igt+cpt+cct", visited + 1, visited)


def estimate_measure_seconds(lengths: Iterable[int]) -> float:
    """Estimate the time to compute the compressibility of walks of these lengths, after every step.

    >>> round(estimate_measure_seconds([500]))
    125
    """

    def sum_cubes(length: int) -> float:
        return length**4 / 4

    return _SECONDS["cpt"] * sum(map(sum_cubes, lengths))
