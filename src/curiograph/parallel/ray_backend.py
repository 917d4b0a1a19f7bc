"""Tasks on a Ray cluster: one that is there, or one that is started on this machine for the job."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from curiograph.errors import SettingError
from curiograph.messages import format_bytes, quote_value, shorten_text
from curiograph.optional import import_optional
from curiograph.parallel.local import Outcomes
from curiograph.parallel.memory import Need
from curiograph.parallel.shared_arrays import SharingError, describe_sharing_error, get_cached
from curiograph.parallel.worker import Function, Outcome, run_with_retries

_RETRIES = 3  # of a task whose worker or machine died
_PATIENCE = 10.0  # seconds until an address has to answer
_AHEAD = 2  # tasks handed out for every worker, so that none waits
_SETTINGS = {  # read when Ray is imported
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def run_on_cluster(
    function: Function,
    value: Any,
    tasks: Sequence[Any],
    which: Sequence[int],
    workers: int | None,
    address: str | None,
    need: Need,
) -> Outcomes:
    """Outcomes by the task's number, as they come. Ray gives the tasks of a dead machine to others."""
    with connect_cluster(address, workers) as ray:
        _check_store(ray, need)
        try:
            handle = [
                ray.put((function, value))
            ]  # in a list, Ray leaves it to the task to open it: once in every process
        except TypeError as error:
            raise SharingError(describe_sharing_error(error)) from None
        remote = ray.remote(_task).options(max_retries=_RETRIES, num_cpus=1, scheduling_strategy="SPREAD")
        waiting = list(reversed(which))
        running: dict[Any, int] = {}
        try:
            while waiting or running:
                while waiting and len(running) < _most(ray, workers):
                    index = waiting.pop()
                    running[remote.remote(handle, tasks[index])] = index
                ready, _ = ray.wait(list(running), num_returns=1)
                for reference in ready:
                    yield running.pop(reference), _outcome(ray, reference)
        finally:
            for reference in running:
                with suppress(Exception):  # the cluster may be gone
                    ray.cancel(reference, force=True)


def _most(ray: Any, workers: int | None) -> int:
    """Tasks to hand out: machines come and go, so the cluster is asked again."""
    return workers or _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))


def _outcome(ray: Any, reference: Any) -> Outcome:
    try:
        outcome: Outcome = ray.get(reference)
        return outcome
    except (
        ray.exceptions.RayTaskError
    ) as error:  # not of the task itself, which `run_with_retries` turns into an outcome
        cause = f"{type(error.cause).__name__}: {shorten_text(error.cause, 200)}"
        return Outcome(None, f"its worker cannot open it ({cause}); install the same packages there as here")
    except ray.exceptions.RayError as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        return Outcome(
            None, f"its worker died {_RETRIES + 1} times ({type(error).__name__}: {shorten_text(reason, 200)})"
        )


def _task(handle: list[Any], task: Any) -> Outcome:
    import ray

    function, value = get_cached(handle[0].hex(), lambda: ray.get(handle[0]))
    return run_with_retries(function, value, task)


def ray_itself() -> Any:
    """Ray, imported, which says nothing about itself to anybody."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    return import_optional("ray", "ray", "Clusters")


@contextmanager
def connect_cluster(address: str | None, workers: int | None) -> Iterator[Any]:
    """Ray, connected; left as it was found. Jobs within one such block share a cluster that was started for them."""
    ray = ray_itself()
    if ray.is_initialized():  # by whoever called us
        yield ray
        return
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    on_end = signal.getsignal(signal.SIGTERM)
    try:
        if address is not None:
            _knock(address)
        where = {"num_cpus": workers, "include_dashboard": False} if address is None else {"address": address}
        with _silent_core():
            ray.init(**where, **quiet)
    except Exception as error:  # Ray has many ways to say that nobody is there
        said = (
            "a cluster cannot be started here" if address is None else f"no cluster answers at {quote_value(address)}"
        )
        raise SettingError(
            f"{said} ({type(error).__name__}: {shorten_text(error, 160)}); start one with ray start --head and give its "
            "address, with the same RAY_AUTH_MODE and RAY_AUTH_TOKEN_PATH as there, or use engine='local'."
        ) from None
    if callable(on_end) and threading.current_thread() is threading.main_thread():  # Ray has put its own in its place
        signal.signal(signal.SIGTERM, on_end)
    try:
        with _silent_about_deaths():
            yield ray
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise where nobody listens at an address: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():  # "auto", for one, is no place
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()


@contextmanager
def _silent_core() -> Iterator[None]:
    """Keep Ray's compiled core, which knows no levels while it connects, from writing lines of log to stderr."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def _silent_about_deaths() -> Iterator[None]:
    """Keep Ray from printing to stdout, where results go, that a worker or machine died: its tasks go to others."""
    module = sys.modules["ray._private.worker"]
    printing = getattr(module, "print_to_stdstream", None)  # not a promise of Ray's, so it may be gone one day
    if printing is None:
        yield
        return
    module.print_to_stdstream = lambda *told, **more: None  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module.print_to_stdstream = printing  # type: ignore[attr-defined]


def _check_store(ray: Any, need: Need) -> None:
    room = ray.cluster_resources().get("object_store_memory", 0)
    if need.shared > room:
        raise SettingError(
            f"the graph takes {format_bytes(need.shared)} and the object store of the cluster has {format_bytes(room)}; start "
            "its machines with a larger --object-store-memory."
        )
