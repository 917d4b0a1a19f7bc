"""The state that all routes of a service share: graphs, thread pools, batches, jobs, metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import Depends, Request

from curiograph.service.batching import Batcher
from curiograph.service.config import Limits
from curiograph.service.graph_store import GraphStore, OpenGraph
from curiograph.service.jobs import JobQueue
from curiograph.service.metrics import Metrics
from curiograph.service.reload import Reloader
from curiograph.service.workers import WorkerPool

_QUICK_THREADS = 2
"""Threads of the pools for quick work and for reading graphs: neither waits for long computations."""

_WATCH_SECONDS = 1.0
"""Seconds between two looks at the files of graphs."""


class Service:
    """Everything that exists as long as the service does."""

    def __init__(self, graphs: GraphStore, limits: Limits, reloader: Reloader | None = None) -> None:
        self.graphs, self.limits = graphs, limits
        self.reloader = reloader or Reloader(graphs, {}, {})
        self._watch: asyncio.Task[None] | None = None
        self.workers = WorkerPool(limits)
        self.quick_workers = WorkerPool(limits, _QUICK_THREADS, "quick")
        self._readers = WorkerPool(limits, _QUICK_THREADS, "reading")
        self.batcher = Batcher(limits, self.workers)
        self.jobs = JobQueue(limits)
        self.metrics = Metrics(graphs, self.jobs)
        self._stage: Literal["ok", "warming up", "stopping"] = "warming up"
        self._warmup: asyncio.Task[None]

    async def open_graph(self, graph_id: str) -> OpenGraph:
        """Return a graph; read it in a thread the first time."""
        opened = self.graphs.find(graph_id).opened
        if opened is None:
            opened = await self._readers.run(self.graphs.open, graph_id)
        return opened

    @property
    def status(self) -> Literal["ok", "warming up", "overloaded", "stopping"]:
        """Whether requests should be sent to this service."""
        return "overloaded" if self._stage == "ok" and self.workers.overloaded else self._stage

    def start_warmup(self, warm_up: Callable[[], object]) -> None:
        """Run `warm_up` in the background; the service is ready when it returns."""

        async def run() -> None:
            await self.workers.run_unbounded(warm_up)
            if self._stage == "warming up":
                self._stage = "ok"

        self._warmup = asyncio.create_task(run())

    async def wait_until_warm(self) -> None:
        """Wait until the service is ready; raise the error of the warm-up if it failed."""
        await asyncio.shield(self._warmup)

    async def reload(self) -> dict[str, list[str]]:
        """Reload graphs whose files changed."""
        return await asyncio.to_thread(self.reloader.reload)

    def start_watching(self) -> None:
        """Reload graphs in the background whenever their files change."""

        async def watch() -> None:
            while True:
                await asyncio.sleep(_WATCH_SECONDS)
                await asyncio.to_thread(self.reloader.poll)

        self._watch = asyncio.create_task(watch())

    def begin_shutdown(self) -> None:
        """Report the service as stopping, and cancel all jobs."""
        if self._watch is not None:
            self._watch.cancel()
        self._stage = "stopping"
        self.jobs.cancel_all()

    def stop(self) -> None:
        """Stop all threads that can be stopped."""
        self.begin_shutdown()
        self.batcher.stop()
        self.jobs.stop()
        for pool in (self.workers, self.quick_workers, self._readers):
            pool.stop()

    @property
    def busy(self) -> bool:
        """Whether a thread still computes: a request beyond its time limit, or a job between two progress reports."""
        pools = (self.workers, self.quick_workers, self._readers)
        return any(pool.busy for pool in pools) or any(job.ended is None for job in self.jobs.list_jobs())


async def get_service(request: Request) -> Service:
    """Return the service of the application that handles a request."""
    service: Service = request.app.state.service
    return service


ServiceDependency = Annotated[Service, Depends(get_service)]
