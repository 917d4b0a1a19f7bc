"""A service inside the test's own process, and one as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from curiograph.service.app import create_app
from curiograph.service.config import Limits
from curiograph.service.graph_store import GraphStore

with warnings.catch_warnings():  # the test client is about to change the library it stands on
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

HOST = "http://127.0.0.1"


@contextmanager
def client(limits: Limits | None = None, token: str | None = None, **settings: Any) -> Iterator[TestClient]:
    """A client of a service that is ready at once."""
    made = limits or Limits()
    settings = {"warm": lambda: None, **settings}
    app = create_app(GraphStore(made, data=settings.pop("data", None)), made, token, **settings)
    with TestClient(app, base_url=HOST, raise_server_exceptions=False) as found:
        yield found


def error_of(answer: Any, status: int) -> str:
    """The message of a refusal, which has the one shape that all have, and no secret of the server in it."""
    assert answer.status_code == status, answer.text
    document = answer.json()
    assert set(document) == {"error"}
    assert set(document["error"]) == {"type", "message"}
    assert "Traceback" not in answer.text
    assert tempfile.gettempdir() not in answer.text
    return str(document["error"]["message"])


@contextmanager
def server(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`curiograph serve` as a process, once it is ready: its address and the process."""
    command = [sys.executable, "-m", "curiograph", "serve", "--port", "0", "--json", *arguments]
    environment = os.environ | {"CURIOGRAPH_DATA": ""}
    environment.pop("CURIOGRAPH_TOKEN", None)
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        message = ""
        for line in process.stdout or ():
            message += line
            if line.startswith("}"):
                break
        try:
            yield json.loads(message)["address"], process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
