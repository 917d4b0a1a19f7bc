"""Tasks of background jobs, in small steps that report progress and can be cancelled."""

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

_EPISODE_BATCH = 8
"""Episodes that run together; planners run one at a time."""
_MAX_CHUNK_WALKS = 16
"""Maximum number of walks that are measured together."""
_MAX_CHUNK_WORK = 5 * 10**8
"""Maximum sum of walk lengths to the fourth power that are measured together: a quarter of a second."""
_GAPS_SPEEDUP = 80
"""How many times faster walks are measured without compressibility, on a dense graph."""
_PREPARE_BATCH = 4
"""Nodes that are prepared between two progress reports."""
_SAVE_SECONDS = 60
"""Seconds between two writes of the file of prepared nodes."""
_TAIL = 1e-3
"""Share of the visits after which the walkers of curious PageRank stop."""


def evaluate_agent(
    graph: Graph, agent: Agent, reward: str, steps: int, episodes: int, seed: int, report: ReportProgress
) -> dict[str, Any]:
    """Evaluate an agent as `cg.evaluate` does; walks do not depend on how they are batched."""
    starts = draw_starts(list_starts(graph, "frontier"), episodes, seed)
    returns: list[Float64] = []
    batch_size = 1 if isinstance(agent, BeamAgent) else _EPISODE_BATCH
    cancellable = CancellableReward.from_name(reward, lambda: report(batch_size * len(returns), episodes))
    exploration = begin([graph], [starts], cancellable, steps, seed=seed)
    ended_early = 0
    for first in range(0, episodes, batch_size):
        finished = agent.run(exploration.rows(np.arange(first, min(first + batch_size, episodes))))
        returns.append(finished.returns)
        ended_early += int(np.count_nonzero(finished.lengths < steps))
    report(episodes, episodes)
    result = Evaluation(agent.name, exploration.reward.name, steps, [np.concatenate(returns)], ended_early)
    return {
        "agent": result.agent,
        "reward": result.reward,
        "steps": steps,
        "episodes": episodes,
        "mean": encode_number(result.mean),
        "sem": encode_number(result.sem),
        "ended_early": ended_early,
    }


def measure_walks(graph: Graph, walks: Sequence[list[Hashable]], report: ReportProgress) -> dict[str, Any]:
    """Measure many walks."""
    encoded: list[dict[str, Any]] = []
    growths = measure_in_chunks(graph, walks, True, lambda: report(len(encoded), len(walks)))
    encoded.extend(encode_growth(growth) for growth in growths)
    report(len(walks), len(walks))
    return {"walks": encoded}


def measure_in_chunks(
    graph: Graph, walks: Sequence[list[Hashable]], compressibility: bool, check: StopCheck
) -> Iterator[Growth]:
    """Measure a few walks at a time; call `check` before each chunk."""
    costs = np.asarray([len(walk) for walk in walks]) ** 4 // (1 if compressibility else _GAPS_SPEEDUP)
    for first, last in split_by_size(np.maximum(costs, _MAX_CHUNK_WORK // _MAX_CHUNK_WALKS), _MAX_CHUNK_WORK):
        check()
        yield from measure(graph, list(walks[first:last]), compressibility=compressibility, workers=1)


def rank_nodes(
    graph: Graph,
    agent: Agent,
    history: Sequence[Hashable] | None,
    settings: dict[str, Any],
    k: int,
    report: ReportProgress,
) -> dict[str, Any]:
    """Rank nodes by curious PageRank; the progress is that of its walkers."""
    progress = _WalkerProgress(report, next(steps for steps in count(1) if settings["alpha"] ** steps <= _TAIL))
    reward = CancellableReward.from_name(settings["reward"], progress.report_steps)
    cancellable = CancellableAgent(agent, progress.observe)
    result = curious_pagerank(graph, cancellable, history=history, **settings | {"reward": reward})
    report(progress.total, progress.total)
    return encode_ranking(graph, result, history, k)


@dataclass
class _WalkerProgress:
    """Progress of the walkers of curious PageRank, which start in several rounds if one is not precise enough."""

    report: ReportProgress
    steps: int
    """Steps of each round."""
    rounds: int = 1
    """Rounds that have started."""
    length: int = 0
    """Current length of the walks of this round."""

    @property
    def total(self) -> int:
        """Steps of all rounds that have started."""
        return self.rounds * self.steps

    def observe(self, exploration: Exploration) -> None:
        """Record the length of the walks, all of them equal; raise if the job is cancelled."""
        length = int(exploration.lengths[0])
        self.rounds += length < self.length
        self.length = length
        self.report_steps()

    def report_steps(self) -> None:
        """Report the progress; raise if the job is cancelled."""
        self.report(self.total - self.steps + min(self.length, self.steps), self.total)


def prepare_recommendations(
    recommender: Recommender, nodes: Sequence[Hashable] | None, report: ReportProgress, file: Path | None = None
) -> dict[str, Any]:
    """Prepare recommendations for some nodes, or for all; write what is prepared to a file every minute."""
    labels = recommender.graph.labels if nodes is None else list(nodes)
    last_saved = time.monotonic()
    for first in range(0, len(labels), _PREPARE_BATCH):
        batch = labels[first : first + _PREPARE_BATCH]
        prepare_nodes(recommender, recommender.graph.positions(batch).tolist(), partial(report, first, len(labels)))
        recommender.prepare(batch)
        if file is not None and time.monotonic() - last_saved > _SAVE_SECONDS:
            _save(recommender, file)
            last_saved = time.monotonic()
    if file is not None:
        _save(recommender, file)
    report(len(labels), len(labels))
    return {"nodes": len(labels), "known": recommender.num_prepared}


def _save(recommender: Recommender, file: Path) -> None:
    """Save what is prepared; clients can read the errors of a job, so only the log has the path."""
    try:
        recommender.save(file)
    except (CuriographError, OSError) as error:
        _LOG.error("prepared recommendations cannot be saved: %s", error)
        raise SettingError("prepared recommendations cannot be saved; see the log of the server.") from None
