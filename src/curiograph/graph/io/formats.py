"""Read and write graphs; the file extension determines the format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from curiograph.errors import FileFormatError, GraphError
from curiograph.files import PathLike, as_path, check_file
from curiograph.graph.edge_arrays import as_flag
from curiograph.graph.graph import Graph, as_graph
from curiograph.graph.io import library_formats
from curiograph.graph.io.edge_list import DELIMITERS, read_edge_list, write_edge_list
from curiograph.graph.io.graph_file import read_graph_file, write_graph_file
from curiograph.graph.io.node_link import read_node_link, write_node_link

_READERS: dict[str, Callable[[Path, bool | None], Graph]] = {
    **dict.fromkeys(DELIMITERS, read_edge_list),
    ".graphml": library_formats.read_graphml,
    ".gml": library_formats.read_gml,
    ".gexf": library_formats.read_gexf,
    ".mat": library_formats.read_matlab,
    ".json": read_node_link,
    ".safetensors": read_graph_file,
}
_WRITERS: dict[str, Callable[[Graph, PathLike], None]] = {
    ".safetensors": write_graph_file,
    ".json": write_node_link,
    ".graphml": library_formats.write_graphml,
    ".gml": library_formats.write_gml,
    **dict.fromkeys(DELIMITERS, write_edge_list),
}
EXTENSIONS = tuple(_READERS)
"""File extensions that `read_graph` supports."""


def read_graph(path: PathLike, *, directed: bool | None = None) -> Graph:
    """Read a graph; the file extension determines the format.

    Parameters
    ----------
    path : str or path
        An edge list (`.tsv`: tabs, `.csv`: commas or semicolons, `.txt`, `.edges`, `.edgelist`: whitespace),
        `.graphml`, `.gml`, `.gexf`, node-link `.json`, curiograph's own `.safetensors`, or an adjacency matrix: a
        `.csv` or `.tsv` with labels in the first row and the first column, or a `.mat` of MATLAB.
    directed : bool, optional
        Whether the graph is directed. Default: as stated in the file; undirected for edge lists, which do not state it;
        a matrix is directed if it is not symmetric. A value that contradicts the file raises FileFormatError.

    Returns
    -------
    Graph
        Parallel edges are merged and self-loops kept apart, see `Graph`; `cleaning` counts both.

    Raises
    ------
    FileFormatError
        If the file is missing, malformed or not of the format of its extension; the message names the line if possible.

    Notes
    -----
    Edge lists have one edge per line: two names and optionally a weight. Blank lines, comments and a header such as
    `source target`, or any other with a title above numeric weights, are skipped. Every line that starts with `#` is a
    comment, so a name that starts with `#` needs quotes in a `.csv`, or another format. Labels are integers if all
    names are integers, otherwise text. If some links of an edge list that is read as undirected lead both ways, there
    is a warning.

    A `.safetensors` is read once, for its checksum, but not copied: the arrays are memory-mapped, so that processes
    share them, and the file must not be changed in place while the graph is used. A `.mat` file, of version 5 to 7, has
    one square matrix; its nodes are labeled 1 to n, as MATLAB counts them.

    Examples
    --------
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
        check_file(path)  # a wrong name or a folder is the more likely mistake
        raise FileFormatError(f"{path}: the extension {path.suffix!r} is not known; known extensions are {known}.")
    graph = reader(path, directed)
    if directed is not None and graph.directed != directed:
        stated = "directed" if graph.directed else "undirected"
        raise FileFormatError(f"{path}: the graph in the file is {stated}, but directed={directed} was given; omit it.")
    return graph


def write_graph(graph: Graph, path: PathLike) -> None:
    """Write a graph to a file atomically; the file extension determines the format.

    Parameters
    ----------
    graph : Graph
        Graph to write.
    path : str or path
        The file to write. Its extension determines which labels are kept:

        - `.safetensors`: text, numbers, True, False, None and tuples of them; `read_graph` opens it as a memory map;
        - `.json`: the same, except None and infinite numbers;
        - `.graphml`, `.gml`: text; integers are read back as text;
        - edge lists (`.tsv`, `.csv`, `.txt`, `.edges`, `.edgelist`): integers if all labels are integers, otherwise
          text. Neither the order of the nodes nor the direction is stored: read a directed graph with
          `read_graph(path, directed=True)`. A node without edges raises GraphError.

    Raises
    ------
    GraphError
        If the format cannot store a label, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_graph(Graph.from_edges([("a", "b")]), folder + "/g.csv")
    ...     open(folder + "/g.csv").read()
    'source,target\\na,b\\n'
    """
    graph, path = as_graph(graph), as_path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        known = ", ".join(_WRITERS)
        raise GraphError(f"cannot write {path}: the extension {path.suffix!r} is not known; use one of {known}.")
    writer(graph, path)
