"""The state that all routes of a service share: graphs, worker processes, batches."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Literal, TypeVar

from starlette.requests import ClientDisconnect, Request

from curiograph.progress import Progress, no_progress
from curiograph.recommendation.parts import PartRanker
from curiograph.recommendation.recommender import Recommender
from curiograph.service.batching import Batcher
from curiograph.service.computations import compute_parts
from curiograph.service.error_responses import LOG, TimeLimitError
from curiograph.service.server_settings import ServiceSettings
from curiograph.service.store import DEFAULT_GRAPH, UNFINISHED, GraphInfo, GraphStore, OpenGraph
from curiograph.service.uploads import BODY, GRAPH, read_upload
from curiograph.service.warm import warm_kernels
from curiograph.service.workers import Workers

Result = TypeVar("Result")

_WATCH_SECONDS = 1.0
"""Seconds between two looks at the files of graphs."""
MANY_LABELS = 1_000
"""Labels of a request above which they are looked up in a thread."""
_NODES_PER_TASK = 16
"""Nodes that a process prepares before another request may use it."""
MAX_PARTS = 20_000_000
"""Numbers kept per graph that were prepared while answering requests: a quarter of a gigabyte. Numbers read from a file
do not count."""


class Service:
    """Everything that exists as long as the service does."""

    def __init__(self, settings: ServiceSettings, progress: Progress = no_progress) -> None:
        self.settings, self.graphs, self._progress = settings, GraphStore(settings), progress
        self.workers, self.batcher = Workers(settings), Batcher(settings)
        self._background = ThreadPoolExecutor(2, thread_name_prefix="background")
        self._stage: Literal["ok", "warming up", "stopping"] = "warming up"
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, warm: bool) -> None:
        """Warm up, unless kernels and processes should be loaded when requests need them; watch the files of graphs."""
        self._tasks = [asyncio.create_task(self._warm_up(warm)), asyncio.create_task(self._watch_files())]

    async def _warm_up(self, warm: bool) -> None:
        loop = asyncio.get_running_loop()
        self._progress("reading graphs")
        await loop.run_in_executor(self._background, self.graphs.open_files)
        if warm:
            self._progress("loading kernels, which are compiled the first time")
            await loop.run_in_executor(self._background, warm_kernels)
            await loop.run_in_executor(self._background, self.graphs.open, DEFAULT_GRAPH)
            self._progress("starting processes")
            await self.workers.start()
        self._stage = "ok"

    async def wait_until_warm(self) -> None:
        """Wait until the service is ready; raise the error of the warm-up if it failed."""
        await asyncio.shield(self._tasks[0])

    async def _watch_files(self) -> None:
        """Reload graphs whenever their files change."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            try:
                poll = partial(self.graphs.reload, poll=True)
                await asyncio.get_running_loop().run_in_executor(self._background, poll)
            except Exception:
                LOG.exception("graphs whose files changed cannot be reloaded")

    def begin_shutdown(self) -> None:
        """Report the service as stopping."""
        self._stage = "stopping"

    def stop(self) -> None:
        """Stop all processes, and all threads that can be stopped."""
        self.begin_shutdown()
        for task in self._tasks:
            task.cancel()
        self._background.shutdown(wait=False, cancel_futures=True)
        self.batcher.stop()
        self.workers.stop()

    @property
    def status(self) -> Literal["ok", "warming up", "overloaded", "stopping"]:
        """Whether requests should be sent to this service: not if it would refuse further ones of some kind."""
        is_full = self.workers.is_full or self.batcher.is_full
        return "overloaded" if self._stage == "ok" and is_full else self._stage

    async def open_graph(self, graph_id: str) -> OpenGraph:
        """Return a graph; read it in a thread the first time."""
        opened = self.graphs.find(graph_id).opened
        return await asyncio.to_thread(self.graphs.open, graph_id) if opened is None else opened

    async def add_upload(self, body: bytes, content_type: str, name: str, directed: bool, client: str) -> GraphInfo:
        """Read an upload in a process, and add its graph; nothing is added if that fails or takes too long."""
        # the folder belongs to the server, because the process that reads and writes there may be killed
        folder = Path(mkdtemp(dir=self.graphs.folder, prefix=UNFINISHED))
        try:
            await asyncio.to_thread((folder / BODY).write_bytes, body)
            settings = content_type, name, directed, self.settings.upload_bytes
            title = await self.workers.run(read_upload, folder, *settings)
            keep = partial(self.graphs.keep_upload, folder / GRAPH, title, client)
            return await asyncio.get_running_loop().run_in_executor(self._background, keep)
        finally:
            self._background.submit(_remove_folder, folder)

    async def prepare_nodes(self, opened: OpenGraph, recommender: Recommender, nodes: Iterable[int]) -> Recommender:
        """Prepare those of some nodes (positions) that a recommender of the graph has not; return the one that has.

        They are kept for later requests, up to a limit.
        """
        nodes, given = set(nodes), recommender

        def copy_ranker(ranker: PartRanker) -> PartRanker:
            kept = ranker.kept.get(opened.graph, {})
            return replace(ranker, kept={opened.graph: {node: kept[node] for node in nodes if node in kept}})

        try:
            async with asyncio.timeout(self.settings.seconds):
                while missing := recommender.find_missing(nodes)[:_NODES_PER_TASK]:
                    rankers = recommender.part_rankers  # a process needs their settings, not what they keep
                    empty = {name: replace(each, kept={}, workers=1) for name, each in rankers.items()}
                    parts = await self.workers.run(compute_parts, empty, missing, graph=opened)
                    if recommender is given and opened.num_kept >= MAX_PARTS:
                        recommender = recommender.replace_parts(copy_ranker)  # whose parts are freed with it
                    for name, ranker in recommender.part_rankers.items():
                        kept = ranker.kept.setdefault(opened.graph, {})
                        for node, part in zip(missing, parts[name], strict=True):
                            if kept.setdefault(node, part) is part and recommender is given:
                                opened.num_kept += len(part.nodes)
        except TimeoutError:
            raise TimeLimitError(self.settings.seconds) from None
        return recommender


def _remove_folder(folder: Path) -> None:
    """Remove a folder, in which a process that is being killed may still write."""
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.05)
        if not folder.exists():
            return


async def run_until_disconnect(client: Request, work: Awaitable[Result]) -> Result:
    """Wait for the result of some work; cancel the work and raise ClientDisconnect if the client leaves."""

    async def wait_for_disconnect() -> None:
        while (await client.receive())["type"] != "http.disconnect":
            pass

    task, left = asyncio.ensure_future(work), asyncio.ensure_future(wait_for_disconnect())
    try:
        await asyncio.wait((task, left), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        task.cancel()
        left.cancel()


def get_service(request: Request) -> Service:
    """Return the service that a request was sent to."""
    service: Service = request.app.state.service
    return service
