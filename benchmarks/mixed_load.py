"""Measure what one client of the service notices of the others: light requests next to heavy ones, hostile requests,
and the memory that visits of the page leave behind."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psutil

from benchmarks.hostile_requests import MEGABYTE, create_bodies, create_uploads
from curiograph.errors import SettingError
from curiograph.progress import Progress

COLUMNS = ("measured", "value", "target", "target met")

_HEAVY = {"graph": "load", "agent": "beam:256", "reward": "igt", "steps": 60}
_NUM_HEAVY = 12
_BATCH_HISTORIES, _BATCH_K = 1_000, 1_000
_MIN_HEAVY_SECONDS = 1.0
_VISITORS = 4  # threads that fetch the page
_FIRST_VISITS = 300  # after which everything that is allocated once has been
_RELEASE_SECONDS = 20.0  # after which pages that no browser opened are released


@dataclass(frozen=True)
class Check:
    """A measured value with its target, in seconds or bytes."""

    name: str
    value: float
    target: float
    unit: str

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.value <= self.target

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under the keys of stored runs."""
        return asdict(self) | {"met": self.met}

    def list_cells(self) -> list[Any]:
        """Cells of a table row."""
        return [self.name, *(format_value(value, self.unit) for value in (self.value, self.target)), self.met]


def format_value(value: float, unit: str) -> str:
    """Format a value with its unit.

    >>> format_value(0.0123, "s"), format_value(3 * 2**20, "bytes")
    ('12 ms', '3.0 MiB')
    """
    return f"{1e3 * value:.0f} ms" if unit == "s" else f"{value / MEGABYTE:.1f} MiB"


class Client:
    """Sends requests to a server, each with its own connection."""

    def __init__(self, address: str) -> None:
        self._server = urlsplit(address)

    def request(self, method: str, path: str, body: Any = None, timeout: float = 120) -> tuple[int, float]:
        """Return the status of the response and the seconds until it was complete."""
        start = time.perf_counter()
        connection = http.client.HTTPConnection(self._server.hostname or "", self._server.port, timeout=timeout)
        try:
            content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, content, {} if body is None else {"Content-Type": "application/json"})
            with connection.getresponse() as response:
                response.read()
                return response.status, time.perf_counter() - start
        finally:
            connection.close()


@contextmanager
def repeat_in_threads(functions: Sequence[Callable[[], object]]) -> Iterator[None]:
    """Call each function again and again in a thread of its own while the block runs; wait for the last calls."""
    done = threading.Event()

    def repeat(function: Callable[[], object]) -> None:
        while not done.is_set():
            with suppress(OSError, http.client.HTTPException):  # the server may close the connection
                function()

    with ThreadPoolExecutor(len(functions)) as pool:
        calls = [pool.submit(repeat, function) for function in functions]
        try:
            yield
        finally:
            done.set()
    for call in calls:
        call.result()


def measure_memory(pid: int) -> int:
    """Return the bytes of a server and its worker processes; what several of them share is counted once."""
    server, total = psutil.Process(pid), 0
    for process in (server, *server.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # a worker may end at any time
            memory = process.memory_full_info()
            total += getattr(memory, "pss", memory.uss)  # Linux has pss
    return total


def measure_light(address: str, labels: Sequence[Any], seconds: float, progress: Progress) -> list[Check]:
    """Measure light requests while heavy ones and a huge batch run; `labels` are prepared nodes of the graph `load`."""
    client, rng = Client(address), np.random.default_rng(0)
    histories = [[labels[i] for i in rng.integers(0, len(labels), 5)] for _ in range(_BATCH_HISTORIES)]
    batch = {"graph": "load", "histories": histories, "k": _BATCH_K}
    answers: list[tuple[int, float]] = []

    def send_heavy(path: str, body: Any) -> None:
        answers.append(client.request("POST", f"/api/v1/{path}", body))

    heavy = [*[partial(send_heavy, "explore", _HEAVY)] * _NUM_HEAVY, partial(send_heavy, "recommend", batch)]
    look = {"graph": "toy:library", "walk": ["music", "physics"]}
    prepared = {"graph": "load", "history": histories[0], "prepared_only": True}
    times: dict[str, list[float]] = {"look": [], "recommend": []}
    with repeat_in_threads(heavy):
        time.sleep(1)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            progress("light requests next to heavy ones", 1 - (end - time.monotonic()) / seconds)
            for path, body in (("look", look), ("recommend", prepared)):
                status, took = client.request("POST", f"/api/v1/{path}", body)
                times[path].append(took if status == 200 else np.inf)
    _check_heavy(answers)
    load = f"next to {_NUM_HEAVY} heavy requests and a batch of {_BATCH_HISTORIES:,} histories, p99"
    return [
        Check(f"`/look` on a toy graph {load}", float(np.percentile(times["look"], 99)), 0.2, "s"),
        Check(f"prepared recommendation {load}", float(np.percentile(times["recommend"], 99)), 0.5, "s"),
    ]


def _check_heavy(answers: Sequence[tuple[int, float]]) -> None:
    """Raise an error if heavy requests fail, or are too short to disturb others; 503 is the time limit."""
    failed = sorted({status for status, _ in answers} - {200, 503})
    typical = np.median([seconds for _, seconds in answers]) if answers else 0.0
    if failed:
        raise SettingError(f"heavy requests were answered with status {failed}; see the output of the server.")
    if typical < _MIN_HEAVY_SECONDS:
        raise SettingError(
            f"heavy requests take {typical:.2f} s (median of {len(answers)}); "
            f"take a graph on which they take {_MIN_HEAVY_SECONDS:.0f} s or more."
        )


def measure_hostile(address: str, progress: Progress) -> Check:
    """Measure the longest time of /healthz while hostile bodies and uploads arrive, all as large as allowed."""
    client, blocks = Client(address), [0.0]
    requests = _create_hostile_requests(2 * MEGABYTE, 3 * MEGABYTE)

    def check_health() -> None:
        start = time.perf_counter()
        try:
            client.request("GET", "/healthz")
        finally:  # also if it timed out
            blocks.append(time.perf_counter() - start)
        time.sleep(0.01)

    with repeat_in_threads([check_health]):
        for number, (path, content) in enumerate(requests):
            progress(f"hostile request {number} of {len(requests)}", number / len(requests))
            with suppress(OSError, http.client.HTTPException):
                client.request("POST", path, content)
    return Check(f"longest block of `/healthz` by {len(requests)} kinds of hostile requests", max(blocks), 0.5, "s")


def _create_hostile_requests(body_bytes: int, upload_bytes: int) -> list[tuple[str, bytes]]:
    """Return the path and the content of every hostile request."""
    return [
        *((f"/api/v1/{path}", content) for _, path, content in create_bodies(body_bytes)),
        *((f"/api/v1/graphs?name={file}", content) for _, file, content in create_uploads(upload_bytes)),
    ]


def measure_visits(address: str, pid: int, visits: int, progress: Progress) -> Check:
    """Measure the memory that visits of the page without a browser leave behind."""
    client = Client(address)

    def visit(count: int) -> int:
        with ThreadPoolExecutor(_VISITORS) as pool:
            failed = {status for status, _ in pool.map(lambda _: client.request("GET", "/"), range(count))} - {200}
        if failed:
            raise SettingError(f"the page was answered with status {sorted(failed)}; see the output of the server.")
        time.sleep(_RELEASE_SECONDS)
        return measure_memory(pid)

    progress("first visits of the page")
    before = visit(_FIRST_VISITS)
    progress(f"{visits:,} visits of the page")
    return Check(f"memory after {visits:,} visits of the page", visit(visits) - before, 20 * MEGABYTE, "bytes")


def soak(address: str, pid: int, labels: Sequence[Any], seconds: float, progress: Progress) -> list[Check]:
    """Send everything at once for a long time: light, heavy and hostile requests, and visits of the page."""
    client = Client(address)
    hostile = itertools.cycle(_create_hostile_requests(MEGABYTE // 8, MEGABYTE // 8))

    def attack() -> None:
        client.request("POST", *next(hostile))

    def visit() -> None:
        client.request("GET", "/")
        time.sleep(0.5)

    with repeat_in_threads([attack, visit]):
        measure_light(address, labels, seconds / 4, progress)  # allocates what is allocated once
        before = measure_memory(pid)
        checks = measure_light(address, labels, 3 * seconds / 4, progress)
        growth = measure_memory(pid) - before
    return [*checks, Check(f"growth of memory in {3 * seconds / 4:.0f} s", growth, 100 * MEGABYTE, "bytes")]
