"""Overhead of execution engines: seconds to start, and the share of time added to tasks of one second.

Each task reports its own duration, so time that other processes take from the tasks does not count as overhead.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from typing import Any

from curiograph.parallel import Engine, Job, Result, resolve_engine, run_job

MAX_OVERHEAD = 0.05
"""Target: the largest share of time that may be added to tasks of one second."""

_TASKS = 20


def spin(shared: float, task: int) -> Result:
    """Use `shared` seconds of processor time and return the duration."""
    start, end = time.perf_counter(), time.thread_time() + shared
    while time.thread_time() < end:
        pass
    return {"seconds": time.perf_counter() - start}


def measure_engine(engine: Engine, workers: int, tasks: int = _TASKS, seconds: float = 1.0) -> dict[str, Any]:
    """Measure the start of an engine, and its overhead for tasks of `seconds` once its workers run.

    >>> sorted(measure_engine(resolve_engine(workers=1), 1, tasks=2, seconds=0.001))
    ['engine', 'ideal', 'overhead', 'seconds', 'start', 'tasks', 'workers']
    """
    start = time.perf_counter()
    with engine.connect():
        run_job(_create_job(workers, 0.0), engine)
        started = time.perf_counter() - start
        overhead = _measure_job(_create_job(tasks, seconds), engine, workers)
    return {"engine": engine.backend, "workers": workers, "start": started, **overhead}


def measure_journal(tasks: int = _TASKS, seconds: float = 1.0) -> dict[str, Any]:
    """Measure the overhead of storing each result in a run folder, compared with a plain loop.

    >>> measure_journal(tasks=2, seconds=0.001)["tasks"]
    2
    """
    with tempfile.TemporaryDirectory() as folder:
        return _measure_job(_create_job(tasks, seconds), resolve_engine(workers=1, run=folder), 1)


def measure_engines(engines: Sequence[str], workers: int = 2, tasks: int = _TASKS) -> list[dict[str, Any]]:
    """Measure each engine with `workers` newly started workers, and the run folder."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)  # idle workers of earlier jobs would hide the time to start
    rows = [measure_engine(resolve_engine(engine, workers), workers, tasks) for engine in engines]
    return [*rows, {"engine": "journal", "workers": 1, "start": 0.0, **measure_journal(tasks)}]


def _create_job(tasks: int, seconds: float) -> Job:
    return Job(name="busy", function=spin, shared=seconds, tasks=range(tasks), key=lambda: {"seconds": seconds})


def _measure_job(job: Job, engine: Engine, workers: int) -> dict[str, Any]:
    """Return the seconds of a job, the seconds of its tasks divided by the workers, and the relative difference."""
    start = time.perf_counter()
    results = run_job(job, engine)
    seconds = time.perf_counter() - start
    ideal = sum(result["seconds"] for result in results) / workers
    return {"tasks": len(job.tasks), "seconds": seconds, "ideal": ideal, "overhead": seconds / ideal - 1}
