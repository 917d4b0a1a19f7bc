"""Sets of graphs to train, validate and test on, as the authors of the paper published them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from curiograph.errors import FileFormatError
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.graph.io.node_link import from_node_link, read_json
from curiograph.messages import quote_value, shorten_text

PARTS = ("train", "val", "test")


@dataclass(frozen=True)
class Split:
    """Graphs to train on, to choose a model by, and to report on."""

    train: list[Graph]
    """Graphs an agent learns on."""
    val: list[Graph]
    """Graphs that choose between checkpoints."""
    test: list[Graph]
    """Graphs that nothing was chosen by."""


def read_split(path: PathLike) -> Split:
    """Read a published environment file: JSON `{"train": {id: graph}, "val": ..., "test": ...}`, graphs as node-link.

    Graphs are ordered by id where all ids are whole numbers, otherwise as in the file. Attributes of nodes are ignored.

    >>> import tempfile, pathlib
    >>> graph = '{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "tiny.json"
    ...     _ = path.write_text(f'{{"train": {{"0": {graph}}}, "val": {{}}, "test": {{}}}}')
    ...     read_split(path).train
    [Graph(2 nodes, 1 edges, undirected)]
    """
    document = read_json(path)
    if not isinstance(document, dict) or not all(part in document for part in PARTS):
        found = (
            ", ".join(map(quote_value, list(document)[:5])) if isinstance(document, dict) else type(document).__name__
        )
        raise FileFormatError(
            f"{path}: is not an environment file: expected an object with train, val and test, found {found}; "
            "for a single graph use read_graph."
        )
    return Split(**{part: _graphs(document[part], f"{path}: {part}") for part in PARTS})


def _graphs(part: Any, where: str) -> list[Graph]:
    if not isinstance(part, dict):
        raise FileFormatError(f"{where} is a {type(part).__name__}; expected an object of graphs by id.")
    ids = list(part)
    if all(re.fullmatch("[0-9]{1,18}", name) for name in ids):
        ids.sort(key=int)
    return [from_node_link(part[name], f"{where} graph {shorten_text(name)}") for name in ids]
