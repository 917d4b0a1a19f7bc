"""Worker processes, which are killed when a request takes too long or its client leaves."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import connection
from typing import Any, TypeVar

from pebble import CONSTS, ProcessExpired, ProcessPool

from curiograph.errors import CuriographError
from curiograph.graph.io.graph_file import read_graph_file
from curiograph.service.error_responses import LOG, BusyError, InternalError, TimeLimitError, TooLargeError
from curiograph.service.server_settings import MAX_ANSWER, ServiceSettings
from curiograph.service.store import OpenGraph
from curiograph.validation import resolve_workers

Result = TypeVar("Result")

_START_METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
_FAST_PROCESSES = 4
"""Processes of the fast lane, in which every computation begins, so that short ones do not wait for long ones."""
FAST_SECONDS = 0.3
"""Time after which a computation leaves the fast lane."""
CONSTS.sleep_unit = 0.02  # seconds until pebble notices that a task was cancelled and replaces its process
_NICENESS = 5
"""Lower priority of workers: requests that are answered by the server itself go first."""


class Workers:
    """A pool of processes with a fast lane and a slow one. Use it from the event loop only.

    A computation that is not done in time leaves the fast lane. If the slow lane has a free place, it continues there;
    otherwise it is killed and starts again when a place is free.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._pool: Any = None
        self._size = resolve_workers(None)
        self._fast, self._slow = asyncio.Semaphore(_FAST_PROCESSES), asyncio.Semaphore(self._size)
        self._starting = asyncio.Lock()
        self.num_unfinished = 0
        """Computations that run or wait."""

    @property
    def is_full(self) -> bool:
        """Whether a further computation would be refused."""
        return self.num_unfinished >= self._settings.requests

    async def run(self, function: Callable[..., Result], *arguments: Any, graph: OpenGraph | None = None) -> Result:
        """Call a function of a module, with the graph if given and the arguments, in a process; return its result.

        Raise its CuriographError, or BusyError, TimeLimitError, or InternalError if it fails for another reason.
        """
        if self.is_full:
            raise BusyError(self._settings.requests)
        self.num_unfinished += 1
        try:
            await self.start()
            path = None if graph is None else graph.copy or await asyncio.to_thread(graph.write_copy)
            async with asyncio.timeout(self._settings.seconds):
                result: Result = await self._compute(function, path, *arguments)
                return result
        except (CuriographError, asyncio.CancelledError):
            raise
        except TimeoutError:
            raise TimeLimitError(self._settings.seconds) from None
        except (ProcessExpired, BrokenProcessPool) as error:
            LOG.error("a worker process ended: %s", error)
            raise InternalError("the computation ended unexpectedly; it may have used too much memory.") from None
        except Exception:
            LOG.exception("a computation failed")
            raise InternalError from None
        finally:
            self.num_unfinished -= 1

    async def _compute(self, *task: Any) -> Any:
        def schedule() -> asyncio.Future[Any]:
            return asyncio.wrap_future(self._pool.schedule(_run_task, args=task))

        work = None
        try:
            async with self._fast:
                work = schedule()
                await asyncio.wait([work], timeout=FAST_SECONDS)
                if work.done():
                    return work.result()
                if self._slow.locked():
                    work.cancel()  # which kills the process
            async with self._slow:
                if work.cancelled():
                    work = schedule()
                return await work
        finally:
            if work is not None:
                work.cancel()

    async def start(self) -> None:
        """Start the processes unless they run; the first start takes seconds, in which kernels are loaded."""
        async with self._starting:
            if self._pool is None or not self._pool.active:
                context = multiprocessing.get_context(_START_METHOD)
                if _START_METHOD == "forkserver":
                    context.set_forkserver_preload([f"{__package__}.preload"])
                await asyncio.to_thread(self.stop)  # an idle process was killed by the system, which breaks the pool
                self._pool = ProcessPool(self._size + _FAST_PROCESSES, initializer=_start_worker, context=context)
                await asyncio.to_thread(getattr, self._pool, "active")  # which starts them

    def stop(self) -> None:
        """End all processes."""
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()


def _run_task(function: Callable[..., Any], path: Any, *arguments: Any) -> Any:
    result = function(*arguments) if path is None else function(_open_graph(path), *arguments)
    if isinstance(result, bytes) and len(result) > MAX_ANSWER:
        raise TooLargeError(f"the answer has {len(result):,} bytes; at most {MAX_ANSWER:,} are sent. Request less.")
    return result


@lru_cache(4)
def _open_graph(path: Any) -> OpenGraph:
    return OpenGraph(read_graph_file(path), file=path)


def _start_worker() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # ends a kernel, too
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    warnings.simplefilter("ignore")  # responses contain what the library warns about
    threading.Thread(target=_exit_with_server, daemon=True).start()


def _exit_with_server() -> None:
    """End this process as soon as the server process has ended."""
    server = multiprocessing.parent_process()
    if server is not None:
        connection.wait([server.sentinel])
        os._exit(1)
