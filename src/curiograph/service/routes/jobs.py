"""`/api/v1/jobs`: long work in the background."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path

from curiograph.errors import SettingError
from curiograph.service.catalog import check_reward, get_agent
from curiograph.service.jobs import Task
from curiograph.service.responses import encode_job
from curiograph.service.schemas import (
    EvaluateJobRequest,
    JobList,
    JobRequest,
    JobResponse,
    MeasureJobRequest,
    PrepareJobRequest,
    RankJobRequest,
)
from curiograph.service.state import OpenGraph, Service, ServiceDependency
from curiograph.service.tasks import evaluate_agent, measure_walks, prepare_recommendations, rank_nodes

router = APIRouter(prefix="/api/v1", tags=["jobs"])

JobPath = Annotated[str, Path(max_length=64, description="Id of a job.")]


@router.post("/jobs", response_model=JobResponse, status_code=202)
async def start(asked: JobRequest, service: ServiceDependency) -> Any:
    """Start a job: evaluate an agent, measure many walks, rank by curious PageRank, or prepare recommendations."""
    opened = await service.opened(asked.graph)
    work = await service.computing.run(_work, service, opened, asked)
    return encode_job(service.jobs.start(asked.kind, asked.graph, work))


def _work(service: Service, opened: OpenGraph, asked: Any) -> Task:
    """What a job has to do; raises where it could not be done."""
    makers: dict[type, Any] = {
        EvaluateJobRequest: _evaluate,
        MeasureJobRequest: _measure,
        RankJobRequest: _rank,
        PrepareJobRequest: _prepare,
    }
    work: Task = makers[type(asked)](service, opened, asked)
    return work


def _evaluate(service: Service, opened: OpenGraph, asked: EvaluateJobRequest) -> Task:
    steps = service.check_count("steps", asked.steps, service.limits.steps)
    episodes = service.check_count("episodes", asked.episodes, 10 * service.limits.walks)
    agent, reward = get_agent(asked.agent, service.limits), check_reward(asked.reward)
    return partial(evaluate_agent, opened.graph, agent, reward, steps, episodes, asked.seed)


def _measure(service: Service, opened: OpenGraph, asked: MeasureJobRequest) -> Task:
    service.check_walks(asked.walks)
    return partial(measure_walks, opened.graph, [opened.labels.walk(walk) for walk in asked.walks])


def _rank(service: Service, opened: OpenGraph, asked: RankJobRequest) -> Task:
    if asked.agent is None:
        raise SettingError("a job ranks by the PageRank of an agent; name one, or ask /api/v1/rank for plain PageRank.")
    k = service.check_count("k", asked.k, service.limits.k)
    service.check_walks([asked.history or []])
    history = None if asked.history is None else opened.labels.walk(asked.history)
    settings = {"alpha": asked.alpha, "p_g": asked.p_g, "reward": check_reward(asked.reward), "seed": asked.seed}
    return partial(rank_nodes, opened.graph, get_agent(asked.agent, service.limits), history, settings, k)


def _prepare(service: Service, opened: OpenGraph, asked: PrepareJobRequest) -> Task:
    nodes = None if asked.nodes is None else opened.labels.walk(asked.nodes)
    return partial(prepare_recommendations, opened.recommender, nodes)


@router.get("/jobs", response_model=JobList)
async def jobs(service: ServiceDependency) -> Any:
    """All jobs that are remembered, without their results."""
    return {"jobs": [encode_job(job, with_result=False) for job in service.jobs.all()]}


@router.get("/jobs/{job}", response_model=JobResponse)
async def job(job: JobPath, service: ServiceDependency) -> Any:
    """How far a job has come and, once it is done, its result."""
    return encode_job(service.jobs.job(job))


@router.delete("/jobs/{job}", response_model=JobResponse)
async def cancel(job: JobPath, service: ServiceDependency) -> Any:
    """Cancel a job, which stops at its next step; forget one that has ended."""
    return encode_job(service.jobs.cancel(job))
