"""Write a graph to a file of any supported format."""

from __future__ import annotations

from collections.abc import Callable

from curiograph.errors import GraphError
from curiograph.files import PathLike, as_path
from curiograph.graph.graph import Graph, as_graph
from curiograph.graph.io.edge_list import DELIMITERS, write_edge_list
from curiograph.graph.io.graph_file import write_graph_file
from curiograph.graph.io.networkx_formats import write_gml, write_graphml
from curiograph.graph.io.node_link import write_node_link

_WRITERS: dict[str, Callable[[Graph, PathLike], None]] = {
    ".safetensors": write_graph_file,
    ".json": write_node_link,
    ".graphml": write_graphml,
    ".gml": write_gml,
    **dict.fromkeys(DELIMITERS, write_edge_list),
}
FORMATS = tuple(_WRITERS)
"""Extensions of the files that can be written."""


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
    suffix = path.suffix.lower()
    writer = _WRITERS.get(suffix)
    if writer is None:
        raise GraphError(
            f"cannot write {path}: the extension {suffix!r} is not known; use one of {', '.join(_WRITERS)}."
        )
    writer(graph, path)
