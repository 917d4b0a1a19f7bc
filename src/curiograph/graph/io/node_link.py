"""Read and write node-link JSON: `{"directed": false, "nodes": [{"id": ...}], "links": [{"source": ..., ...}]}`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from curiograph.errors import FileFormatError, GraphError, quote_value, shorten_text
from curiograph.files import PathLike, open_atomic, read_text, wrap_parse_errors
from curiograph.graph.edge_arrays import check_labels, index_pairs
from curiograph.graph.graph import Graph


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
            links = document["edges" if "edges" in document else "links"]
            positions = {label: number for number, label in enumerate(labels)}
            ends = [(positions[as_label(link["source"])], positions[as_label(link["target"])]) for link in links]
        except KeyError as error:  # a key, or a node
            raise GraphError(f"{error} is missing") from None
        return Graph.from_arrays(*index_pairs(ends, [link.get("weight") for link in links], labels), directed=stated)


def write_node_link(graph: Graph, path: PathLike) -> None:
    """Write a node-link file."""
    import networkx

    try:
        document = networkx.node_link_data(graph.to_networkx(), edges="links")
        text = json.dumps(document, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise GraphError(f"a label cannot be written as JSON ({error}); save the graph as .safetensors.") from None
    with open_atomic(path) as stream:
        stream.write(text.encode())
