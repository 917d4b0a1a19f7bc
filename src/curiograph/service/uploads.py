"""Read an uploaded file, or an uploaded folder of Markdown notes, in a worker process."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.types import Message

from curiograph.errors import CuriographError, FileFormatError, quote_value, shorten_text
from curiograph.graph.graph import Graph, require_edges
from curiograph.graph.io.formats import EXTENSIONS, read_graph
from curiograph.graph.io.graph_file import write_graph_file
from curiograph.graph.labels import as_labels
from curiograph.service.error_responses import ServiceError, TooLargeError
from curiograph.service.server_settings import MAX_EDGES, MAX_FILES, MAX_LABEL, MAX_NODES

UPLOAD_EXTENSIONS = tuple(extension for extension in EXTENSIONS if extension not in (".mat", ".safetensors"))
"""File extensions of uploads: a small .mat can contain a full matrix that needs gigabytes, and kernels trust the arrays
of a .safetensors, which anyone can write."""
NOTE = ".md"
"""File extension of a note."""
BODY, GRAPH = "body", "graph.safetensors"
"""Names of the file that `read_upload` reads, and of the one that it writes."""
_MAX_TITLE = 80
"""Maximum number of characters of the title of an upload."""


def read_upload(folder: Path, content_type: str, name: str, directed: bool, max_bytes: int) -> str:
    """Read the body of an upload, write its graph beside it in the same folder, and return its title.

    `directed` is for edge lists; other formats contain this information. Raise FileFormatError if the upload is
    malformed, TooLargeError if it or its graph is too large.
    """
    files = {name: (folder / BODY).read_bytes()}
    if content_type.startswith("multipart/form-data"):
        files = asyncio.run(_read_form(content_type, files[name], name))
    elif not name:
        raise ServiceError("the file has no name; give one, as in ?name=links.csv.")
    num_bytes, first = sum(map(len, files.values())), next(iter(files))
    if len(files) > 1 or Path(first).suffix.lower() == NOTE:
        path = _write_notes(folder / "notes", files)
        title = _shorten_title(name or (path.name if path.name != "notes" else "") or "notes")
    else:
        title = _shorten_title(first.replace("\\", "/").rpartition("/")[2] or "graph")
        path = folder / f"graph{Path(title).suffix.lower()}"
        if path.suffix not in UPLOAD_EXTENSIONS:
            known = ", ".join((*UPLOAD_EXTENSIONS, NOTE))
            raise FileFormatError(f"{title}: the extension {path.suffix!r} is not supported; use one of {known}.")
        path.write_bytes(files[first])
    if num_bytes > max_bytes:
        raise TooLargeError(f"{title}: has {num_bytes:,} bytes; at most {max_bytes:,} are allowed.")
    try:
        graph = read_graph(path, directed=directed or None)
    except CuriographError as error:
        raise type(error)(str(error).replace(str(path), title).replace(path.name, title)) from None
    write_graph_file(_check_graph(graph, title), folder / GRAPH)
    return title


async def _read_form(content_type: str, body: bytes, name: str) -> dict[str, bytes]:
    """Return the files of a form by their names; `name` replaces that of a single file."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    request = Request({"type": "http", "headers": [(b"content-type", content_type.encode("latin-1"))]}, receive)
    try:
        form = await request.form(max_files=MAX_FILES, max_fields=8)
    except MultiPartException as error:
        raise ServiceError(f"the form cannot be read: {error.message}", 400, "BadRequest") from None
    files: dict[str, bytes] = {}
    for file in form.getlist("file"):
        if isinstance(file, UploadFile):
            if file.filename in files:
                raise FileFormatError(f"two files are called {quote_value(file.filename)}; send each once.")
            files[file.filename or ""] = await file.read()
    if not files:
        raise ServiceError("the form has no file; send it in the field `file`.")
    return dict.fromkeys([name], *files.values()) if name and len(files) == 1 else files


def _write_notes(folder: Path, files: dict[str, bytes]) -> Path:
    """Write notes into a folder, and nothing anywhere else; return the folder that contains all of them."""
    seen: set[str] = set()
    for name, content in files.items():
        parts = name.split("/")
        is_path = name.isprintable() and "\\" not in name and not any(part in ("", ".", "..") for part in parts)
        if not is_path or ":" in parts[0] or max(len(part.encode()) for part in parts) > 255 or len(parts) > 20:
            raise FileFormatError(
                f"a note is called {quote_value(name)}; give its path inside the folder, as in a/b.md."
            )
        if Path(name).suffix.lower() != NOTE:
            raise FileFormatError(f"{shorten_text(name)}: is no note; send one graph file, or only {NOTE} files.")
        if name.casefold() in seen:
            raise FileFormatError(f"two notes are called {quote_value(name)}, but for case; rename one of them.")
        seen.add(name.casefold())
        path = folder.joinpath(*parts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:  # a note that is also a folder
            raise FileFormatError(f"{shorten_text(name)}: cannot be written ({error.strerror}); rename it.") from None
    tops = {name.partition("/")[0] for name in files if "/" in name} if all("/" in name for name in files) else set()
    return folder / tops.pop() if len(tops) == 1 else folder


def _shorten_title(name: str) -> str:
    return shorten_text(name[-_MAX_TITLE:], _MAX_TITLE)


def _check_graph(graph: Graph, title: str) -> Graph:
    """Return a graph whose labels are all integers or all text; raise an error if it is too large or has no edges."""
    for unit, count, maximum in (("nodes", graph.num_nodes, MAX_NODES), ("edges", graph.num_edges, MAX_EDGES)):
        if count > maximum:
            raise TooLargeError(f"{title}: has {count:,} {unit}; at most {maximum:,} are allowed.")
    require_edges(graph)
    texts = list(map(str, graph.names))
    longest = max(texts, key=len)
    if len(longest) > MAX_LABEL:
        number = len(longest)
        raise TooLargeError(f"{title}: the label {quote_value(longest)} has {number:,} characters, above {MAX_LABEL}.")
    if {type(label) for label in graph.names} in ({int}, {str}):
        return graph
    if len(set(texts)) < len(texts):
        raise FileFormatError(f"{title}: two labels are the same text; rename one of them.")
    return Graph(
        graph.indptr,
        graph.indices,
        graph.weights,
        directed=graph.directed,
        names=as_labels(texts, graph.titles),
        cleaning=graph.cleaning,
        loops=graph.loops,
        visitors=graph.visitors,
    )
