"""Background jobs with progress, cancellation and kept results. Use them from the event loop only."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from curiograph.errors import CuriographError
from curiograph.messages import quote_value
from curiograph.service.config import Limits
from curiograph.service.errors import INTERNAL_ERROR, LOG, BusyError, NotFoundError

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]

_KEPT_SECONDS = 3600
"""Time after which the result of a job is deleted."""


@dataclass(eq=False)
class Job:
    """A job and, once it is done, its result."""

    id: str
    kind: str
    graph: str
    state: JobState = "waiting"
    done: int = 0
    """Finished units of work."""
    of: int = 0
    """Total units of work; 0 until it is known."""
    result: bytes | None = None
    """JSON document of the result."""
    error: dict[str, str] | None = None
    """`type` and `message` of the error, if the job failed."""
    ended: float | None = None
    """Time of the end, by the monotonic clock."""
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    def report(self, done: int, of: int) -> None:
        """Record the progress."""
        self.done, self.of = done, of

    def end(self, state: JobState) -> None:
        """Record the end of the job."""
        if self.ended is None:
            self.state, self.ended = state, time.monotonic()


Work = Callable[[Job], Awaitable[bytes]]
"""Function that does the work of a job and returns its result as JSON; it is cancelled if the job is."""


class JobQueue:
    """The jobs of a service: a few run at the same time, the others wait."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._slots = asyncio.Semaphore(limits.jobs)
        self._jobs: dict[str, Job] = {}

    def start(self, kind: str, graph: str, work: Work) -> Job:
        """Start a job as soon as a slot is free; raise BusyError if there are too many."""
        now = time.monotonic()
        for old in list(self._jobs.values()):  # the oldest first
            is_full = len(self._jobs) >= self._limits.kept_jobs
            if old.ended is not None and (is_full or now - old.ended > _KEPT_SECONDS):
                del self._jobs[old.id]
        if len(self._jobs) >= self._limits.kept_jobs:
            raise BusyError(len(self._jobs), "jobs", retry_after=10)
        job = Job(secrets.token_hex(8), kind, graph)
        job.task = asyncio.create_task(self._run(job, work))
        self._jobs[job.id] = job
        return job

    async def _run(self, job: Job, work: Work) -> None:
        try:
            async with self._slots:
                job.state = "running"
                job.result = await work(job)
            job.end("done")
        except CuriographError as error:
            job.error = {"type": type(error).__name__, "message": str(error)}
            job.end("failed")
        except Exception:
            LOG.exception("job %s (%s on %s) failed", job.id, job.kind, job.graph)
            job.error = {"type": "InternalError", "message": INTERNAL_ERROR}
            job.end("failed")

    def get_job(self, job_id: str) -> Job:
        """Return a job; raise NotFoundError if it does not exist."""
        if job_id not in self._jobs:
            raise NotFoundError(
                f"there is no job {quote_value(job_id)}; results are deleted after an hour, or sooner if there are "
                "many jobs."
            )
        return self._jobs[job_id]

    def list_jobs(self) -> list[Job]:
        """List all jobs, the oldest first."""
        return list(self._jobs.values())

    def count(self, state: JobState) -> int:
        """Return the number of jobs in a state."""
        return sum(job.state == state for job in self.list_jobs())

    def cancel(self, job_id: str) -> Job:
        """Cancel a job at once, or delete it if it has ended."""
        job = self.get_job(job_id)
        if job.ended is not None:
            del self._jobs[job_id]
        self._cancel(job)
        return job

    def cancel_all(self) -> None:
        """Cancel all jobs that wait or run."""
        for job in self.list_jobs():
            self._cancel(job)

    @staticmethod
    def _cancel(job: Job) -> None:
        job.end("cancelled")
        if job.task is not None:
            job.task.cancel()
