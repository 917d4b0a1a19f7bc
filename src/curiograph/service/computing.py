"""Threads that compute for requests, so that the event loop never waits: bounded in number, in waiting and in time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from curiograph.service.limits import Limits
from curiograph.service.refusals import busy, too_slow
from curiograph.settings import worker_number

Answer = TypeVar("Answer")


class Computing:
    """A few threads, and places for those who wait for one.

    A thread cannot be stopped: a request that takes too long is answered in time, and its place is free again once the
    thread has come to its end. So slow requests cannot pile up; the limits on what is asked keep them short.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._places = threading.BoundedSemaphore(limits.running)
        self._computing: set[Future[Any]] = set()
        self._threads = ThreadPoolExecutor(worker_number(None) + 1, thread_name_prefix="computing")

    async def run(self, function: Callable[..., Answer], *arguments: object) -> Answer:
        """What a function returns, computed in a thread."""
        self.enter()
        future = self._threads.submit(function, *arguments)
        self._computing.add(future)
        future.add_done_callback(self._done)
        return await self.within(asyncio.wrap_future(future))

    def _done(self, future: Future[Any]) -> None:
        self._computing.discard(future)
        self.leave()

    @property
    def busy(self) -> bool:
        """Whether a thread still computes for a request."""
        return len(self._computing) > 0

    async def run_long(self, function: Callable[[], object]) -> None:
        """Run a function of the service's own in a thread, however long it takes."""
        future = self._threads.submit(function)
        self._computing.add(future)
        future.add_done_callback(self._computing.discard)
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
