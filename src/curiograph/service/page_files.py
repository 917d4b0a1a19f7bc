"""The files of the page, compressed once and sent from memory."""

from __future__ import annotations

import gzip
from collections.abc import Awaitable, Callable
from hashlib import sha256
from importlib.resources import files

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


def send_compressed(request: Request, content: bytes, media_type: str) -> Response:
    """Send content that is compressed by gzip; only its absence of change if the client has it already."""
    headers = {"etag": f'"{sha256(content).hexdigest()[:16]}"', "cache-control": "no-cache", "vary": "accept-encoding"}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(content, headers=headers | {"content-encoding": "gzip"}, media_type=media_type)
    return Response(gzip.decompress(content), headers=headers, media_type=media_type)


def add_page(app: FastAPI) -> None:
    """Serve the page at `/`, and its other files at `/page/NAME`."""
    for file in files(f"{__package__}.page").iterdir():
        name, _, extension = file.name.rpartition(".")
        if extension in _TYPES:
            path = "/" if name == "index" else f"/page/{file.name}"
            app.add_route(path, _make_endpoint(gzip.compress(file.read_bytes(), 9), _TYPES[extension]), ["GET"])


def _make_endpoint(content: bytes, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def send_file(request: Request) -> Response:
        return send_compressed(request, content, media_type)

    return send_file
