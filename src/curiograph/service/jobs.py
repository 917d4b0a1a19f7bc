"""Background jobs with progress, cancellation and kept results."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

from curiograph.errors import CuriographError
from curiograph.service.config import Limits
from curiograph.service.errors import INTERNAL_ERROR, BusyError, NotFoundError

JobState = Literal["waiting", "running", "cancelling", "done", "failed", "cancelled"]
ReportProgress = Callable[[int, int], None]
Task = Callable[[ReportProgress], Any]
"""Function of a job: it often calls its argument with (done, total), which raises if the job is cancelled."""

_KEPT_SECONDS = 3600
"""Time after which the result of a job is deleted."""
_GRACE_SECONDS = 2
"""Time that running jobs have to stop when the service stops."""
_LOG = logging.getLogger("curiograph.service")


class JobCancelled(Exception):  # noqa: N818 - not an error
    """Raised inside a job that is cancelled."""


@dataclass
class Job:
    """A job and, once it is done, its result."""

    id: str
    kind: str
    graph: str
    done: int = 0
    """Finished units of work."""
    of: int = 0
    """Total units of work; 0 until it is known, and it may grow."""
    result: Any = None
    error: dict[str, str] | None = None
    """`type` and `message` of the error, if the job failed."""
    ended: float | None = None
    """Time of the end, by the monotonic clock."""
    future: Future[None] = field(default_factory=Future, repr=False)
    cancel_requested: threading.Event = field(default_factory=threading.Event, repr=False)
    _end_state: JobState = "cancelled"

    @property
    def state(self) -> JobState:
        """Current state."""
        if self.ended is not None:
            return self._end_state
        if not self.future.running():
            return "waiting"
        return "cancelling" if self.cancel_requested.is_set() else "running"

    def report(self, done: int, of: int) -> None:
        """Record the progress; raise JobCancelled if the job is cancelled."""
        self.done, self.of = done, of
        if self.cancel_requested.is_set():
            raise JobCancelled

    def cancel(self) -> None:
        """Stop the job at its next progress report, or at once if it has not started."""
        self.cancel_requested.set()
        if self.future.cancel() and self.ended is None:
            self.end("cancelled")

    def end(self, state: JobState) -> None:
        """Record the end of the job."""
        self._end_state, self.ended = state, time.monotonic()


class JobQueue:
    """The jobs of a service: a few run at the same time, the others wait."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._executor = ThreadPoolExecutor(limits.jobs, thread_name_prefix="job")
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, kind: str, graph: str, task: Task) -> Job:
        """Start a job as soon as a thread is free; raise BusyError if there are too many."""
        with self._lock:
            now = time.monotonic()
            for old in list(self._jobs.values()):  # the oldest first
                is_full = len(self._jobs) >= self._limits.kept_jobs
                if old.ended is not None and (is_full or now - old.ended > _KEPT_SECONDS):
                    del self._jobs[old.id]
            if len(self._jobs) >= self._limits.kept_jobs:
                raise BusyError(len(self._jobs), "jobs", retry_after=10)
            job = Job(secrets.token_hex(8), kind, graph)
            job.future = self._executor.submit(self._run, job, task)
            self._jobs[job.id] = job
        return job

    def _run(self, job: Job, task: Task) -> None:
        state: JobState = "failed"
        try:
            job.report(0, 0)
            job.result = task(job.report)
            state = "done"
        except JobCancelled:
            state = "cancelled"
        except CuriographError as error:
            job.error = {"type": type(error).__name__, "message": str(error)}
        except Exception:
            _LOG.exception("job %s (%s on %s) failed", job.id, job.kind, job.graph)
            job.error = {"type": "InternalError", "message": INTERNAL_ERROR}
        finally:
            job.end(state)

    def get_job(self, job_id: str) -> Job:
        """Return a job; raise NotFoundError if it does not exist."""
        with self._lock:
            if job_id not in self._jobs:
                raise NotFoundError(
                    "there is no such job; results are deleted after an hour, or sooner if there are many jobs."
                )
            return self._jobs[job_id]

    def list_jobs(self) -> list[Job]:
        """List all jobs, the oldest first."""
        with self._lock:
            return list(self._jobs.values())

    def count(self, state: JobState) -> int:
        """Return the number of jobs in a state."""
        return sum(job.state == state for job in self.list_jobs())

    def cancel(self, job_id: str) -> Job:
        """Cancel a job, or delete it if it has ended."""
        job = self.get_job(job_id)
        if job.ended is None:
            job.cancel()
        else:
            with self._lock:
                self._jobs.pop(job_id, None)
        return job

    def cancel_all(self) -> None:
        """Cancel all jobs that wait or run."""
        for job in self.list_jobs():
            job.cancel()

    def stop(self) -> None:
        """Cancel all jobs and wait briefly: a thread cannot be stopped between two progress reports."""
        self.cancel_all()
        self._executor.shutdown(wait=False)
        deadline = time.monotonic() + _GRACE_SECONDS
        while time.monotonic() < deadline and any(job.ended is None for job in self.list_jobs()):
            time.sleep(0.01)
