"""Run the service with uvicorn until a signal; running requests finish before it ends."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from curiograph.errors import SettingError
from curiograph.service.state import Service

_MAX_CONNECTIONS = 1000
"""Maximum number of open connections; each needs a file descriptor, and a process usually has 1024."""


def open_socket(host: str, port: int) -> socket.socket:
    """Open a socket that accepts connections; raise SettingError if the address cannot be used."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingError(
            f"cannot serve on {host}, port {port} ({reason}); choose another --port, or 0 for a free one."
        ) from None
    return opened


def format_url(bound: socket.socket) -> str:
    """Format the URL of the service."""
    host, port = bound.getsockname()[:2]
    if bound.family == socket.AF_INET6:
        host = f"[{host}]"
    return f"http://{host}:{port}"


def run_server(app: FastAPI, bound: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serve until a signal; call `on_ready` once the service is ready."""
    warnings.simplefilter("ignore")  # responses contain what the library warns about
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=app.state.service.settings.seconds,
        lifespan="on",
    )
    server = _Server(config, app.state.service, on_ready)
    server.run(sockets=[bound])
    if server.failure is not None:
        raise server.failure
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # a thread that still computes cannot be stopped, and its result is not needed


class _Server(uvicorn.Server):
    """A uvicorn server that reports when the service is ready, and exits with code 0 after a signal."""

    def __init__(self, config: uvicorn.Config, service: Service, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._service, self._on_ready = service, on_ready
        self._announcement: asyncio.Task[None] | None = None
        self.failure: Exception | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announcement = asyncio.create_task(self._announce())

    async def _announce(self) -> None:
        try:
            await self._service.wait_until_warm()
        except asyncio.CancelledError:
            return
        except Exception as error:
            self.failure, self.should_exit = error, True
            return
        gc.collect()
        gc.freeze()  # objects that stay need no further garbage collection
        gc.collect()  # with few objects left to track, so that pages of visitors who left are collected early
        self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End gracefully at the first signal, at once at the second; neither is raised again."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: Any = None) -> None:
        self._service.begin_shutdown()
        await super().shutdown(sockets)
