"""The graphs of a service: built-in ones, data sets, files of the server, uploads."""

from __future__ import annotations

import secrets
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Literal

from curiograph.errors import CuriographError, FileFormatError, SettingError
from curiograph.graph import toys
from curiograph.graph.generators import generate
from curiograph.graph.graph import Graph, require_edges
from curiograph.graph.io.read import EXTENSIONS, read_graph
from curiograph.human.data.datasets import KINDS, find_dataset, load_dataset
from curiograph.human.prediction.protocol import make_study
from curiograph.messages import quote_value, shorten_text
from curiograph.parallel.shared_arrays import Shared, share
from curiograph.recommendation.recommender import Recommender
from curiograph.service.config import Limits
from curiograph.service.errors import LOG, NotFoundError, TooLargeError, UnreadableGraphError
from curiograph.service.labels import LabelIndex
from curiograph.service.prepared import PreparedRecommender

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
        self.num_kept = 0
        """Numbers that the recommender keeps, prepared while answering requests."""
        self._recommender: Recommender | None = None
        self._shared: Shared | None = None
        self._lock, self._sharing_lock = threading.Lock(), threading.Lock()

    @property
    def recommender(self) -> Recommender:
        """The recommender, which keeps what it has prepared; raises if the graph has no edges."""
        with self._lock:
            if self._recommender is None:
                self._recommender = Recommender(self.graph)
            return self._recommender

    @property
    def shared(self) -> Shared:
        """Handle with which worker processes open the graph without copying its arrays."""
        with self._sharing_lock:
            if self._shared is None:
                stack = ExitStack()
                self._shared = stack.enter_context(share(self.graph))
                weakref.finalize(self, stack.close)
            return self._shared

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
    limits : Limits, optional
        Limits of uploads.
    files : mapping from str to Path, optional
        Graph files of the server by id.
    data : Path, optional
        Folder of data sets; `CURIOGRAPH_DATA` by default.
    directed : bool
        Whether edge lists in `files` are directed.

    Examples
    --------
    >>> GraphStore().open("toy:library").graph
    Graph(12 nodes, 18 edges, undirected)
    """

    default_id: ClassVar = "toy:everyday"
    """Id of the graph that the page shows first."""

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
        for name in KINDS:
            if find_dataset(name, data) is not None:
                read = partial(_read_dataset, name, data)
                self._entries[name] = StoredGraph(name, _DATASET_TITLES[name], "data set", read)
        for name, path in (files or {}).items():
            if name in self._entries:
                raise SettingError(f"there is a graph {name!r} already; give your file another name, as in my-{name}.")
            read = partial(read_graph, path, directed=True if directed else None)
            self._entries[name] = StoredGraph(name, name, "file", read)

    def list_graphs(self) -> list[GraphInfo]:
        """List all graphs, uploads last."""
        with self._lock:
            return [entry.info for entry in self._entries.values()]

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
        """Return a graph, reading it if necessary; raise NotFoundError or UnreadableGraphError."""
        entry = self.find(graph_id)
        with entry.lock:
            if entry.opened is None:
                try:
                    graph = entry.read()
                except (CuriographError, OSError) as error:
                    LOG.error("the graph %s cannot be read: %s", graph_id, error)
                    raise UnreadableGraphError("this graph cannot be read; see the log of the server.") from None
                entry.opened = OpenGraph(graph)
            return entry.opened

    def check_upload(self, filename: str, content: bytes) -> str:
        """Return the title of an upload; raise TooLargeError or FileFormatError if it is not worth reading."""
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
        return title

    def keep_upload(self, title: str, opened: OpenGraph) -> GraphInfo:
        """Add an uploaded graph; the least recently used one is removed if there are too many."""
        entry = StoredGraph(f"upload-{secrets.token_hex(6)}", title, "upload", lambda: opened.graph, opened)
        with self._lock:
            uploads = [other.id for other in self._entries.values() if other.kind == "upload"]
            for least_recently_used in uploads[: max(0, len(uploads) + 1 - self.limits.uploads)]:
                del self._entries[least_recently_used]
            self._entries[entry.id] = entry
        return entry.info

    def remove_upload(self, graph_id: str) -> None:
        """Remove an upload; other graphs cannot be removed."""
        with self._lock:
            entry = self._entries.get(graph_id)
            if entry is None or entry.kind != "upload":
                raise NotFoundError(f"there is no upload {quote_value(graph_id)}; only uploads can be removed.")
            del self._entries[graph_id]


def _read_dataset(name: str, data: Path | None) -> Graph:
    """Read the graph of a data set: its own, or the one that `predict` builds from the graph users' ratings."""
    dataset = load_dataset(name, data)
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


def read_upload(path: Path, title: str, directed: bool, limits: Limits, report: object = None) -> Graph:
    """Read an uploaded file; raise FileFormatError if it is malformed, TooLargeError if the graph is too large.

    `directed` is for edge lists; other formats contain this information.
    """
    try:
        graph = read_graph(path, directed=True if directed else None)
    except CuriographError as error:
        raise type(error)(str(error).replace(str(path), title).replace(path.name, title)) from None
    for unit, count, maximum in (("nodes", graph.num_nodes, limits.nodes), ("edges", graph.num_edges, limits.edges)):
        if count > maximum:
            raise TooLargeError(f"{title}: has {count:,} {unit}; at most {maximum:,} are allowed.")
    require_edges(graph)
    return graph
