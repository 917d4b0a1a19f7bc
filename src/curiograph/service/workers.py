"""Thread pools that compute for requests, so that the event loop is never blocked."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from curiograph.service.config import Limits
from curiograph.service.errors import BusyError, TimeLimitError
from curiograph.service.time_limits import StopCheck
from curiograph.validation import resolve_workers

Result = TypeVar("Result")


class WorkerPool:
    """A few threads, with a limited number of requests that run or wait, and a limited time for each.

    A thread cannot be stopped from outside: the request is answered when its time is over, and its slot is free again
    when the thread has finished. `run_with_deadline` is for long work that stops itself soon after the deadline.
    """

    def __init__(self, limits: Limits, threads: int | None = None, name: str = "computing") -> None:
        self._limits = limits
        self._deadlines: dict[Future[Any], float] = {}  # of all work that runs or waits
        self.num_threads = threads or resolve_workers(None) + 1
        self._executor = ThreadPoolExecutor(self.num_threads, thread_name_prefix=name)

    async def run(self, function: Callable[..., Result], *arguments: object) -> Result:
        """Call a function in a thread and return its result."""
        if sum(deadline < math.inf for deadline in self._deadlines.copy().values()) >= self._limits.running:
            raise BusyError(self._limits.running)
        future = self._submit(time.monotonic() + self._limits.seconds, function, *arguments)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._limits.seconds)
        except TimeoutError:
            raise TimeLimitError(self._limits.seconds) from None

    async def run_with_deadline(self, function: Callable[[StopCheck], Result]) -> Result:
        """Call a function in a thread; its argument is a function to call often, which raises after the deadline."""
        deadline = time.monotonic() + self._limits.seconds

        def check() -> None:
            if time.monotonic() > deadline:
                raise TimeLimitError(self._limits.seconds)

        return await self.run(function, check)

    async def run_unbounded(self, function: Callable[[], object]) -> None:
        """Call a function of the service itself in a thread, without a slot or a time limit."""
        await asyncio.wrap_future(self._submit(math.inf, function))

    def _submit(self, deadline: float, function: Callable[..., Result], *arguments: object) -> Future[Result]:
        future = self._executor.submit(function, *arguments)
        self._deadlines[future] = deadline
        future.add_done_callback(lambda done: self._deadlines.pop(done, None))
        return future

    @property
    def busy(self) -> bool:
        """Whether a thread is computing, or work is waiting for one."""
        return len(self._deadlines) > 0

    @property
    def overloaded(self) -> bool:
        """Whether all threads run work whose time is over."""
        now = time.monotonic()
        late = [future for future, deadline in self._deadlines.copy().items() if deadline < now and future.running()]
        return len(late) >= self.num_threads

    def stop(self) -> None:
        """Start no further work."""
        self._executor.shutdown(wait=False, cancel_futures=True)
