"""Look up agents by name, wrap objects with a method `scores`, and check that an agent fulfills the contract."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curiograph.agents.agent import Agent, replay_walks, score_candidates
from curiograph.agents.beam import BeamAgent
from curiograph.agents.exact import ExactAgent
from curiograph.agents.heuristics import GreedyAgent, MaxDegreeAgent, MinDegreeAgent, RandomAgent
from curiograph.agents.planner import PlannerAgent
from curiograph.agents.pretrained import find_agent_file, load_agent, shipped_agents
from curiograph.arrays import Float64
from curiograph.errors import AgentError, SettingError, UnknownNameError, shorten_text
from curiograph.exploration.mdp import Exploration, begin
from curiograph.graph.graph import Graph, as_graph
from curiograph.graph.toys import grid, library

AgentLike: TypeAlias = str | Path | Agent | Any
"""A name, a path, an Agent, or an object with a method `scores`."""

AGENTS: dict[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "max-degree": MaxDegreeAgent,
    "min-degree": MinDegreeAgent,
    "greedy": GreedyAgent,
    "planner": PlannerAgent,
    "beam": BeamAgent,
    "exact": ExactAgent,
}

_MAX_CHECK_STEPS, _MAX_CHECK_WALKS = 6, 8  # of the explorations of `check_agent`


class _AdaptedAgent(Agent):
    """Adapter for objects with a method `scores` that do not inherit from `Agent`."""

    def __init__(self, scorer: Any) -> None:
        self._scorer = scorer
        self.name = str(getattr(scorer, "name", type(scorer).__name__))
        self.fingerprint = getattr(scorer, "fingerprint", None)

    def scores(self, exploration: Exploration) -> Float64:
        scores: Float64 = self._scorer.scores(exploration)
        return scores


def as_agent(agent: AgentLike) -> Agent:
    """Convert a name, a path, an Agent, or an object with a method `scores` to an Agent.

    A name is one of `AGENTS` or that of a shipped agent; `beam:WIDTH` and `planner:WIDTH` set the width of the beam,
    and `exact:STATES` the states kept at a step.

    >>> as_agent("beam:64").name
    'beam:64'
    >>> as_agent("gready")
    Traceback (most recent call last):
    curiograph.errors.UnknownNameError: there is no agent 'gready'; the agents are random, max-degree, ...
    """
    if isinstance(agent, Agent):
        return agent
    if isinstance(agent, Path):
        return load_agent(agent)
    if isinstance(agent, type):
        raise UnknownNameError(f"{agent.__name__} is a class, not an agent; pass an instance: {agent.__name__}().")
    if callable(getattr(agent, "scores", None)):
        return _AdaptedAgent(agent)
    if not isinstance(agent, str):
        raise UnknownNameError(
            f"{agent!r} is not an agent; give a name or an object with a method scores(exploration)."
        )
    name, _, width = agent.rpartition(":")
    for known in (agent, name):
        if known in AGENTS:
            found = AGENTS[known]()
        elif known and find_agent_file(known) is not None:
            found = load_agent(known)
        else:
            continue
        if known == agent:
            return found
        if isinstance(found, BeamAgent):
            if not width.removeprefix("-").isdecimal():
                raise SettingError(f"the width of {name} is {width!r}; write a whole number, as in {name}:64.")
            return found.with_width(int(width))
    raise UnknownNameError(
        f"there is no agent {shorten_text(agent)!r}; the agents are {', '.join(AGENTS)}, beam:WIDTH, planner:WIDTH, "
        f"exact:STATES, the trained ones ({', '.join(shipped_agents())}), the path of a trained agent or an object "
        "with a method scores."
    )


def check_agent(agent: AgentLike, graph: Graph | None = None, *, reward: str = "igt", seed: int = 0) -> None:
    """Raise AgentError unless an agent fulfills the agent contract; use this to test your own agents.

    Its scores must be one number per candidate, equal in repeated calls, and the same for a walk alone and in a batch.
    It must not modify the exploration. Its walks must visit candidates only and run until no candidate is left.

    Parameters
    ----------
    agent : str, path, Agent or object with a method `scores`
        The agent to check.
    graph : Graph, optional
        The graph to check it on. Default: a grid and the library graph.
    reward : str
        The reward to explore for.
    seed : int
        Random seed.

    Raises
    ------
    AgentError
        If the contract is violated; the message describes how.

    Examples
    --------
    >>> check_agent("greedy")
    >>> class Broken:
    ...     def scores(self, exploration):
    ...         return [1.0]
    >>> check_agent(Broken())
    Traceback (most recent call last):
    curiograph.errors.AgentError: agent 'Broken' ...
    """
    agent = as_agent(agent)
    for checked_graph in [grid(4, 4), library()] if graph is None else [as_graph(graph)]:
        starts = np.flatnonzero(checked_graph.degrees > 0)[:_MAX_CHECK_WALKS]
        steps = min(_MAX_CHECK_STEPS, checked_graph.num_nodes)
        initial = exploration = begin([checked_graph], [starts], reward, steps, seed=seed)
        for _ in range(steps - 1):
            exploration = exploration.step(exploration.best(check_scores(agent, exploration)))
        replay_walks(agent.name, initial, agent.run(initial.rows(np.arange(len(starts)))))


def check_scores(agent: Agent, exploration: Exploration) -> Float64:
    """Return the scores of one step; raise AgentError if they violate the contract."""
    candidates = exploration.candidates
    arrays: dict[str, NDArray[Any]] = {
        "nodes": exploration.nodes,
        "lengths": exploration.lengths,
        "rewards": exploration.rewards,
        "candidates.nodes": candidates.nodes,
        "candidates.offsets": candidates.offsets,
        "candidate_values": exploration.candidate_values,
    }
    copies = {name: array.copy() for name, array in arrays.items()}
    scores = score_candidates(agent, exploration)
    for name, array in arrays.items():
        if not np.array_equal(copies[name], array, equal_nan=True):
            raise AgentError(
                f"agent {agent.name!r} writes into exploration.{name}; it must not modify the exploration."
            )
    if not np.array_equal(scores, score_candidates(agent, exploration)):
        raise AgentError(
            f"agent {agent.name!r} is not deterministic: it scores the same candidates differently in two calls."
        )
    for walk in range(len(exploration.lengths)):
        alone = score_candidates(agent, exploration.rows(np.array([walk])))
        in_batch = scores[candidates.offsets[walk] : candidates.offsets[walk + 1]]
        if not np.allclose(alone, in_batch, rtol=1e-4, atol=1e-4):
            raise AgentError(
                f"agent {agent.name!r} scores walk {walk} differently alone than in a batch; scores must depend on the "
                "walk alone."
            )
    return scores
