"""Worker processes: they compute, fail, and are killed at the time limit or when the client leaves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import psutil
import pytest

import curiograph as cg
from curiograph.service.error_responses import BusyError, InternalError, TimeLimitError, TooLargeError
from curiograph.service.server_settings import MAX_ANSWER, ServiceSettings
from curiograph.service.store import OpenGraph
from curiograph.service.workers import FAST_SECONDS, Workers
from curiograph.validation import resolve_workers
from support.serving import open_client, start_server, wait_until

HEAVY = {"graph": "dense", "agent": "beam:256", "reward": "cpt", "steps": 200}


@pytest.fixture(scope="module")
def dense(tmp_path_factory) -> Path:
    """A graph of 300 nodes and density 0.5, on which HEAVY takes minutes."""
    path = tmp_path_factory.mktemp("dense") / "dense.csv"
    links = np.argwhere(np.triu(np.random.default_rng(0).random((300, 300)) < 0.5, 1))
    np.savetxt(path, links, "%d", ",")
    return path


def count_nodes(opened: OpenGraph, number: int) -> int:
    return number * opened.graph.num_nodes


def sleep_long(path: str | None = None) -> None:
    if path is not None:
        with open(path, "w") as stream:
            stream.write(str(os.getpid()))
    time.sleep(600)


def fail() -> None:
    raise cg.SettingError("give something else.")


def crash() -> None:
    os._exit(1)


def raise_unexpected() -> None:
    raise RuntimeError("a secret of the server")


def return_function() -> Any:
    return lambda: None  # cannot be pickled


def use_workers(use: Callable[[Workers], Any], **settings: Any) -> None:
    async def run() -> None:
        workers = Workers(ServiceSettings(**settings))
        try:
            await use(workers)
        finally:
            await asyncio.to_thread(workers.stop)

    asyncio.run(run())


def test_processes_compute_and_fail():
    async def use(workers: Workers) -> None:
        assert await workers.run(count_nodes, 2, graph=OpenGraph(cg.toys.library())) == 24
        with pytest.raises(cg.SettingError, match="something else"):
            await workers.run(fail)
        with pytest.raises(TooLargeError):
            await workers.run(bytes, MAX_ANSWER + 1)
        for function in (raise_unexpected, return_function, crash):
            with pytest.raises(InternalError):
                await workers.run(function)
        assert await workers.run(count_nodes, 1, graph=OpenGraph(cg.toys.grid())) == cg.toys.grid().num_nodes
        assert workers.num_unfinished == 0

    use_workers(use)


def test_process_is_killed_at_the_time_limit(tmp_path):
    async def use(workers: Workers) -> None:
        path = tmp_path / "pid"
        while not path.exists():  # a process starts slowly on a busy machine
            with pytest.raises(TimeLimitError, match="2 s"):
                await workers.run(sleep_long, str(path))
        pid = int(path.read_text())
        await asyncio.to_thread(wait_until, lambda: not psutil.pid_exists(pid))
        found = None
        while found is None:  # the next one, too
            with suppress(TimeLimitError):
                found = await workers.run(count_nodes, 1, graph=OpenGraph(cg.toys.library()))
        assert found == 12

    use_workers(use, seconds=2)


def test_process_is_killed_with_its_task_and_replaced_after_its_death(tmp_path):
    async def use(workers: Workers) -> None:
        for end in ("cancel", "kill"):
            path = tmp_path / end
            task = asyncio.create_task(workers.run(sleep_long, str(path)))
            await asyncio.to_thread(wait_until, lambda path=path: path.exists() and path.read_text() != "")
            pid = int(path.read_text())
            if end == "cancel":
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            else:
                os.kill(pid, signal.SIGKILL)
                with pytest.raises(InternalError, match="ended"):
                    await task
            await asyncio.to_thread(wait_until, lambda pid=pid: not psutil.pid_exists(pid))
            assert await workers.run(count_nodes, 1, graph=OpenGraph(cg.toys.library())) == 12

    use_workers(use)


def test_number_of_computations_is_limited():
    async def use(workers: Workers) -> None:
        task = asyncio.create_task(workers.run(sleep_long))
        await asyncio.to_thread(wait_until, lambda: workers.num_unfinished == 1)
        with pytest.raises(BusyError, match="1"):
            await workers.run(fail)
        task.cancel()

    use_workers(use, requests=1)


def append_line(path: str, seconds: float) -> None:
    with open(path, "a") as stream:
        stream.write("started\n")
    time.sleep(seconds)


def test_work_continues_in_the_slow_lane_or_starts_again_there(tmp_path):
    async def use(workers: Workers) -> None:
        await workers.run(os.getpid)
        seconds, size = 4 * FAST_SECONDS, resolve_workers(None)
        paths = [str(tmp_path / str(number)) for number in range(size + 1)]
        await asyncio.gather(*(workers.run(append_line, path, seconds) for path in paths))
        starts = [Path(path).read_text().count("\n") for path in paths]
        assert sorted(starts) == [1] * size + [2]

    use_workers(use)


def test_short_requests_do_not_wait_for_long_ones():
    with open_client(requests=200) as api:
        service = api.app.state.service
        start, count = api.portal.start_task_soon, 3 * (os.cpu_count() or 1) + 9
        work = [start(service.workers.run, time.sleep, 60) for _ in range(count)]
        wait_until(lambda: service.workers.num_unfinished == len(work))
        for path, body in (("look", {"walk": ["music"]}), ("measure", {"walk": ["music"]}), ("explore", {"steps": 5})):
            response = api.post(f"/api/v1/{path}", json={"graph": "toy:library", **body})
            assert response.status_code == 200, response.text
        for each in work:
            each.cancel()


@pytest.mark.long
@pytest.mark.parametrize("end", ["leave", "kill the server"])
def test_processes_end_with_the_client_and_with_the_server(end, dense):
    with start_server("--graph", f"dense={dense}") as (address, process):
        host, port = urlsplit(address).hostname, urlsplit(address).port
        body = json.dumps(HEAVY).encode()
        with socket.create_connection((host, port)) as leaving:
            head = f"POST /api/v1/explore HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
            leaving.sendall(head.encode() + body)
            wait_until(lambda: "curiograph_computations 1.0" in _get(address, "/metrics"))
            if end != "leave":
                children = psutil.Process(process.pid).children(recursive=True)
                process.kill()
                wait_until(lambda: not any(child.is_running() and child.status() != "zombie" for child in children))
                return
        wait_until(lambda: "curiograph_computations 0.0" in _get(address, "/metrics"))


def _get(address: str, path: str) -> str:
    with urlopen(address + path) as response:
        return str(response.read().decode())
