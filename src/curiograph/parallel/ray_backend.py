"""Tasks on a Ray cluster: an existing one, or one started on this machine for the job."""

from __future__ import annotations

import atexit
import logging
import math
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from curiograph.errors import SettingError
from curiograph.messages import format_bytes, quote_value, shorten_text
from curiograph.optional import import_optional
from curiograph.parallel.local import TaskOutcomes
from curiograph.parallel.shared_arrays import SharingError, describe_sharing_error, get_cached, measure_shared
from curiograph.parallel.worker import TaskOutcome, run_with_retries

if TYPE_CHECKING:
    from curiograph.parallel.job import Job

_RETRIES = 3  # of a task whose worker or machine died
_CONNECT_SECONDS = 10.0  # in which a cluster must answer
_CHECK_SECONDS = 2.0  # between two checks of the head
_TASKS_PER_CPU = 2  # submitted tasks, so that no worker waits
_ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}  # read when Ray is imported


class LostHeadError(SettingError):
    """The head of the cluster died during a job."""


def run_on_cluster(job: Job, indices: Sequence[int], workers: int | None, address: str | None) -> TaskOutcomes:
    """Yield outcomes by task index, as they finish; Ray reruns the tasks of a dead machine elsewhere."""
    shared = job.function, job.shared
    with connect_cluster(address, workers) as ray:
        head = ray.get_runtime_context().gcs_address
        try:
            size, capacity = measure_shared(shared), ray.cluster_resources().get("object_store_memory", 0)
            if size > capacity:
                raise SettingError(
                    f"the graph takes {format_bytes(size)} and the object store of the cluster has "
                    f"{format_bytes(capacity)}; start its machines with a larger --object-store-memory."
                )
            reference = ray.put(shared)
        except TypeError as error:
            raise SharingError(describe_sharing_error(error)) from None
        remote = ray.remote(_run_remote).options(max_retries=_RETRIES, num_cpus=1, scheduling_strategy="SPREAD")
        waiting = list(reversed(indices))
        running: dict[Any, int] = {}
        try:
            checked = -math.inf
            while waiting or running:
                if time.monotonic() - checked > _CHECK_SECONDS:
                    _check_head(head)
                    # machines join and leave, so the number of processors is read again
                    limit = workers or _TASKS_PER_CPU * max(1, int(ray.cluster_resources().get("CPU", 1)))
                    checked = time.monotonic()
                while waiting and len(running) < limit:
                    index = waiting.pop()
                    reply = remote.remote([reference], job.tasks[index])  # in a list, Ray does not load it itself
                    running[reply] = index
                finished, _ = ray.wait(list(running), num_returns=1, timeout=_CHECK_SECONDS)
                for each in finished:
                    outcome = _get_outcome(ray, each)
                    if outcome.result is None:
                        _check_head(head)
                    yield running.pop(each), outcome
        finally:
            for each in running:
                with suppress(Exception):  # the cluster may be gone
                    ray.cancel(each, force=True)


def _get_outcome(ray: Any, reference: Any) -> TaskOutcome:
    try:
        outcome: TaskOutcome = ray.get(reference)
        return outcome
    except ray.exceptions.RayTaskError as error:  # errors of the task itself are outcomes of `run_with_retries`
        cause = f"{type(error.cause).__name__}: {shorten_text(error.cause, 200)}"
        return TaskOutcome(None, f"its worker cannot load it ({cause}); install the same packages there as here")
    except ray.exceptions.RayError as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        return TaskOutcome(
            None, f"its worker died {_RETRIES + 1} times ({type(error).__name__}: {shorten_text(reason, 200)})"
        )


def _check_head(address: str) -> None:
    """Raise if the head is gone: calls of Ray would block for a minute and then end this process."""
    try:
        _connect(address)
    except OSError:
        raise LostHeadError(
            f"the head of the cluster, {address}, no longer answers; start the cluster again and rerun the command in "
            "a new process: finished tasks are kept if there is a run folder (--run FOLDER)."
        ) from None


def _connect(address: str) -> None:
    """Raise OSError if nobody listens at an address with a port; do nothing for a name such as "auto"."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()


def _run_remote(references: list[Any], task: Any) -> TaskOutcome:
    import ray

    function, shared = get_cached(references[0].hex(), lambda: ray.get(references[0]))
    return run_with_retries(function, shared, task)


def import_ray() -> Any:
    """Import Ray without usage statistics and startup messages."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    return import_optional("ray", "ray", "Clusters")


@contextmanager
def connect_cluster(address: str | None, workers: int | None) -> Iterator[Any]:
    """Yield Ray, connected to a cluster; an existing connection is used and kept open."""
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    on_terminate = signal.getsignal(signal.SIGTERM)
    try:
        if address is not None:
            _connect(address)  # Ray itself would try for minutes to connect to a closed port
        target = {"num_cpus": workers, "include_dashboard": False} if address is None else {"address": address}
        with _discard_stderr():
            ray.init(**target, logging_level=logging.ERROR, log_to_driver=False)
    except Exception as error:  # Ray raises many kinds of errors
        problem = (
            "a cluster cannot be started here" if address is None else f"no cluster answers at {quote_value(address)}"
        )
        raise SettingError(
            f"{problem} ({type(error).__name__}: {shorten_text(error, 160)}); start one with ray start --head and give "
            "its address, with the same RAY_AUTH_MODE and RAY_AUTH_TOKEN_PATH as there, or use engine='local'."
        ) from None
    if callable(on_terminate) and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, on_terminate)  # Ray installs its own handler
    with ExitStack() as stack:
        stack.callback(ray.shutdown)
        try:
            with _discard_death_messages():
                yield ray
        except LostHeadError:
            stack.pop_all()
            atexit.unregister(ray.shutdown)
            atexit.register(_end_process)
            raise


def _end_process() -> None:
    """End this process with exit code 2: without a head, Ray cannot be shut down and would crash the process."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(2)


@contextmanager
def _discard_stderr() -> Iterator[None]:
    """Discard stderr, to which the compiled core of Ray logs while it connects, whatever the logging level."""
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


@contextmanager
def _discard_death_messages() -> Iterator[None]:
    """Keep Ray from printing to stdout, where results are written, that a worker or machine died."""
    module = sys.modules["ray._private.worker"]
    print_message = getattr(module, "print_to_stdstream", None)  # private, so later versions may not have it
    if print_message is None:
        yield
        return
    module.print_to_stdstream = lambda *args, **kwargs: None  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module.print_to_stdstream = print_message  # type: ignore[attr-defined]
