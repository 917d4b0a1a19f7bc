"""Start a service for tests: inside the process of the test, or as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from curiograph.service.app import create_app
from curiograph.service.server_settings import ServiceSettings

with warnings.catch_warnings():  # starlette warns that its test client will need another HTTP library
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

HOST = "http://127.0.0.1"


@contextmanager
def open_client(**settings: Any) -> Iterator[TestClient]:
    """Open a client of a service with these settings, which is ready at once."""
    app = create_app(ServiceSettings(**settings), warm=False)
    with TestClient(app, base_url=HOST, raise_server_exceptions=False) as client:
        yield client


def get_error(response: Any, status: int) -> str:
    """Return the message of an error; check its status and format, and that it contains no secret of the server."""
    assert response.status_code == status, response.text
    document = response.json()
    assert set(document) == {"error"}
    assert set(document["error"]) == {"type", "message"}
    assert "Traceback" not in response.text
    assert tempfile.gettempdir() not in response.text
    return str(document["error"]["message"])


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true; fail after a minute, long enough for a busy machine."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


WITHOUT_PRIVILEGES = (
    ("setpriv", "--inh-caps=-all", "--bounding-set=-all") if getattr(os, "geteuid", os.getpid)() == 0 else ()
)
"""Beginning of a command that makes even root respect the permissions of files."""


@contextmanager
def start_server(
    *arguments: str, token: str | None = None, prefix: Sequence[str] = ()
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start `curiograph serve` as a process; yield its URL and the process once it is ready."""
    command = [*prefix, sys.executable, "-m", "curiograph", "serve", "--port", "0", "--json", *arguments]
    environment = os.environ | {"CURIOGRAPH_DATA": ""}
    environment.pop("CURIOGRAPH_TOKEN", None)
    if token is not None:
        environment["CURIOGRAPH_TOKEN"] = token
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["address"], process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
