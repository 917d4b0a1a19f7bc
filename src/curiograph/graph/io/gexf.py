"""Read GEXF, the format of Gephi, through networkx, after a check that the XML is safe to parse."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from curiograph.errors import GraphError
from curiograph.files import read_bytes, wrap_parse_errors
from curiograph.graph.convert import from_networkx
from curiograph.graph.graph import Graph
from curiograph.graph.io.graphml import check_xml


def read_gexf(path: Path, directed: bool | None = None) -> Graph:
    """Read a GEXF file; the label of a node is its `label`, or its `id` if no node has a `label`.

    The weights of edges are kept; an edge without one has the weight 1 if others have weights.
    """
    import networkx

    data = read_bytes(path, "GEXF")
    check_xml(data, path)
    with wrap_parse_errors(path, "GEXF"):
        graph = networkx.read_gexf(io.BytesIO(data))
        nodes: dict[Any, Any] = {}
        for node, label in graph.nodes(data="label"):
            if node is None:
                raise GraphError("a node has no id")
            if nodes.setdefault(node if label is None else label, node) != node:
                raise GraphError(f"the nodes {nodes[label or node]!r} and {node!r} have the same label {label!r}")
        if any(weight is not None for _, _, weight in graph.edges(data="weight")):
            for _, _, attributes in graph.edges(data=True):
                attributes.setdefault("weight", 1.0)
        return from_networkx(networkx.relabel_nodes(graph, {node: label for label, node in nodes.items()}))
