"""Training, validation and test graphs, and the reader of the environment files published with the paper."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from curiograph.errors import FileFormatError, quote_value, shorten_text
from curiograph.files import PathLike
from curiograph.graph.graph import Graph
from curiograph.graph.io.node_link import from_node_link, read_json

_PARTS = ("train", "val", "test")


@dataclass(frozen=True)
class Split:
    """Training, validation and test graphs."""

    train: list[Graph]
    """Graphs to train on."""
    val: list[Graph]
    """Graphs to select the best checkpoint."""
    test: list[Graph]
    """Graphs to report results on."""
    origin: str | None = field(default=None, compare=False)
    """Python expression that creates these graphs, if known."""


def read_split(path: PathLike) -> Split:
    """Read a published environment file.

    Parameters
    ----------
    path : str or path
        A JSON file `{"train": {id: graph}, "val": ..., "test": ...}` with graphs in node-link format. Attributes of
        nodes are ignored.

    Returns
    -------
    Split
        The graphs, ordered by id if all ids are integers, otherwise as in the file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> graph = '{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "tiny.json"
    ...     _ = path.write_text(f'{{"train": {{"0": {graph}}}, "val": {{}}, "test": {{}}}}')
    ...     read_split(path).train
    [Graph(2 nodes, 1 edges, undirected)]
    """
    document = read_json(path)
    if not isinstance(document, dict) or not all(part in document for part in _PARTS):
        raise FileFormatError(
            f"{path}: is not an environment file: expected an object with train, val and test, found "
            f"{quote_value(document)}; for a single graph use read_graph."
        )
    parts: dict[str, list[Graph]] = {}
    for part in _PARTS:
        graphs, where = document[part], f"{path}: {part}"
        if not isinstance(graphs, dict):
            raise FileFormatError(f"{where} is a {type(graphs).__name__}; expected an object of graphs by id.")
        ids = list(graphs)
        if all(re.fullmatch("[0-9]{1,18}", name) for name in ids):
            ids.sort(key=int)
        parts[part] = [from_node_link(graphs[name], f"{where} graph {shorten_text(name)}") for name in ids]
    return Split(**parts, origin=f"cg.read_split({str(path)!r})")
