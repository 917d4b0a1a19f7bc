"""`/api/v1/jobs`: long work in the background."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from curiograph.service.schemas import JobList, JobRequest, JobResponse
from curiograph.service.state import ServiceDependency
from curiograph.service.tasks import build_task

router = APIRouter(prefix="/api/v1", tags=["jobs"])

JobPath = Annotated[str, Path(max_length=64, description="Id of a job.")]


@router.post("/jobs", response_model=JobResponse, status_code=202)
async def start_job(request: JobRequest, service: ServiceDependency) -> Any:
    """Start a job: evaluate an agent, measure many walks, rank by curious PageRank, or prepare recommendations."""
    opened = await service.open_graph(request.graph)
    task = await service.workers.run(build_task, request, opened, service.limits)
    return service.jobs.start(request.kind, request.graph, task)


@router.get("/jobs", response_model=JobList)
async def list_jobs(service: ServiceDependency) -> Any:
    """List all jobs, without their results."""
    jobs = [JobResponse.model_validate(job, from_attributes=True) for job in service.jobs.list_jobs()]
    return {"jobs": [job.model_copy(update={"result": None}) for job in jobs]}


@router.get("/jobs/{job}", response_model=JobResponse)
async def get_job(job: JobPath, service: ServiceDependency) -> Any:
    """Get the progress of a job and, once it is done, its result."""
    return service.jobs.get_job(job)


@router.delete("/jobs/{job}", response_model=JobResponse)
async def cancel_job(job: JobPath, service: ServiceDependency) -> Any:
    """Cancel a job, which stops at its next step; delete one that has ended."""
    return service.jobs.cancel(job)
