"""Read a graph from a file; the ending says what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, as_path, check_file
from curiograph.graph.graph import Graph, as_flag
from curiograph.graph.io.edge_list import DELIMITERS, read_edge_list
from curiograph.graph.io.gml import read_gml
from curiograph.graph.io.graphml import read_graphml
from curiograph.graph.io.node_link import read_node_link
from curiograph.graph.io.npz import read_npz

_READERS: dict[str, Callable[[Path, bool | None], Graph]] = {
    **dict.fromkeys(DELIMITERS, read_edge_list),
    ".graphml": read_graphml,
    ".gml": read_gml,
    ".json": read_node_link,
    ".npz": read_npz,
}
EXTENSIONS = tuple(_READERS)
"""Of the files that `read_graph` reads."""


def read_graph(path: PathLike, *, directed: bool | None = None) -> Graph:
    """Read a graph.

    Parameters
    ----------
    path : an edge list (`.tsv`: tabs, `.csv`: commas, `.txt`, `.edges`, `.edgelist`: blanks), `.graphml`, `.gml`,
        node-link `.json`, or curiograph's own `.npz`.
    directed : by default what the file says; edge lists, which do not say, are undirected. A value that contradicts
        the file is an error.

    Edge lists have one edge a line: two names and perhaps a weight. Blank lines, comments and a header such as
    `source target` are skipped. Every line that starts with `#` is a comment, so a name that starts with `#` needs
    quotes in a `.csv`, or another format. If all names are whole numbers, labels are numbers, otherwise text.
    Self-loops are dropped and parallel edges merged; `cleaning` of the graph counts both.

    Opening an `.npz` reads the file once, to check it, but copies nothing: the arrays stay in the file, so that
    processes share them, and the file must not be changed in place while the graph is used. `.graphml`, `.gml` and
    `.json` are read whole, at most 256 MiB.

    Raises
    ------
    FileFormatError : for a file that is missing, malformed or not what its ending says; names the line where it can.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "links.tsv"
    ...     _ = path.write_text("a\\tb\\nb\\tc\\n")
    ...     read_graph(path, directed=True)
    Graph(3 nodes, 2 edges, directed)
    """
    path = as_path(path)
    directed = None if directed is None else as_flag(directed)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(_READERS)
        check_file(path)  # a wrong name or a folder is the likelier mistake
        raise FileFormatError(f"{path}: the ending {path.suffix!r} is not known; known endings are {known}.")
    graph = reader(path, directed)
    if directed is not None and graph.directed != directed:
        says = "directed" if graph.directed else "undirected"
        raise FileFormatError(
            f"{path}: the file says that the graph is {says}, but directed={directed} was given; leave directed out to "
            "take the graph as it is."
        )
    return graph
