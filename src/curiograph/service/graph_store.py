"""The graphs that a service offers: toys, one of each family, a novel, data sets, files of the host, uploads."""

from __future__ import annotations

import logging
import secrets
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from curiograph.errors import CuriographError, FileFormatError, SettingError, UnknownNameError
from curiograph.graph import toys
from curiograph.graph.generators import generate
from curiograph.graph.graph import Graph, require_edges
from curiograph.graph.io.read import EXTENSIONS, read_graph
from curiograph.human.data.load import find_dataset, load_dataset
from curiograph.human.data.registry import READERS
from curiograph.human.prediction.protocol import make_study
from curiograph.messages import shorten_text
from curiograph.recommendation.recommender import Recommender
from curiograph.service.config import Limits
from curiograph.service.labels import Labels

_LOG = logging.getLogger("curiograph.service")

Kind = Literal["built-in", "data set", "file", "upload"]


class TooLargeError(CuriographError):
    """An upload beyond the limits."""


class UnreadableGraphError(CuriographError):
    """A graph of the host's that cannot be read; what is wrong is in the log, as it may name the host's files."""


@dataclass(frozen=True)
class GraphInfo:
    """A graph on the shelf."""

    id: str
    title: str
    kind: Kind
    nodes: int | None = None
    """None for a graph that nobody has asked for yet: it is read when someone does."""
    edges: int | None = None
    directed: bool | None = None


def _les_miserables() -> Graph:
    """Characters of the novel who appear together (Knuth's graph, as networkx ships it)."""
    import networkx

    return Graph.from_edges(list(networkx.les_miserables_graph().edges))


BUILT_IN_GRAPHS: dict[str, tuple[str, Callable[[], Graph]]] = {
    "toy:library": ("Library: twelve subjects", toys.library),
    "les-miserables": ("Les Misérables: who appears with whom", _les_miserables),
    "rg": ("Random geometric, 50 nodes", lambda: generate("rg", nodes=50, seed=3)),
    "ws": ("Small world, 50 nodes", lambda: generate("ws", nodes=50, seed=3)),
    "ba": ("Preferential attachment, 50 nodes", lambda: generate("ba", nodes=50, seed=3)),
    "er": ("Uniformly random, 50 nodes", lambda: generate("er", nodes=50, seed=3)),
    "toy:grid": ("Grid", toys.grid),
    "toy:cycle": ("Ring", toys.cycle),
    "toy:complete": ("Everything linked", toys.complete),
}
_TITLES = {
    "wikispeedia": "Wikispeedia: articles and their links",
    "movielens": "MovieLens: movies that people rate together",
    "books": "Amazon Books: books that people rate together",
}


class GraphStore:
    """Graphs by id. Several threads may ask at once: each graph is read once.

    >>> shelf = GraphStore()
    >>> shelf.graph("toy:library")
    Graph(12 nodes, 18 edges, undirected)
    >>> shelf.add("mine.csv", b"a,b\\nb,c\\n").title
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
        self._makers: dict[str, Callable[[], Graph]] = {name: make for name, (_, make) in BUILT_IN_GRAPHS.items()}
        self._shelved = {name: GraphInfo(name, title, "built-in") for name, (title, _) in BUILT_IN_GRAPHS.items()}
        for name in READERS:
            if find_dataset(name, data) is not None:
                self._put(GraphInfo(name, _TITLES[name], "data set"), partial(_from_data, name, data))
        for name, path in (files or {}).items():
            if name in self._shelved:
                raise SettingError(f"there is a graph {name!r} already; give your file another name, as in my-{name}.")
            self._put(GraphInfo(name, name, "file"), partial(read_graph, path, directed=True if directed else None))
        self._graphs: dict[str, Graph] = {}
        self._labels: dict[str, Labels] = {}
        self._recommenders: dict[str, Recommender] = {}
        self._locks = {name: threading.Lock() for name in self._shelved}
        self._lock = threading.RLock()

    def _put(self, shelved: GraphInfo, make: Callable[[], Graph]) -> None:
        self._shelved[shelved.id], self._makers[shelved.id] = shelved, make

    @property
    def first(self) -> str:
        """The graph to show to someone who has not chosen yet."""
        return "wikispeedia" if "wikispeedia" in self._shelved else "les-miserables"

    def entries(self) -> list[GraphInfo]:
        """All graphs, uploads last."""
        with self._lock:
            return [self._entry(name) for name in self._shelved]

    def entry(self, name: str) -> GraphInfo:
        """The graph by that id, read if need be."""
        self.graph(name)
        with self._lock:
            self._check(name)
            return self._entry(name)

    def _entry(self, name: str) -> GraphInfo:
        shelved, graph = self._shelved[name], self._graphs.get(name)
        if graph is None:
            return shelved
        return GraphInfo(name, shelved.title, shelved.kind, graph.num_nodes, graph.num_edges, graph.directed)

    def graph(self, name: str) -> Graph:
        """The graph by that id; raises UnknownNameError if there is none, UnreadableGraphError if it is broken."""
        with self._lock:
            self._check(name)
            lock, make = self._locks[name], self._makers[name]
            if self._shelved[name].kind == "upload":
                self._shelved[name] = self._shelved.pop(name)  # the last one used stands last
                return self._graphs[name]
        with lock:
            if name not in self._graphs:
                self._graphs[name] = _made(name, make)
            return self._graphs[name]

    def _check(self, name: str) -> None:
        if name not in self._shelved:
            known = ", ".join(self._shelved)
            raise UnknownNameError(f"there is no graph {shorten_text(name, 80)!r}; the graphs are {known}.")

    def labels(self, name: str) -> Labels:
        """What labels mean in a graph; on a large one, made in a second or two the first time."""
        graph = self.graph(name)
        with self._lock:
            known = self._labels.get(name)
        if known is None:
            known = Labels(graph)
            with self._lock:
                if name in self._shelved:  # an upload may just have made room for another
                    known = self._labels.setdefault(name, known)
        return known

    def recommender(self, name: str) -> Recommender:
        """The recommender of a graph, kept with what it has found out."""
        graph = self.graph(name)
        with self._lock:  # making one computes nothing
            known = self._recommenders.get(name)
            if known is None or known.graph is not graph:
                known = Recommender(graph)
                if name in self._shelved:  # an upload may just have made room for another
                    self._recommenders[name] = known
            return known

    def add(self, filename: str, content: bytes, directed: bool = False) -> GraphInfo:
        """Put an uploaded file on the shelf; raises FileFormatError or TooLargeError and keeps nothing if it is bad.

        `directed` is for edge lists, which do not say; other formats do.
        """
        title = shorten_text(filename.replace("\\", "/").rpartition("/")[2] or "graph", 80)
        graph = self._read(title, content, directed)
        name = f"upload-{secrets.token_hex(6)}"
        with self._lock:
            uploads = [other for other, shelved in self._shelved.items() if shelved.kind == "upload"]
            for oldest in uploads[: max(0, len(uploads) + 1 - self.limits.uploads)]:
                self.remove(oldest)
            self._locks[name], self._graphs[name] = threading.Lock(), graph
            self._put(GraphInfo(name, title, "upload"), lambda: graph)
            return self._entry(name)

    def _read(self, title: str, content: bytes, directed: bool) -> Graph:
        if len(content) > self.limits.upload_bytes:
            raise TooLargeError(f"{title}: has {len(content):,} bytes; at most {self.limits.upload_bytes:,} are taken.")
        ending = Path(title).suffix.lower()
        if ending not in EXTENSIONS:
            raise FileFormatError(
                f"{title}: the ending {ending!r} is not known; known endings are {', '.join(EXTENSIONS)}."
            )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"graph{ending}"
            path.write_bytes(content)
            try:
                graph = read_graph(path, directed=True if directed else None)
            except CuriographError as error:
                raise type(error)(str(error).replace(str(path), title).replace(path.name, title)) from None
        for what, count, most in (
            ("nodes", graph.num_nodes, self.limits.nodes),
            ("edges", graph.num_edges, self.limits.edges),
        ):
            if count > most:
                raise TooLargeError(f"{title}: has {count:,} {what}; at most {most:,} are taken.")
        require_edges(graph)
        return graph

    def remove(self, name: str) -> None:
        """Take an upload off the shelf; what the host offers stays."""
        with self._lock:
            if name not in self._shelved or self._shelved[name].kind != "upload":
                raise UnknownNameError(f"there is no upload {shorten_text(name, 80)!r}; only uploads can be removed.")
            for kept in (self._shelved, self._makers, self._graphs, self._labels, self._recommenders, self._locks):
                kept.pop(name, None)


def _made(name: str, make: Callable[[], Graph]) -> Graph:
    """A graph of the host's; where it cannot be read, the log alone says why."""
    try:
        return make()
    except (CuriographError, OSError) as error:
        _LOG.error("the graph %s cannot be read: %s", name, error)
        raise UnreadableGraphError("this graph cannot be read; the server's log says why.") from None


def _from_data(name: str, data: Path | None) -> Graph:
    """The graph of a data set: its own, or what the first half of its people rate together, as `predict` makes it."""
    dataset = load_dataset(name, data, lenient=True)
    return make_study(dataset).graph if dataset.graph is None else dataset.graph
