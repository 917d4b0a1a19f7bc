"""The graphs of a service: built-in ones, datasets, files of the server, uploads; and hot reload of files."""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import CuriographError, FileFormatError, SettingError, quote_value
from curiograph.files import check_file, open_atomic
from curiograph.graph import toys
from curiograph.graph.generators import generate
from curiograph.graph.graph import Graph, require_edges
from curiograph.graph.io.formats import read_graph
from curiograph.graph.io.graph_file import read_graph_file, write_graph_file
from curiograph.graph.labels import LabelReader
from curiograph.human.data.datasets import KINDS, find_dataset, load_dataset
from curiograph.human.prediction.predict import make_study
from curiograph.plotting.graph_layout import compute_layout
from curiograph.recommendation.parts_file import read_settings
from curiograph.recommendation.rankers import PageRankRanker
from curiograph.recommendation.recommender import Recommender
from curiograph.service.error_responses import LOG, InternalError, NotFoundError
from curiograph.service.json_labels import LabelIndex
from curiograph.service.server_settings import ServiceSettings

UNFINISHED = ".upload-"
"""Beginning of the names of folders of uploads that are being read."""
DEFAULT_GRAPH = "toy:everyday"
"""Id of the graph that the page shows first."""
_EXTENSION = ".safetensors"
_MAX_RECOMMENDERS = 16
"""Recommenders of a graph that are kept for later requests of the same settings."""
Result = TypeVar("Result")
GraphKind = Literal["built-in", "data set", "file", "upload"]
Stamp = tuple[tuple[int, int, int] | None, ...]
"""Inode, time of change and size of each file of a graph; None for a missing one."""


@dataclass(frozen=True)
class GraphInfo:
    """A graph of the service; its size is null until it has been read."""

    id: str
    title: str
    kind: GraphKind
    nodes: int | None = None
    edges: int | None = None
    directed: bool | None = None
    weighted: bool | None = None


class OpenGraph:
    """A graph in memory, with its labels and its recommender; in the server also with an index of the labels."""

    def __init__(self, graph: Graph, labels: LabelReader | None = None, file: Path | None = None) -> None:
        self.graph, self.file = graph, file
        self.labels = labels or LabelReader(graph)
        self.picture: bytes | None = None
        """The picture as compressed JSON, once it was requested."""
        self.answers: dict[str, bytes] = {}
        """Last views of walks and lists of gaps: every visitor begins with the same ones."""
        self.copy: Path | None = None
        """File that `write_copy` has written."""
        self.num_kept = 0
        """Numbers that the recommender keeps, prepared while answering requests."""
        self._lock = threading.Lock()

    @cached_property
    def recommender(self) -> Recommender:
        """The recommender, which keeps what it has prepared; raises if the graph has no edges."""
        return Recommender(self.graph)

    @cached_property
    def get_recommender(self) -> Callable[..., Recommender | None]:
        """Return `vary_recommender` of the default recommender; the last results are kept."""
        return lru_cache(_MAX_RECOMMENDERS)(partial(vary_recommender, self.recommender))

    @cached_property
    def places(self) -> Float64:
        """Coordinates of all nodes in pictures; worker processes share a file of them."""
        if self.file is None:
            return compute_layout(self.graph)
        path = self.file.with_name("places.npy")
        if not path.exists():
            with open_atomic(path) as file:
                np.save(file, compute_layout(self.graph))
        places: Float64 = np.load(path, mmap_mode="r")
        return places

    def write_copy(self) -> Path:
        """Return a file whose arrays worker processes map into memory; it is deleted with this object."""
        with self._lock:
            if self.copy is None:
                folder = tempfile.TemporaryDirectory(prefix="curiograph-")
                weakref.finalize(self, folder.cleanup)
                path = Path(folder.name) / f"graph{_EXTENSION}"
                write_graph_file(self.graph, path)
                self.copy = path
            return self.copy


def vary_recommender(default: Recommender, ranker: str, weights: Any, simulates: bool) -> Recommender | None:
    """Return a recommender of the components of another one by its ranker, weights (pairs), and whether it computes
    what is not prepared; if not, it uses the prepared nodes of a history, or PageRank if there are none. Return None if
    it would need further components."""
    known: dict[str, Any] = {**default.part_rankers}
    varied = Recommender(default.graph, ranker, weights=weights and dict(weights))
    if not varied.part_rankers.keys() <= known.keys():
        return None

    def share_parts(part: Any) -> Any:
        changes = {"recency": part.recency} if isinstance(part, PageRankRanker) else {}
        return replace(known[part.name], simulates=simulates, **changes)

    return varied.replace_parts(share_parts)


@dataclass
class StoredGraph:
    """An entry of the store."""

    id: str
    title: str
    kind: GraphKind
    read: Callable[[], Graph]
    """Function that reads the graph."""
    files: tuple[Path | None, Path | None] = (None, None)
    """File of the graph, and file of its prepared nodes."""
    client: str = ""
    """Address of the client that has uploaded it."""
    opened: OpenGraph | None = None
    """The graph, or None until it has been read."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Lock held while the graph is read."""
    loaded: Stamp = ()
    """Stamp of the files that `opened` was read from."""
    tried: Stamp = ()
    """Stamp of the files that were read last, even if they could not be used."""
    seen: Stamp = ()
    """Stamp of the files when they were last looked at."""

    @property
    def info(self) -> GraphInfo:
        """Description for clients."""
        if self.opened is None:
            return GraphInfo(self.id, self.title, self.kind)
        graph = self.opened.graph
        size, weighted = (graph.num_nodes, graph.num_edges), graph.weights is not None
        return GraphInfo(self.id, self.title, self.kind, *size, graph.directed, weighted)

    def load(self) -> OpenGraph:
        """Read the graph and its prepared nodes."""
        graph = self.read()
        opened = OpenGraph(graph, LabelIndex(graph))

        def load_parts(path: Path) -> None:
            opened.recommender = Recommender(graph, **read_settings(path))
            opened.recommender.load(path)
            opened.recommender.recommend([], 1)  # computes once what users without a history need

        if self.files[1] is not None:
            _read_copy(load_parts, self.files[1])
        return opened

    def get_stamp(self) -> Stamp:
        """Return what changes when a file of the graph does."""
        stamps: list[tuple[int, int, int] | None] = []
        for path in self.files:
            stamps.append(None)
            with suppress(OSError):  # such as a missing file
                found = path.stat() if path is not None else None
                stamps[-1] = found and (found.st_ino, found.st_mtime_ns, found.st_size)
        return tuple(stamps)


def _read_copy(read: Callable[[Path], Result], path: Path) -> Result:
    """Read a file; if it would be mapped into memory, read a copy that has no name afterwards, so that what is served
    does not change with the file. Errors name the file itself."""
    if path.suffix.lower() != _EXTENSION:
        return read(path)
    with tempfile.TemporaryDirectory(prefix="curiograph-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, path.name)
        try:
            shutil.copyfile(check_file(path), copy)
            return read(copy)
        except OSError as error:
            reason = f"cannot be copied ({error.strerror}); set TMPDIR to a folder with enough room"
            raise FileFormatError(f"{path}: {reason}.") from None
        except CuriographError as error:
            raise type(error)(str(error).replace(str(copy), str(path))) from None


def _read_les_miserables() -> Graph:
    """Read the graph of characters of the novel who appear together (by Knuth, included in networkx)."""
    import networkx

    return Graph.from_edges(list(networkx.les_miserables_graph().edges))


_BUILT_IN: dict[str, tuple[str, Callable[[], Graph]]] = {
    "toy:everyday": ("Everyday things", toys.everyday),
    "toy:library": ("Library: twelve subjects", toys.library),
    "les-miserables": ("Les Misérables: who appears with whom", _read_les_miserables),
    "rg": ("Random geometric, 50 nodes", partial(generate, "rg", nodes=50, seed=3)),
    "ws": ("Small world, 50 nodes", partial(generate, "ws", nodes=50, seed=3)),
    "ba": ("Preferential attachment, 50 nodes", partial(generate, "ba", nodes=50, seed=3)),
    "er": ("Uniformly random, 50 nodes", partial(generate, "er", nodes=50, seed=3)),
    "toy:grid": ("Grid", toys.grid),
    "toy:cycle": ("Ring", toys.cycle),
    "toy:complete": ("Everything linked", toys.complete),
}
_DATASET_TITLES = {
    "wikispeedia": "Wikispeedia: articles and their links",
    "movielens": "MovieLens: movies that people rate together",
    "books": "Amazon Books: books that people rate together",
}


def _read_dataset(name: str) -> Graph:
    """Read the graph of a dataset: its own, or the one that `predict` builds from the graph users' ratings."""
    dataset = load_dataset(name)
    return make_study(dataset).graph if dataset.graph is None else dataset.graph


class GraphStore:
    """Graphs by id, safe to use from several threads; each graph is read once, when it is first needed."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings, self._lock = settings, threading.Lock()
        entries = [StoredGraph(name, title, "built-in", read) for name, (title, read) in _BUILT_IN.items()]
        entries += [
            StoredGraph(name, _DATASET_TITLES[name], "data set", partial(_read_dataset, name))
            for name in KINDS
            if find_dataset(name) is not None
        ]
        self._entries = {entry.id: entry for entry in entries}
        for name, path in settings.graphs.items():
            if name in self._entries:
                raise SettingError(f"there is a graph {name!r} already; give your file another name, as in my-{name}.")
            read = partial(_read_copy, partial(read_graph, directed=settings.directed or None), path)
            self._entries[name] = StoredGraph(name, name, "file", read, (path, None))
        for name, path in settings.parts.items():
            if name not in self._entries:
                names = ", ".join(self._entries)
                raise SettingError(f"there are prepared nodes of the graph {name!r}; the graphs are {names}.")
            self._entries[name].files = (self._entries[name].files[0], path)
        self._from_files = [entry for entry in self._entries.values() if any(entry.files)]
        for entry in self._from_files:
            entry.loaded = entry.tried = entry.seen = entry.get_stamp()
        self._reload_lock = threading.Lock()
        if settings.store is not None:
            try:
                settings.store.mkdir(mode=0o700, exist_ok=True)
            except OSError as error:
                raise SettingError(
                    f"--store {settings.store} cannot be used ({error.strerror}); give a folder."
                ) from None

    @cached_property
    def folder(self) -> Path:
        """Folder of the files of uploads; they are deleted with this object unless they are to be kept."""
        if self._settings.store is not None:
            return self._settings.store
        temporary = tempfile.TemporaryDirectory(prefix="curiograph-")
        weakref.finalize(self, temporary.cleanup)
        return Path(temporary.name)

    def list_graphs(self) -> list[GraphInfo]:
        """List all graphs except uploads."""
        with self._lock:
            return [entry.info for entry in self._entries.values() if entry.kind != "upload"]

    def find(self, graph_id: str) -> StoredGraph:
        """Return the entry of a graph; raise NotFoundError if it does not exist."""
        with self._lock:
            entry = self._entries.get(graph_id)
            if entry is None:
                raise NotFoundError(f"there is no graph {quote_value(graph_id)}; GET /api/v1/graphs lists all.")
            if entry.kind == "upload":  # keep uploads in order of use
                self._entries[graph_id] = self._entries.pop(graph_id)
            return entry

    def open(self, graph_id: str) -> OpenGraph:
        """Return a graph, reading it if necessary; the log gives the reason if it cannot be read."""
        entry = self.find(graph_id)
        with entry.lock:
            if entry.opened is None:
                try:
                    entry.opened = entry.load()
                except (CuriographError, OSError) as error:
                    LOG.error("the graph %s cannot be read: %s", graph_id, error)
                    raise InternalError("this graph cannot be read; see the log of the server.") from None
            return entry.opened

    def open_files(self) -> None:
        """Read all graphs of files; raise the error of the first that cannot be read. Find kept uploads."""
        if self._settings.store is not None:
            self._find_uploads()
        for entry in self._from_files:
            with entry.lock:
                entry.opened = entry.opened or entry.load()

    def reload(self, *, poll: bool = False) -> dict[str, list[str]]:
        """Reload graphs whose files changed; return the ids of those reloaded, failed and unchanged.

        A graph and its prepared nodes are read completely before they replace the old ones, so that requests in
        progress keep what they began with. If a new file cannot be used, the old graph stays, and the log says why. A
        `poll` waits until a file is complete, equal in two polls, and tries one that cannot be used only once.
        """
        result: dict[str, list[str]] = {"reloaded": [], "failed": [], "unchanged": []}
        with self._reload_lock:
            for entry in self._from_files:
                stamp, kind = entry.get_stamp(), "unchanged"
                is_changed = stamp == entry.seen != entry.tried if poll else stamp != entry.loaded
                entry.seen = stamp
                if is_changed:
                    entry.tried = stamp
                    try:
                        opened = entry.load()
                        require_edges(opened.graph)
                        with entry.lock:
                            entry.opened, entry.loaded = opened, stamp
                        kind = "reloaded"
                        LOG.warning("the graph %s was reloaded", entry.id)  # the level that is shown by default
                    except (CuriographError, OSError) as error:
                        kind = "failed"
                        LOG.error("the graph %s was not reloaded, and the old one stays: %s", entry.id, error)
                result[kind].append(entry.id)
        return result

    def keep_upload(self, file: Path, title: str, client: str) -> GraphInfo:
        """Move the file of an uploaded graph to the store, and add the graph.

        If there are too many, the least recently used one is removed: of this client, if it has any.
        """
        entry = self._create_upload(f"upload-{secrets.token_hex(16)}", title, client)
        with open_atomic(self.folder / f"{entry.id}.json") as stream:
            stream.write(json.dumps({"title": title, "client": client}).encode())
        path = self.folder / f"{entry.id}{_EXTENSION}"
        file.replace(path)
        entry.opened = entry.load()
        with self._lock:
            uploads = [other for other in self._entries.values() if other.kind == "upload"]
            own = [other for other in uploads if other.client == client]
            is_full = len(own) >= self._settings.uploads_per_client or len(uploads) >= self._settings.uploads
            replaced = self._entries.pop((own or uploads)[0].id) if is_full else None
            self._entries[entry.id] = entry
        if replaced is not None:
            self._delete_files(replaced.id)
        return entry.info

    def _create_upload(self, upload_id: str, title: str, client: str) -> StoredGraph:
        read = partial(read_graph_file, self.folder / f"{upload_id}{_EXTENSION}")
        return StoredGraph(upload_id, title, "upload", read, client=client)

    def _find_uploads(self) -> None:
        """Add the uploads that an earlier service has kept; the log names those that cannot be used."""
        for folder in self.folder.glob(f"{UNFINISHED}*"):  # of a service that was killed
            shutil.rmtree(folder, ignore_errors=True)
        for path in sorted(self.folder.glob("upload-*.json"), key=lambda path: path.stat().st_mtime):
            try:
                facts = json.loads(path.read_bytes())
                entry = self._create_upload(path.stem, str(facts["title"]), str(facts["client"]))
                entry.read()  # checks it
            except (CuriographError, OSError, ValueError, KeyError, TypeError) as error:
                LOG.error("the upload %s is left out: %s", path.stem, error)
                continue
            with self._lock:
                self._entries[entry.id] = entry

    def remove_upload(self, graph_id: str) -> None:
        """Remove an upload; other graphs cannot be removed."""
        with self._lock:
            entry = self._entries.get(graph_id)
            if entry is None or entry.kind != "upload":
                raise NotFoundError(f"there is no upload {quote_value(graph_id)}; only uploads can be removed.")
            del self._entries[graph_id]
        self._delete_files(graph_id)

    def _delete_files(self, graph_id: str) -> None:
        for extension in (_EXTENSION, ".json"):
            with suppress(OSError):  # on Windows, a file that is mapped stays
                (self.folder / f"{graph_id}{extension}").unlink(missing_ok=True)
