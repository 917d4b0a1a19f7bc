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

TaskFunction = Callable[[Any, Any], Result]
"""Called with the shared value and one task; importable by name, so that workers can load it."""

_MAX_ATTEMPTS = 3
_POLL_SECONDS = 0.5  # between two checks that the driver is alive
_state = threading.local()


@dataclass(frozen=True)
class TaskOutcome:
    """The result of a task, or the error that it ended with."""

    result: Result | None
    error: str = ""
    """Error message; empty if the task succeeded."""
    traceback: str = ""
    """Traceback of an unexpected error."""


def run_with_retries(function: TaskFunction, shared: Any, task: Any) -> TaskOutcome:
    """Run a task and return its outcome; retry after unexpected errors."""
    with mark_inside_task():
        for _ in range(_MAX_ATTEMPTS):
            try:
                result = function(shared, task)
                check_result(result)
                return TaskOutcome(result)
            except CuriographError as error:
                return TaskOutcome(None, str(error))
            except (Exception, SystemExit) as error:  # a task that calls sys.exit must not end the job
                message, traceback = f"{type(error).__name__}: {shorten_text(error, 300)}", format_exc()
        return TaskOutcome(None, f"{message} ({_MAX_ATTEMPTS} times)", traceback)


def run_once(function: TaskFunction, shared: Any, task: Any) -> TaskOutcome:
    """Run a task once; errors propagate. Nothing is stored, so the result is not checked."""
    with mark_inside_task():
        return TaskOutcome(function(shared, task))


@contextmanager
def mark_inside_task() -> Iterator[None]:
    """Make `is_inside_task` return True while the block runs."""
    was_inside = is_inside_task()
    _state.inside_task = True
    try:
        yield
    finally:
        _state.inside_task = was_inside


def is_inside_task() -> bool:
    """Return whether this thread is running a task; nested jobs then run in-process."""
    return getattr(_state, "inside_task", False)


def initialize_worker(driver_pid: int) -> None:
    """Ignore Ctrl-C, which the driver handles, and exit as soon as the driver process is gone."""
    with suppress(ValueError):  # signal.signal works in the main thread only
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def exit_with_driver() -> None:
        while os.getppid() == driver_pid:
            time.sleep(_POLL_SECONDS)
        os._exit(1)

    threading.Thread(target=exit_with_driver, daemon=True).start()
