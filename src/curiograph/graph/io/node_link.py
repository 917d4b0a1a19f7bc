"""Node-link JSON: `{"directed": false, "nodes": [{"id": ...}], "links": [{"source": ..., "target": ...}]}`."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.errors import FileFormatError, GraphError
from curiograph.files import PathLike, open_atomic, read_text
from curiograph.graph.convert import get_edge_arrays
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_labels
from curiograph.messages import quote_value, shorten_text

_ITEMS_AT_A_TIME = 10_000


def read_node_link(path: Path, directed: bool | None = None) -> Graph:
    """Read a node-link file; `directed` decides where the file does not say."""
    return from_node_link(read_json(path), str(path), directed)


def write_node_link(graph: Graph, path: PathLike) -> None:
    """Write a node-link file."""
    with open_atomic(path) as stream:
        for piece in _pieces(graph):
            stream.write(piece.encode())


def read_json(path: PathLike) -> Any:
    """The document in a JSON file; raises FileFormatError with the line where it is malformed."""
    text = read_text(path, "JSON")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FileFormatError(
            f"{path}, line {error.lineno}: is not valid JSON ({error.msg}); the file may be cut short."
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
        return _parsed(document, where, directed)
    except RecursionError:
        raise FileFormatError(f"{where}: is nested too deeply to be a graph.") from None


def _parsed(document: Any, where: str, directed: bool | None) -> Graph:
    if not isinstance(document, dict):
        raise FileFormatError(
            f"{where}: holds a {type(document).__name__}, not a node-link object with nodes and links."
        )
    positions: dict[Hashable, int] = {}
    for number, node in enumerate(_items(document, "nodes", where)):
        label = _label(_field(node, "id", f"{where}: node {number}"), f"{where}: node {number}")
        if positions.setdefault(label, number) != number:
            raise FileFormatError(
                f"{where}: nodes {positions[label]} and {number} have the same id {quote_value(label)}."
            )
    links = _items(document, _links_key(document, where), where)
    ends = np.empty((len(links), 2), np.int64)
    weights: list[float] = []
    for number, link in enumerate(links):
        for side, key in enumerate(("source", "target")):
            name = f"{where}: link {number}"
            label = _label(_field(link, key, name), name)
            if label not in positions:
                raise FileFormatError(f"{name} has the {key} {quote_value(label)}, which is not among the nodes.")
            ends[number, side] = positions[label]
        if link.get("weight") is not None:
            weights.append(_weight(link["weight"], f"{where}: link {number}"))
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


def _links_key(document: dict[str, Any], where: str) -> str:
    keys = [key for key in ("links", "edges") if key in document]
    if len(keys) == 1:
        return keys[0]
    found = "both links and edges; keep one" if keys else "neither links nor edges; add the list of links"
    raise FileFormatError(f"{where}: has {found}.")


def _items(document: dict[str, Any], key: str, where: str) -> list[Any]:
    items = document.get(key)
    if not isinstance(items, list):
        state = "is missing" if key not in document else f"is a {type(items).__name__}"
        raise FileFormatError(f"{where}: the list {key!r} {state}; this is not node-link JSON.")
    return items


def _field(item: Any, key: str, where: str) -> Any:
    if not isinstance(item, dict):
        raise FileFormatError(f"{where} is {quote_value(item)}, not an object with the key {key!r}.")
    if key not in item:
        raise FileFormatError(f"{where} has no {key!r}.")
    return item[key]


def _label(value: Any, where: str) -> Hashable:
    if isinstance(value, list):
        return tuple(_label(part, where) for part in value)
    if isinstance(value, dict):
        raise FileFormatError(f"{where} is called {quote_value(value)}; an object cannot be a label.")
    if isinstance(value, float) and not math.isfinite(value):
        raise FileFormatError(f"{where} is called {value}, which is not a finite number.")
    label: Hashable = value
    return label


def _weight(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FileFormatError(f"{where} has weight {quote_value(value)}, which is not a number.")
    try:
        weight = float(value)
    except OverflowError:
        weight = math.inf
    if not math.isfinite(weight) or weight < 0:
        raise FileFormatError(f"{where} has weight {weight}; weights must be finite numbers, zero or above.")
    return weight


def _pieces(graph: Graph) -> Iterator[str]:
    """The document piece by piece: as one Python object, a large graph would take many times its size."""
    labels = [_encoded(label) for label in graph.names]
    source, target, weights = get_edge_arrays(graph)
    yield f'{{"directed": {json.dumps(graph.directed)}, "multigraph": false, "graph": {{}}, "nodes": ['
    for first in range(0, len(labels), _ITEMS_AT_A_TIME):
        nodes = (f'{{"id": {label}}}' for label in labels[first : first + _ITEMS_AT_A_TIME])
        yield (", " if first else "") + ", ".join(nodes)
    yield '], "links": ['
    for first in range(0, len(source), _ITEMS_AT_A_TIME):
        part = slice(first, first + _ITEMS_AT_A_TIME)
        pairs = zip(source[part].tolist(), target[part].tolist(), strict=True)
        links = [f'{{"source": {labels[u]}, "target": {labels[v]}' for u, v in pairs]
        if weights is not None:
            links = [f'{link}, "weight": {w!r}' for link, w in zip(links, weights[part].tolist(), strict=True)]
        yield (", " if first else "") + ", ".join(f"{link}}}" for link in links)
    yield "]}\n"


def _encoded(label: Hashable) -> str:
    try:
        if _is_plain(label):
            return json.dumps(label, allow_nan=False)
    except (ValueError, RecursionError):  # infinite, too many digits, too deep
        pass
    raise GraphError(
        f"the label {quote_value(label)} cannot be written as JSON; save the graph as .npz, or relabel that node."
    )


def _is_plain(label: Hashable) -> bool:
    if type(label) is tuple:
        return all(_is_plain(part) for part in label)
    return label is None or type(label) in (str, int, float, bool)
