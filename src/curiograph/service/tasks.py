"""Tasks of background jobs, in small steps that report progress and can be cancelled."""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.evaluate import Rollouts
from curiograph.agents.registry import PLANNING_AGENTS
from curiograph.centrality.curious_pagerank import curious_pagerank
from curiograph.centrality.pagerank import pagerank
from curiograph.errors import CuriographError, SettingError
from curiograph.exploration.mdp import Exploration
from curiograph.graph.graph import Graph
from curiograph.growth.measure import measure
from curiograph.growth.records import Growth
from curiograph.parallel import Result
from curiograph.parallel.chunks import split_by_size
from curiograph.recommendation.recommender import Recommender
from curiograph.service.catalog import check_reward, get_agent
from curiograph.service.config import Limits
from curiograph.service.graph_store import OpenGraph
from curiograph.service.jobs import ReportProgress, Task
from curiograph.service.prepared import prepare_nodes
from curiograph.service.schemas import (
    EvaluateJobRequest,
    GrowthResponse,
    GrowthsResponse,
    JobRequest,
    MeasureJobRequest,
    RankJobRequest,
    RankRequest,
    RankResponse,
    encode_number,
)
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


def build_task(request: JobRequest, opened: OpenGraph, limits: Limits) -> Task:
    """Build the task of a job; raise if the request is invalid."""
    if isinstance(request, EvaluateJobRequest):
        return _build_evaluation(request, opened.graph, limits)
    if isinstance(request, MeasureJobRequest):
        limits.check_walks(request.walks)
        return partial(_measure_walks, opened.graph, [opened.labels.walk(walk) for walk in request.walks])
    if isinstance(request, RankJobRequest):
        if request.agent is None:
            raise SettingError(
                "a job ranks by curious PageRank; name an agent, or use /api/v1/rank for plain PageRank."
            )
        limits.check_ranking(request.k, request.history)
        return build_ranking(request, opened, limits)
    nodes = None if request.nodes is None else opened.labels.walk(request.nodes)
    return partial(prepare_recommendations, opened.recommender, nodes)


def _build_evaluation(request: EvaluateJobRequest, graph: Graph, limits: Limits) -> Task:
    """Build a task that evaluates an agent as `cg.evaluate` does; walks do not depend on how they are batched."""
    limits.check_count("steps", request.steps, limits.steps)
    limits.check_count("episodes", request.episodes, 10 * limits.walks)
    agent, reward = get_agent(request.agent, limits), check_reward(request.reward)

    def run(report: ReportProgress) -> dict[str, Any]:
        results: list[Result] = []
        batch_size = 1 if isinstance(agent, PLANNING_AGENTS) else _EPISODE_BATCH
        cancellable = CancellableReward(reward, lambda: report(batch_size * len(results), request.episodes))
        rollouts = Rollouts.create(agent, graph, cancellable, request.steps, request.episodes, seed=request.seed)
        for first in range(0, request.episodes, batch_size):
            results += [rollouts.run(first, min(first + batch_size, request.episodes))]
        report(request.episodes, request.episodes)
        evaluation = rollouts.summarize(results)
        return {
            "agent": evaluation.agent,
            "reward": evaluation.reward,
            "steps": evaluation.steps,
            "episodes": evaluation.episodes,
            "mean": encode_number(evaluation.mean),
            "sem": encode_number(evaluation.sem),
            "ended_early": evaluation.ended_early,
        }

    return run


def _measure_walks(graph: Graph, walks: Sequence[list[Hashable]], report: ReportProgress) -> dict[str, Any]:
    """Measure many walks."""
    growths: list[GrowthResponse] = []
    chunks = measure_in_chunks(graph, walks, True, lambda: report(len(growths), len(walks)))
    growths.extend(GrowthResponse.model_validate(growth.to_dict()) for growth in chunks)
    report(len(walks), len(walks))
    return GrowthsResponse(walks=growths).model_dump()


def measure_in_chunks(
    graph: Graph, walks: Sequence[list[Hashable]], compressibility: bool, check: StopCheck
) -> Iterator[Growth]:
    """Measure a few walks at a time; call `check` before each chunk."""
    costs = np.asarray([len(walk) for walk in walks]) ** 4 // (1 if compressibility else _GAPS_SPEEDUP)
    for first, last in split_by_size(np.maximum(costs, _MAX_CHUNK_WORK // _MAX_CHUNK_WALKS), _MAX_CHUNK_WORK):
        check()
        yield from measure(graph, list(walks[first:last]), compressibility=compressibility, workers=1)


def build_ranking(request: RankRequest, opened: OpenGraph, limits: Limits) -> Task:
    """Build a task that ranks nodes by PageRank or, with an agent, by curious PageRank; raise if it is invalid."""
    graph, history = opened.graph, None if request.history is None else opened.labels.walk(request.history)
    agent = None if request.agent is None else get_agent(request.agent, limits)
    reward = request.reward if agent is None else check_reward(request.reward)

    def run(report: ReportProgress) -> dict[str, Any]:
        result: Any
        if agent is None:
            result = pagerank(graph, request.alpha, history)
        else:
            progress = _WalkerProgress(report, request.alpha)
            result = curious_pagerank(
                graph,
                CancellableAgent(agent, progress.observe),
                request.alpha,
                history,
                reward=CancellableReward(reward, progress.report),
                p_g=request.p_g,
                seed=request.seed,
            )
            progress.finish()
        errors = None if agent is None else result.stderr
        response = {
            "history": history,
            "agent": None if agent is None else result.agent,
            "alpha": result.alpha,
            "converged": agent is None or result.converged,
            "ranking": [
                {
                    "rank": rank,
                    "node": label,
                    "score": score,
                    "stderr": None if errors is None else errors[graph.position(label)],
                }
                for rank, (label, score) in enumerate(result.top(request.k), start=1)
            ],
        }
        return RankResponse.model_validate(response).model_dump()

    return run


class _WalkerProgress:
    """Progress of the walkers of curious PageRank, which start in several rounds if one is not precise enough."""

    def __init__(self, report: ReportProgress, alpha: float) -> None:
        self._report = report
        self._steps = next(steps for steps in count(1) if alpha**steps <= _TAIL)  # of each round
        self._rounds, self._length = 1, 0

    def observe(self, exploration: Exploration) -> None:
        """Record the length of the walks, all of them equal; raise if the job is cancelled."""
        length = int(exploration.lengths[0])
        self._rounds += length < self._length
        self._length = length
        self.report()

    def report(self) -> None:
        """Report the progress; raise if the job is cancelled."""
        earlier = (self._rounds - 1) * self._steps
        self._report(earlier + min(self._length, self._steps), self._rounds * self._steps)

    def finish(self) -> None:
        """Report the end."""
        self._report(self._rounds * self._steps, self._rounds * self._steps)


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
        is_last = first + len(batch) == len(labels)
        if file is not None and (is_last or time.monotonic() - last_saved > _SAVE_SECONDS):
            try:
                recommender.save(file)
            except (CuriographError, OSError) as error:  # clients can read the errors of a job, but not the log
                _LOG.error("prepared recommendations cannot be saved: %s", error)
                raise SettingError("prepared recommendations cannot be saved; see the log of the server.") from None
            last_saved = time.monotonic()
    report(len(labels), len(labels))
    return {"nodes": len(labels), "known": recommender.num_prepared}
