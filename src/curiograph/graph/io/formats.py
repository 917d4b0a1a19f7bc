"""Read and write graphs; the file extension determines the format.

GraphML, GML, GEXF and node-link JSON are formats of networkx; MATLAB files, of version 5 to 7, are read by scipy.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lazy_loader

from curiograph.errors import FileFormatError, GraphError, quote_value, shorten_text
from curiograph.files import PathLike, as_path, check_file, open_atomic, read_bytes, read_text, wrap_parse_errors
from curiograph.graph.edge_arrays import as_flag, check_labels, find_titles, index_pairs
from curiograph.graph.graph import Graph, as_graph
from curiograph.graph.io.edge_list import DELIMITERS, read_edge_list, write_edge_list
from curiograph.graph.io.graph_file import read_graph_file, write_graph_file
from curiograph.graph.io.markdown import read_vault

nx = lazy_loader.load("networkx")

_MAX_MATRIX_NODES = 8192  # of a full matrix


def read_graph(path: PathLike, *, directed: bool | None = None) -> Graph:
    """Read a graph; the file extension determines the format.

    Parameters
    ----------
    path : str or path
        An edge list (`.tsv`: tabs, `.csv`: commas or semicolons, `.txt`, `.edges`, `.edgelist`: whitespace),
        `.graphml`, `.gml`, `.gexf`, node-link `.json`, curiograph's own `.safetensors`, or an adjacency matrix: a
        `.csv` or `.tsv` with labels in the first row and the first column, or a `.mat` of MATLAB; or a folder of
        Markdown notes, see `curiograph.graph.io.markdown.read_vault`.
    directed : bool, optional
        Whether the graph is directed. Default: as stated in the file; undirected for edge lists and notes; a
        matrix is directed if it is not symmetric. A value that contradicts the file raises FileFormatError.

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
    The attribute `label` (else `title` or `name`) of a node in GraphML, GEXF and JSON is its title, which is shown in
    place of the label.

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
    if path.is_dir():
        return read_vault(path, directed=bool(directed)).graph
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


# ---- formats of libraries -------------------------------------------------------------------------------------------


def read_graphml(path: Path, directed: bool | None = None) -> Graph:
    """Read a GraphML file; node ids become text labels, the edge attribute `weight` and titles are kept."""
    data = read_bytes(path)
    with wrap_parse_errors(path, "GraphML"):
        graph = nx.read_graphml(io.BytesIO(data), node_type=str)
        return _convert(graph, graph.graph.get("edge_default", {}).get("weight"))


def read_gexf(path: Path, directed: bool | None = None) -> Graph:
    """Read a GEXF file of Gephi; node ids become text labels, and the attribute `label` the title.

    The weights of edges are kept; an edge without one has the weight 1 if others have weights.
    """
    data = read_bytes(path)
    with wrap_parse_errors(path, "GEXF"):
        graph = nx.read_gexf(io.BytesIO(data))
        weighted = any(weight is not None for _, _, weight in graph.edges(data="weight"))
        return _convert(graph, 1.0 if weighted else None)


def read_gml(path: Path, directed: bool | None = None) -> Graph:
    """Read a GML file; the label of a node is its `label`, as in networkx, or its `id` if two nodes share a `label`."""
    text = read_text(path)
    with wrap_parse_errors(path, "GML"):
        graph = nx.parse_gml(text.splitlines(), label="id")
        names = {node: attributes.get("label", node) for node, attributes in graph.nodes.items()}
        if len(set(names.values())) == len(names):
            for attributes in graph.nodes.values():
                attributes.pop("label", None)
            graph = nx.relabel_nodes(graph, names)
        return _convert(graph)


def read_matlab(path: Path, directed: bool | None = None) -> Graph:
    """Read the only square matrix of a file; nodes are labeled 1 to n, as MATLAB counts them.

    The graph is directed if the matrix is not symmetric, and weighted if it has values other than 0 and 1.
    """
    import scipy.io
    import scipy.sparse

    check_file(path)
    with wrap_parse_errors(path, "MATLAB"):
        found = [
            (name, shape[0], kind)
            for name, shape, kind in scipy.io.whosmat(path)
            if len(shape) == 2 and shape[0] == shape[1] > 1 and kind not in ("char", "cell", "struct", "object")
        ]
        if len(found) != 1:
            names = ", ".join(f"{name} ({size} x {size})" for name, size, _ in found) or "none"
            raise GraphError(f"it must contain one square numeric matrix, but has {names}")
        name, size, kind = found[0]
        if kind != "sparse" and size > _MAX_MATRIX_NODES:
            raise GraphError(f"its full matrix {name} has {size:,} rows; save it as a sparse matrix")
        matrix = scipy.io.loadmat(path, variable_names=[name])[name]
        if scipy.sparse.issparse(matrix):
            matrix.check_format()
        return Graph.from_scipy(matrix, directed=directed, nodes=range(1, size + 1))


def read_node_link(path: Path, directed: bool | None = None) -> Graph:
    """Read a node-link file; `directed` applies if the file does not state it."""
    return from_node_link(read_json(path), str(path), directed)


def read_json(path: PathLike) -> Any:
    """Return the document of a JSON file; raise FileFormatError with the line number if it is malformed."""
    text = read_text(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{path}, line {error.lineno}: is not valid JSON ({error.msg}).") from None
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number of thousands of digits
        raise FileFormatError(f"{path}: is not usable JSON ({shorten_text(error)}).") from None


def from_node_link(document: Any, where: str, directed: bool | None = None) -> Graph:
    """Build a graph from a node-link document; `where` names it in errors. Lists become tuples, which are hashable.

    >>> from_node_link({"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]}, "example")
    Graph(2 nodes, 1 edges, undirected)
    """

    def as_label(value: Any) -> Any:
        return tuple(map(as_label, value)) if isinstance(value, list) else value

    with wrap_parse_errors(where, "node-link JSON"):
        stated = document.get("directed", bool(directed))
        if not isinstance(stated, bool):
            raise GraphError(f"directed is {quote_value(stated)}, not true or false")
        try:
            labels = check_labels(as_label(node["id"]) for node in document["nodes"])
            titles = find_titles(labels, document["nodes"])
            links = document["edges" if "edges" in document else "links"]
            positions = {label: number for number, label in enumerate(labels)}
            ends = [(positions[as_label(link["source"])], positions[as_label(link["target"])]) for link in links]
        except KeyError as error:  # a key, or a node
            raise GraphError(f"{error} is missing") from None
        weights = [link.get("weight") for link in links]
        return Graph.from_arrays(*index_pairs(ends, weights, labels, titles), directed=stated)


def _convert(graph: Any, default_weight: float | None = None) -> Graph:
    if default_weight is not None:
        for _, _, attributes in graph.edges(data=True):
            attributes.setdefault("weight", default_weight)
    return Graph.from_networkx(graph)


def write_graphml(graph: Graph, path: PathLike) -> None:
    """Write a GraphML file; integer labels become text."""
    converted = _prepare(graph, "GraphML")
    with open_atomic(path) as stream:
        nx.write_graphml_xml(converted, stream)


def write_gml(graph: Graph, path: PathLike) -> None:
    """Write a GML file; integer labels become text."""
    converted = _prepare(graph, "GML")
    for attributes in converted.nodes.values():  # networkx writes the label of the node as `label`
        attributes |= {"title": attributes.pop("label")} if "label" in attributes else {}
    with open_atomic(path) as stream:
        nx.write_gml(converted, stream)


def _prepare(graph: Graph, kind: str) -> Any:
    """Return the graph with text labels; raise GraphError for labels that would not be read back as the same text."""
    for label in graph.names:
        is_printable = isinstance(label, str | int) and str(label).isprintable() and label not in ("()", "[]")
        if not is_printable or isinstance(label, bool):
            raise GraphError(f"the label {label!r} cannot be stored as {kind}; save the graph as .safetensors.")
    converted = nx.relabel_nodes(graph.to_networkx(), {label: str(label) for label in graph.names})
    if len(converted) < graph.num_nodes:
        raise GraphError(f"two labels are the same text in {kind}; save the graph as .safetensors.")
    return converted


def write_node_link(graph: Graph, path: PathLike) -> None:
    """Write a node-link file."""
    try:
        document = nx.node_link_data(graph.to_networkx(), edges="links")
        text = json.dumps(document, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise GraphError(f"a label cannot be written as JSON ({error}); save the graph as .safetensors.") from None
    with open_atomic(path) as stream:
        stream.write(text.encode())


_READERS: dict[str, Callable[[Path, bool | None], Graph]] = {
    **dict.fromkeys(DELIMITERS, read_edge_list),
    ".graphml": read_graphml,
    ".gml": read_gml,
    ".gexf": read_gexf,
    ".mat": read_matlab,
    ".json": read_node_link,
    ".safetensors": read_graph_file,
}
_WRITERS: dict[str, Callable[[Graph, PathLike], None]] = {
    ".safetensors": write_graph_file,
    ".json": write_node_link,
    ".graphml": write_graphml,
    ".gml": write_gml,
    **dict.fromkeys(DELIMITERS, write_edge_list),
}
EXTENSIONS = tuple(_READERS)
"""File extensions that `read_graph` supports."""
