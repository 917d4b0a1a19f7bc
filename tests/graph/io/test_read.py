"""Reading and writing a graph of any format: paths, direction, size limits, graphs that a format cannot store."""

from __future__ import annotations

import os

import numpy as np
import pytest

from curiograph.errors import FileFormatError, GraphError
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph, write_graph
from support.graph_files import write_file


def test_direction(tmp_path):
    path = write_file(tmp_path, "g.tsv", "a\tb\n")
    assert not read_graph(path).directed
    assert read_graph(path, directed=np.bool_(True)).directed
    saved = tmp_path / "g.json"
    write_graph(read_graph(path), saved)
    with pytest.raises(FileFormatError, match="undirected, but directed=True"):
        read_graph(saved, directed=True)
    assert not read_graph(saved, directed=False).directed
    silent = write_file(tmp_path, "s.json", '{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}')
    assert read_graph(silent, directed=True).directed
    with pytest.raises(GraphError, match="'no'"):
        read_graph(path, directed="no")


def test_paths_that_cannot_be_read(tmp_path):
    (tmp_path / "folder.tsv").mkdir()
    os.mkfifo(tmp_path / "pipe.tsv")
    write_file(tmp_path, "g.xyz", "a b\n")
    for name in ("none.tsv", "folder.tsv", "pipe.tsv", "g.xyz"):
        with pytest.raises(FileFormatError, match=name):
            read_graph(tmp_path / name)
    for path in (None, 5, b"g.tsv"):
        with pytest.raises(FileFormatError, match=f"{path!r}"):
            read_graph(path)
        with pytest.raises(GraphError, match=f"{path!r}"):
            write_graph(Graph.from_edges([(0, 1)]), path)


@pytest.mark.parametrize("name", ["g.json", "g.gml", "g.graphml"])
def test_file_above_the_size_limit(tmp_path, name):
    path = write_file(tmp_path, name, b"{")
    os.truncate(path, 2**36)
    with pytest.raises(FileFormatError, match=r"65,536 MiB.*256 MiB"):
        read_graph(path)


@pytest.mark.parametrize(
    ("name", "edges", "nodes", "message"),
    [
        ("g.tsv", [("a", "b")], ["a", "b", "alone"], "'alone'"),
        ("g.csv", [], [], "no edges"),
        ("g.tsv", [("a\tx", "b")], None, r"'a\\tx'"),
        ("g.tsv", [("#a", "b")], None, "'#a'"),
        ("g.csv", [("", "b")], None, "''"),
        ("g.gml", [((1, 2), "b")], None, r"\(1, 2\)"),
        ("g.graphml", [(1, "1")], None, "the same text"),
        ("g.graphml", [("a\0", "b")], None, r"'a\\x00'"),
        ("g.json", [(float("inf"), "b")], None, "JSON"),
        ("g.xyz", [("a", "b")], None, "'.xyz'"),
        ("none/g.tsv", [("a", "b")], None, "none"),
    ],
)
def test_graphs_that_cannot_be_written(tmp_path, name, edges, nodes, message):
    with pytest.raises(GraphError, match=message):
        write_graph(Graph.from_edges(edges, nodes=nodes), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
