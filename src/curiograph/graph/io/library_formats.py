"""Formats of libraries: GraphML, GML (both also written) and GEXF by networkx, MATLAB of version 5 to 7 by scipy."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import lazy_loader

from curiograph.errors import GraphError
from curiograph.files import PathLike, check_file, open_atomic, read_bytes, read_text, wrap_parse_errors
from curiograph.graph.graph import Graph

nx = lazy_loader.load("networkx")

_MAX_MATRIX_NODES = 8192  # of a full matrix


def read_graphml(path: Path, directed: bool | None = None) -> Graph:
    """Read a GraphML file; node ids become text labels, the edge attribute `weight` is kept."""
    data = read_bytes(path)
    with wrap_parse_errors(path, "GraphML"):
        graph = nx.read_graphml(io.BytesIO(data), node_type=str)
        return _convert(graph, graph.graph.get("edge_default", {}).get("weight"))


def read_gexf(path: Path, directed: bool | None = None) -> Graph:
    """Read a GEXF file of Gephi; the label of a node is its `label`, or its `id` if it has no `label`.

    The weights of edges are kept; an edge without one has the weight 1 if others have weights.
    """
    data = read_bytes(path)
    with wrap_parse_errors(path, "GEXF"):
        graph = nx.read_gexf(io.BytesIO(data))
        weighted = any(weight is not None for _, _, weight in graph.edges(data="weight"))
        return _convert(_name_nodes(graph), 1.0 if weighted else None)


def read_gml(path: Path, directed: bool | None = None) -> Graph:
    """Read a GML file; the label of a node is its `label`, or its `id` if it has no `label`."""
    text = read_text(path)
    with wrap_parse_errors(path, "GML"):
        return _convert(_name_nodes(nx.parse_gml(text.splitlines(), label="id")))


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


def _name_nodes(graph: Any) -> Any:
    names = {node: node if label is None else label for node, label in graph.nodes(data="label")}
    if None in names or len(set(names.values())) < len(names):
        twice = [name for name in names.values() if list(names.values()).count(name) > 1]
        raise GraphError(f"two nodes have the same label {twice[0]!r}" if twice else "a node has no id")
    return nx.relabel_nodes(graph, names)


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
