"""The files of the page, compressed once and sent from memory; its JavaScript modules as one file."""

from __future__ import annotations

import gzip
import re
from collections.abc import Awaitable, Callable
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PAGE: Traversable = files(f"{__package__}.page")
"""Folder of the page."""
_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page/style.css": ("style.css", "text/css; charset=utf-8"),
    "/page/app.js": ("app.js", "text/javascript; charset=utf-8"),
}


def send_compressed(request: Request, content: bytes, media_type: str) -> Response:
    """Send content that is compressed by gzip; only its absence of change if the client has it already."""
    headers = {"etag": _make_tag(content), "cache-control": "no-cache", "vary": "accept-encoding"}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(content, headers=headers | {"content-encoding": "gzip"}, media_type=media_type)
    return Response(gzip.decompress(content), headers=headers, media_type=media_type)


@lru_cache(64)
def _make_tag(content: bytes) -> str:
    return f'"{sha256(content).hexdigest()[:16]}"'


def join_modules(*modules: Traversable) -> str:
    """Join JavaScript modules, each after those that it imports: one file is fetched faster than ten.

    Imports have the form `import { a, b } from "./name.js";` on one line, exports stand before declarations.

    >>> join_modules(PAGE / "labels.js").splitlines()[:2]
    ['"use strict";', 'const modules = {};']
    """
    parts = ['"use strict";', "const modules = {};"]
    for module in modules:
        code = re.sub(
            r'^import (\{.*\}) from "\./(.*)";$', r'const \1 = modules["\2"];', module.read_text("utf-8"), flags=re.M
        )
        names = re.findall(r"^export (?:async )?(?:const|function|class) (\w+)", code, flags=re.M)
        code = re.sub(r"^export ", "", code, flags=re.M)
        parts.append(f'modules["{module.name}"] = (() => {{\n{code}return {{ {", ".join(names)} }};\n}})();')
    return "\n".join(parts) + "\n"


def list_modules(module: Traversable) -> list[Traversable]:
    """List the modules of the page that a module imports, directly or not, and then the module itself."""
    found: list[Traversable] = []
    for name in re.findall(r'^import .* from "\./(.*)";$', module.read_text("utf-8"), flags=re.M):
        found += [each for each in list_modules(PAGE / name) if each not in found]
    return [*found, module]


def add_page(app: FastAPI) -> None:
    """Serve the page at `/`, and its other files at `/page/NAME`."""
    routes = []
    for path, (name, media_type) in _FILES.items():
        file = PAGE / name
        text = join_modules(*list_modules(file)) if name.endswith(".js") else file.read_text("utf-8")
        routes.append(Route(path, _make_endpoint(gzip.compress(text.encode(), 9), media_type), methods=["GET"]))
    app.router.routes[:0] = routes


def _make_endpoint(content: bytes, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def send_file(request: Request) -> Response:
        return send_compressed(request, content, media_type)

    return send_file
