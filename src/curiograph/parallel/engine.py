"""`Engine`: where many independent tasks run, and where their results are kept."""

from __future__ import annotations

import os
import signal
import socket
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from traceback import format_exc
from typing import Any, Literal, get_args

from curiograph.errors import JobError, JobStopped, SettingError, import_optional, quote_value, shorten_text
from curiograph.parallel.fingerprint import hash_key
from curiograph.parallel.journal import Journal
from curiograph.progress import Progress, no_progress
from curiograph.validation import check_choice, resolve_workers

EngineName = Literal["local", "ray"]
Result = Mapping[str, Any]
"""Arrays and JSON values by name."""
TaskFunction = Callable[[Any, Any], Result]
Job = tuple[TaskFunction, Any]
"""The function of a job, and the value that its tasks share."""
Finished = Generator[tuple[int, Result | Exception]]

_STARTUP_SECONDS = 4.0  # of worker processes, which import numba and load the kernels
_MAX_DEATHS = 3  # of workers, before a job fails
_DROPPED = r"\d+ tasks (have been successfully executed|which were still being processed)"  # joblib's after Ctrl-C
_inside_task: ContextVar[bool] = ContextVar("inside_task", default=False)


@dataclass(frozen=True)
class Engine:
    """Where tasks run: processes of this machine, through joblib, or a Ray cluster.

    Parameters
    ----------
    backend : {"local", "ray"}
        Processes of this machine, or a Ray cluster. Results do not depend on it.
    workers : int, optional
        Maximum number of tasks at a time. Default: on this machine, one per processor, and none at all for work that
        is done before they would have started; on a cluster, all its processors.
    address : str, optional
        Address of a Ray cluster. Default: RAY_ADDRESS, or else a cluster on this machine.
    run : path, optional
        Folder that keeps the results of finished tasks: rerun an interrupted call to resume it.

    Examples
    --------
    >>> import curiograph as cg
    >>> engine = cg.Engine(workers=1)
    >>> engine.map(lambda words, index: {"length": len(words[index])}, ["a", "bc"], [1, 0], name="lengths")
    [{'length': 2}, {'length': 1}]
    """

    backend: EngineName = "local"
    workers: int | None = None
    address: str | None = None
    run: Path | None = None

    def __post_init__(self) -> None:
        check_choice("the engine", self.backend, get_args(EngineName))
        if self.workers is not None:
            resolve_workers(self.workers)
        if self.address is not None and self.backend != "ray":
            raise SettingError(
                f"address is {quote_value(self.address)}, but the engine is {self.backend}; only ray has an address."
            )
        if self.run is not None:
            object.__setattr__(self, "run", Path(self.run).absolute())

    def map(self, function: TaskFunction, shared: Any, tasks: Sequence[Any], **settings: Any) -> list[Result]:
        """Return the results of all tasks in order; the arguments are those of `iterate`."""
        results = dict(self.iterate(function, shared, tasks, **settings))
        return [results[index] for index in range(len(tasks))]

    def iterate(
        self,
        function: TaskFunction,
        shared: Any,
        tasks: Sequence[Any],
        *,
        name: str,
        key: Sequence[Any] = (),
        unit: str = "tasks",
        sizes: Sequence[int] = (),
        progress: Progress = no_progress,
    ) -> Iterator[tuple[int, Result]]:
        """Yield index and `function(shared, task)` of each task as they finish.

        The results are the same for every backend and number of workers. The first error of a task ends the job; with
        `run`, finished tasks are kept.

        Parameters
        ----------
        function : callable
            Its result is a dict of arrays and JSON values, which depends on the arguments alone.
        shared : object
            Value that all tasks read, such as a graph. Workers map its large arrays instead of copying them.
        tasks : sequence
            Small values.
        name : str
            Name of the job, for messages and for its folder in `run`.
        key : sequence
            Values on which the results depend: graphs, arrays, agents, rewards and JSON values. With `run`, finished
            tasks are found again if name, key and tasks are equal.
        unit : str
            Plural noun for what the tasks process.
        sizes : sequence of int
            Number of units of each task. Default: one each.
        progress : callable
            Called with the progress.
        """
        done: set[int] = set()
        sizes = sizes or [1] * len(tasks)
        run = None if _inside_task.get() else self.run
        try:
            with Journal(run, name, hash_key([*key, list(tasks)])) if run else nullcontext() as journal:
                for index in range(len(tasks)):
                    if journal and (kept := journal.read(index)) is not None:
                        done.add(index)
                        yield index, kept
                note = f" ({sum(sizes[index] for index in done):,} found in the run folder)" if done else ""
                left = {index: task for index, task in enumerate(tasks) if index not in done}
                finished_size, total = sum(sizes[index] for index in done), sum(sizes)
                progress(f"{name}: {finished_size:,} of {total:,} {unit}{note}", finished_size / max(1, total))
                with closing(self._run((function, shared), left, name)) as finished:
                    for index, result in finished:
                        if isinstance(result, Exception):
                            raise result
                        if journal:
                            journal.write(index, result)
                        done.add(index)
                        finished_size += sizes[index]
                        progress(f"{name}: {finished_size:,} of {total:,} {unit}{note}", finished_size / max(1, total))
                        yield index, result
        except KeyboardInterrupt:
            advice = "nothing is kept; with a run folder (--run, or Engine(run=)) a rerun resumes"
            if run:
                advice = f"they are kept in {run}: rerun the command to resume"
            raise JobStopped(f"stopped after {len(done):,} of {len(tasks):,} tasks of {name}; {advice}") from None

    def _run(self, job: Job, left: dict[int, Any], name: str) -> Finished:
        """Yield the index and the result or error of each task that is left, as they finish."""
        if self.backend == "ray" and left and not _inside_task.get():
            yield from self._run_on_ray(job, left)
            return
        workers = 1 if _inside_task.get() else min(resolve_workers(self.workers), len(left))
        start, here = time.monotonic(), list(left) if workers == 1 or self.workers is None else []
        for done, index in enumerate(here, start=1):
            yield _run_task(job, index, left.pop(index))
            if workers > 1 and (time.monotonic() - start) / done * len(left) > 2 * _STARTUP_SECONDS:
                break  # the rest is worth the start of worker processes
        if left:
            yield from _run_in_processes(job, left, workers, name)

    def _run_on_ray(self, job: Job, left: dict[int, Any]) -> Finished:
        """Run tasks on a cluster; Ray reruns the tasks of workers and machines that die.

        Not through `ray.util.joblib`: it returns all results at the end, so that none could be kept before.
        """
        ray = import_optional("ray", "ray", "The engine ray")
        was_running = ray.is_initialized()
        if not was_running:
            address = self.address or os.environ.get("RAY_ADDRESS", "local")  # Ray itself would join any cluster here
            local = {"num_cpus": self.workers, "include_dashboard": False} if address == "local" else {}
            host, _, port = address.removeprefix("ray://").rpartition(":")
            try:
                if port.isdecimal():  # Ray would wait for minutes
                    socket.create_connection((host, int(port)), timeout=10).close()
                ray.init(address, **local, logging_level="ERROR", log_to_driver=False)
            except Exception as error:  # Ray raises many kinds of errors
                raise SettingError(
                    f"no cluster answers at address {quote_value(address)} ({shorten_text(error, 160)}); start "
                    "one with `ray start --head` and give its address, or use engine='local'."
                ) from None
        try:
            reference, remote = ray.put(job), ray.remote(_try_task)
            limit = self.workers or 2 * int(ray.cluster_resources().get("CPU", 1))
            running: list[Any] = []
            while left or running:
                while left and len(running) < limit:
                    index = next(iter(left))
                    running.append(remote.remote(reference, index, left.pop(index)))
                finished, running = ray.wait(running)
                yield from map(ray.get, finished)
        finally:
            if not was_running:
                ray.shutdown()


IN_PROCESS = Engine("local", 1)
"""Run the tasks one after another in this process."""


def as_engine(engine: Any) -> Engine:
    """Return the engine that an argument `engine` names: "local", "ray" or an Engine.

    >>> as_engine("local")
    Engine(backend='local', workers=None, address=None, run=None)
    """
    return engine if isinstance(engine, Engine) else Engine(engine)


def _run_in_processes(job: Job, left: dict[int, Any], workers: int, name: str) -> Finished:
    """Run tasks in worker processes; when one dies, its tasks run again."""
    import joblib
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    warnings.filterwarnings("ignore", _DROPPED)  # JobStopped reports what is kept
    for _ in range(_MAX_DEATHS):
        parallel = joblib.Parallel(
            max(2, min(workers, len(left))),  # with one worker joblib runs in this process
            batch_size=1,
            return_as="generator_unordered",
            initializer=_initialize_worker,
            initargs=(os.getpid(),),
        )
        try:
            with closing(parallel(joblib.delayed(_try_task)(job, *task) for task in list(left.items()))) as finished:
                for index, result in finished:
                    del left[index]
                    yield index, result
            return
        except TerminatedWorkerError:
            continue
    raise JobError(
        f"{_MAX_DEATHS} workers of {name} were killed, perhaps for lack of memory, with {len(left):,} tasks left; use "
        "fewer workers."
    )


def _initialize_worker(driver: int) -> None:
    """Ignore Ctrl-C, which the driver handles, and exit as soon as the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def exit_with_driver() -> None:
        while os.getppid() == driver:
            time.sleep(0.5)
        os._exit(1)

    Thread(target=exit_with_driver, daemon=True).start()


def _run_task(job: Job, index: int, task: Any) -> tuple[int, Result]:
    function, shared = job
    token = _inside_task.set(True)
    try:
        return index, function(shared, task)
    finally:
        _inside_task.reset(token)


def _try_task(job: Job, index: int, task: Any) -> tuple[int, Result | Exception]:
    """Run a task in a worker and return its error as a value: joblib would drop results that finished before it."""
    try:
        return _run_task(job, index, task)
    except Exception as error:
        error.add_note(f"In a worker process:\n{format_exc()}")
        return index, error
