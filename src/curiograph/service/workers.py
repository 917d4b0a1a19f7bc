"""Thread pools for short computations, so that the event loop is never blocked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from curiograph.service.config import Limits
from curiograph.service.errors import BusyError, TimeLimitError

Result = TypeVar("Result")


class WorkerPool:
    """A few threads, with a limited number of requests that run or wait, and a limited time for each.

    A thread cannot be stopped from outside: the request is answered when its time is over, and its slot is free again
    when the thread has finished. Long computations belong into a `ProcessPool`.

    Parameters
    ----------
    limits : Limits, optional
        Limits of requests; None for work of the service itself, which has none.
    threads : int
        Number of threads.
    name : str
        Prefix of the names of the threads.
    """

    def __init__(self, limits: Limits | None, threads: int, name: str) -> None:
        self._limits = limits
        self._unfinished: set[Future[Any]] = set()
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def run(self, function: Callable[..., Result], *arguments: object) -> Result:
        """Call a function in a thread and return its result."""
        if self.is_full:
            raise BusyError(len(self._unfinished))
        future = self._executor.submit(function, *arguments)
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        seconds = None if self._limits is None else self._limits.seconds
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
        except TimeoutError:
            raise TimeLimitError(seconds or 0) from None

    @property
    def is_full(self) -> bool:
        """Whether a further request would be refused."""
        return self._limits is not None and len(self._unfinished) >= self._limits.running

    @property
    def busy(self) -> bool:
        """Whether a thread is computing, or work is waiting for one."""
        return len(self._unfinished) > 0

    def stop(self) -> None:
        """Start no further work."""
        self._executor.shutdown(wait=False, cancel_futures=True)
