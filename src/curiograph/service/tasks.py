"""The computations of requests and jobs: functions of a graph and a request that return a JSON document.

They run in a thread or in a worker process. Each has the arguments graph, request, limits and a function that reports
progress, and raises a CuriographError if the request is invalid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic import BaseModel

from curiograph.agents.evaluate import evaluate
from curiograph.agents.explore import explore
from curiograph.centrality.curious_pagerank import curious_pagerank
from curiograph.centrality.pagerank import pagerank
from curiograph.growth.measure import measure
from curiograph.parallel import IN_PROCESS
from curiograph.recommendation.prepared import CuriousRanker, Part
from curiograph.service.catalog import check_reward, get_agent
from curiograph.service.config import Limits
from curiograph.service.graph_store import OpenGraph
from curiograph.service.processes import ReportProgress
from curiograph.service.schemas import (
    EvaluateJobRequest,
    EvaluateResult,
    ExploreRequest,
    GrowthResponse,
    GrowthsResponse,
    LookRequest,
    LookResponse,
    MeasureJobRequest,
    MeasureRequest,
    RankRequest,
    RankResponse,
    WalkResponse,
)
from curiograph.service.step_view import view_step

_MEASURE_BATCH = 16
"""Walks that are measured between two progress reports."""


class Computation(Protocol):
    """A function that computes the JSON document of a response."""

    def __call__(self, opened: OpenGraph, request: Any, limits: Limits, report: ReportProgress, /) -> bytes: ...


def no_report(done: int, of: int) -> None:
    """Ignore progress."""


def _encode(model: type[BaseModel], values: Any) -> bytes:
    return model.model_validate(values).model_dump_json().encode()


def measure_walks(
    opened: OpenGraph, request: MeasureRequest | MeasureJobRequest, limits: Limits, report: ReportProgress
) -> bytes:
    """Measure one walk or several."""
    is_single = isinstance(request, MeasureRequest) and request.walks is None
    compressibility = isinstance(request, MeasureJobRequest) or request.compressibility
    walks = [opened.labels.walk(walk) for walk in request.batch]
    growths: list[Mapping[str, Any]] = []
    for first in range(0, len(walks), _MEASURE_BATCH):
        report(first, len(walks))
        some = measure(opened.graph, walks[first : first + _MEASURE_BATCH], compressibility=compressibility, workers=1)
        growths += [growth.to_dict() for growth in some]
    report(len(walks), len(walks))
    return _encode(GrowthResponse, growths[0]) if is_single else _encode(GrowthsResponse, {"walks": growths})


def explore_graph(opened: OpenGraph, request: ExploreRequest, limits: Limits, report: ReportProgress) -> bytes:
    """Compute a whole walk by an agent."""
    walk = explore(
        opened.graph,
        get_agent(request.agent, limits),
        check_reward(request.reward),
        None if request.start is None else opened.labels.label(request.start),
        request.steps,
        fallback=request.fallback,
        seed=request.seed,
    )
    return _encode(WalkResponse, walk.to_dict())


def look(opened: OpenGraph, request: LookRequest, limits: Limits, report: ReportProgress) -> bytes:
    """Compute the candidates of a walk with their values, and the choices of the agent and of each motive."""
    walk, reward = opened.labels.walk(request.walk), check_reward(request.reward)
    view = view_step(
        opened.graph, walk, get_agent(request.agent, limits), reward, ahead=request.ahead, seed=request.seed
    )
    candidates = [
        {
            "node": node,
            "values": {motive: values[i] for motive, values in view.values.items()},
            "score": None if view.scores is None else view.scores[i],
        }
        for i, node in enumerate(view.nodes)
    ]
    response = {
        "candidates": candidates,
        "choice": view.choice,
        "best": {motive: view.find_best(motive) for motive in view.values},
        "igt": view.igt,
        "cpt": view.cpt,
        "cct": view.cct,
        "on_the_way": view.on_the_way,
    }
    return _encode(LookResponse, response)


def rank_nodes(opened: OpenGraph, request: RankRequest, limits: Limits, report: ReportProgress) -> bytes:
    """Rank nodes by PageRank or, with an agent, by curious PageRank."""
    graph, history = opened.graph, None if request.history is None else opened.labels.walk(request.history)
    result: Any
    if request.agent is None:
        result = pagerank(graph, request.alpha, history)
    else:
        result = curious_pagerank(
            graph,
            get_agent(request.agent, limits),
            request.alpha,
            history,
            reward=check_reward(request.reward),
            p_g=request.p_g,
            seed=request.seed,
            workers=1,
        )
    errors = None if request.agent is None else result.stderr
    ranking = [
        {
            "rank": rank,
            "node": label,
            "score": score,
            "stderr": None if errors is None else errors[graph.position(label)],
        }
        for rank, (label, score) in enumerate(result.top(request.k), start=1)
    ]
    response = {
        "history": history,
        "agent": None if request.agent is None else result.agent,
        "alpha": result.alpha,
        "converged": request.agent is None or result.converged,
        "ranking": ranking,
    }
    report(1, 1)
    return _encode(RankResponse, response)


def evaluate_agent(opened: OpenGraph, request: EvaluateJobRequest, limits: Limits, report: ReportProgress) -> bytes:
    """Evaluate an agent as `cg.evaluate` does."""
    agent, reward = get_agent(request.agent, limits), check_reward(request.reward)
    evaluation = evaluate(
        agent, opened.graph, reward, request.steps, request.episodes, seed=request.seed, engine=IN_PROCESS,
        progress=lambda _, share=None: report(round((share or 0) * request.episodes), request.episodes),
    )  # fmt: skip
    fields = ("agent", "reward", "steps", "episodes", "mean", "sem", "ended_early")
    return _encode(EvaluateResult, {name: getattr(evaluation, name) for name in fields})


def compute_parts(
    opened: OpenGraph, rankers: Mapping[str, CuriousRanker], nodes: Sequence[int], report: ReportProgress
) -> dict[str, list[Part]]:
    """Compute what curious rankers prepare for some positions."""
    return {name: ranker.compute_parts(opened.graph, nodes) for name, ranker in rankers.items()}


def check_labels(opened: OpenGraph, walks: Sequence[Sequence[Any]], report: ReportProgress) -> None:
    """Raise UnknownNodeError if a label is not in the graph; finding similar ones for the message may take seconds."""
    for walk in walks:
        opened.labels.walk(walk)
