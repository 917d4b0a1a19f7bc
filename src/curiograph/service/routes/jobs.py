"""`/api/v1/jobs`: long work in the background."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path

from curiograph.errors import SettingError
from curiograph.service.answers import job_answer
from curiograph.service.catalog import agent_named, reward_named
from curiograph.service.jobs import Work
from curiograph.service.schemas import (
    AskedEvaluate,
    AskedJob,
    AskedMeasures,
    AskedPrepare,
    AskedRanks,
    JobAnswer,
    JobList,
)
from curiograph.service.state import Opened, Service, Serving
from curiograph.service.tasks import evaluate_task, measure_task, prepare_task, rank_task

router = APIRouter(prefix="/api/v1", tags=["jobs"])

JobPath = Annotated[str, Path(max_length=64, description="Id of a job.")]


@router.post("/jobs", response_model=JobAnswer, status_code=202)
async def start(asked: AskedJob, service: Serving) -> Any:
    """Start a job: evaluate an agent, measure many walks, rank by curious PageRank, or prepare recommendations."""
    opened = await service.opened(asked.graph)
    work = await service.computing.run(_work, service, opened, asked)
    return job_answer(service.jobs.start(asked.kind, asked.graph, work))


def _work(service: Service, opened: Opened, asked: Any) -> Work:
    """What a job has to do; raises where it could not be done."""
    makers: dict[type, Any] = {
        AskedEvaluate: _evaluate,
        AskedMeasures: _measure,
        AskedRanks: _rank,
        AskedPrepare: _prepare,
    }
    work: Work = makers[type(asked)](service, opened, asked)
    return work


def _evaluate(service: Service, opened: Opened, asked: AskedEvaluate) -> Work:
    steps = service.check_count("steps", asked.steps, service.limits.steps)
    episodes = service.check_count("episodes", asked.episodes, 10 * service.limits.walks)
    agent, reward = agent_named(asked.agent, service.limits), reward_named(asked.reward)
    return partial(evaluate_task, opened.graph, agent, reward, steps, episodes, asked.seed)


def _measure(service: Service, opened: Opened, asked: AskedMeasures) -> Work:
    service.check_walks(asked.walks)
    return partial(measure_task, opened.graph, [opened.labels.walk(walk) for walk in asked.walks])


def _rank(service: Service, opened: Opened, asked: AskedRanks) -> Work:
    if asked.agent is None:
        raise SettingError("a job ranks by the PageRank of an agent; name one, or ask /api/v1/rank for plain PageRank.")
    k = service.check_count("k", asked.k, service.limits.k)
    service.check_walks([asked.history or []])
    history = None if asked.history is None else opened.labels.walk(asked.history)
    settings = {"alpha": asked.alpha, "p_g": asked.p_g, "reward": reward_named(asked.reward), "seed": asked.seed}
    return partial(rank_task, opened.graph, agent_named(asked.agent, service.limits), history, settings, k)


def _prepare(service: Service, opened: Opened, asked: AskedPrepare) -> Work:
    nodes = None if asked.nodes is None else opened.labels.walk(asked.nodes)
    return partial(prepare_task, opened.recommender, nodes)


@router.get("/jobs", response_model=JobList)
async def jobs(service: Serving) -> Any:
    """All jobs that are remembered, without their results."""
    return {"jobs": [job_answer(job, with_result=False) for job in service.jobs.all()]}


@router.get("/jobs/{job}", response_model=JobAnswer)
async def job(job: JobPath, service: Serving) -> Any:
    """How far a job has come and, once it is done, its result."""
    return job_answer(service.jobs.job(job))


@router.delete("/jobs/{job}", response_model=JobAnswer)
async def cancel(job: JobPath, service: Serving) -> Any:
    """Cancel a job, which stops at its next step; forget one that has ended."""
    return job_answer(service.jobs.cancel(job))
