"""What an engine costs: seconds until it works, and the share of time that tasks of a second lose to it.

Every task tells how long it took, so what a busy machine takes from the tasks is not counted against the engine.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from typing import Any

from curiograph.parallel import Engine, Job, Result, resolve_engine, run_job

PROMISED = 0.05
"""Share of the time that tasks of a second may lose, at most."""

_TASKS = 20


def busy(shared: float, task: int) -> Result:
    """Compute for so many seconds of a processor, and tell how long that took."""
    begun, end = time.perf_counter(), time.thread_time() + shared
    while time.thread_time() < end:
        pass
    return {"seconds": time.perf_counter() - begun}


def overhead(engine: Engine, workers: int, tasks: int = _TASKS, seconds: float = 1.0) -> dict[str, Any]:
    """Start-up of an engine, and what it adds to tasks that take so many seconds once its workers are there.

    >>> sorted(overhead(resolve_engine(workers=1), 1, tasks=2, seconds=0.001))
    ['engine', 'ideal', 'overhead', 'seconds', 'start', 'tasks', 'workers']
    """
    begun = time.perf_counter()
    with engine.connect():
        run_job(_job(range(workers), 0.0), engine)
        start = time.perf_counter() - begun
        found = _lost(_job(range(tasks), seconds), engine, workers)
    return {"engine": engine.name, "workers": workers, "start": start, **found}


def journal_overhead(tasks: int = _TASKS, seconds: float = 1.0) -> dict[str, Any]:
    """What keeping every task in a journal adds to a plain loop.

    >>> journal_overhead(tasks=2, seconds=0.001)["tasks"]
    2
    """
    with tempfile.TemporaryDirectory() as folder:
        return _lost(_job(range(tasks), seconds), resolve_engine(workers=1, run=folder), 1)


def of_engines(engines: Sequence[str], workers: int = 2, tasks: int = _TASKS) -> list[dict[str, Any]]:
    """Both of the above: every engine with so many workers, started anew, and the journal."""
    _stop_workers()
    rows = [overhead(resolve_engine(engine, workers), workers, tasks) for engine in engines]
    return [*rows, {"engine": "journal", "workers": 1, "start": 0.0, **journal_overhead(tasks)}]


def _job(tasks: Sequence[int], seconds: float) -> Job:
    return Job(name="busy", function=busy, shared=seconds, tasks=tasks, key=lambda: {"seconds": seconds})


def _lost(job: Job, engine: Engine, workers: int) -> dict[str, Any]:
    """Seconds that a job took, those that its tasks took divided by the workers, and what is more in between."""
    begun = time.perf_counter()
    results = run_job(job, engine)
    took = time.perf_counter() - begun
    ideal = sum(result["seconds"] for result in results) / workers
    return {"tasks": len(job.tasks), "seconds": took, "ideal": ideal, "overhead": took / ideal - 1}


def _stop_workers() -> None:
    """Processes that earlier jobs have left waiting would hide what it takes to start them."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)
