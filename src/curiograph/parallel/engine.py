"""Execution engines: processes on this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from curiograph.errors import SettingError, UnknownNameError
from curiograph.files import PathLike, as_path
from curiograph.messages import quote_value
from curiograph.parallel.run_folder import lock_run_folder
from curiograph.progress import Progress, no_progress
from curiograph.validation import resolve_workers

EngineName = Literal["local", "ray"]


@dataclass(frozen=True)
class Engine:
    """Where the tasks of a job run, and where their results are kept.

    >>> resolve_engine("local", workers=2)
    Engine(backend='local', workers=2, address=None, run=None)
    """

    backend: EngineName = "local"
    """Execution backend: "local" (processes) or "ray"."""
    workers: int | None = None
    """Maximum number of tasks at a time. None: chosen automatically on this machine, one per processor on a cluster."""
    address: str | None = None
    """Address of a Ray cluster. None starts a cluster on this machine for the job."""
    run: Path | None = None
    """Folder that keeps the results of finished tasks, so that an interrupted job resumes."""

    def map(
        self,
        function: Callable[[Any, Any], Mapping[str, Any]],
        shared: Any,
        tasks: Sequence[Any],
        *,
        name: str,
        key: Sequence[Any] = (),
        unit: str = "tasks",
        sizes: Sequence[int] = (),
        progress: Progress = no_progress,
    ) -> list[Mapping[str, Any]]:
        """Return `function(shared, task)` for each task, in order; the same for every backend and number of workers.

        Parameters
        ----------
        function : callable
            Importable by name. Its result is a dict of arrays and JSON values, which depends on the arguments alone.
        shared : object
            Value that all tasks read, such as a graph; sent to each worker once.
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
        from curiograph.parallel.fingerprint import hash_key
        from curiograph.parallel.job import Job, run_job

        job = Job(
            name=name,
            function=function,
            shared=shared,
            tasks=tasks,
            key=lambda: {"key": hash_key([*key, list(tasks)])},
            unit=unit,
            task_sizes=sizes,
        )
        return run_job(job, self, progress)

    @contextmanager
    def connect(self) -> Iterator[None]:
        """Keep one cluster connection and one lock of the run folder for all jobs of the block."""
        with ExitStack() as stack:
            if self.backend == "ray":
                from curiograph.parallel.ray_backend import connect_cluster

                stack.enter_context(connect_cluster(self.address, self.workers))
            if self.run is not None:
                stack.enter_context(lock_run_folder(self.run))
            yield


IN_PROCESS = Engine("local", 1)
"""Run the tasks one after another in this process."""


def resolve_engine(
    engine: Any = "local", workers: int | None = None, address: str | None = None, run: PathLike | None = None
) -> Engine:
    """Return the engine that the keyword arguments of a public function describe; raise if it cannot be used."""
    run_folder = None if run is None else as_path(run).absolute()  # workers may have other working folders
    if isinstance(engine, Engine):
        if workers is not None or address is not None:
            raise SettingError("engine is an Engine, which has its own workers and address; leave these two out.")
        return engine if run_folder is None else replace(engine, run=run_folder)
    if not isinstance(engine, str) or engine not in get_args(EngineName):
        raise UnknownNameError(
            f"the engine is {quote_value(engine)}; the engines are {', '.join(get_args(EngineName))}."
        )
    if workers is not None:
        workers = resolve_workers(workers)
    if address is not None and engine != "ray":
        raise SettingError(f"address is {quote_value(address)}, but the engine is {engine}; only ray has an address.")
    if address is not None and (not isinstance(address, str) or not address.strip()):
        raise SettingError(f"address is {quote_value(address)}; give that of a cluster, such as 10.0.0.1:6379.")
    if engine == "ray":
        from curiograph.parallel.ray_backend import import_ray

        import_ray()
    return Engine(engine, workers, address, run_folder)  # type: ignore[arg-type]


def as_engine(engine: Any) -> Engine:
    """Return the engine that an argument `engine` names: "local", "ray" or an Engine."""
    return resolve_engine(engine)
