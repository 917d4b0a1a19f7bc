"""Worker processes for long computations: each can be stopped at any time, whatever it computes."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from multiprocessing import connection
from multiprocessing.util import Finalize
from traceback import format_exc
from types import ModuleType
from typing import Any

from curiograph.errors import CuriographError
from curiograph.parallel.shared_arrays import Shared, SharingError
from curiograph.parallel.worker import mark_inside_task
from curiograph.service.errors import INTERNAL_ERROR, LOG, BusyError, InternalError, TimeLimitError
from curiograph.service.graph_store import OpenGraph

ReportProgress = Callable[[int, int], None]
"""Function to call with the finished and the total units of work."""

_START_METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
_NICENESS = 5
"""Lower priority of workers: requests that are answered by the server itself go first."""
_NUM_OPEN_GRAPHS = 4
"""Graphs that a worker keeps open."""
_START_LOCK = threading.Lock()
"""Held while a process starts, because `sys.modules` is changed meanwhile."""


class ProcessPool:
    """A few worker processes. Use it from the event loop only.

    A computation ends with its process if the awaiting task is cancelled or its time is over; another process takes
    the place. On Unix, workers are forked from a server process that has loaded all modules and kernels, which takes
    milliseconds.

    Parameters
    ----------
    size : int
        Number of processes; they start when they are needed.
    max_unfinished : int
        Maximum number of computations that run or wait.
    """

    def __init__(self, size: int, max_unfinished: int) -> None:
        self.size, self._max_unfinished = size, max_unfinished
        self._slots = asyncio.Semaphore(size)
        self._threads = ThreadPoolExecutor(2 * size, thread_name_prefix="process")
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self.num_waiting = 0
        """Computations that wait for a process."""

    @property
    def num_busy(self) -> int:
        """Number of processes that compute."""
        return len(self._busy)

    @property
    def is_full(self) -> bool:
        """Whether a further computation would be refused."""
        return self.num_waiting + self.num_busy >= self._max_unfinished

    async def run(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        graph: OpenGraph | None = None,
        report: ReportProgress | None = None,
        seconds: int | None = None,
    ) -> Any:
        """Call a function of a module in a process and return its result.

        Parameters
        ----------
        function : callable
            Called with the graph, if there is one, the arguments, and a function that reports progress.
        *arguments
            Further arguments, which are pickled.
        graph : OpenGraph, optional
            Graph that the process opens without copying its arrays.
        report : callable, optional
            Receives the progress, in another thread.
        seconds : int, optional
            Time limit of waiting for a process and computing, but not of starting it.

        Returns
        -------
        object
            The result of the function.

        Raises
        ------
        CuriographError
            Raised by the function.
        BusyError
            If too many computations run or wait.
        TimeLimitError
            If the computation takes longer than `seconds`.
        InternalError
            If the function raises another error, its process ends, or the graph cannot be shared; see the log.
        """
        if self.is_full:
            raise BusyError(self._max_unfinished)
        loop = asyncio.get_running_loop()
        deadline = None if seconds is None else loop.time() + seconds
        try:
            self.num_waiting += 1
            try:
                async with asyncio.timeout_at(deadline):
                    await self._slots.acquire()
            finally:
                self.num_waiting -= 1
            try:
                kind, value = await self._call(deadline, function, graph, arguments, report)
            finally:
                self._slots.release()
        except TimeoutError:
            raise TimeLimitError(seconds or 0) from None
        if kind == "result":
            return value
        if kind == "error":
            raise value
        LOG.error("a worker process failed:\n%s", value)
        raise InternalError(INTERNAL_ERROR)

    async def _call(self, deadline: float | None, *task: Any) -> tuple[str, Any]:
        loop = asyncio.get_running_loop()
        worker = self._idle.pop() if self._idle else _Worker()
        self._busy.add(worker)
        try:
            start = loop.time()
            if not worker.is_alive:  # new, or ended by the system while it was idle
                try:
                    await loop.run_in_executor(self._threads, worker.start)
                except (OSError, EOFError) as error:  # for example too many open files
                    LOG.error("a worker process cannot be started: %s", error)
                    raise InternalError(INTERNAL_ERROR) from None
            if deadline is not None:
                deadline += loop.time() - start  # the first start takes seconds, which are not the client's
            async with asyncio.timeout_at(deadline):
                outcome: tuple[str, Any] = await loop.run_in_executor(self._threads, worker.call, *task)
        except BaseException:  # cancelled, too late, or the process ended
            worker.stop()
            raise
        finally:
            self._busy.discard(worker)
        self._idle.append(worker)
        return outcome

    async def start(self) -> None:
        """Start one process, so that the first computation does not wait until modules and kernels are loaded."""
        await self.run(_do_nothing)

    def stop(self) -> None:
        """End all processes."""
        for worker in (*self._idle, *self._busy):
            worker.stop()
        self._idle.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)


class _Worker:
    """One process."""

    def __init__(self) -> None:
        self._process: Any = None
        self._stopped = False

    @property
    def is_alive(self) -> bool:
        """Whether the process has started and not ended."""
        return self._process is not None and self._process.is_alive()

    def start(self) -> None:
        """Start the process."""
        context: Any = multiprocessing.get_context(_START_METHOD)
        if _START_METHOD == "forkserver":
            context.set_forkserver_preload(["curiograph.service.preload"])
        self._connection, other_end = context.Pipe()
        process = context.Process(target=_serve_tasks, args=(other_end,), daemon=True)
        with _START_LOCK:
            main = sys.modules["__main__"]
            if getattr(main, "__file__", None) or getattr(main, "__spec__", None):  # not in a notebook
                sys.modules["__main__"] = ModuleType("__main__")  # or the process would run the script of the user
            try:
                process.start()
            finally:
                sys.modules["__main__"] = main
        other_end.close()
        # at exit, Python would send SIGTERM, which workers ignore, and wait for them
        self._kill_at_exit = Finalize(None, process.kill, exitpriority=0)
        self._process = process
        if self._stopped:  # meanwhile, by another thread
            self._kill_at_exit()

    def call(
        self,
        function: Callable[..., Any],
        graph: OpenGraph | None,
        arguments: tuple[Any, ...],
        report: ReportProgress | None,
    ) -> tuple[str, Any]:
        """Send a task and wait for its outcome: `result`, `error` or `failure`, with its value."""
        try:
            self._connection.send((function, None if graph is None else graph.shared, arguments))
            while True:
                kind, value = self._connection.recv()
                if kind != "progress":
                    return kind, value
                if report is not None:
                    report(*value)
        except SharingError as error:
            LOG.error("a graph cannot be sent to a worker process: %s", error)
            raise InternalError(INTERNAL_ERROR) from None
        except (EOFError, OSError):
            raise InternalError("the computation ended unexpectedly; it may have used too much memory.") from None

    def stop(self) -> None:
        """End the process; a thread that waits for it receives an error."""
        self._stopped = True
        if self._process is not None:
            self._kill_at_exit()


def _do_nothing(report: ReportProgress) -> None:
    """Return as soon as a process calls this."""


def _serve_tasks(channel: connection.Connection) -> None:
    """Call functions that arrive in a worker process, until the server closes the connection."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the server handles them, and lets requests finish
        signal.signal(number, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    warnings.simplefilter("ignore")  # responses contain what the library warns about
    threading.Thread(target=_exit_with_server, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            function, shared, arguments = channel.recv()
            outcome = _run_task(channel, function, shared, arguments)
            try:
                channel.send(outcome)
            except (TypeError, AttributeError, pickle.PicklingError):  # a result that cannot be pickled
                channel.send(("failure", format_exc()))


def _run_task(
    channel: connection.Connection, function: Callable[..., Any], shared: Shared | None, arguments: tuple[Any, ...]
) -> tuple[str, Any]:
    def report(done: int, of: int) -> None:
        channel.send(("progress", (done, of)))

    try:
        graph = () if shared is None else (_open_shared(shared),)
    except Exception:  # not an error of the client
        return "failure", format_exc()
    try:
        with mark_inside_task():
            return "result", function(*graph, *arguments, report)
    except CuriographError as error:
        return "error", error
    except Exception:
        return "failure", format_exc()


@lru_cache(_NUM_OPEN_GRAPHS)
def _open_shared(shared: Shared) -> OpenGraph:
    return OpenGraph(shared.map_file())


def _exit_with_server() -> None:
    """End this process as soon as the server process has ended."""
    server = multiprocessing.parent_process()
    if server is not None:
        connection.wait([server.sentinel])
        os._exit(1)
