"""Jobs: many independent tasks of one kind, run by an engine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.errors import JobError, JobStopped, SettingError
from curiograph.messages import format_bytes, quote_value
from curiograph.parallel import local
from curiograph.parallel.engine import IN_PROCESS, Engine
from curiograph.parallel.fingerprint import hash_values
from curiograph.parallel.journal import Journal
from curiograph.parallel.memory import check_memory
from curiograph.parallel.run_folder import lock_run_folder
from curiograph.parallel.serialization import Result
from curiograph.parallel.worker import TaskFunction, TaskOutcome, is_inside_task, run_once, run_with_retries
from curiograph.progress import Progress, no_progress
from curiograph.validation import resolve_workers

_MAX_NAMED = 5  # failed tasks that an error message names


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """Tasks to run: `function(shared, task)` for each task.

    >>> job = Job(name="lengths", function=count_letters, shared=["a", "bc"], tasks=[1, 0], key=dict)
    >>> run_job(job, IN_PROCESS)
    [{'length': 2}, {'length': 1}]
    """

    name: str
    function: TaskFunction
    shared: Any = field(repr=False)
    """Value that all tasks read, such as a graph; sent to each worker once."""
    tasks: Sequence[Any] = field(repr=False)
    """Small values. The result of a task depends on `shared` and on the task alone."""
    key: Callable[[], Mapping[str, Any]]
    """Return the JSON values that identify the job in a run folder; called only if there is one."""
    describe_task: Callable[[Any], str] = quote_value
    """Return the text that names a failed task."""
    unit: str = "tasks"
    """Plural noun for what the tasks process, for progress messages."""
    task_sizes: Sequence[int] = field(default=(), repr=False)
    """Number of units of each task; one unit each if empty."""
    fix: str = "split the input"
    """Advice for jobs whose results do not fit into memory."""

    def count_units(self, tasks: Iterable[int]) -> int:
        """Return the number of units of the tasks with the given indices."""
        return sum(self.task_sizes[index] for index in tasks) if self.task_sizes else sum(1 for _ in tasks)


def count_letters(words: list[str], index: int) -> Result:
    """Return the length of a word: the task function of the example above."""
    return {"length": len(words[index])}


def run_job(job: Job, engine: Engine, progress: Progress = no_progress) -> list[Result]:
    """Return the results of all tasks in order; the same for every engine and number of workers.

    With a run folder, finished tasks are kept there and an interrupted job resumes. A failed task does not stop the
    others; at the end JobError names the failed ones. Without a run folder, tasks that run in this process raise their
    errors unchanged.
    """
    if is_inside_task():
        engine = IN_PROCESS
    if engine.run is None:
        return _run_missing(job, engine, None, progress)
    with lock_run_folder(engine.run) as folder:
        key = {"sizes": hash_values(np.asarray(job.task_sizes)), **job.key()}
        return _run_missing(job, engine, Journal(folder, job.name, key, len(job.tasks)), progress)


def _run_missing(job: Job, engine: Engine, journal: Journal | None, progress: Progress) -> list[Result]:
    """Run the tasks whose results are not in the journal."""
    indices = range(len(job.tasks))
    results: dict[int, Result] = {}
    if journal:
        results = {index: kept for index in indices if (kept := journal.read(index)) is not None}
    missing = [index for index in indices if index not in results]
    failed: dict[int, TaskOutcome] = {}
    total, num_kept = job.count_units(indices), job.count_units(results)
    kept_note = f" ({num_kept:,} found in the run folder)" if num_kept else ""

    def report(done: int) -> None:
        progress(f"{job.name}: {done:,} of {total:,} {job.unit}{kept_note}", done / max(1, total))

    done = num_kept
    report(done)
    with (
        _explain_interrupt(job, results, journal),
        closing(_run_tasks(job, engine, missing, run_with_retries if journal else run_once)) as outcomes,
    ):
        for number, (index, outcome) in enumerate(outcomes):
            if outcome.result is None:
                failed[index] = outcome
            else:
                if number == 0:
                    share = job.count_units([index]) / job.count_units(missing)
                    _check_room(job, outcome.result, share, journal.folder if journal else None)
                if journal:
                    journal.write(index, outcome.result)
                results[index] = outcome.result
            done += job.count_units([index])
            report(done)
    if failed:
        raise _make_job_error(job, failed, journal)
    return [results[index] for index in indices]


def _run_tasks(
    job: Job, engine: Engine, missing: Sequence[int], run_here: local.Run
) -> Generator[tuple[int, TaskOutcome]]:
    if not missing:
        return
    if engine.backend == "ray":
        from curiograph.parallel.ray_backend import run_on_cluster

        yield from run_on_cluster(job, missing, engine.workers, engine.address)
        return
    workers = min(resolve_workers(engine.workers), len(missing))
    if workers == 1:
        yield from ((index, run_here(job.function, job.shared, job.tasks[index])) for index in missing)
    elif engine.workers is None:
        yield from local.run_adaptively(job, missing, workers, run_here)
    else:
        yield from local.run_in_processes(job, missing, workers)


def _check_room(job: Job, first: Result, share: float, folder: Path | None) -> None:
    """Raise if the results of all tasks do not fit into memory and on the disk; the first one is this share of them."""
    size = sum(value.nbytes for value in first.values() if isinstance(value, np.ndarray)) / share
    check_memory(size, job.fix)
    free = shutil.disk_usage(folder).free if folder else size
    if size > free:
        raise SettingError(
            f"{folder}: the results need about {format_bytes(size)} there, and {format_bytes(free)} is free; free some "
            "space, or choose a folder on a larger disk."
        )


@contextmanager
def _explain_interrupt(job: Job, results: Mapping[int, Result], journal: Journal | None) -> Iterator[None]:
    """Turn Ctrl-C into JobStopped, which names what is kept and how to resume."""
    try:
        yield
    except KeyboardInterrupt:
        kept = journal.list_kept() if journal else results
        total = job.count_units(range(len(job.tasks)))
        if journal is None:
            advice = "nothing is kept; use a run folder (--run FOLDER) to be able to resume"
        elif not kept:
            advice = f"no task had finished; rerun the command to start again in {journal.folder.parent}"
        else:
            advice = f"they are kept in {journal.folder.parent}: rerun the command to resume"
        raise JobStopped(
            f"stopped after {job.count_units(kept):,} of {total:,} {job.unit} of {job.name}; {advice}"
        ) from None


def _make_job_error(job: Job, failed: Mapping[int, TaskOutcome], journal: Journal | None) -> JobError:
    total = len(job.tasks)
    errors = {job.describe_task(job.tasks[index]): failed[index].error for index in sorted(failed)}
    named = [f"{task}: {error.rstrip('.')}" for task, error in islice(errors.items(), _MAX_NAMED)]
    more = f"; and {len(failed) - _MAX_NAMED:,} more" if len(failed) > _MAX_NAMED else ""
    kept = "" if journal is None or len(failed) == total else f" The others are kept in {journal.folder.parent}."
    error = JobError(
        f"{len(failed):,} of {total:,} tasks of {job.name} failed: {'; '.join(named)}{more}.{kept}", errors
    )
    traceback = next((outcome.traceback for outcome in failed.values() if outcome.traceback), "")
    if traceback:
        error.add_note(f"Traceback of the first unexpected error:\n{traceback}")
    return error
