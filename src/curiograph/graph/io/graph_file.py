"""curiograph's own file of a graph, a `.safetensors` that is opened as a memory map.

Arrays: `indptr`, `indices`; `weights`, `loops` and `visitors` if there are any; for the labels nothing (a range),
`values` (integers), or `blob`, `offsets` and `order` (text); `title_blob` and `title_offsets` if there are titles; and
`skeleton_indptr`, `skeleton_indices` of a directed graph, which take seconds to build. The metadata contain the
rest, and a checksum of the arrays.
"""

from __future__ import annotations

import ast
import json
import zlib
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.errors import FileFormatError, GraphError, quote_value
from curiograph.files import PathLike, check_file, wrap_parse_errors
from curiograph.graph.graph import Cleaning, Graph
from curiograph.graph.labels import IntegerLabels, Labels, ListLabels, RangeLabels, TextLabels
from curiograph.tensors import map_tensors, write_tensors

FORMAT = "curiograph graph 2"
"""Name and version of the format."""

Arrays = Mapping[str, NDArray[Any]]


def write_graph_file(graph: Graph, path: PathLike) -> None:
    """Write a graph so that `read_graph_file` opens it as a memory map.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_graph_file(Graph.from_edges([("a", "b")]), folder + "/g.safetensors")
    ...     read_graph_file(Path(folder) / "g.safetensors").labels
    ['a', 'b']
    """
    arrays: dict[str, Any] = {"indptr": graph.indptr, "indices": graph.indices}
    arrays |= {"weights": graph.weights, "loops": graph.loops, "visitors": graph.visitors}
    if graph.directed:
        arrays |= {"skeleton_indptr": graph.skeleton.indptr, "skeleton_indices": graph.skeleton.indices}
    texts, names = "", graph.names
    if isinstance(names, ListLabels):
        names, texts = pack_labels(names.labels)
    if isinstance(names, IntegerLabels):
        arrays["values"] = names.values
    elif isinstance(names, TextLabels):
        order = names.sort() if names.order is None else names.order
        arrays |= {"blob": names.blob, "offsets": names.offsets, "order": order}
    if graph.titles is not None:
        titles = TextLabels.from_labels(graph.titles)
        arrays |= {"title_blob": titles.blob, "title_offsets": titles.offsets}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    facts = {
        "format": FORMAT,
        "directed": graph.directed,
        "cleaning": list(astuple(graph.cleaning)),
        "labels": texts,
        "checksum": _compute_checksum(arrays),
    }
    # one text, because safetensors writes several in any order
    write_tensors(path, arrays, {"graph": json.dumps(facts)})


def read_graph_file(path: Path, directed: bool | None = None) -> Graph:
    """Open a graph written by `write_graph_file` as a memory map."""
    check_file(path)
    metadata, arrays = map_tensors(path, "graph", "write it again with write_graph")
    with wrap_parse_errors(path, "graph"):
        facts = json.loads(metadata.get("graph", "{}"))
        if facts.get("format") != FORMAT:
            found = quote_value(facts.get("format"))
            raise FileFormatError(f"{path}: has the format {found}, and this curiograph reads {FORMAT!r}.")
        if facts["checksum"] != _compute_checksum(arrays) or not is_sound(arrays):
            raise FileFormatError(f"{path}: is damaged: its checksum does not match; write it again with write_graph.")
        names: Labels = RangeLabels(len(arrays["indptr"]) - 1)
        if facts["labels"]:
            names = ListLabels(ast.literal_eval(facts["labels"]))
        elif "values" in arrays:
            names = IntegerLabels(arrays["values"])
        elif "blob" in arrays:
            names = TextLabels(arrays["blob"], arrays["offsets"], arrays["order"])
        if "title_blob" in arrays:
            names.titles = tuple(TextLabels(arrays["title_blob"], arrays["title_offsets"]))
        settings: dict[str, Any] = {"directed": facts["directed"], "names": names}
        settings |= {name: arrays.get(name) for name in ("loops", "visitors")}
        if facts["directed"]:
            settings["skeleton"] = Graph(arrays["skeleton_indptr"], arrays["skeleton_indices"], names=names)
        cleaning = Cleaning(*facts["cleaning"])
        return Graph(arrays["indptr"], arrays["indices"], arrays.get("weights"), cleaning=cleaning, **settings)


def pack_labels(labels: list[Any]) -> tuple[Labels, str]:
    """Return labels as arrays if they are all integers or all text; others also as a text that Python can evaluate."""
    kinds = set(map(type, labels))
    if kinds == {int} and all(-(2**63) <= label < 2**63 for label in labels):
        return IntegerLabels(np.array(labels, np.int64)), ""
    try:
        if kinds == {str}:
            return TextLabels.from_labels(labels), ""
        text = repr(labels)
        if ast.literal_eval(text) == labels:
            return ListLabels(labels), text
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        pass
    raise GraphError("the labels cannot be stored: they must be text, numbers, True, False, None or tuples of them.")


def _compute_checksum(arrays: Arrays) -> int:
    checksum = 0
    for name in sorted(arrays):
        content = np.ascontiguousarray(arrays[name]).view(np.uint8).data
        checksum = zlib.crc32(content, zlib.crc32(name.encode(), checksum))
    return checksum


def is_sound(arrays: Arrays) -> bool:
    """Return whether all indices are of nodes: kernels would read elsewhere, in an upload with a forged checksum."""
    size = len(arrays["indptr"]) - 1
    for prefix in ("", "skeleton_") if "skeleton_indptr" in arrays else ("",):
        indptr, indices = arrays[f"{prefix}indptr"], arrays[f"{prefix}indices"]
        inside = len(indices) == 0 or (indices.min() >= 0 and indices.max() < size)
        if len(indptr) != size + 1 or indptr[0] != 0 or indptr[-1] != len(indices) or not inside:
            return False
        if np.any(indptr[1:] < indptr[:-1]):
            return False
    return True
