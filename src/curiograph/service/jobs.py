"""Jobs: long work in the background, with progress, cancel and a memory for results."""

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
from curiograph.service.errors import busy, not_found

JobState = Literal["waiting", "running", "cancelling", "done", "failed", "cancelled"]
ReportProgress = Callable[[int, int], None]
Task = Callable[[ReportProgress], Any]
"""Work says how far it has come by calling what it is given with (done, of), and stops where that raises."""

_KEPT_SECONDS = 3600
"""A result that nobody has removed is forgotten after that."""
_GRACE = 2
"""Seconds that running jobs have to stop in."""
_LOG = logging.getLogger("curiograph.service")


class JobCancelled(Exception):  # noqa: N818 - not an error
    """Raised inside a job that is to stop."""


@dataclass
class Job:
    """Work under way, or its result."""

    id: str
    kind: str
    graph: str
    done: int = 0
    of: int = 0
    """Units of work in all; zero before it is known, and more where more turns out to be needed."""
    result: Any = None
    error: tuple[str, str] | None = None
    """Type and message, where it failed."""
    ended: float | None = None
    """When, by the clock that only goes forward."""
    future: Future[None] = field(default_factory=Future, repr=False)
    stopping: threading.Event = field(default_factory=threading.Event, repr=False)
    _outcome: JobState = "cancelled"

    @property
    def state(self) -> JobState:
        """How it ended or, where it has not, what it is at."""
        if self.ended is not None:
            return self._outcome
        if not self.future.running():
            return "waiting"
        return "cancelling" if self.stopping.is_set() else "running"

    def step(self, done: int, of: int) -> None:
        """Say how far the work has come; raises if it is to stop."""
        self.done, self.of = done, of
        if self.stopping.is_set():
            raise JobCancelled

    def stop(self) -> None:
        """Let the work stop at its next step; where it has not begun, that is at once."""
        self.stopping.set()
        if self.future.cancel() and self.ended is None:
            self.end("cancelled")

    def end(self, outcome: JobState) -> None:
        """Note that nothing more happens."""
        self._outcome, self.ended = outcome, time.monotonic()


class JobQueue:
    """The jobs of a service: a few run at once, the others wait their turn."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.jobs, thread_name_prefix="job")
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, kind: str, graph: str, work: Task) -> Job:
        """Begin as soon as a thread is free."""
        with self._lock:
            self._make_room()
            job = Job(secrets.token_hex(8), kind, graph)
            job.future = self._threads.submit(self._run, job, work)
            self._jobs[job.id] = job
        return job

    def _make_room(self) -> None:
        """Forget results that are old and, where there are too many, the oldest."""
        now = time.monotonic()
        for job in [job for job in self._jobs.values() if job.ended is not None]:
            if len(self._jobs) >= self._limits.kept_jobs or now - (job.ended or now) > _KEPT_SECONDS:
                del self._jobs[job.id]
        if len(self._jobs) >= self._limits.kept_jobs:
            raise busy(f"{len(self._jobs)} jobs are waiting or running, as many as there may be; try later.", 10)

    def _run(self, job: Job, work: Task) -> None:
        outcome: JobState = "failed"
        try:
            job.step(0, 0)
            job.result = work(job.step)
            outcome = "done"
        except JobCancelled:
            outcome = "cancelled"
        except CuriographError as error:
            job.error = (type(error).__name__, str(error))
        except Exception:
            _LOG.exception("job %s (%s on %s) failed", job.id, job.kind, job.graph)
            job.error = ("InternalError", "something went wrong on the server; its log says what.")
        finally:
            job.end(outcome)

    def job(self, name: str) -> Job:
        """The job by that id."""
        with self._lock:
            if name not in self._jobs:
                raise not_found(
                    "there is no such job; results are forgotten after an hour, or sooner where many are kept."
                )
            return self._jobs[name]

    def all(self) -> list[Job]:
        """All that are remembered, the oldest first."""
        with self._lock:
            return list(self._jobs.values())

    def cancel(self, name: str) -> Job:
        """Stop a job; forget it if it has ended."""
        job = self.job(name)
        if job.ended is None:
            job.stop()
        else:
            with self._lock:
                self._jobs.pop(name, None)
        return job

    def cancel_all(self) -> None:
        """Let all that waits or runs stop at its next step."""
        for job in self.all():
            job.stop()

    def stop(self) -> None:
        """Cancel all, and give it a moment to stop: a thread in the middle of a long step cannot be stopped."""
        self.cancel_all()
        self._threads.shutdown(wait=False)
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline and any(job.ended is None for job in self.all()):
            time.sleep(0.01)
