"""A job: many tasks of one kind, done by an engine, kept in a journal."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from curiograph.errors import JobError, JobStopped
from curiograph.files import PathLike
from curiograph.messages import quote_value
from curiograph.parallel import local
from curiograph.parallel.engine import IN_PROCESS, Engine
from curiograph.parallel.fingerprint import hash_values
from curiograph.parallel.journal import Journal
from curiograph.parallel.memory import Need, check_disk, check_memory, fitting_workers
from curiograph.parallel.run_folder import lock_run_folder
from curiograph.parallel.serialization import Result
from curiograph.parallel.worker import Function, Outcome, is_inside_task, run_once, run_with_retries
from curiograph.progress import Progress, no_progress
from curiograph.validation import resolve_workers

_LARGE, _LONG = 2**30, 60.0  # bytes and seconds from which on what a job takes is told before it begins
_NAMED = 5  # failed tasks that an error names


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be done: `function(shared, task)` for each of the tasks.

    >>> from curiograph.parallel.engine import resolve_engine
    >>> job = Job("lengths", len_of_word, shared=["a", "bc"], tasks=[1, 0], about=dict)
    >>> run_job(job, resolve_engine("local", workers=1))
    [{'length': 2}, {'length': 1}]
    """

    name: str
    function: Function
    shared: Any = field(repr=False)
    """What all tasks look at, such as a graph: sent once."""
    tasks: Sequence[Any] = field(repr=False)
    """Small. What a task gives depends on `shared` and on itself, so on no worker and no other task."""
    about: Callable[[], Mapping[str, Any]]
    """What tells the job from any other, as JSON: its results are found again by it. Asked where they are kept."""
    need: Need = field(default_factory=Need)
    describe: Callable[[Any], str] = quote_value
    """Names a task that failed."""
    unit: str = "tasks"
    sizes: Sequence[int] = field(default=(), repr=False)
    """Units of each task; one without it."""

    def units(self, done: Iterable[int]) -> int:
        """Units of some of the tasks."""
        return sum(self.sizes[index] for index in done) if self.sizes else sum(1 for _ in done)


def len_of_word(words: list[str], number: int) -> Result:
    """The example above."""
    return {"length": len(words[number])}


def run_job(job: Job, engine: Engine, run: PathLike | None = None, progress: Progress = no_progress) -> list[Result]:
    """The results of all tasks, in their order; the same whatever the engine and the number of workers.

    With a folder `run` finished tasks are kept there: a job that was killed goes on where it stopped, and one that was
    completed is only read. A task that fails does not keep the others from being done; at the end `JobError` names it.
    What is done in this process without such a folder is a plain loop: the first error ends it, as it is.
    """
    if is_inside_task():
        engine, run = IN_PROCESS, None
    if run is None:
        return _done(job, engine, None, progress)
    with lock_run_folder(run) as home:
        about = {"sizes": hash_values(np.asarray(job.sizes)), **job.about()}  # of tasks: how the work was divided
        return _done(job, engine, Journal(home, job.name, about, len(job.tasks)), progress)


def _done(job: Job, engine: Engine, journal: Journal | None, progress: Progress) -> list[Result]:
    found: dict[int, Result] = {}
    failed: dict[int, Outcome] = {}
    for index in range(len(job.tasks)) if journal else ():
        kept = journal.read(index) if journal else None
        if kept is not None:
            found[index] = kept
    missing = [index for index in range(len(job.tasks)) if index not in found]
    if journal and missing:
        check_disk(job.need, journal.folder, len(missing) / len(job.tasks))
    clock = _Clock(job, found, progress, _estimate(job, engine, missing))
    with (
        _stoppable(job, found, journal),
        closing(_outcomes(job, engine, missing, run_with_retries if journal else run_once)) as outcomes,
    ):
        for index, outcome in outcomes:
            if outcome.result is None:
                failed[index] = outcome
            else:
                if journal:
                    journal.write(index, outcome.result)
                found[index] = outcome.result
            clock.add(index)
    if failed:
        raise _failure(job, failed, journal)
    return [found[index] for index in range(len(job.tasks))]


def _outcomes(job: Job, engine: Engine, missing: Sequence[int], here: local.Do) -> Generator[tuple[int, Outcome]]:
    if not missing:
        return
    if engine.name == "ray":
        from curiograph.parallel.ray_backend import run_on_cluster

        check_memory(replace(job.need, task=0, shared=0), 1)  # what gathers here
        yield from run_on_cluster(
            job.function, job.shared, job.tasks, missing, engine.workers, engine.address, job.need
        )
        return
    workers = min(resolve_workers(engine.workers), len(missing))
    if engine.workers is None:  # nobody asked for more than fit
        workers = fitting_workers(job.need, workers)
    check_memory(job.need, workers)
    if workers == 1:
        yield from ((index, here(job.function, job.shared, job.tasks[index])) for index in missing)
    elif engine.workers is None:
        yield from local.run_adaptively(job.function, job.shared, job.tasks, missing, workers, here)
    else:
        yield from local.run_in_processes(job.function, job.shared, job.tasks, missing, workers)


def _estimate(job: Job, engine: Engine, missing: Sequence[int]) -> str:
    if not missing or engine.name == "ray":  # how large a cluster is, it tells later
        return ""
    share = len(missing) / len(job.tasks)
    need = replace(job.need, seconds=None if job.need.seconds is None else share * job.need.seconds)
    workers = min(resolve_workers(engine.workers), len(missing))
    worth_telling = need.total(workers) > _LARGE or (need.seconds or 0) / workers > _LONG
    return f"; {need.estimate(workers)}" if worth_telling else ""


class _Clock:
    """Tells how far a job is."""

    def __init__(self, job: Job, kept: Iterable[int], progress: Progress, estimate: str) -> None:
        self._job, self._progress = job, progress
        self._total, self._kept = job.units(range(len(job.tasks))), job.units(kept)
        self._done = self._kept
        self._tell(estimate)

    def add(self, index: int) -> None:
        """A task is finished."""
        self._done += self._job.units([index])
        self._tell()

    def _tell(self, estimate: str = "") -> None:
        kept = f" ({self._kept:,} found in the run folder)" if self._kept else ""
        done = f"{self._job.name}: {self._done:,} of {self._total:,} {self._job.unit}"
        self._progress(f"{done}{kept}{estimate}", self._done / max(1, self._total))


@contextmanager
def _stoppable(job: Job, found: Mapping[int, Result], journal: Journal | None) -> Iterator[None]:
    """Make of Ctrl-C a sentence that says what is kept, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        kept = journal.kept() if journal else found
        total = job.units(range(len(job.tasks)))
        done = f"stopped after {job.units(kept):,} of {total:,} {job.unit} of {job.name}"
        if journal is None:
            way = "nothing is kept; with a run folder (--run FOLDER) it would go on where it stopped"
        elif not kept:
            way = f"nothing was finished yet; run the same again to begin anew in {journal.folder.parent}"
        else:
            way = f"they are kept in {journal.folder.parent}: run the same again to go on"
        raise JobStopped(f"{done}; {way}") from None


def _failure(job: Job, failed: Mapping[int, Outcome], journal: Journal | None) -> JobError:
    total = len(job.tasks)
    said = {job.describe(job.tasks[index]): failed[index].error for index in sorted(failed)}
    named = [f"{task}: {error.rstrip('.')}" for task, error in islice(said.items(), _NAMED)]
    more = f"; and {len(failed) - _NAMED:,} more" if len(failed) > _NAMED else ""
    kept = "" if journal is None or len(failed) == total else f" The others are kept in {journal.folder.parent}."
    text = f"{len(failed):,} of {total:,} tasks of {job.name} failed: {'; '.join(named)}{more}."
    error = JobError(text + kept, said)
    for where in islice((outcome.where for outcome in failed.values() if outcome.where), 1):
        error.add_note(f"In the first of them:\n{where}")
    return error
