"""The graphs of a service: built-in ones, data sets, files of the server, uploads."""

from __future__ import annotations

import logging
import secrets
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

from curiograph.errors import CuriographError, FileFormatError, SettingError
from curiograph.graph import toys
from curiograph.graph.generators import generate
from curiograph.graph.graph import Graph, require_edges
from curiograph.graph.io.read import EXTENSIONS, read_graph
from curiograph.human.data.load import find_dataset, load_dataset
from curiograph.human.data.registry import READERS
from curiograph.human.prediction.protocol import make_study
from curiograph.messages import shorten_text
from curiograph.parallel.shared_arrays import Shared, share
from curiograph.recommendation.recommender import Recommender
from curiograph.service.config import Limits
from curiograph.service.errors import NotFoundError, TooLargeError, UnreadableGraphError
from curiograph.service.labels import LabelIndex
from curiograph.service.prepared import PreparedRecommender

_LOG = logging.getLogger("curiograph.service")

UPLOAD_EXTENSIONS = tuple(extension for extension in EXTENSIONS if extension != ".mat")
"""File extensions of uploads; a small .mat can contain a full matrix that needs gigabytes."""
_MAX_TITLE = 80
"""Maximum number of characters of the title of an upload."""
_MAX_NAME = 10_000
GraphKind = Literal["built-in", "data set", "file", "upload"]


@dataclass(frozen=True)
class GraphInfo:
    """A graph of the service; its size is null until it has been read."""

    id: str
    title: str
    kind: GraphKind
    nodes: int | None
    edges: int | None
    directed: bool | None


class OpenGraph:
    """A graph in memory, with the index of its labels and its recommender."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.labels = LabelIndex(graph)
        self._recommender: Recommender | None = None
        self._lock = threading.Lock()

    @property
    def recommender(self) -> Recommender:
        """The recommender, which keeps what it has prepared; raises if the graph has no edges."""
        with self._lock:
            if self._recommender is None:
                self._recommender = Recommender(self.graph)
            return self._recommender

    @cached_property
    def shared(self) -> Shared:
        """Handle with which worker processes open the graph without copying its arrays."""
        stack = ExitStack()
        handle = stack.enter_context(share(self.graph))
        weakref.finalize(self, stack.close)
        return handle

    @cached_property
    def prepared_recommender(self) -> PreparedRecommender:
        """The recommender that uses only what has been prepared."""
        return PreparedRecommender(self.recommender)


@dataclass
class StoredGraph:
    """An entry of the store."""

    id: str
    title: str
    kind: GraphKind
    read: Callable[[], Graph]
    """Function that reads the graph."""
    opened: OpenGraph | None = None
    """The graph, or None until it has been read."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Lock held while the graph is read."""

    @property
    def info(self) -> GraphInfo:
        """Description for clients."""
        graph = None if self.opened is None else self.opened.graph
        return GraphInfo(
            id=self.id,
            title=self.title,
            kind=self.kind,
            nodes=None if graph is None else graph.num_nodes,
            edges=None if graph is None else graph.num_edges,
            directed=None if graph is None else graph.directed,
        )


def _read_les_miserables() -> Graph:
    """Read the graph of characters of the novel who appear together (by Knuth, included in networkx)."""
    import networkx

    return Graph.from_edges(list(networkx.les_miserables_graph().edges))


BUILT_IN_GRAPHS: dict[str, tuple[str, Callable[[], Graph]]] = {
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


class GraphStore:
    """Graphs by id, safe to use from several threads; each graph is read once, when it is first needed.

    Parameters
    ----------
    files : graph files of the server by id.
    data : folder of data sets; `CURIOGRAPH_DATA` by default.
    directed : whether edge lists in `files` are directed.

    >>> store = GraphStore()
    >>> store.open("toy:library").graph
    Graph(12 nodes, 18 edges, undirected)
    >>> store.add_upload("mine.csv", b"a,b\\nb,c\\n").title
    'mine.csv'
    """

    def __init__(
        self,
        limits: Limits | None = None,
        files: Mapping[str, Path] | None = None,
        data: Path | None = None,
        directed: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        self._entries = {
            name: StoredGraph(name, title, "built-in", read) for name, (title, read) in BUILT_IN_GRAPHS.items()
        }
        self._lock = threading.Lock()
        for name in READERS:
            if find_dataset(name, data) is not None:
                read = partial(_read_dataset, name, data)
                self._entries[name] = StoredGraph(name, _DATASET_TITLES[name], "data set", read)
        for name, path in (files or {}).items():
            if name in self._entries:
                raise SettingError(f"there is a graph {name!r} already; give your file another name, as in my-{name}.")
            read = partial(read_graph, path, directed=True if directed else None)
            self._entries[name] = StoredGraph(name, name, "file", read)

    @property
    def default_id(self) -> str:
        """Id of the graph that the page shows first."""
        return "toy:everyday"

    def list_graphs(self) -> list[GraphInfo]:
        """List all graphs, uploads last."""
        with self._lock:
            return [entry.info for entry in self._entries.values()]

    def find(self, graph_id: str) -> StoredGraph:
        """Return the entry of a graph; raise NotFoundError if it does not exist."""
        with self._lock:
            entry = self._entries.get(graph_id)
            if entry is None:
                known = ", ".join(self._entries)
                raise NotFoundError(f"there is no graph {shorten_text(graph_id, 80)!r}; the graphs are {known}.")
            if entry.kind == "upload":  # keep uploads in order of use
                self._entries[graph_id] = self._entries.pop(graph_id)
            return entry

    def open(self, graph_id: str) -> OpenGraph:
        """Return a graph, reading it if necessary; raise NotFoundError or UnreadableGraphError."""
        entry = self.find(graph_id)
        with entry.lock:
            if entry.opened is None:
                try:
                    graph = entry.read()
                except (CuriographError, OSError) as error:
                    _LOG.error("the graph %s cannot be read: %s", graph_id, error)
                    raise UnreadableGraphError("this graph cannot be read; see the log of the server.") from None
                entry.opened = OpenGraph(graph)
            return entry.opened

    def check_upload(self, filename: str, content: bytes) -> None:
        """Raise TooLargeError or FileFormatError if an upload is not worth reading."""
        title = shorten_file_name(filename)
        if len(content) > self.limits.upload_bytes:
            raise TooLargeError(
                f"{title}: has {len(content):,} bytes; at most {self.limits.upload_bytes:,} are allowed."
            )
        extension = Path(title).suffix.lower()
        if extension not in UPLOAD_EXTENSIONS:
            raise FileFormatError(
                f"{title}: the extension {extension!r} is not supported; use one of {', '.join(UPLOAD_EXTENSIONS)}."
            )

    def keep_upload(self, filename: str, graph: Graph) -> GraphInfo:
        """Add an uploaded graph; raise TooLargeError, without adding anything, if it is too large."""
        title, limits = shorten_file_name(filename), self.limits
        for unit, count, maximum in (
            ("nodes", graph.num_nodes, limits.nodes),
            ("edges", graph.num_edges, limits.edges),
        ):
            if count > maximum:
                raise TooLargeError(f"{title}: has {count:,} {unit}; at most {maximum:,} are allowed.")
        require_edges(graph)
        entry = StoredGraph(f"upload-{secrets.token_hex(6)}", title, "upload", lambda: graph, OpenGraph(graph))
        with self._lock:
            uploads = [other.id for other in self._entries.values() if other.kind == "upload"]
            for least_recently_used in uploads[: max(0, len(uploads) + 1 - limits.uploads)]:
                del self._entries[least_recently_used]
            self._entries[entry.id] = entry
        return entry.info

    def add_upload(self, filename: str, content: bytes, directed: bool = False) -> GraphInfo:
        """Add an uploaded file; raise FileFormatError or TooLargeError, without adding anything, if it is bad.

        `directed` is for edge lists; other formats contain this information. The service reads uploads in a worker
        process instead.
        """
        self.check_upload(filename, content)
        return self.keep_upload(filename, read_upload(filename, content, directed))

    def remove_upload(self, graph_id: str) -> None:
        """Remove an upload; other graphs cannot be removed."""
        with self._lock:
            entry = self._entries.get(graph_id)
            if entry is None or entry.kind != "upload":
                raise NotFoundError(f"there is no upload {shorten_text(graph_id, 80)!r}; only uploads can be removed.")
            del self._entries[graph_id]


def _read_dataset(name: str, data: Path | None) -> Graph:
    """Read the graph of a data set: its own, or the one that `predict` builds from the graph users' ratings."""
    dataset = load_dataset(name, data, lenient=True)
    return make_study(dataset).graph if dataset.graph is None else dataset.graph


def shorten_file_name(filename: str) -> str:
    """Return a file name without its folders; a long one loses characters in the middle, not its extension.

    >>> shorten_file_name("C:\\\\data\\\\links.csv"), len(shorten_file_name("a" * 200 + ".graphml"))
    ('links.csv', 80)
    """
    name = shorten_text(filename.replace("\\", "/").rpartition("/")[2] or "graph", _MAX_NAME)
    suffix = Path(name).suffix
    if len(name) <= _MAX_TITLE or len(suffix) > _MAX_TITLE // 2:
        return shorten_text(name, _MAX_TITLE)
    return f"{name[: _MAX_TITLE - 3 - len(suffix)]}...{suffix}"


def read_upload(filename: str, content: bytes, directed: bool, report: object = None) -> Graph:
    """Read the graph in an uploaded file; raise FileFormatError if it is malformed."""
    title = shorten_file_name(filename)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"graph{Path(title).suffix.lower()}"
        path.write_bytes(content)
        try:
            return read_graph(path, directed=True if directed else None)
        except CuriographError as error:
            raise type(error)(str(error).replace(str(path), title).replace(path.name, title)) from None
