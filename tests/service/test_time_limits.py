"""Long work: refused by an estimate, stopped at its deadline or when the client leaves, and never in the way."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import pytest

import curiograph as cg
from curiograph.service.config import Limits
from curiograph.service.errors import INTERNAL_ERROR, BusyError, InternalError, TimeLimitError
from curiograph.service.graph_store import OpenGraph
from curiograph.service.processes import ProcessPool, _Worker
from curiograph.service.state import Service
from support.serving import get_error, open_client, start_server, wait_until

HEAVY = {"agent": "beam:256", "reward": "igt", "steps": 60}


@pytest.fixture(scope="module")
def api() -> Iterator[Any]:
    with open_client(Limits(seconds=2)) as client:
        yield client


@pytest.fixture(scope="module")
def dense_csv() -> bytes:
    """A graph of 300 nodes and density 0.5."""
    links = np.argwhere(np.triu(np.random.default_rng(0).random((300, 300)) < 0.5, 1))
    return "".join(f"{u},{v}\n" for u, v in links.tolist()).encode()


@pytest.fixture(scope="module")
def dense(api: Any, dense_csv: bytes) -> str:
    """Id of that graph."""
    return str(api.post("/api/v1/graphs?name=dense.csv", content=dense_csv).json()["id"])


def double(value: int, report: Any) -> int:
    report(1, 2)
    return 2 * value


def count_nodes(opened: OpenGraph, report: Any) -> int:
    return opened.graph.num_nodes


def get_pid(report: Any) -> int:
    return os.getpid()


def sleep_long(report: Any) -> None:
    time.sleep(600)


def fail(report: Any) -> None:
    raise cg.SettingError("give something else.")


def crash(report: Any) -> None:
    os._exit(1)


def raise_unexpected(report: Any) -> None:
    raise RuntimeError("a secret of the server")


def return_function(report: Any) -> Any:
    return lambda: None  # cannot be pickled


def test_processes_compute_fail_and_are_replaced():
    async def use() -> None:
        pool, progress = ProcessPool(1, 3), []
        try:
            assert await pool.run(double, 21, report=lambda *given: progress.append(given)) == 42
            assert progress == [(1, 2)]
            assert await pool.run(count_nodes, graph=OpenGraph(cg.toys.library())) == 12
            pid = await pool.run(get_pid)
            with pytest.raises(cg.SettingError, match="something else"):
                await pool.run(fail)
            for function in (raise_unexpected, return_function):
                with pytest.raises(InternalError, match="log"):
                    await pool.run(function)
            assert await pool.run(get_pid) == pid  # an error does not end the process
            with pytest.raises(InternalError, match="memory"):
                await pool.run(crash)
            assert await pool.run(get_pid) != pid
            with pytest.raises(TimeLimitError):
                await pool.run(sleep_long, seconds=1)
            work = [asyncio.create_task(pool.run(sleep_long)) for _ in range(3)]
            await asyncio.sleep(0.1)
            assert (pool.num_busy, pool.num_waiting) == (1, 2)
            with pytest.raises(BusyError):
                await pool.run(get_pid)
            for each in work:
                each.cancel()
            await asyncio.wait(work)
            assert (pool.num_busy, pool.num_waiting) == (0, 0)
            assert await pool.run(double, 1) == 2
        finally:
            pool.stop()

    asyncio.run(use())


def test_process_that_ended_while_idle_is_replaced():
    async def use() -> None:
        pool = ProcessPool(1, 1)
        try:
            os.kill(await pool.run(get_pid), signal.SIGKILL)
            pool._idle[0]._process.join()
            assert await pool.run(double, 21) == 42
        finally:
            pool.stop()

    asyncio.run(use())


def test_program_ends_while_a_process_is_idle():
    program = (
        "import asyncio; from curiograph.service.processes import ProcessPool; asyncio.run(ProcessPool(1, 1).start())"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_processes_open_graphs_whose_files_were_replaced(tmp_path):
    cg.toys.library().save(str(tmp_path / "mine.safetensors"))
    opened = OpenGraph(cg.read_graph(tmp_path / "mine.safetensors"))
    assert opened.shared is opened.shared

    async def use() -> None:
        pool = ProcessPool(1, 1)
        try:
            (tmp_path / "new").write_bytes(b"damaged")
            os.replace(tmp_path / "new", tmp_path / "mine.safetensors")
            assert await pool.run(count_nodes, graph=opened) == 12
            pool._idle.pop().stop()
            (tmp_path / "mine.safetensors").unlink()
            assert await pool.run(count_nodes, graph=opened) == 12
        finally:
            pool.stop()

    asyncio.run(use())


def test_graph_that_cannot_be_shared_is_an_internal_error(tmp_path, monkeypatch, caplog):
    cg.toys.library().save(str(tmp_path / "mine.safetensors"))
    changed = OpenGraph(cg.read_graph(tmp_path / "mine.safetensors"))
    assert changed.shared
    os.utime(tmp_path / "mine.safetensors", (1, 1))

    async def use() -> None:
        pool = ProcessPool(1, 1)
        try:
            with pytest.raises(InternalError, match=INTERNAL_ERROR):
                await pool.run(count_nodes, graph=changed)
            assert "has changed since it was opened" in caplog.text
            monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
            with pytest.raises(InternalError, match=INTERNAL_ERROR):
                await pool.run(count_nodes, graph=OpenGraph(cg.toys.library()))
            assert "set TMPDIR" in caplog.text
        finally:
            pool.stop()

    asyncio.run(use())


def test_main_module_is_restored_after_simultaneous_starts(monkeypatch):
    second_started, first_ended = threading.Event(), threading.Event()

    class SlowProcess:
        """A process whose start waits shortly for that of another one, which may not overlap with it."""

        def start(self) -> None:
            if threading.current_thread() is threads[0]:
                threads[1].start()
                second_started.wait(0.2)
                first_ended.set()
            else:
                second_started.set()
                first_ended.wait()
                threads[0].join(0.2)

        def kill(self) -> None:
            """Called at the end of the program."""

    monkeypatch.setattr(multiprocessing.context.ForkServerContext, "Process", lambda *_, **__: SlowProcess())
    main = sys.modules["__main__"]
    threads = [threading.Thread(target=_Worker().start) for _ in range(2)]
    threads[0].start()
    for thread in threads:
        thread.join()
    assert sys.modules["__main__"] is main


def test_long_requests_are_refused_at_once(api, dense):
    walk = list(range(250))
    for what, body in (
        ("explore", {"agent": "greedy", "reward": "cpt", "steps": 250}),
        ("explore", {"agent": "beam", "reward": "cpt", "steps": 60}),
        ("look", {"walk": walk[:80], "reward": "cpt", "agent": "beam", "ahead": 5}),
    ):
        message = get_error(api.post(f"/api/v1/{what}", json={"graph": dense, **body}), 422)
        assert "a request may take 2" in message
        assert "start a job" in message


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("explore", {"agent": "beam", "reward": "igt", "steps": 200}),
        ("rank", {"agent": "greedy", "reward": "cpt", "alpha": 0.99}),
    ],
)
def test_process_ends_at_its_deadline(api, dense, what, body):
    service: Service = api.app.state.service
    assert "longer than 2 s" in get_error(api.post(f"/api/v1/{what}", json={"graph": dense, **body}), 503)
    assert service.processes.num_busy == 0


def test_light_requests_while_all_processes_compute(api):
    service: Service = api.app.state.service
    library = {"graph": "toy:library", "history": ["music"]}
    service.graphs.open("toy:library").recommender.prepare(["music"])
    work = [api.portal.start_task_soon(service.processes.run, sleep_long) for _ in range(service.processes.size + 2)]
    wait_until(lambda: service.processes.num_waiting == 2)
    assert api.get("/readyz").status_code == 200
    for path in ("graphs", "graphs/toy:grid", "graphs/ws/nodes"):
        assert api.get(f"/api/v1/{path}").status_code == 200
    assert api.post("/api/v1/recommend", json=library).status_code == 200
    assert api.post("/api/v1/recommend", json=library | {"prepared_only": True}).status_code == 200
    look = api.post("/api/v1/look", json={"graph": "toy:library", "walk": ["music"]})
    assert look.status_code == 200, look.text
    assert "longer than 2 s" in get_error(api.post("/api/v1/explore", json={"graph": "er", **HEAVY}), 503)
    for each in work:
        each.cancel()
    wait_until(lambda: service.processes.num_busy + service.processes.num_waiting == 0)


def test_work_is_cancelled_when_the_client_leaves():
    with start_server() as (address, _):
        host, port = urlsplit(address).hostname, urlsplit(address).port
        body = json.dumps({"graph": "er", "agent": "beam:256", "reward": "cpt", "steps": 28}).encode()
        with socket.create_connection((host, port)) as leaving:
            head = f"POST /api/v1/explore HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
            leaving.sendall(head.encode() + body)
            wait_until(lambda: 'curiograph_busy_workers{pool="requests"} 1.0' in _get(address, "/metrics"))
        wait_until(lambda: 'curiograph_busy_workers{pool="requests"} 0.0' in _get(address, "/metrics"))
        assert 'route="/api/v1/explore",status="499"' in _get(address, "/metrics")


def _get(address: str, path: str) -> str:
    with urlopen(address + path) as response:
        return str(response.read().decode())


def test_jobs_have_a_time_limit():
    with open_client(Limits(job_seconds=1)) as api:
        body = {"kind": "evaluate", "graph": "ba", "agent": "beam", "reward": "cpt", "steps": 40, "episodes": 5_000}
        job = api.post("/api/v1/jobs", json=body).json()["id"]
        wait_until(lambda: api.get(f"/api/v1/jobs/{job}").json()["state"] == "failed")
        error = api.get(f"/api/v1/jobs/{job}").json()["error"]
        assert error["message"].startswith("the job takes longer than 1 s, the limit of a job; divide it")


def test_cancel_jobs_within_a_walk_and_before_they_start(api, dense):
    body = {"kind": "evaluate", "graph": dense, "agent": "greedy", "reward": "cpt", "steps": 300, "episodes": 8}
    jobs = [api.post("/api/v1/jobs", json=body).json()["id"] for _ in range(3)]

    def get_state(job: str) -> str:
        return str(api.get(f"/api/v1/jobs/{job}").json()["state"])

    wait_until(lambda: get_state(jobs[0]) == "running")
    for job in reversed(jobs):
        assert api.delete(f"/api/v1/jobs/{job}").json()["state"] == "cancelled"
    service: Service = api.app.state.service
    wait_until(lambda: service.job_processes.num_busy == 0)
