"""Execution of one task, in this process, in a worker process or on a cluster."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from traceback import format_exc
from typing import Any

from curiograph.errors import CuriographError
from curiograph.messages import shorten_text
from curiograph.parallel.serialization import Result, check_result

Function = Callable[[Any, Any], Result]
"""Function of the shared value and a task; importable by its name from a module."""

_ATTEMPTS = 3
_POLL_SECONDS = 0.5  # between two checks that the driver is alive
_state = threading.local()


@dataclass(frozen=True)
class Outcome:
    """The result of a task, or the error that it ended with."""

    result: Result | None
    error: str = ""
    """One sentence; empty if the task succeeded."""
    traceback: str = ""
    """Traceback of an unexpected error."""


def run_with_retries(function: Function, shared: Any, task: Any) -> Outcome:
    """Run a task and return its outcome; retry after unexpected errors."""
    with _mark_inside_task():
        for _ in range(_ATTEMPTS):
            try:
                result = function(shared, task)
                check_result(result)
                return Outcome(result)
            except CuriographError as error:
                return Outcome(None, str(error))
            except (Exception, SystemExit) as error:  # a task that calls sys.exit must not end the job
                message, traceback = f"{type(error).__name__}: {shorten_text(error, 300)}", format_exc()
        return Outcome(None, f"{message} ({_ATTEMPTS} times)", traceback)


def run_once(function: Function, shared: Any, task: Any) -> Outcome:
    """Run a task and return its outcome; let its error propagate."""
    with _mark_inside_task():
        return Outcome(function(shared, task))


@contextmanager
def _mark_inside_task() -> Iterator[None]:
    before = is_inside_task()
    _state.inside_task = True
    try:
        yield
    finally:
        _state.inside_task = before


def is_inside_task() -> bool:
    """Return whether the caller runs within a task, where jobs run in-process."""
    return getattr(_state, "inside_task", False)


def initialize_worker(driver: int) -> None:
    """Ignore Ctrl-C, which the driver handles, and exit as soon as the driver process is gone."""
    with suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def exit_with_driver() -> None:
        while os.getppid() == driver:
            time.sleep(_POLL_SECONDS)
        os._exit(1)

    threading.Thread(target=exit_with_driver, daemon=True).start()
