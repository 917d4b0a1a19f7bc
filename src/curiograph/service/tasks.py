"""What jobs do, in small steps, so that they can say how far they are and stop when told."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.beam import BeamAgent
from curiograph.agents.contract import Agent
from curiograph.agents.running import Evaluation, random_starts
from curiograph.centrality.curious import curious_pagerank
from curiograph.centrality.recommend import Recommender
from curiograph.exploration.batch import Exploration, begin, possible_starts
from curiograph.graph.container import Graph
from curiograph.graph.rows import Float64
from curiograph.growth import measure
from curiograph.service.answers import growth_answer, number, rank_answer
from curiograph.service.jobs import Step

_EPISODES = 8
"""Walks between two looks at whether to stop; a planner takes as long for one."""
_WALKS = 16
_NODES = 4
_SECONDS = 60
"""Between two writings of a file of parts."""


def evaluate_task(
    graph: Graph, agent: Agent, reward: str, steps: int, episodes: int, seed: int, step: Step
) -> dict[str, Any]:
    """Returns of an agent over many walks, those of `cg.evaluate`: walks do not depend on how they are batched."""
    starts = random_starts(possible_starts(graph, "frontier"), episodes, seed)
    whole = begin([graph], [starts], reward, steps, seed=seed)
    returns, short = [], 0
    at_once = 1 if isinstance(agent, BeamAgent) else _EPISODES
    for first in range(0, episodes, at_once):
        step(first, episodes)
        ended = agent.run(whole.rows(np.arange(first, min(first + at_once, episodes))))
        returns.append(ended.returns)
        short += int(np.count_nonzero(ended.lengths < steps))
    step(episodes, episodes)
    found = Evaluation(agent.name, whole.reward.name, steps, [np.concatenate(returns)], short)
    return {
        "agent": found.agent,
        "reward": found.reward,
        "steps": steps,
        "episodes": episodes,
        "mean": number(found.mean),
        "sem": number(found.sem),
        "ended_early": short,
    }


def measure_task(graph: Graph, walks: Sequence[list[Hashable]], step: Step) -> dict[str, Any]:
    """What many walks grew."""
    grown: list[dict[str, Any]] = []
    for first in range(0, len(walks), _WALKS):
        step(first, len(walks))
        grown += [growth_answer(growth) for growth in measure(graph, list(walks[first : first + _WALKS]))]
    step(len(walks), len(walks))
    return {"walks": grown}


def rank_task(
    graph: Graph, agent: Agent, history: Sequence[Hashable] | None, settings: dict[str, Any], k: int, step: Step
) -> dict[str, Any]:
    """Curious PageRank; how often its agent was asked is how far it has come."""
    found = curious_pagerank(graph, _Watched(agent, step), history=history, **settings)
    return rank_answer(graph, found, history, k)


@dataclass
class _Watched(Agent):
    """An agent that stops asking when its job is to stop."""

    agent: Agent
    step: Step
    asked: int = 0

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.agent.name

    def scores(self, exploration: Exploration) -> Float64:
        self.asked += 1
        self.step(self.asked, 0)
        return self.agent.scores(exploration)


def prepare_task(
    recommender: Recommender, nodes: Sequence[Hashable] | None, step: Step, parts: Path | None = None
) -> dict[str, Any]:
    """Compute what recommendations need ahead of time; what is done so far is kept in a file every minute."""
    labels = recommender.graph.labels if nodes is None else list(nodes)
    written = time.monotonic()
    for first in range(0, len(labels), _NODES):
        step(first, len(labels))
        recommender.prepare(labels[first : first + _NODES])
        if parts is not None and time.monotonic() - written > _SECONDS:
            recommender.save(parts)
            written = time.monotonic()
    if parts is not None:
        recommender.save(parts)
    step(len(labels), len(labels))
    return {"nodes": len(labels), "known": recommender.known}
