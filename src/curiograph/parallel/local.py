"""Tasks in worker processes on this machine, through joblib."""

from __future__ import annotations

import os
import pickle
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from curiograph.parallel.shared_arrays import Shared, SharingError, describe_sharing_error, share
from curiograph.parallel.worker import TaskFunction, TaskOutcome, initialize_worker, run_with_retries

if TYPE_CHECKING:
    from curiograph.parallel.job import Job

TaskOutcomes = Iterator[tuple[int, TaskOutcome]]
Run = Callable[[TaskFunction, Any, Any], TaskOutcome]
"""How a task runs in this process: `run_once` or `run_with_retries`."""

_STARTUP_SECONDS = 4.0  # of worker processes, which import numba and load the kernels
_DROPPED = r"\d+ tasks (have been successfully executed|which were still being processed)"  # joblib's after Ctrl-C
_MAX_DEATHS = 2  # deaths of workers during a task before it runs alone


def run_adaptively(job: Job, indices: Sequence[int], workers: int, run_here: Run) -> TaskOutcomes:
    """Yield outcomes by task index: from this process, until the rest is worth the start of worker processes."""
    start = time.monotonic()
    for done, index in enumerate(indices, 1):
        yield index, run_here(job.function, job.shared, job.tasks[index])
        left = len(indices) - done
        if left > 1 and (time.monotonic() - start) / done * left > 2 * _STARTUP_SECONDS:
            break
    rest = indices[done:]
    if not rest:
        return
    try:
        yield from run_in_processes(job, rest, min(workers, len(rest)))
    except SharingError:  # processes were not requested explicitly
        yield from ((index, run_here(job.function, job.shared, job.tasks[index])) for index in rest)


def run_in_processes(job: Job, indices: Sequence[int], workers: int) -> TaskOutcomes:
    """Yield outcomes by task index, as they finish; when a worker dies, its tasks run again.

    Any of the running tasks may have killed the worker: tasks that ran during several deaths run alone, and a task
    that kills its worker alone has failed.
    """
    left, deaths = dict.fromkeys(indices), Counter[int]()
    with share((job.function, job.shared)) as handle:
        while left:
            alone = next((index for index in left if deaths[index] >= _MAX_DEATHS), None)
            batch = list(left) if alone is None else [alone]
            running: set[int] = set()
            try:
                with closing(_run_pool(handle, job.tasks, batch, workers, running)) as outcomes:
                    for index, outcome in outcomes:
                        running.discard(index)
                        del left[index]
                        yield index, outcome
            except pickle.PicklingError as error:
                raise SharingError(describe_sharing_error(error)) from None
            except BrokenProcessPool:
                if alone is not None and alone in left:
                    del left[alone]
                    yield (
                        alone,
                        TaskOutcome(None, f"its worker died {deaths[alone] + 1} times (killed, or out of memory)"),
                    )
                deaths.update(running)


def _run_pool(
    handle: Shared, tasks: Sequence[Any], indices: Sequence[int], workers: int, running: set[int]
) -> Generator[tuple[int, TaskOutcome]]:
    import joblib

    def dispatch() -> Iterator[Any]:
        for index in indices:
            running.add(index)
            yield joblib.delayed(_run_shared)(handle, index, tasks[index])

    parallel = joblib.Parallel(
        min(workers, len(indices)) if len(indices) > 1 else 2,  # with one worker joblib runs in this process
        backend="loky",
        batch_size=1,
        pre_dispatch=2 * workers,
        max_nbytes=None,  # large arrays are in the shared value
        return_as="generator_unordered",
        initializer=initialize_worker,
        initargs=(os.getpid(),),
    )
    warnings.filterwarnings("ignore", _DROPPED)  # JobStopped reports what is kept
    with _block_interrupts():
        outcomes = parallel(dispatch())
    with closing(outcomes):
        yield from outcomes


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Delay Ctrl-C, so that the processes started in the block ignore it from their start."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # joblib would start it in the block, and that unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_shared(handle: Shared, index: int, task: Any) -> tuple[int, TaskOutcome]:
    function, shared = handle.load()
    return index, run_with_retries(function, shared, task)
