"""Threads that compute for requests, so that the event loop never waits: bounded in number, in waiting and in time."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from curiograph.service.config import Limits
from curiograph.service.errors import busy, too_slow
from curiograph.service.time_limits import StopCheck
from curiograph.validation import resolve_workers

Answer = TypeVar("Answer")


class WorkerPool:
    """A few threads, and places for those who wait for one.

    A thread cannot be stopped from outside: a request that takes too long is answered in time, and its place is free
    again once the thread has come to its end. Long work is watched (`run_watched`), and ends soon after its deadline.
    """

    def __init__(self, limits: Limits, threads: int | None = None, name: str = "computing") -> None:
        self._limits = limits
        self._places = threading.BoundedSemaphore(limits.running)
        self._deadlines: dict[Future[Any], float] = {}
        self._count = threads or resolve_workers(None) + 1
        self._threads = ThreadPoolExecutor(self._count, thread_name_prefix=name)

    async def run(self, function: Callable[..., Answer], *arguments: object) -> Answer:
        """What a function returns, computed in a thread."""
        self.enter()
        future = self._threads.submit(function, *arguments)
        self._deadlines[future] = time.monotonic() + self._limits.seconds
        future.add_done_callback(self._done)
        return await self.within(asyncio.wrap_future(future))

    async def run_with_deadline(self, function: Callable[[StopCheck], Answer]) -> Answer:
        """What a function returns that calls, again and again, what it is given, which raises after the deadline."""
        deadline = time.monotonic() + self._limits.seconds

        def check() -> None:
            if time.monotonic() > deadline:
                raise too_slow(self._limits.seconds)

        return await self.run(function, check)

    def _done(self, future: Future[Any]) -> None:
        self._deadlines.pop(future, None)
        self.leave()

    @property
    def busy(self) -> bool:
        """Whether a thread still computes for a request."""
        return len(self._deadlines) > 0

    @property
    def overloaded(self) -> bool:
        """Whether all threads are at work that nobody waits for any more."""
        now = time.monotonic()
        late = [future for future, deadline in self._deadlines.copy().items() if deadline < now and future.running()]
        return len(late) >= self._count

    async def run_unbounded(self, function: Callable[[], object]) -> None:
        """Run a function of the service's own in a thread, however long it takes."""
        future = self._threads.submit(function)
        self._deadlines[future] = math.inf
        future.add_done_callback(lambda done: self._deadlines.pop(done, None))
        await asyncio.wrap_future(future)

    def enter(self) -> None:
        """Take a place among those who compute or wait; raises if all are taken."""
        if not self._places.acquire(blocking=False):
            raise busy(f"{self._limits.running} requests are under way, as many as there may be; try again soon.")

    def leave(self) -> None:
        """Give the place back."""
        self._places.release()

    async def within(self, answer: asyncio.Future[Answer]) -> Answer:
        """An answer, if it comes in time."""
        try:
            return await asyncio.wait_for(answer, self._limits.seconds)
        except TimeoutError:
            raise too_slow(self._limits.seconds) from None

    def stop(self) -> None:
        """Start nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
