"""Read and write node-link JSON: `{"directed": false, "nodes": [{"id": ...}], "links": [{"source": ..., ...}]}`."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.errors import FileFormatError, GraphError
from curiograph.files import PathLike, open_atomic, read_text
from curiograph.graph.convert import get_edge_arrays
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_labels
from curiograph.messages import quote_value, shorten_text

_CHUNK = 10_000


def read_node_link(path: Path, directed: bool | None = None) -> Graph:
    """Read a node-link file; `directed` applies if the file does not state it."""
    return from_node_link(read_json(path), str(path), directed)


def read_json(path: PathLike) -> Any:
    """Return the document of a JSON file; raise FileFormatError with the line number if it is malformed."""
    text = read_text(path, "JSON")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FileFormatError(
            f"{path}, line {error.lineno}: is not valid JSON ({error.msg}); the file may be truncated."
        ) from None
    except RecursionError:
        raise FileFormatError(f"{path}: is nested too deeply to be a graph.") from None
    except ValueError as error:  # a number of thousands of digits
        raise FileFormatError(f"{path}: is not usable JSON ({shorten_text(error)}).") from None


def from_node_link(document: Any, where: str, directed: bool | None = None) -> Graph:
    """Build a graph from a node-link document; `where` names it in errors.

    Lists become tuples, because labels must be hashable. Attributes other than `weight` are ignored.

    >>> from_node_link({"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]}, "example")
    Graph(2 nodes, 1 edges, undirected)
    """
    try:
        return _build_graph(document, where, directed)
    except RecursionError:
        raise FileFormatError(f"{where}: is nested too deeply to be a graph.") from None


def _build_graph(document: Any, where: str, directed: bool | None) -> Graph:
    if not isinstance(document, dict):
        raise FileFormatError(
            f"{where}: holds a {type(document).__name__}, not a node-link object with nodes and links."
        )
    positions: dict[Hashable, int] = {}
    for number, node in enumerate(_get_list(document, "nodes", where)):
        label = _get_label(node, "id", f"{where}: node {number}")
        if positions.setdefault(label, number) != number:
            raise FileFormatError(
                f"{where}: nodes {positions[label]} and {number} have the same id {quote_value(label)}."
            )
    keys = [key for key in ("links", "edges") if key in document]
    if len(keys) != 1:
        found = "both links and edges; keep one" if keys else "neither links nor edges; add the list of links"
        raise FileFormatError(f"{where}: has {found}.")
    links = _get_list(document, keys[0], where)
    ends = np.empty((len(links), 2), np.int64)
    weights: list[float] = []
    for number, link in enumerate(links):
        name = f"{where}: link {number}"
        for side, key in enumerate(("source", "target")):
            label = _get_label(link, key, name)
            if label not in positions:
                raise FileFormatError(f"{name} has the {key} {quote_value(label)}, which is not among the nodes.")
            ends[number, side] = positions[label]
        if link.get("weight") is not None:
            weights.append(_parse_weight(link["weight"], name))
        if weights and len(weights) != number + 1:
            raise FileFormatError(
                f"{where}: up to link {number} some links have a weight and others do not; give all a weight or none."
            )
    stated = document.get("directed")
    if stated is not None and not isinstance(stated, bool):
        raise FileFormatError(f"{where}: directed is {quote_value(stated)}; it must be true or false.")
    return Graph.from_arrays(
        ends[:, 0],
        ends[:, 1],
        np.asarray(weights) if weights else None,
        directed=bool(directed) if stated is None else stated,
        names=as_labels(list(positions)),
    )


def _get_list(document: dict[str, Any], key: str, where: str) -> list[Any]:
    items = document.get(key)
    if not isinstance(items, list):
        state = "is missing" if key not in document else f"is a {type(items).__name__}"
        raise FileFormatError(f"{where}: the list {key!r} {state}; this is not node-link JSON.")
    return items


def _get_label(item: Any, key: str, where: str) -> Hashable:
    """Return the label of a node, or of an end of a link; raise FileFormatError if it is missing or not valid."""

    def as_label(value: Any) -> Hashable:
        if isinstance(value, list):
            return tuple(as_label(part) for part in value)
        if isinstance(value, dict):
            raise FileFormatError(f"{where} is called {quote_value(value)}; an object cannot be a label.")
        if isinstance(value, float) and not math.isfinite(value):
            raise FileFormatError(f"{where} is called {value}, which is not a finite number.")
        label: Hashable = value
        return label

    if not isinstance(item, dict):
        raise FileFormatError(f"{where} is {quote_value(item)}, not an object with the key {key!r}.")
    if key not in item:
        raise FileFormatError(f"{where} has no {key!r}.")
    return as_label(item[key])


def _parse_weight(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FileFormatError(f"{where} has weight {quote_value(value)}, which is not a number.")
    try:
        weight = float(value)
    except OverflowError:
        weight = math.inf
    if not math.isfinite(weight) or weight < 0:
        raise FileFormatError(f"{where} has weight {weight}; weights must be finite numbers, zero or above.")
    return weight


def write_node_link(graph: Graph, path: PathLike) -> None:
    """Write a node-link file, in chunks: one Python object for a large graph would need many times its size."""
    labels = [_encode_label(label) for label in graph.names]
    source, target, weights = get_edge_arrays(graph)
    with open_atomic(path) as stream:
        head = f'{{"directed": {json.dumps(graph.directed)}, "multigraph": false, "graph": {{}}, "nodes": ['
        stream.write(head.encode())
        for first in range(0, len(labels), _CHUNK):
            nodes = (f'{{"id": {label}}}' for label in labels[first : first + _CHUNK])
            stream.write(((", " if first else "") + ", ".join(nodes)).encode())
        stream.write(b'], "links": [')
        for first in range(0, len(source), _CHUNK):
            part = slice(first, first + _CHUNK)
            pairs = zip(source[part].tolist(), target[part].tolist(), strict=True)
            links = [f'{{"source": {labels[u]}, "target": {labels[v]}' for u, v in pairs]
            if weights is not None:
                links = [f'{link}, "weight": {w!r}' for link, w in zip(links, weights[part].tolist(), strict=True)]
            stream.write(((", " if first else "") + ", ".join(f"{link}}}" for link in links)).encode())
        stream.write(b"]}\n")


def _encode_label(label: Hashable) -> str:
    """Return a label as JSON; raise GraphError if it would not be read back."""

    def is_plain(value: Hashable) -> bool:
        if type(value) is tuple:
            return all(is_plain(part) for part in value)
        return value is None or type(value) in (str, int, float, bool)

    try:
        if is_plain(label):
            return json.dumps(label, allow_nan=False)
    except (ValueError, RecursionError):  # infinite, too many digits, too deep
        pass
    raise GraphError(
        f"the label {quote_value(label)} cannot be written as JSON; save the graph as .npz, or relabel that node."
    )
