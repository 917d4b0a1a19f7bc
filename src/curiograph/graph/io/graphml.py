"""Read and write GraphML through networkx, after a check that the XML is safe to parse."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any
from xml.parsers import expat

from curiograph.errors import FileFormatError, GraphError
from curiograph.files import PathLike, open_atomic, read_bytes, wrap_parse_errors
from curiograph.graph.convert import from_networkx, get_text_labels, to_networkx
from curiograph.graph.graph import Graph
from curiograph.graph.labels import ListLabels
from curiograph.messages import shorten_text

_MAX_TAG = 2**20
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_graphml(path: Path, directed: bool | None = None) -> Graph:
    """Read a GraphML file; node ids become text labels, the edge attribute `weight` is kept."""
    import networkx

    def check_id(value: str | None) -> str:
        if value is None:
            raise ValueError("a node without id, or an edge without source or target")
        return value

    data = read_bytes(path, "GraphML")
    check_xml(data, path)
    with wrap_parse_errors(path, "GraphML"):
        graph = networkx.read_graphml(io.BytesIO(data), node_type=check_id)
        default = graph.graph.get("edge_default", {}).get("weight")
        if default is not None:
            for _, _, attributes in graph.edges(data=True):
                attributes.setdefault("weight", default)
        return from_networkx(graph)


def write_graphml(graph: Graph, path: PathLike) -> None:
    """Write a GraphML file; integer labels become text."""
    import networkx

    ids = get_text_labels(graph, "GraphML")
    for name in ids:
        if _NOT_XML.search(name):
            raise GraphError(f"the label {name!r} holds a character that XML cannot hold; save the graph as .npz.")
    renamed = Graph(graph.indptr, graph.indices, graph.weights, directed=graph.directed, names=ListLabels(ids))
    with open_atomic(path) as stream:
        networkx.write_graphml_xml(to_networkx(renamed), stream)


def check_xml(data: bytes, path: Path) -> None:
    """Raise for malformed XML, any document type (its entities can expand to gigabytes) and tags longer than 1 MiB.

    The parser decides, not a search in the bytes, because a declaration can be in another encoding and a tag may
    contain a quoted `>`. The parser reads an unfinished tag again with every chunk, so a long tag takes quadratic time.
    """

    def reject_doctype(*_: Any) -> None:
        raise FileFormatError(
            f"{path}, line {parser.CurrentLineNumber}: has a document type declaration (<!DOCTYPE), which graphs do "
            "not need and which can be used to attack a reader; remove it."
        )

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = reject_doctype
    parser.EntityDeclHandler = reject_doctype
    if hasattr(parser, "SetReparseDeferralEnabled"):  # newer parsers would defer an unfinished tag
        parser.SetReparseDeferralEnabled(False)
    try:
        for end in range(_MAX_TAG, len(data), _MAX_TAG):
            parser.Parse(data[end - _MAX_TAG : end], False)
            if end - parser.CurrentByteIndex > _MAX_TAG:
                line = parser.CurrentLineNumber
                raise FileFormatError(f"{path}, line {line}: has a tag or comment longer than 1 MiB; shorten it.")
        parser.Parse(data[(len(data) - 1) // _MAX_TAG * _MAX_TAG :], True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(
            f"{path}, line {parser.ErrorLineNumber}: is not valid XML ({shorten_text(error)}); the file may be "
            "truncated."
        ) from None
