"""Hostile heads, bodies and uploads: whatever a client sends, the service answers others meanwhile."""

from __future__ import annotations

import http.client
import signal
import socket
import time
from contextlib import suppress
from urllib.parse import urlsplit

import psutil
import pytest

from benchmarks.hostile_requests import MEGABYTE, create_bodies, create_heads, create_uploads
from support.serving import start_server

MAX_BLOCK = 0.2
"""Seconds in which /healthz must answer, whatever other clients send."""


def measure_seconds(process: psutil.Process) -> float:
    """Return the processor time of the event loop so far: that of the main thread of the server process."""
    (main,) = (thread for thread in process.threads() if thread.id == process.pid)
    return float(main.user_time + main.system_time)


def post(address: str, path: str, body: bytes) -> int:
    """Return the status of a response."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json"} if body else {})
        with connection.getresponse() as response:
            response.read()
            return response.status
    finally:
        connection.close()


def attack(bodies: list[tuple[str, str, bytes]], uploads: list[tuple[str, str, bytes]]) -> None:
    """Send everything to a server; check its answers, that it answers others meanwhile, and its memory.

    The time is that of the processor, since others may use it at the same time: whatever a request costs the event loop
    is an upper bound of how long it delays other requests.
    """
    with start_server("--seconds", "5") as (address, started):
        process = psutil.Process(started.pid)
        first, costs = process.memory_info().rss, []
        for name, path, content in [
            *((name, f"/api/v1/{path}", content) for name, path, content in bodies),
            *((name, f"/api/v1/graphs?name={file}", content) for name, file, content in uploads),
        ]:
            before = measure_seconds(process)
            status = post(address, path, content)
            assert 200 <= status < 300 or status in (400, 404, 413, 422, 503), (name, status)
            costs.append((measure_seconds(process) - before, name))
        assert max(costs)[0] <= MAX_BLOCK, sorted(costs)[-5:]
        assert process.memory_info().rss - first < 500 * MEGABYTE


@pytest.mark.long
def test_heads_are_limited_in_size_and_time() -> None:
    with start_server("--seconds", "5") as (address, started):
        server, process = urlsplit(address), psutil.Process(started.pid)
        for name, pieces, pause in create_heads(16 * MEGABYTE):
            before, start, sent = measure_seconds(process), time.monotonic(), 0
            with suppress(OSError), socket.create_connection((server.hostname, server.port)) as connection:
                for piece in pieces:
                    connection.sendall(piece)
                    sent += 1
                    time.sleep(pause)
            assert sent < len(pieces), name  # the server has closed the connection
            assert measure_seconds(process) - before <= MAX_BLOCK, name
            assert time.monotonic() - start < 15, name
        started.send_signal(signal.SIGTERM)
        assert "Traceback" not in (started.stderr.read() if started.stderr else "")


@pytest.mark.long
def test_small_hostile_requests() -> None:
    attack(list(create_bodies(60_000)), list(create_uploads(60_000)))


@pytest.mark.long
def test_hostile_requests_as_large_as_allowed() -> None:
    attack(list(create_bodies(2 * MEGABYTE)), list(create_uploads(3 * MEGABYTE)))
