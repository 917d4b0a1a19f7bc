"""Run the service: a socket of our own, uvicorn on it, and an end that lets running requests finish."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import os
import socket
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from curiograph.errors import SettingError
from curiograph.service.security import LOOPBACK_HOSTS
from curiograph.service.state import Service

_CONNECTIONS = 1000
"""Open at once; further ones are told to come back. Each needs a file, of which a process usually has 1024."""
_WAITING = 128
"""Connections that may wait to be accepted."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host in LOOPBACK_HOSTS:
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that takes connections; raises in one sentence where the address cannot be had."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(_WAITING)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingError(
            f"cannot serve on {host}, port {port} ({reason}); choose another --port, or 0 for any that is free."
        ) from None
    return found


def format_url(bound: socket.socket) -> str:
    """Where a browser finds the service."""
    host, port = bound.getsockname()[:2]
    if bound.family == socket.AF_INET6:
        host = f"[{host}]"
    return f"http://{host}:{port}"


def run_server(app: FastAPI, bound: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until a signal comes; `ready` is called once the service has warmed up."""
    warnings.simplefilter("ignore")  # answers say what the library warns of
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=app.state.service.limits.seconds,
        lifespan="on",
    )
    server = _Server(config, app.state.service, ready)
    server.run(sockets=[bound])
    if server.failure is not None:
        raise server.failure
    if app.state.service.busy:  # a thread cannot be stopped, and nobody waits for it any more
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


class _Server(uvicorn.Server):
    """uvicorn, ending with exit code 0 and without jobs left behind."""

    def __init__(self, config: uvicorn.Config, service: Service, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._service, self._ready = service, ready
        self._announcing: asyncio.Task[None] | None = None
        self.failure: Exception | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announcing = asyncio.create_task(self._announce())

    async def _announce(self) -> None:
        try:
            await self._service.wait_until_warm()
        except asyncio.CancelledError:
            return
        except Exception as error:
            self.failure, self.should_exit = error, True
            return
        gc.collect()
        gc.freeze()  # what is there now stays: no need to look through it again and again
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal ends in good order, the second at once; neither is raised again."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: Any = None) -> None:
        self._service.begin_shutdown()
        await super().shutdown(sockets)
