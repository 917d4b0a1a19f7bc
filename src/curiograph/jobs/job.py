"""A job: many tasks of one kind, done by an engine, kept in a journal."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from curiograph.errors import JobError, JobStopped
from curiograph.graph.storage import PathLike, quoted
from curiograph.jobs import local
from curiograph.jobs.engine import HERE, Engine
from curiograph.jobs.folders import alone_in
from curiograph.jobs.journal import Journal
from curiograph.jobs.memory import Need, check_disk, check_memory
from curiograph.jobs.results import Result
from curiograph.jobs.working import Function, Outcome, attempt, plainly, within_task
from curiograph.progress import Progress, silent
from curiograph.settings import worker_number

_TELLING = 1.0  # seconds of work that tell how long the rest takes
_NAMED = 5  # failed tasks that an error names


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be done: `function(shared, task)` for each of the tasks.

    >>> from curiograph.jobs.engine import as_engine
    >>> job = Job("lengths", len_of_word, shared=["a", "bc"], tasks=[1, 0], about=dict)
    >>> complete(job, as_engine("local", workers=1))
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
    describe: Callable[[Any], str] = quoted
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


def complete(job: Job, engine: Engine, run: PathLike | None = None, progress: Progress = silent) -> list[Result]:
    """The results of all tasks, in their order; the same whatever the engine and the number of workers.

    With a folder `run` finished tasks are kept there: a job that was killed goes on where it stopped, and one that was
    completed is only read. A task that fails does not keep the others from being done; at the end `JobError` names it.
    What is done in this process without such a folder is a plain loop: the first error ends it, as it is.
    """
    if within_task():
        engine, run = HERE, None
    if run is None:
        return _done(job, engine, None, progress)
    with alone_in(run) as home:
        check_disk(job.need, home)
        return _done(job, engine, Journal(home, job.name, job.about(), len(job.tasks)), progress)


def _done(job: Job, engine: Engine, journal: Journal | None, progress: Progress) -> list[Result]:
    found: dict[int, Result] = {}
    failed: dict[int, str] = {}
    for index in range(len(job.tasks)) if journal else ():
        kept = journal.read(index) if journal else None
        if kept is not None:
            found[index] = kept
    missing = [index for index in range(len(job.tasks)) if index not in found]
    clock = _Clock(job, found, progress)
    with (
        _stoppable(job, found, journal),
        closing(_outcomes(job, engine, missing, attempt if journal else plainly)) as outcomes,
    ):
        for index, outcome in outcomes:
            if outcome.result is None:
                failed[index] = outcome.error
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
        from curiograph.jobs.cluster import on_cluster

        yield from on_cluster(job.function, job.shared, job.tasks, missing, engine.workers, engine.address, job.need)
        return
    workers = min(worker_number(engine.workers), len(missing))
    check_memory(job.need, workers)
    if workers == 1:
        yield from ((index, here(job.function, job.shared, job.tasks[index])) for index in missing)
    elif engine.workers is None:
        yield from local.as_they_pay_off(job.function, job.shared, job.tasks, missing, here)
    else:
        yield from local.in_processes(job.function, job.shared, job.tasks, missing, workers)


class _Clock:
    """Tells how far a job is, and how long the rest will take."""

    def __init__(self, job: Job, kept: Iterable[int], progress: Progress) -> None:
        self._job, self._progress = job, progress
        self._total, self._kept = job.units(range(len(job.tasks))), job.units(kept)
        self._done, self._begun = self._kept, time.monotonic()
        self._tell()

    def add(self, index: int) -> None:
        """A task is finished."""
        self._done += self._job.units([index])
        self._tell()

    def _tell(self) -> None:
        now, spent = self._done - self._kept, time.monotonic() - self._begun
        telling = now and spent > _TELLING and self._done < self._total
        left = f", about {_in_words(spent / now * (self._total - self._done))} left" if telling else ""
        kept = f" ({self._kept:,} found in the run folder)" if self._kept else ""
        done = f"{self._job.name}: {self._done:,} of {self._total:,} {self._job.unit}"
        self._progress(f"{done}{kept}{left}", self._done / max(1, self._total))


def _in_words(seconds: float) -> str:
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


@contextmanager
def _stoppable(job: Job, found: Mapping[int, Result], journal: Journal | None) -> Iterator[None]:
    """Make of Ctrl-C a sentence that says what is kept, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        kept = journal.kept() if journal else found
        total = job.units(range(len(job.tasks)))
        done = f"stopped after {job.units(kept):,} of {total:,} {job.unit} of {job.name}"
        way = (
            f"they are kept in {journal.folder.parent}: run the same again to go on"
            if journal
            else "nothing is kept; with a run folder (--run FOLDER) it would go on where it stopped"
        )
        raise JobStopped(f"{done}; {way}") from None


def _failure(job: Job, failed: Mapping[int, str], journal: Journal | None) -> JobError:
    total = len(job.tasks)
    named = [f"{job.describe(job.tasks[index])}: {failed[index].rstrip('.')}" for index in sorted(failed)[:_NAMED]]
    more = f"; and {len(failed) - _NAMED:,} more" if len(failed) > _NAMED else ""
    kept = "" if journal is None or len(failed) == total else f" The others are kept in {journal.folder.parent}."
    text = f"{len(failed):,} of {total:,} tasks of {job.name} failed: {'; '.join(named)}{more}."
    return JobError(text + kept, {job.describe(job.tasks[i]): failed[i] for i in sorted(failed)})
