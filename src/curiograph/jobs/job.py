"""A job: many tasks of one kind, done by an engine, kept in a journal."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from curiograph.errors import JobError, JobStopped
from curiograph.graph.storage import PathLike, quoted
from curiograph.jobs import local
from curiograph.jobs.engine import Engine
from curiograph.jobs.folders import alone_in
from curiograph.jobs.journal import Journal
from curiograph.jobs.memory import Need, check_disk, check_memory
from curiograph.jobs.results import Result
from curiograph.jobs.working import Function, Outcome, attempt, within_task
from curiograph.progress import Progress, silent
from curiograph.settings import worker_number

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


def len_of_word(words: list[str], number: int) -> Result:
    """The example above."""
    return {"length": len(words[number])}


def complete(job: Job, engine: Engine, run: PathLike | None = None, progress: Progress = silent) -> list[Result]:
    """The results of all tasks, in their order; the same whatever the engine and the number of workers.

    With a folder `run` finished tasks are kept there: a job that was killed goes on where it stopped, and one that was
    completed is only read. A task that fails does not keep the others from being done; at the end `JobError` names it.
    One worker without a folder is a plain loop: the first error ends it, as it is.
    """
    if within_task() or (run is None and engine.in_process):
        return _looped(job, progress)
    if run is None:
        return _done(job, engine, None, progress)
    with alone_in(run) as home:
        check_disk(job.need, home)
        return _done(job, engine, Journal(home, job.name, job.about(), len(job.tasks)), progress)


def _looped(job: Job, progress: Progress) -> list[Result]:
    results = []
    for number, task in enumerate(job.tasks):
        progress(f"{job.name}: {number:,} of {len(job.tasks):,} {job.unit}", number / len(job.tasks))
        results.append(job.function(job.shared, task))
    return results


def _done(job: Job, engine: Engine, journal: Journal | None, progress: Progress) -> list[Result]:
    found: dict[int, Result] = {}
    failed: dict[int, str] = {}
    for index in range(len(job.tasks)) if journal else ():
        kept = journal.read(index) if journal else None
        if kept is not None:
            found[index] = kept
    missing = [index for index in range(len(job.tasks)) if index not in found]
    clock = _Clock(job, len(found), progress)
    with _stoppable(job, found, journal), closing(_outcomes(job, engine, missing)) as outcomes:
        for index, outcome in outcomes:
            if outcome.result is None:
                failed[index] = outcome.error
            else:
                if journal:
                    journal.write(index, outcome.result)
                found[index] = outcome.result
            clock.tell(len(found) + len(failed))
    if failed:
        raise _failure(job, failed, journal)
    return [found[index] for index in range(len(job.tasks))]


def _outcomes(job: Job, engine: Engine, missing: Sequence[int]) -> Generator[tuple[int, Outcome]]:
    if not missing:
        return
    if engine.name == "ray":
        from curiograph.jobs.cluster import on_cluster

        yield from on_cluster(job.function, job.shared, job.tasks, missing, engine.workers, engine.address, job.need)
        return
    workers = min(worker_number(engine.workers), len(missing))
    check_memory(job.need, workers)
    if workers == 1:
        yield from ((index, attempt(job.function, job.shared, job.tasks[index])) for index in missing)
    elif engine.workers is None:
        yield from local.as_they_pay_off(job.function, job.shared, job.tasks, missing)
    else:
        yield from local.in_processes(job.function, job.shared, job.tasks, missing, workers)


class _Clock:
    """Tells how far a job is, and how long the rest will take."""

    def __init__(self, job: Job, kept: int, progress: Progress) -> None:
        self._job, self._kept, self._progress = job, kept, progress
        self._begun = time.monotonic()
        self.tell(kept)

    def tell(self, done: int) -> None:
        job, total = self._job, len(self._job.tasks)
        now = done - self._kept
        left = f", about {_in_words((time.monotonic() - self._begun) / now * (total - done))} left" if now else ""
        kept = f" ({self._kept:,} found in the run folder)" if self._kept else ""
        self._progress(f"{job.name}: {done:,} of {total:,} {job.unit}{kept}{left}", done / max(1, total))


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
        number = journal.kept() if journal else len(found)
        done = f"stopped after {number:,} of {len(job.tasks):,} {job.unit} of {job.name}"
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
    text = f"{len(failed):,} of {total:,} {job.unit} of {job.name} failed: {'; '.join(named)}{more}."
    return JobError(text + kept, {job.describe(job.tasks[i]): failed[i] for i in sorted(failed)})
