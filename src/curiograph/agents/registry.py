"""From what a user writes (`"greedy"`, `"beam:64"`, an object) to an agent, and the contract that each must keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from curiograph.agents.base import Agent, score_candidates
from curiograph.agents.beam import BeamAgent, GuidedBeamAgent
from curiograph.agents.generalist import GeneralistAgent
from curiograph.agents.heuristics import GreedyAgent, MaxDegreeAgent, MinDegreeAgent, RandomAgent
from curiograph.agents.pretrained import find_agent_file, load_agent, shipped_agents
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


class _Adapted(Agent):
    """A user's object that scores candidates without being an `Agent`."""

    def __init__(self, scorer: Any) -> None:
        self._scorer = scorer
        self.name = str(getattr(scorer, "name", type(scorer).__name__))
        self.foresees = bool(getattr(scorer, "foresees", False))
        self.fingerprint = getattr(scorer, "fingerprint", None)

    def scores(self, exploration: Exploration) -> Float64:
        scores: Float64 = self._scorer.scores(exploration)
        return scores


def as_agent(agent: AgentLike) -> Agent:
    """The agent meant by a name, or by an object with a method `scores`.

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
        return _named(agent)
    if isinstance(agent, type):
        raise UnknownNameError(f"{agent.__name__} is a class, not an agent; make one: {agent.__name__}().")
    if callable(getattr(agent, "scores", None)):
        return _Adapted(agent)
    raise UnknownNameError(f"{agent!r} is not an agent; give a name or an object with a method scores(exploration).")


def _named(text: str) -> Agent:
    """The agent that a text names: `greedy`, `beam:64`, `igt-rg`, `igt-rg-horizon+beam:8`, a path."""
    guide, plus, planner = text.rpartition("+")
    name, colon, width = planner.partition(":")
    if plus and name == "beam":
        return GuidedBeamAgent(_width(width) if colon else 8, guide=_alone(guide))
    return _alone(text)


def _alone(text: str) -> Agent:
    name, colon, width = text.partition(":")
    if name == "beam" and colon:
        return BeamAgent(_width(width))
    if text in AGENTS:
        return AGENTS[text]()
    if text in shipped_agents() or find_agent_file(text) is not None:
        return load_agent(text)
    raise UnknownNameError(
        f"there is no agent {shorten_text(text, 80)!r}; the agents are {', '.join(AGENTS)}, beam:WIDTH, the trained ones "
        f"({', '.join(shipped_agents())}), HORIZON+beam:WIDTH, the path of one you trained, or an object of yours."
    )


def _width(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise SettingError(f"beam width is {text!r}; write beam:WIDTH with a whole number, such as beam:64.") from None


def check_agent(agent: AgentLike, graph: Graph | None = None, *, reward: str = "igt", seed: int = 0) -> None:
    """Raise `AgentError` unless an agent keeps its contract: run this on your own.

    On `graph` (two toy graphs by default) it must give one number per candidate, the same when asked twice, the same
    for a walk alone as in a batch, and leave the exploration as it was; and its walks must visit distinct nodes.

    >>> check_agent("greedy")
    """
    made = as_agent(agent)
    for g in [as_graph(graph)] if graph is not None else [grid(4, 4), library()]:
        starts = np.flatnonzero(g.degrees > 0)[:8]
        exploration = begin([g], [starts], reward, min(6, g.num_nodes), seed=seed)
        for _ in range(exploration.steps - 1):
            _check_scores(made, exploration)
            exploration = exploration.step(exploration.best(score_candidates(made, exploration)))
        _check_run(made, begin([g], [starts], reward, min(6, g.num_nodes), seed=seed))


def _check_scores(agent: Agent, exploration: Exploration) -> None:
    before = {name: array.copy() for name, array in _arrays(exploration).items()}
    scores = score_candidates(agent, exploration)
    for name, array in _arrays(exploration).items():
        if not np.array_equal(before[name], array, equal_nan=True):
            raise AgentError(
                f"agent {agent.name!r} writes into exploration.{name}; it must leave the exploration as it was."
            )
    if not np.array_equal(scores, score_candidates(agent, exploration)):
        raise AgentError(
            f"agent {agent.name!r} changes its mind: asked twice, it scores the same candidates differently."
        )
    offsets = exploration.candidates.offsets
    for walk in range(len(exploration.lengths)):
        alone = score_candidates(agent, exploration.rows(np.array([walk])))
        if not np.allclose(alone, scores[offsets[walk] : offsets[walk + 1]], rtol=1e-4, atol=1e-4):
            raise AgentError(f"agent {agent.name!r} scores walk {walk} differently alone than in a batch.")


def _arrays(exploration: Exploration) -> dict[str, Any]:
    return {
        "nodes": exploration.nodes,
        "lengths": exploration.lengths,
        "rewards": exploration.rewards,
        "candidates.nodes": exploration.candidates.nodes,
        "candidates.offsets": exploration.candidates.offsets,
        "candidate_values": exploration.candidate_values,
    }


def _check_run(agent: Agent, exploration: Exploration) -> None:
    ended = agent.run(exploration)
    if not isinstance(ended, Exploration):
        raise AgentError(f"agent {agent.name!r}: run returned {ended!r}; it must return the finished exploration.")
    if not ended.finished:
        raise AgentError(f"agent {agent.name!r} stops before its walks are at their end.")
    for nodes, length in zip(ended.nodes, ended.lengths, strict=True):
        if len(set(nodes[:length].tolist())) != length:
            raise AgentError(f"agent {agent.name!r} visits a node twice: {nodes[:length].tolist()}.")
