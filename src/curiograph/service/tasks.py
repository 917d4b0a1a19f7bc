"""What jobs do, in small steps, so that they can say how far they are and stop when told."""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.base import Agent
from curiograph.agents.beam import BeamAgent
from curiograph.agents.evaluate import Evaluation, draw_starts
from curiograph.arrays import Float64
from curiograph.centrality.curious_pagerank import curious_pagerank
from curiograph.errors import CuriographError, SettingError
from curiograph.exploration.mdp import Exploration, begin, list_starts
from curiograph.graph.graph import Graph
from curiograph.growth.measure import measure
from curiograph.growth.records import Growth
from curiograph.parallel.chunks import split_by_size
from curiograph.recommendation.recommender import Recommender
from curiograph.service.jobs import ReportProgress
from curiograph.service.prepared import prepare_nodes
from curiograph.service.responses import encode_growth, encode_number, encode_ranking
from curiograph.service.time_limits import CancellableAgent, CancellableReward, StopCheck

_LOG = logging.getLogger("curiograph.service")

_EPISODES = 8
"""Walks that are taken together; a planner takes one at a time."""
_WALKS = 16
"""Walks that are measured together at most,"""
_LONG = 5 * 10**8
"""and their nodes to the fourth power in all, which is a quarter of a second of compressibility."""
_GAPS = 80
"""How much faster gaps are counted on a dense graph."""
_NODES = 4
_SECONDS = 60
"""Between two writings of a file of parts."""
_TAIL = 1e-3
"""Share of visits after which walkers of curious PageRank stop."""


def evaluate_agent(
    graph: Graph, agent: Agent, reward: str, steps: int, episodes: int, seed: int, step: ReportProgress
) -> dict[str, Any]:
    """Returns of an agent over many walks, those of `cg.evaluate`: walks do not depend on how they are batched."""
    starts = draw_starts(list_starts(graph, "frontier"), episodes, seed)
    returns: list[Float64] = []
    at_once = 1 if isinstance(agent, BeamAgent) else _EPISODES
    watched = CancellableReward.of(reward, lambda: step(at_once * len(returns), episodes))
    whole, short = begin([graph], [starts], watched, steps, seed=seed), 0
    for first in range(0, episodes, at_once):
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
        "mean": encode_number(found.mean),
        "sem": encode_number(found.sem),
        "ended_early": short,
    }


def measure_walks(graph: Graph, walks: Sequence[list[Hashable]], step: ReportProgress) -> dict[str, Any]:
    """What many walks grew."""
    grown: list[dict[str, Any]] = []
    growths = measure_in_chunks(graph, walks, True, lambda: step(len(grown), len(walks)))
    grown.extend(encode_growth(growth) for growth in growths)
    step(len(walks), len(walks))
    return {"walks": grown}


def measure_in_chunks(
    graph: Graph, walks: Sequence[list[Hashable]], compressibility: bool, check: StopCheck
) -> Iterator[Growth]:
    """What walks grew, a few at a time; `check` raises where that is to stop."""
    sizes = np.asarray([len(walk) for walk in walks]) ** 4 // (1 if compressibility else _GAPS)
    for first, last in split_by_size(np.maximum(sizes, _LONG // _WALKS), _LONG):
        check()
        yield from measure(graph, list(walks[first:last]), compressibility=compressibility, workers=1)


def rank_nodes(
    graph: Graph,
    agent: Agent,
    history: Sequence[Hashable] | None,
    settings: dict[str, Any],
    k: int,
    step: ReportProgress,
) -> dict[str, Any]:
    """Curious PageRank; how far its walkers have come is how far it has come."""
    walkers = _Walkers(step, next(each for each in count(1) if settings["alpha"] ** each <= _TAIL))
    watched = {"reward": CancellableReward.of(settings["reward"], walkers.check)}
    found = curious_pagerank(graph, CancellableAgent(agent, walkers.see), history=history, **settings | watched)
    step(walkers.of, walkers.of)
    return encode_ranking(graph, found, history, k)


@dataclass
class _Walkers:
    """How far the walkers of curious PageRank have come: where they are not enough, more begin at the start again."""

    step: ReportProgress
    most: int
    """Steps that walkers take."""
    begun: int = 1
    length: int = 0

    @property
    def of(self) -> int:
        """Steps of all that have begun."""
        return self.begun * self.most

    def see(self, exploration: Exploration) -> None:
        """Note where they are, all at the same step; raises if they are to stop."""
        length = int(exploration.lengths[0])
        self.begun += length < self.length
        self.length = length
        self.check()

    def check(self) -> None:
        """Raise if they are to stop."""
        self.step(self.of - self.most + min(self.length, self.most), self.of)


def prepare_recommendations(
    recommender: Recommender, nodes: Sequence[Hashable] | None, step: ReportProgress, file: Path | None = None
) -> dict[str, Any]:
    """Compute what recommendations need ahead of time; what is done so far is kept in a file every minute."""
    labels = recommender.graph.labels if nodes is None else list(nodes)
    written = time.monotonic()
    for first in range(0, len(labels), _NODES):
        some = labels[first : first + _NODES]
        prepare_nodes(recommender, recommender.graph.positions(some).tolist(), partial(step, first, len(labels)))
        recommender.prepare(some)
        if file is not None and time.monotonic() - written > _SECONDS:
            _save(recommender, file)
            written = time.monotonic()
    if file is not None:
        _save(recommender, file)
    step(len(labels), len(labels))
    return {"nodes": len(labels), "known": recommender.num_prepared}


def _save(recommender: Recommender, file: Path) -> None:
    """Keep what is prepared; where that cannot be, the log alone says why, since clients can read what a job says."""
    try:
        recommender.save(file)
    except (CuriographError, OSError) as error:
        _LOG.error("what was prepared cannot be kept: %s", error)
        raise SettingError("what was prepared cannot be kept; the server's log says why.") from None
