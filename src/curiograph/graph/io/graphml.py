"""GraphML, read through networkx; anything that is not plain GraphML is refused with a reason."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from curiograph.errors import FileFormatError, GraphError
from curiograph.files import PathLike, open_atomic, read_bytes, wrap_parse_errors
from curiograph.graph.convert import from_networkx, get_edge_arrays, get_text_labels
from curiograph.graph.graph import Graph
from curiograph.messages import shorten_text

_LONGEST_TAG = 2**20
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_graphml(path: Path, directed: bool | None = None) -> Graph:
    """Read a GraphML file; node ids become text labels, the edge attribute `weight` is kept."""
    import networkx

    data = read_bytes(path, "GraphML")
    _check_xml(data, path)
    with wrap_parse_errors(path, "GraphML"):
        graph = networkx.read_graphml(io.BytesIO(data), node_type=_identifier)
        default = graph.graph.get("edge_default", {}).get("weight")
        if default is not None:
            for _, _, attributes in graph.edges(data=True):
                attributes.setdefault("weight", default)
        return from_networkx(graph)


def write_graphml(graph: Graph, path: PathLike) -> None:
    """Write a GraphML file; numbers among the labels become text."""
    ids = get_text_labels(graph, "GraphML")
    for name in ids:
        if _NOT_XML.search(name):
            raise GraphError(f"the label {name!r} holds a character that XML cannot hold; save the graph as .npz.")
    quoted = [quoteattr(name) for name in ids]
    source, target, weights = get_edge_arrays(graph)
    with open_atomic(path) as stream:

        def write(line: str) -> None:
            stream.write(f"{line}\n".encode())

        write('<?xml version="1.0" encoding="UTF-8"?>')
        write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">')
        if weights is not None:
            write('  <key id="weight" for="edge" attr.name="weight" attr.type="double"/>')
        write(f'  <graph edgedefault="{"directed" if graph.directed else "undirected"}">')
        for name in quoted:
            write(f"    <node id={name}/>")
        for number, (u, v) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
            ends = f"source={quoted[u]} target={quoted[v]}"
            if weights is None:
                write(f"    <edge {ends}/>")
            else:
                write(f'    <edge {ends}><data key="weight">{float(weights[number])!r}</data></edge>')
        write("  </graph>")
        write("</graphml>")


def _identifier(value: str | None) -> str:
    if value is None:
        raise ValueError("a node without id, or an edge without source or target")
    return value


def _check_xml(data: bytes, path: Path) -> None:
    """Refuse malformed XML, any document type (its entities can grow to gigabytes) and tags longer than 1 MiB.

    The parser is asked, not the bytes searched, because a declaration can hide in another encoding and a tag may hold
    a quoted `>`. It reads an unfinished tag again with every piece of the file, so a long one takes quadratic time.
    """

    def refuse(*_: Any) -> None:
        raise FileFormatError(
            f"{path}, line {parser.CurrentLineNumber}: has a document type declaration (<!DOCTYPE), which graphs do "
            "not need and which can be used to attack a reader; remove it."
        )

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    if hasattr(parser, "SetReparseDeferralEnabled"):  # newer parsers would wait with a tag until it doubled
        parser.SetReparseDeferralEnabled(False)
    try:
        for end in range(_LONGEST_TAG, len(data), _LONGEST_TAG):
            parser.Parse(data[end - _LONGEST_TAG : end], False)
            if end - parser.CurrentByteIndex > _LONGEST_TAG:
                line = parser.CurrentLineNumber
                raise FileFormatError(f"{path}, line {line}: has a tag or comment longer than 1 MiB; shorten it.")
        parser.Parse(data[(len(data) - 1) // _LONGEST_TAG * _LONGEST_TAG :], True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(
            f"{path}, line {parser.ErrorLineNumber}: is not valid XML ({shorten_text(error)}); the file may be cut short."
        ) from None
