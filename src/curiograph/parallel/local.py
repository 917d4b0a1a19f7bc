"""Tasks in processes of this machine, by joblib."""

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
from typing import Any

from curiograph.parallel.shared_arrays import Shared, SharingError, describe_sharing_error, share
from curiograph.parallel.worker import Function, Outcome, initialize_worker, run_with_retries

Outcomes = Iterator[tuple[int, Outcome]]
Do = Callable[[Function, Any, Any], Outcome]
"""How a task is done in this process."""

_PAYS_OFF = 4.0  # seconds of work that processes must save
_TRIAL = 2.0  # seconds after which it is asked whether they would
_DROPPED = r"\d+ tasks (have been successfully executed|which were still being processed)"  # joblib's, of Ctrl-C
_BREAKS = 2  # deaths of workers that a task may have had a hand in before it runs alone


def run_adaptively(
    function: Function, value: Any, tasks: Sequence[Any], which: Sequence[int], most: int, here: Do = run_with_retries
) -> Outcomes:
    """Outcomes by the task's number: here at first, and on all processors once that is shown to pay off."""
    begun, done = time.monotonic(), 0
    while done < len(which):
        yield which[done], here(function, value, tasks[which[done]])
        done += 1
        spent = time.monotonic() - begun
        workers = min(most, len(which) - done)
        saved = spent / done * (len(which) - done) * (1 - 1 / max(1, workers))
        if spent > _TRIAL and saved > _PAYS_OFF:
            break
    if done == len(which):
        return
    try:
        yield from run_in_processes(function, value, tasks, which[done:], most)
    except SharingError:  # nobody asked for processes
        yield from ((index, here(function, value, tasks[index])) for index in which[done:])


def run_in_processes(
    function: Function, value: Any, tasks: Sequence[Any], which: Sequence[int], workers: int
) -> Outcomes:
    """Outcomes by the task's number, as they come. When a worker dies, its tasks go to others.

    Nobody can say which of the tasks that were under way killed it: those that had a hand in several deaths run alone,
    and one that then kills its worker again has failed.
    """
    left, deaths = dict.fromkeys(which), Counter[int]()
    with share((function, value)) as handle:
        while left:
            alone = next((index for index in left if deaths[index] >= _BREAKS), None)
            some = list(left) if alone is None else [alone]
            under_way: set[int] = set()
            try:
                with closing(_pool(handle, tasks, some, workers, under_way)) as outcomes:
                    for index, outcome in outcomes:
                        under_way.discard(index)
                        del left[index]
                        yield index, outcome
            except pickle.PicklingError as error:
                raise SharingError(describe_sharing_error(error)) from None
            except BrokenProcessPool:
                if alone is not None and alone in left:
                    del left[alone]
                    yield alone, Outcome(None, f"its worker died {deaths[alone] + 1} times (killed, or out of memory)")
                deaths.update(under_way)


def _pool(
    handle: Shared, tasks: Sequence[Any], which: Sequence[int], workers: int, under_way: set[int]
) -> Generator[tuple[int, Outcome]]:
    import joblib

    def dispatched() -> Iterator[Any]:
        for index in which:
            under_way.add(index)
            yield joblib.delayed(_task)(handle, index, tasks[index])

    parallel = joblib.Parallel(
        min(workers, len(which)) if len(which) > 1 else 2,  # one alone would run in this process
        backend="loky",
        batch_size=1,
        pre_dispatch=2 * workers,
        max_nbytes=None,  # no files of its own: what is large is shared
        return_as="generator_unordered",
        initializer=initialize_worker,
        initargs=(os.getpid(),),
    )
    warnings.filterwarnings("ignore", _DROPPED)  # the job says better what is kept
    with _undisturbed():
        outcomes = parallel(dispatched())
    with closing(outcomes):
        yield from outcomes


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep Ctrl-C waiting: processes that are started here leave it to the driver from their first moment."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # joblib starts it first, and that would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _task(handle: Shared, index: int, task: Any) -> tuple[int, Outcome]:
    function, value = handle.value()
    return index, run_with_retries(function, value, task)
