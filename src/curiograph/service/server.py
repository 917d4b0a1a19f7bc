"""Run the service with uvicorn until a signal; running requests finish before it ends."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from curiograph.errors import SettingError
from curiograph.service.error_responses import escape_record
from curiograph.service.state import Service

_MAX_CONNECTIONS = 1000
"""Maximum number of open connections; each needs a file descriptor, and a process usually has 1024."""
_MAX_HEAD = 2**14
"""Bytes of the request line and the headers."""
_HEAD_SECONDS, _WRITE_SECONDS = 10.0, 30.0
"""Time for a client to send a request line and headers, and to read the end of its last response."""


def open_socket(host: str, port: int) -> socket.socket:
    """Open a socket that accepts connections; raise SettingError if the address cannot be used."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)  # asyncio sends without delay if it knows that this is TCP
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
    logging.getLogger("uvicorn.error").addFilter(escape_record)
    server = _Server(create_config(app), app.state.service, on_ready)
    # all temporary files are in one folder, because the process ends without cleaning up
    with tempfile.TemporaryDirectory(prefix="curiograph-", ignore_cleanup_errors=True) as tempfile.tempdir:
        server.run(sockets=[bound])
    tempfile.tempdir = None
    if server.failure is not None:
        raise server.failure
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # a thread that still computes cannot be stopped, and its result is not needed


def create_config(app: FastAPI) -> uvicorn.Config:
    """Return the settings of uvicorn, with limits for clients that are slow or send endless headers."""
    return uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        limit_concurrency=_MAX_CONNECTIONS,
        h11_max_incomplete_event_size=_MAX_HEAD,
        timeout_graceful_shutdown=app.state.service.settings.seconds,
        lifespan="on",
    )


class _Connection(H11Protocol):
    """A connection that is closed unless a request line and its headers arrive in time, which uvicorn does not limit,
    and unless the client reads its responses."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._limit_head()

    def _limit_head(self) -> None:
        is_incomplete = self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is None
        if is_incomplete and self._timer is None:
            self._timer = self.loop.call_later(_HEAD_SECONDS, self.timeout_keep_alive_handler)
        elif self._timer is not None and not is_incomplete:
            self._timer.cancel()
            self._timer = None

    def send_400_response(self, msg: str) -> None:
        if self.cycle is not None:
            self.cycle.disconnected = True  # its response cannot be sent any more
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self.loop.call_later(_WRITE_SECONDS, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()


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
        self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End gracefully at the first signal, at once at the second; neither is raised again."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: Any = None) -> None:
        self._service.begin_shutdown()
        await super().shutdown(sockets)
