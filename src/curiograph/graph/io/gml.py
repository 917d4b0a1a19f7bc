"""GML, read through networkx."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from curiograph.errors import GraphError
from curiograph.files import PathLike, open_atomic, read_text, wrap_parse_errors
from curiograph.graph.convert import from_networkx, get_edge_arrays, get_text_labels
from curiograph.graph.graph import Graph


def read_gml(path: Path, directed: bool | None = None) -> Graph:
    """Read a GML file; nodes are called by their `label`, or by their `id` where none has a label."""
    import networkx

    lines = read_text(path, "GML").replace("\r\n", "\n").split("\n")
    with wrap_parse_errors(path, "GML"):
        return from_networkx(_labelled(networkx.parse_gml(lines, label="id")))


def write_gml(graph: Graph, path: PathLike) -> None:
    """Write a GML file; whole numbers among the labels stay numbers."""
    get_text_labels(graph, "GML")
    source, target, weights = get_edge_arrays(graph)
    with open_atomic(path) as stream:
        stream.write(f"graph [\n  directed {int(graph.directed)}\n".encode())
        for number, label in enumerate(graph.names):
            stream.write(f"  node [\n    id {number}\n    label {_quoted(label)}\n  ]\n".encode())
        for number, (u, v) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
            weight = "" if weights is None else f"    weight {_real(float(weights[number]))}\n"
            stream.write(f"  edge [\n    source {u}\n    target {v}\n{weight}  ]\n".encode())
        stream.write(b"]\n")


def _labelled(graph: Any) -> Any:
    """The graph with its nodes called by their labels."""
    import networkx

    labels = dict(graph.nodes(data="label"))
    missing = [node for node, label in labels.items() if label is None]
    if len(missing) == len(labels):
        return graph
    if missing:
        raise GraphError(f"node {missing[0]!r} has no label but others do; give every node a label or none")
    seen: dict[Any, Any] = {}
    for node, label in labels.items():
        if seen.setdefault(label, node) != node:
            raise GraphError(f"the nodes {seen[label]!r} and {node!r} have the same label {label!r}")
    return networkx.relabel_nodes(graph, labels)


def _quoted(label: Any) -> str:
    if isinstance(label, int):
        return str(label)
    if label in ("()", "[]"):  # networkx reads these two as an empty tuple and an empty list
        raise GraphError(f"the label {label!r} would not be read back from GML; save the graph as .npz.")
    escaped = re.sub('[^ -~]|[&"]', lambda match: f"&#{ord(match[0])};", label)
    return f'"{escaped}"'


def _real(value: float) -> str:
    """A number with a decimal point, without which GML has no exponent."""
    mantissa, mark, exponent = repr(value).partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + mark + exponent
