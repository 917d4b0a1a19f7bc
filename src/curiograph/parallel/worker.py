"""One task, wherever it runs."""

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
"""Of what is shared and the task; one that can be found by its name in a module."""

_ATTEMPTS = 3
_LOOK = 0.5  # seconds between two looks at the driver
_busy = threading.local()


@dataclass(frozen=True)
class Outcome:
    """What came of a task: a result, or a sentence on what went wrong."""

    result: Result | None
    error: str = ""
    where: str = ""
    """The lines of code that led to an error that nobody raised on purpose."""


def run_with_retries(function: Function, shared: Any, task: Any) -> Outcome:
    """Do a task; one that fails is tried again, unless its error was raised on purpose."""
    with _working():
        for _ in range(_ATTEMPTS):
            try:
                result = function(shared, task)
                check_result(result)
                return Outcome(result)
            except CuriographError as error:
                return Outcome(None, str(error))
            except (Exception, SystemExit) as error:  # a task that leaves the program ends itself, not the job
                said, where = f"{type(error).__name__}: {shorten_text(error, 300)}", format_exc()
        return Outcome(None, f"{said} ({_ATTEMPTS} times)", where)


def run_once(function: Function, shared: Any, task: Any) -> Outcome:
    """Do a task; an error ends everything, as it is."""
    with _working():
        return Outcome(function(shared, task))


@contextmanager
def _working() -> Iterator[None]:
    before = is_inside_task()
    _busy.working = True
    try:
        yield
    finally:
        _busy.working = before


def is_inside_task() -> bool:
    """Whether this is called from a task: then whatever it does happens right here."""
    return getattr(_busy, "working", False)


def initialize_worker(driver: int) -> None:
    """Prepare a new process of this machine: Ctrl-C is for the driver, and a driver that is gone ends everything."""
    with suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(driver,), daemon=True).start()


def _watch(driver: int) -> None:
    while os.getppid() == driver:
        time.sleep(_LOOK)
    os._exit(1)
