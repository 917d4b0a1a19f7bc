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

import joblib
from pebble import ProcessExpired, ProcessPool

from curiograph.errors import CuriographError
from curiograph.service.error_responses import LOG, BusyError, InternalError, TimeLimitError
from curiograph.service.server_settings import ServiceSettings
from curiograph.service.store import OpenGraph
from curiograph.validation import resolve_workers

Result = TypeVar("Result")

_START_METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
_QUICK_PROCESSES = 2
"""Further processes for requests that should take little time, so that they do not wait for long ones."""
_QUICK_SECONDS = 1.0
"""Time after which a quick request is killed, to run again among the long ones."""
_NICENESS = 5
"""Lower priority of workers: requests that are answered by the server itself go first."""


class Workers:
    """A pool of processes, with places for long and for quick computations. Use it from the event loop only."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._pool: Any = None
        self._size = resolve_workers(None)
        self._places = {True: asyncio.Semaphore(_QUICK_PROCESSES), False: asyncio.Semaphore(self._size)}
        self._starting = asyncio.Lock()
        self.num_unfinished = 0
        """Computations that run or wait."""

    @property
    def is_full(self) -> bool:
        """Whether a further computation would be refused."""
        return self.num_unfinished >= self._settings.requests

    async def run(
        self, function: Callable[..., Result], *arguments: Any, graph: OpenGraph | None = None, quick: bool = False
    ) -> Result:
        """Call a function of a module, with the graph if given and the arguments, in a process; return its result.

        Raise its CuriographError, or BusyError, TimeLimitError, or InternalError if it fails for another reason.
        """
        if self.is_full:
            raise BusyError(self._settings.requests)
        self.num_unfinished += 1
        try:
            await self.start()
            path = None if graph is None else await asyncio.to_thread(graph.write_copy)
            async with asyncio.timeout(self._settings.seconds):
                try:
                    result: Result = await self._call(quick, function, path, *arguments)
                except TimeoutError:  # not quick
                    result = await self._call(False, function, path, *arguments)
                return result
        except TimeoutError:
            raise TimeLimitError(self._settings.seconds) from None
        finally:
            self.num_unfinished -= 1

    async def _call(self, quick: bool, *task: Any) -> Any:
        async with self._places[quick]:
            try:
                timeout = _QUICK_SECONDS if quick else None
                return await asyncio.wrap_future(self._pool.schedule(_run_task, args=task, timeout=timeout))
            except (CuriographError, TimeoutError):
                raise
            except (ProcessExpired, BrokenProcessPool) as error:
                LOG.error("a worker process ended: %s", error)
                raise InternalError("the computation ended unexpectedly; it may have used too much memory.") from None
            except Exception:
                LOG.exception("a computation failed")
                raise InternalError from None

    async def start(self) -> None:
        """Start the processes unless they run; the first start takes seconds, in which kernels are loaded."""
        async with self._starting:
            if self._pool is None or not self._pool.active:
                context = multiprocessing.get_context(_START_METHOD)
                if _START_METHOD == "forkserver":
                    context.set_forkserver_preload([f"{__package__}.preload"])
                await asyncio.to_thread(self.stop)  # an idle process was killed by the system, which breaks the pool
                self._pool = ProcessPool(self._size + _QUICK_PROCESSES, initializer=_start_worker, context=context)
                await asyncio.to_thread(getattr, self._pool, "active")  # which starts them

    def stop(self) -> None:
        """End all processes."""
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()


def _run_task(function: Callable[..., Any], path: Any, *arguments: Any) -> Any:
    return function(*arguments) if path is None else function(_open_graph(path), *arguments)


@lru_cache(4)
def _open_graph(path: Any) -> OpenGraph:
    return OpenGraph(joblib.load(path, mmap_mode="r"), file=path)


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
