"""What the routes of one service share: graphs that have been read, threads, batches, jobs, metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

from fastapi import Depends, Request

from curiograph.errors import SettingError, UnknownNameError
from curiograph.graph.graph import Graph
from curiograph.recommendation.recommender import Recommender
from curiograph.service.batching import Batcher
from curiograph.service.config import Limits
from curiograph.service.errors import not_found, too_large
from curiograph.service.graph_store import GraphStore
from curiograph.service.jobs import JobQueue
from curiograph.service.labels import Labels
from curiograph.service.metrics import Metrics
from curiograph.service.prepared import restrict_to_prepared
from curiograph.service.workers import WorkerPool

_QUICK = 2
"""Threads for what takes no time, and as many for reading graphs: neither waits for those that compute."""


@dataclass(frozen=True, eq=False)
class OpenGraph:
    """A graph that has been read, with what its labels mean and what recommends on it."""

    name: str
    graph: Graph
    labels: Labels
    shelf: GraphStore

    @property
    def recommender(self) -> Recommender:
        """What recommends on it; raises where the graph has no edges."""
        return self.shelf.recommender(self.name)

    @cached_property
    def prepared_recommender(self) -> Recommender:
        """The same, from what it knows alone."""
        return restrict_to_prepared(self.recommender)


class Service:
    """All that lives as long as the service does."""

    def __init__(self, shelf: GraphStore, limits: Limits) -> None:
        self.shelf, self.limits = shelf, limits
        self.computing = WorkerPool(limits)
        self.quick = WorkerPool(limits, _QUICK, "quick")
        self._reading = WorkerPool(limits, _QUICK, "reading")
        self.batches = Batcher(limits, self.quick, self.computing)
        self.jobs = JobQueue(limits)
        self.metrics = Metrics(shelf, self.jobs)
        self._stage: Literal["ok", "warming up", "stopping"] = "warming up"
        self._opened: dict[str, OpenGraph] = {}
        self._warming: asyncio.Task[None]

    async def opened(self, name: str) -> OpenGraph:
        """The graph by that id; read in a thread the first time."""
        known = self._opened.get(name)
        if known is None:
            known = await self._reading.run(self._open, name)
            self._opened = {each: kept for each, kept in self._opened.items() if self._on_shelf(each)} | {name: known}
        elif not self._on_shelf(name):  # an upload that has made room for another
            del self._opened[name]
            raise not_found("this upload is no longer there; upload it again.")
        return known

    def _on_shelf(self, name: str) -> bool:
        try:
            return self.shelf.graph(name) is self._opened[name].graph
        except UnknownNameError:
            return False

    def _open(self, name: str) -> OpenGraph:
        try:
            return OpenGraph(name, self.shelf.graph(name), self.shelf.labels(name), self.shelf)
        except UnknownNameError as error:
            raise not_found(str(error)) from None

    @property
    def status(self) -> Literal["ok", "warming up", "overloaded", "stopping"]:
        """Whether requests should be sent here."""
        return "overloaded" if self._stage == "ok" and self.computing.overloaded else self._stage

    def start_warmup(self, warm: Callable[[], object]) -> None:
        """Begin to warm up in the background."""
        self._warming = asyncio.create_task(self._warm_up(warm))

    async def wait_until_warm(self) -> None:
        """Wait until the service is ready; raises what went wrong."""
        await asyncio.shield(self._warming)

    async def _warm_up(self, warm: Callable[[], object]) -> None:
        await self.computing.run_unbounded(warm)
        if self._stage == "warming up":
            self._stage = "ok"

    def begin_shutdown(self) -> None:
        """Take nothing new, and let jobs stop at their next step."""
        self._stage = "stopping"
        self.jobs.cancel_all()

    def stop(self) -> None:
        """End what still runs."""
        self.begin_shutdown()
        self.batches.stop()
        self.jobs.stop()
        for threads in self._pools:
            threads.stop()

    @property
    def _pools(self) -> tuple[WorkerPool, ...]:
        return self.computing, self.quick, self._reading

    @property
    def busy(self) -> bool:
        """Whether a thread is still at something: a request that was too slow, a job in the middle of a step."""
        return any(threads.busy for threads in self._pools) or any(job.ended is None for job in self.jobs.all())

    def check_count(self, name: str, value: int, most: int) -> int:
        """A number that a client gave, if it is within the limits."""
        if value > most:
            raise SettingError(f"{name} is {value:,}; at most {most:,} is allowed here.")
        return value

    def check_seconds(self, seconds: float, way_out: str) -> None:
        """Raise where work would take much longer than a request may, instead of beginning it."""
        if seconds > self.limits.seconds:
            raise SettingError(
                f"this would take about {seconds:,.0f} s, and a request may take {self.limits.seconds}; {way_out}."
            )

    def check_walks(self, walks: Sequence[Sequence[object]]) -> None:
        """Raise where there are too many walks, or one is too long."""
        if len(walks) > self.limits.walks:
            raise too_large(f"there are {len(walks):,} walks or histories; at most {self.limits.walks:,} are taken.")
        longest = max(map(len, walks), default=0)
        if longest > self.limits.steps:
            raise too_large(f"a walk or history has {longest:,} entries; at most {self.limits.steps:,} are taken.")


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


ServiceDependency = Annotated[Service, Depends(_service)]
