"""Look up agents by name, wrap objects with a method `scores`, and check that an agent fulfills the contract."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curiograph.agents.base import Agent, score_candidates
from curiograph.agents.beam import BeamAgent, GuidedBeamAgent
from curiograph.agents.heuristics import GreedyAgent, MaxDegreeAgent, MinDegreeAgent, RandomAgent
from curiograph.agents.pretrained import GeneralistAgent, find_agent_file, load_agent, shipped_agents
from curiograph.arrays import Float64
from curiograph.errors import AgentError, SettingError, UnknownNameError
from curiograph.exploration.mdp import Exploration, begin
from curiograph.graph.graph import Graph, as_graph
from curiograph.graph.toys import grid, library
from curiograph.messages import shorten_text

AgentLike: TypeAlias = str | Path | Agent | Any

AGENTS: dict[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "max-degree": MaxDegreeAgent,
    "min-degree": MinDegreeAgent,
    "greedy": GreedyAgent,
    "horizon": GeneralistAgent,
    "beam": BeamAgent,
}


class _WrappedAgent(Agent):
    """A user's object that has a method `scores` without being an `Agent`."""

    def __init__(self, scorer: Any) -> None:
        self._scorer = scorer
        self.name = str(getattr(scorer, "name", type(scorer).__name__))
        self.predicts_returns = bool(getattr(scorer, "predicts_returns", False))
        self.fingerprint = getattr(scorer, "fingerprint", None)

    def scores(self, exploration: Exploration) -> Float64:
        scores: Float64 = self._scorer.scores(exploration)
        return scores


def as_agent(agent: AgentLike) -> Agent:
    """Return the agent given by a name, a path, an agent, or an object with a method `scores`.

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
    if isinstance(agent, str):
        return _parse_agent(agent)
    if isinstance(agent, type):
        raise UnknownNameError(f"{agent.__name__} is a class, not an agent; make one: {agent.__name__}().")
    if callable(getattr(agent, "scores", None)):
        return _WrappedAgent(agent)
    raise UnknownNameError(f"{agent!r} is not an agent; give a name or an object with a method scores(exploration).")


def _parse_agent(text: str) -> Agent:
    """Return the agent that a text names: `greedy`, `beam:64`, `igt-rg`, `igt-rg-horizon+beam:8`, or a path."""
    guide, plus, planner = text.rpartition("+")
    name, colon, width = planner.partition(":")
    if plus and name == "beam":
        return GuidedBeamAgent(_parse_width(width) if colon else 8, guide=_find_agent(guide))
    return _find_agent(text)


def _find_agent(text: str) -> Agent:
    name, colon, width = text.partition(":")
    if name == "beam" and colon:
        return BeamAgent(_parse_width(width))
    if text in AGENTS:
        return AGENTS[text]()
    if text in shipped_agents() or find_agent_file(text) is not None:
        return load_agent(text)
    raise UnknownNameError(
        f"there is no agent {shorten_text(text, 80)!r}; the agents are {', '.join(AGENTS)}, beam:WIDTH, the trained "
        f"ones ({', '.join(shipped_agents())}), HORIZON+beam:WIDTH, the path of one you trained, or your own object."
    )


def _parse_width(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise SettingError(f"beam width is {text!r}; write beam:WIDTH with a whole number, such as beam:64.") from None


def check_agent(agent: AgentLike, graph: Graph | None = None, *, reward: str = "igt", seed: int = 0) -> None:
    """Check that an agent fulfills the contract; use this to test your own agents.

    An agent must return one number per candidate, return the same numbers when called twice and for a walk alone as in
    a batch, and not modify the exploration; its walks must visit distinct nodes and run to their end.

    Parameters
    ----------
    agent : str, path, Agent or object with `scores`
        The agent to check.
    graph : Graph, optional
        The graph to check it on; two toy graphs by default.
    reward : str
        The reward to explore for.
    seed : int
        Seed of the explorations.

    Raises
    ------
    AgentError
        If the contract is violated; the message describes how.

    Examples
    --------
    >>> check_agent("greedy")
    """
    checked = as_agent(agent)
    for g in [as_graph(graph)] if graph is not None else [grid(4, 4), library()]:
        starts = np.flatnonzero(g.degrees > 0)[:8]
        exploration = begin([g], [starts], reward, min(6, g.num_nodes), seed=seed)
        for _ in range(exploration.steps - 1):
            _check_scores(checked, exploration)
            exploration = exploration.step(exploration.best(score_candidates(checked, exploration)))
        _check_run(checked, begin([g], [starts], reward, min(6, g.num_nodes), seed=seed))


def _check_scores(agent: Agent, exploration: Exploration) -> None:
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
        raise AgentError(f"agent {agent.name!r} is not deterministic: it scores the same candidates differently.")
    for walk in range(len(exploration.lengths)):
        alone = score_candidates(agent, exploration.rows(np.array([walk])))
        in_batch = scores[candidates.offsets[walk] : candidates.offsets[walk + 1]]
        if not np.allclose(alone, in_batch, rtol=1e-4, atol=1e-4):
            raise AgentError(f"agent {agent.name!r} scores walk {walk} differently alone than in a batch.")


def _check_run(agent: Agent, exploration: Exploration) -> None:
    ended = agent.run(exploration)
    if not isinstance(ended, Exploration):
        raise AgentError(f"agent {agent.name!r}: run returned {ended!r}; it must return the finished exploration.")
    if not ended.finished:
        raise AgentError(f"agent {agent.name!r} stops before its walks end.")
    for nodes, length in zip(ended.nodes, ended.lengths, strict=True):
        if len(set(nodes[:length].tolist())) != length:
            raise AgentError(f"agent {agent.name!r} visits a node twice: {nodes[:length].tolist()}.")
