"""The state that all routes of a service share: graphs, thread and process pools, batches, jobs, metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, TypeVar

import orjson
from fastapi import Depends, Request, Response

from curiograph.errors import CuriographError, SettingError
from curiograph.recommendation.curious_ranker import Part
from curiograph.recommendation.recommender import Recommender
from curiograph.service.batching import Batcher
from curiograph.service.config import Limits
from curiograph.service.errors import LOG, DisconnectedError, TimeLimitError
from curiograph.service.graph_store import GraphInfo, GraphStore, OpenGraph, read_upload
from curiograph.service.jobs import Job, JobQueue
from curiograph.service.metrics import Metrics
from curiograph.service.prepared import add_parts, copy_recommender
from curiograph.service.processes import ProcessPool
from curiograph.service.reload import Reloader
from curiograph.service.tasks import Computation, check_labels, compute_parts, no_report
from curiograph.service.time_limits import LIGHT_SECONDS
from curiograph.service.workers import WorkerPool
from curiograph.validation import resolve_workers

Result = TypeVar("Result")

_LIGHT_THREADS = 2
"""Threads for requests that take little time, and for reading graphs: neither waits for long computations."""
_WATCH_SECONDS = 1.0
"""Seconds between two looks at the files of graphs."""
MANY_LABELS = 1_000
"""Labels of a request above which they are looked up in a thread."""
_NODES_PER_TASK = 16
"""Nodes that a process prepares before another request may use it."""
_SAVE_SECONDS = 60
"""Seconds between two writes of the file of prepared nodes."""


class Service:
    """Everything that exists as long as the service does.

    Parameters
    ----------
    graphs : GraphStore
        The graphs that the service offers.
    limits : Limits
        Limits of requests.
    reloader : Reloader, optional
        Reloads graphs whose files change; by default there is nothing to reload.
    """

    def __init__(self, graphs: GraphStore, limits: Limits, reloader: Reloader | None = None) -> None:
        self.graphs, self.limits = graphs, limits
        self.reloader = reloader or Reloader(graphs, {}, {})
        self._watch: asyncio.Task[None] | None = None
        self.page_threads = WorkerPool(limits, resolve_workers(None) + 1, "page")
        """Threads that change the walks of visitors of the page."""
        self.light_threads = WorkerPool(limits, _LIGHT_THREADS, "light")
        """Threads for requests that take little time."""
        self._readers = WorkerPool(limits, _LIGHT_THREADS, "reading")
        self._background = WorkerPool(None, limits.jobs + _LIGHT_THREADS, "background")
        self._thread_pools = self.page_threads, self.light_threads, self._readers, self._background
        self.processes = ProcessPool(resolve_workers(None), limits.running)
        """Processes for requests that take long."""
        self.page_processes = ProcessPool(resolve_workers(None), limits.running)
        """Processes for long computations of the page, so that its visitors do not wait for requests."""
        self.job_processes = ProcessPool(limits.jobs, limits.kept_jobs)
        """Processes for jobs."""
        self.batcher = Batcher(limits)
        self.jobs = JobQueue(limits)
        self.metrics = Metrics(self)
        self._stage: Literal["ok", "warming up", "stopping"] = "warming up"
        self._warmup: asyncio.Task[None]

    async def open_graph(self, graph_id: str) -> OpenGraph:
        """Return a graph; read it in a thread the first time."""
        opened = self.graphs.find(graph_id).opened
        if opened is None:
            opened = await self._readers.run(self.graphs.open, graph_id)
        return opened

    async def compute(
        self, computation: Computation, graph: OpenGraph, request: Any, client: Request, seconds: float
    ) -> Response:
        """Compute a response: in a thread if it takes few estimated seconds, otherwise in a process.

        The process is stopped when its time is over, or when the client has left.
        """
        if seconds <= LIGHT_SECONDS:
            content = await self.light_threads.run(computation, graph, request, self.limits, no_report)
        else:
            work = self.processes.run(computation, request, self.limits, graph=graph, seconds=self.limits.seconds)
            content = await run_until_disconnect(client, work)
        return Response(content, media_type="application/json")

    async def check_labels(self, graph: OpenGraph, walks: Sequence[Sequence[Hashable]]) -> None:
        """Raise UnknownNodeError if a label is not in the graph; a process finds similar labels for the message."""

        def has_unknown() -> bool:
            return any(graph.labels.find(label) is None for walk in walks for label in walk)

        is_long = sum(map(len, walks)) > MANY_LABELS
        if await self.light_threads.run(has_unknown) if is_long else has_unknown():
            await self.processes.run(check_labels, walks, graph=graph, seconds=self.limits.seconds)

    async def add_upload(self, filename: str, content: bytes, directed: bool) -> GraphInfo:
        """Read an uploaded file in a process, and add its graph; nothing is added if that fails or takes too long."""
        title = self.graphs.check_upload(filename, content)
        # the file belongs to the server, because the process that reads it may be killed
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"graph{Path(title).suffix.lower()}"
            await self._readers.run(path.write_bytes, content)
            graph = await self.processes.run(
                read_upload, path, title, directed, self.limits, seconds=self.limits.seconds
            )
        opened = await self._readers.run(OpenGraph, graph)
        return self.graphs.keep_upload(title, opened)  # not in a thread, which would continue after a timeout

    async def prepare_nodes(self, opened: OpenGraph, nodes: Iterable[int], pool: ProcessPool) -> Recommender:
        """Prepare those of some nodes (positions) that are not prepared; return the recommender that has them.

        They are kept for later requests, up to a limit.
        """
        recommender, nodes = opened.recommender, dict.fromkeys(nodes)
        missing = recommender.find_missing(nodes)
        try:
            async with asyncio.timeout(self.limits.seconds):
                for first in range(0, len(missing), _NODES_PER_TASK):
                    some = recommender.find_missing(missing[first : first + _NODES_PER_TASK])
                    if not some:  # prepared by other requests meanwhile
                        continue
                    parts = await _compute_parts(pool, opened, some)
                    if recommender is opened.recommender and opened.num_kept >= self.limits.parts:
                        recommender = copy_recommender(recommender, nodes)
                    num_added = add_parts(recommender, some, parts)
                    if recommender is opened.recommender:
                        opened.num_kept += num_added
        except TimeoutError:
            raise TimeLimitError(self.limits.seconds) from None
        return recommender

    def start_job(self, kind: str, graph_id: str, computation: Computation, graph: OpenGraph, request: Any) -> Job:
        """Start a job that computes a document in a process."""

        async def work(job: Job) -> bytes:
            seconds = self.limits.job_seconds
            try:
                result: bytes = await self.job_processes.run(
                    computation, request, self.limits, graph=graph, report=job.report, seconds=seconds
                )
            except TimeLimitError:
                raise TimeLimitError(seconds, "job") from None
            return result

        return self.jobs.start(kind, graph_id, work)

    def start_preparing(
        self, graph_id: str, opened: OpenGraph, nodes: Iterable[int] | None = None, file: Path | None = None
    ) -> Job:
        """Start a job that prepares recommendations for some nodes, or for all; write them to a file every minute."""
        recommender, graph = opened.recommender, opened.graph
        nodes = list(range(graph.num_nodes) if nodes is None else dict.fromkeys(nodes))

        async def work(job: Job) -> bytes:
            loop = asyncio.get_running_loop()
            last_saved = loop.time()
            for first in range(0, len(nodes), _NODES_PER_TASK):
                job.report(first, len(nodes))
                batch = nodes[first : first + _NODES_PER_TASK]
                missing = recommender.find_missing(batch)
                if missing:
                    add_parts(recommender, missing, await _compute_parts(self.job_processes, opened, missing))
                await self._background.run(recommender.prepare, [graph.label(node) for node in batch])
                is_last = first + len(batch) == len(nodes)
                if file is not None and (is_last or loop.time() - last_saved > _SAVE_SECONDS):
                    await asyncio.to_thread(save_prepared, recommender, file)  # which a shutdown waits for
                    last_saved = loop.time()
            job.report(len(nodes), len(nodes))
            return orjson.dumps({"nodes": len(nodes), "known": recommender.num_prepared})

        return self.jobs.start("prepare", graph_id, work)

    @property
    def status(self) -> Literal["ok", "warming up", "overloaded", "stopping"]:
        """Whether requests should be sent to this service: not if it would refuse further ones of some kind."""
        is_full = self.processes.is_full or self.batcher.is_full or self.light_threads.is_full
        return "overloaded" if self._stage == "ok" and is_full else self._stage

    def start_warmup(self, warm_up: Callable[[], object] | None, prepare: Mapping[str, Path]) -> None:
        """Warm up in the background, then start preparing graphs; readiness does not wait for the preparation."""

        async def run() -> None:
            if warm_up is not None:
                await self._background.run(warm_up)
                await self.processes.start()
            for graph_id, file in prepare.items():
                self.start_preparing(graph_id, self.graphs.open(graph_id), file=file)
            if self._stage == "warming up":
                self._stage = "ok"

        self._warmup = asyncio.create_task(run())

    async def wait_until_warm(self) -> None:
        """Wait until the service is ready; raise the error of the warm-up if it failed."""
        await asyncio.shield(self._warmup)

    async def reload(self) -> dict[str, list[str]]:
        """Reload graphs whose files changed."""
        return await self._background.run(self.reloader.reload)

    def start_watching(self) -> None:
        """Reload graphs in the background whenever their files change."""

        async def watch() -> None:
            while True:
                await asyncio.sleep(_WATCH_SECONDS)
                try:
                    await self._background.run(self.reloader.poll)
                except Exception:
                    LOG.exception("graphs whose files changed cannot be reloaded")

        self._watch = asyncio.create_task(watch())

    def begin_shutdown(self) -> None:
        """Report the service as stopping, and cancel all jobs."""
        if self._watch is not None:
            self._watch.cancel()
        self._stage = "stopping"
        self.jobs.cancel_all()

    def stop(self) -> None:
        """Stop all processes, and all threads that can be stopped."""
        self.begin_shutdown()
        self._warmup.cancel()
        for pool in (self.batcher, *self._thread_pools, self.processes, self.page_processes, self.job_processes):
            pool.stop()

    @property
    def busy(self) -> bool:
        """Whether a thread still computes."""
        return any(pool.busy for pool in self._thread_pools)


async def _compute_parts(pool: ProcessPool, opened: OpenGraph, nodes: Sequence[int]) -> dict[str, list[Part]]:
    """Prepare some nodes (positions) in a process, which needs the settings of the rankers, not what they keep."""
    rankers = {name: replace(each, kept={}, workers=1) for name, each in opened.recommender.curious_rankers.items()}
    parts: dict[str, list[Part]] = await pool.run(compute_parts, rankers, nodes, graph=opened)
    return parts


def save_prepared(recommender: Recommender, file: Path) -> None:
    """Write prepared recommendations to a file; the error hides its path, because clients read the errors of a job."""
    try:
        recommender.save(file)
    except (CuriographError, OSError) as error:
        LOG.error("prepared recommendations cannot be saved: %s", error)
        raise SettingError("prepared recommendations cannot be saved; see the log of the server.") from None


async def run_until_disconnect(client: Request, work: Awaitable[Result]) -> Result:
    """Wait for the result of some work; cancel the work and raise DisconnectedError if the client leaves."""

    async def wait_for_disconnect() -> None:
        while (await client.receive())["type"] != "http.disconnect":
            pass

    task, left = asyncio.ensure_future(work), asyncio.ensure_future(wait_for_disconnect())
    try:
        await asyncio.wait((task, left), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise DisconnectedError("the client has left.")
    finally:
        task.cancel()
        left.cancel()


def get_service(request: Request) -> Service:
    """Return the service of the application that handles a request."""
    service: Service = request.app.state.service
    return service


async def _get_service(request: Request) -> Service:  # FastAPI would call the other in a thread
    return get_service(request)


ServiceDependency = Annotated[Service, Depends(_get_service)]
