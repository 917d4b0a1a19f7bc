"""Hostile heads, bodies and uploads are answered or cut off; `benchmarks.load` measures how they delay others."""

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
    """Send everything to a server; check its answers and its memory."""
    with start_server("--seconds", "5") as (address, started):
        process = psutil.Process(started.pid)
        first = process.memory_info().rss
        for name, path, content in [
            *((name, f"/api/v1/{path}", content) for name, path, content in bodies),
            *((name, f"/api/v1/graphs?name={file}", content) for name, file, content in uploads),
        ]:
            status = post(address, path, content)
            assert 200 <= status < 300 or status in (400, 404, 413, 422, 503), (name, status)
        assert process.memory_info().rss - first < 500 * MEGABYTE


@pytest.mark.long
def test_heads_are_limited_in_size_and_time() -> None:
    with start_server("--seconds", "5") as (address, started):
        server = urlsplit(address)
        for name, pieces, pause in create_heads(16 * MEGABYTE):
            sent = 0
            with suppress(OSError), socket.create_connection((server.hostname, server.port)) as connection:
                for piece in pieces:
                    connection.sendall(piece)
                    sent += 1
                    time.sleep(pause)
            assert sent < len(pieces), name  # the server has closed the connection
        started.send_signal(signal.SIGTERM)
        assert "Traceback" not in (started.stderr.read() if started.stderr else "")


@pytest.mark.long
def test_small_hostile_requests() -> None:
    attack(list(create_bodies(60_000)), list(create_uploads(60_000)))


@pytest.mark.long
def test_hostile_requests_as_large_as_allowed() -> None:
    attack(list(create_bodies(2 * MEGABYTE)), list(create_uploads(3 * MEGABYTE)))
