"""`/api/v1/jobs`: long work in the background."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Request, Response

from curiograph.errors import SettingError
from curiograph.service import tasks
from curiograph.service.catalog import check_reward, get_agent
from curiograph.service.jobs import Job
from curiograph.service.json_route import JsonRoute
from curiograph.service.schemas import (
    ERROR_RESPONSES,
    EvaluateJobRequest,
    JobList,
    JobRequest,
    JobResponse,
    MeasureJobRequest,
    RankJobRequest,
)
from curiograph.service.state import ServiceDependency, get_service

router = APIRouter(prefix="/api/v1", tags=["jobs"], responses=ERROR_RESPONSES)
start_router = APIRouter(prefix="/api/v1", tags=["jobs"], responses=ERROR_RESPONSES, route_class=JsonRoute)

JobPath = Annotated[str, Path(max_length=64, description="Id of a job.")]


@start_router.post("/jobs", response_model=JobResponse, status_code=202, operation_id="start_job")
async def start_job(body: JobRequest, request: Request) -> Response:
    """Start a job: evaluate an agent, measure many walks, rank by curious PageRank, or prepare recommendations."""
    service = get_service(request)
    limits = service.limits
    opened = await service.open_graph(body.graph)
    if isinstance(body, EvaluateJobRequest):
        limits.check_count("steps", body.steps, limits.steps)
        limits.check_count("episodes", body.episodes, 10 * limits.walks)
        get_agent(body.agent, limits)
        check_reward(body.reward)
        job = service.start_job(body.kind, body.graph, tasks.evaluate_agent, opened, body)
    elif isinstance(body, MeasureJobRequest):
        limits.check_walks(body.walks)
        await service.check_labels(opened, body.walks)
        job = service.start_job(body.kind, body.graph, tasks.measure_walks, opened, body)
    elif isinstance(body, RankJobRequest):
        if body.agent is None:
            raise SettingError(
                "a job ranks by curious PageRank; name an agent, or use /api/v1/rank for plain PageRank."
            )
        limits.check_ranking(body.k, body.history)
        get_agent(body.agent, limits)
        check_reward(body.reward)
        await service.check_labels(opened, [body.history or []])
        job = service.start_job(body.kind, body.graph, tasks.rank_nodes, opened, body)
    else:
        nodes = body.nodes
        await service.check_labels(opened, [nodes or []])
        positions = None if nodes is None else [opened.labels.position(label) for label in nodes]
        job = service.start_preparing(body.graph, opened, positions)
    return Response(_encode_job(job), 202, media_type="application/json")


@router.get("/jobs", response_model=JobList, operation_id="list_jobs")
async def list_jobs(service: ServiceDependency) -> Response:
    """List all jobs, without their results."""
    jobs = b",".join(_encode_job(job, with_result=False) for job in service.jobs.list_jobs())
    return Response(b'{"jobs":[%b]}' % jobs, media_type="application/json")


@router.get("/jobs/{job}", response_model=JobResponse, operation_id="get_job")
async def get_job(job: JobPath, service: ServiceDependency) -> Response:
    """Get the progress of a job and, once it is done, its result."""
    return Response(_encode_job(service.jobs.get_job(job)), media_type="application/json")


@router.delete("/jobs/{job}", response_model=JobResponse, operation_id="cancel_job")
async def cancel_job(job: JobPath, service: ServiceDependency) -> Response:
    """Cancel a job at once; delete one that has ended."""
    return Response(_encode_job(service.jobs.cancel(job)), media_type="application/json")


def _encode_job(job: Job, with_result: bool = True) -> bytes:
    """Encode a job as a `JobResponse`; its result is encoded already."""
    fields: dict[str, Any] = {
        name: getattr(job, name) for name in ("id", "kind", "graph", "state", "done", "of", "error")
    }
    fields["result"] = orjson.Fragment(job.result) if with_result and job.result is not None else None
    return orjson.dumps(fields)
