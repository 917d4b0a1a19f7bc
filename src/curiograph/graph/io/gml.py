"""Read and write GML; read through networkx."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from curiograph.errors import GraphError
from curiograph.files import PathLike, open_atomic, read_text, wrap_parse_errors
from curiograph.graph.convert import from_networkx, get_edge_arrays, get_text_labels
from curiograph.graph.graph import Graph


def read_gml(path: Path, directed: bool | None = None) -> Graph:
    """Read a GML file; the label of a node is its `label`, or its `id` if no node has a `label`."""
    import networkx

    lines = read_text(path, "GML").replace("\r\n", "\n").split("\n")
    with wrap_parse_errors(path, "GML"):
        graph = networkx.parse_gml(lines, label="id")
        nodes: dict[Any, Any] = {}
        missing = None
        for node, label in graph.nodes(data="label"):
            if label is None:
                missing = node if missing is None else missing
            elif nodes.setdefault(label, node) != node:
                raise GraphError(f"the nodes {nodes[label]!r} and {node!r} have the same label {label!r}")
        if nodes and missing is not None:
            raise GraphError(f"node {missing!r} has no label but others do; give every node a label or none")
        return from_networkx(networkx.relabel_nodes(graph, {node: label for label, node in nodes.items()}))


def write_gml(graph: Graph, path: PathLike) -> None:
    """Write a GML file; unlike networkx, keep integer labels as integers."""
    get_text_labels(graph, "GML")  # raises for labels that GML cannot store
    source, target, weights = get_edge_arrays(graph)
    with open_atomic(path) as stream:
        stream.write(f"graph [\n  directed {int(graph.directed)}\n".encode())
        for number, label in enumerate(graph.names):
            if label in ("()", "[]"):  # networkx reads these two as an empty tuple and an empty list
                raise GraphError(f"the label {label!r} would not be read back from GML; save the graph as .npz.")
            escaped = re.sub('[^ -~]|[&"]', lambda match: f"&#{ord(match[0])};", str(label))
            text = escaped if isinstance(label, int) else f'"{escaped}"'
            stream.write(f"  node [\n    id {number}\n    label {text}\n  ]\n".encode())
        for number, (u, v) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
            weight = ""
            if weights is not None:  # GML requires a decimal point before an exponent
                value = re.sub(r"^(\d+)(e|$)", r"\1.0\2", repr(float(weights[number])))
                weight = f"    weight {value}\n"
            stream.write(f"  edge [\n    source {u}\n    target {v}\n{weight}  ]\n".encode())
        stream.write(b"]\n")
