"""Graph files for tests: writing content, generating graphs, checking round trips."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st

from curiograph.errors import FileFormatError
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph, write_graph

WEIGHTS = st.floats(0, 1e300)


def write_file(folder: Path, name: str, content: str | bytes) -> Path:
    """Write content to a file and return its path."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def list_nodes(labels):
    """Lists of labels whose texts differ."""
    return st.lists(labels, unique_by=str, min_size=1, max_size=6)


@st.composite
def graphs(draw, lists, weights=WEIGHTS, isolated=True):
    """Graphs on lists of nodes, with loops, directed or not, weighted or not, with or without isolated nodes."""
    nodes = list(dict.fromkeys(draw(lists)))
    position = st.integers(0, max(len(nodes) - 1, 0))
    pairs = draw(st.lists(st.tuples(position, position), max_size=10)) if nodes else []
    is_weighted = draw(st.booleans())
    # a loop of weight zero is none, so its weight is 1 or more
    edges = [(nodes[u], nodes[v], *([draw(weights) + (u == v)] if is_weighted else [])) for u, v in pairs]
    if not isolated:
        used = {end for pair in pairs for end in pair}
        nodes = [node for number, node in enumerate(nodes) if number in used]
    return Graph.from_edges(edges, directed=draw(st.booleans()), nodes=nodes)


def assert_read_back(graph: Graph, path: Path) -> None:
    """Write a graph, read it, and compare."""
    write_graph(graph, path)
    again = read_graph(path)
    assert again == graph
    assert repr(again.labels) == repr(graph.labels)


def assert_refused(folder: Path, name: str, content: str | bytes, message: str) -> None:
    """Write a file whose content is no graph; reading it must raise an error that names the file and the fault."""
    path = write_file(folder, name, content)
    with pytest.raises(FileFormatError, match=message) as error:
        read_graph(path)
    assert str(path) in str(error.value)
