"""Delete pages whose visitors left or never connected."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from fastapi.dependencies import models
from nicegui import Client
from nicegui import app as page_app

_MAX_SECONDS = 15.0
"""Seconds after which a browser has connected to the page that it fetched."""
_MAX_UNCONNECTED = 64
"""Fetched pages to which no browser has connected yet; if there are more, the oldest are released."""
_CHECK_SECONDS = 1.0


def watch_pages() -> None:
    """Release pages while the service runs, and log no traceback if a visitor leaves during a computation.

    Call it once, after the page was added. NiceGUI itself keeps a page that no browser opens for a minute.
    """
    page_app.timer(_CHECK_SECONDS, lambda: release_pages(Client.instances.values()))
    page_app.on_delete(_forget_routes)
    logging.getLogger("nicegui").addFilter(_is_worth_logging)


def release_pages(clients: Iterable[Client]) -> None:
    """Delete pages without a connection that are old, or beyond the limit of their number."""
    unconnected = [
        client
        for client in clients
        # neither being built nor waiting for a browser to reconnect; NiceGUI has no public names for this
        if not client.has_socket_connection and client._response_built and not client._delete_tasks
    ]
    unconnected.sort(key=lambda client: client.created)
    for number, client in enumerate(unconnected, start=1):
        if number <= len(unconnected) - _MAX_UNCONNECTED or time.time() - client.created > _MAX_SECONDS:
            client.delete()


def _forget_routes() -> None:
    """Clear the caches of FastAPI: every page adds a route for uploads, whose function refers to the page."""
    for value in vars(models).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Return False for an error of a handler whose tab was closed meanwhile."""
    error = record.exc_info[1] if record.exc_info else record.msg
    if isinstance(error, TimeoutError):  # the browser did not answer
        return False
    return not (isinstance(error, RuntimeError) and "has been deleted" in str(error))
