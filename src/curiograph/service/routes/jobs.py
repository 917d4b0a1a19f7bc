"""`/api/v1/jobs`: long work in the background."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path

from curiograph.errors import SettingError
from curiograph.service.catalog import check_reward, get_agent
from curiograph.service.config import Limits
from curiograph.service.graph_store import OpenGraph
from curiograph.service.jobs import Task
from curiograph.service.responses import encode_job
from curiograph.service.schemas import (
    EvaluateJobRequest,
    JobList,
    JobRequest,
    JobResponse,
    MeasureJobRequest,
    RankJobRequest,
)
from curiograph.service.state import ServiceDependency
from curiograph.service.tasks import evaluate_agent, measure_walks, prepare_recommendations, rank_nodes

router = APIRouter(prefix="/api/v1", tags=["jobs"])

JobPath = Annotated[str, Path(max_length=64, description="Id of a job.")]


@router.post("/jobs", response_model=JobResponse, status_code=202)
async def start_job(request: JobRequest, service: ServiceDependency) -> Any:
    """Start a job: evaluate an agent, measure many walks, rank by curious PageRank, or prepare recommendations."""
    opened = await service.open_graph(request.graph)
    task = await service.workers.run(_build_task, request, opened, service.limits)
    return encode_job(service.jobs.start(request.kind, request.graph, task))


def _build_task(request: JobRequest, opened: OpenGraph, limits: Limits) -> Task:
    """Build the task of a job; raise if the request is invalid."""
    graph, labels = opened.graph, opened.labels
    if isinstance(request, EvaluateJobRequest):
        limits.check_count("steps", request.steps, limits.steps)
        limits.check_count("episodes", request.episodes, 10 * limits.walks)
        agent, reward = get_agent(request.agent, limits), check_reward(request.reward)
        return partial(evaluate_agent, graph, agent, reward, request.steps, request.episodes, request.seed)
    if isinstance(request, MeasureJobRequest):
        limits.check_walks(request.walks)
        return partial(measure_walks, graph, [labels.walk(walk) for walk in request.walks])
    if isinstance(request, RankJobRequest):
        if request.agent is None:
            raise SettingError(
                "a job ranks by curious PageRank; name an agent, or use /api/v1/rank for plain PageRank."
            )
        limits.check_count("k", request.k, limits.k)
        limits.check_walks([request.history or []])
        history = None if request.history is None else labels.walk(request.history)
        settings = {
            "alpha": request.alpha,
            "p_g": request.p_g,
            "reward": check_reward(request.reward),
            "seed": request.seed,
        }
        return partial(rank_nodes, graph, get_agent(request.agent, limits), history, settings, request.k)
    nodes = None if request.nodes is None else labels.walk(request.nodes)
    return partial(prepare_recommendations, opened.recommender, nodes)


@router.get("/jobs", response_model=JobList)
async def list_jobs(service: ServiceDependency) -> Any:
    """List all jobs, without their results."""
    return {"jobs": [encode_job(job, with_result=False) for job in service.jobs.list_jobs()]}


@router.get("/jobs/{job}", response_model=JobResponse)
async def get_job(job: JobPath, service: ServiceDependency) -> Any:
    """Get the progress of a job and, once it is done, its result."""
    return encode_job(service.jobs.get_job(job))


@router.delete("/jobs/{job}", response_model=JobResponse)
async def cancel_job(job: JobPath, service: ServiceDependency) -> Any:
    """Cancel a job, which stops at its next step; delete one that has ended."""
    return encode_job(service.jobs.cancel(job))
