"""Reading a graph of any format: paths, direction, size limits."""

from __future__ import annotations

import os

import networkx
import numpy as np
import pytest

from curiograph.errors import FileFormatError, GraphError
from curiograph.files import read_text
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from curiograph.graph.io.write import write_graph
from support.graph_files import write_file


def test_direction(tmp_path):
    path = write_file(tmp_path, "g.tsv", "a\tb\n")
    assert not read_graph(path).directed
    assert read_graph(path, directed=True).directed
    saved = tmp_path / "g.json"
    write_graph(read_graph(path), saved)
    with pytest.raises(FileFormatError, match="the graph in the file is undirected, but directed=True"):
        read_graph(saved, directed=True)
    assert not read_graph(saved, directed=False).directed
    silent = write_file(tmp_path, "s.json", '{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}')
    assert read_graph(silent, directed=True).directed


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileFormatError, match="there is no such file"):
        read_graph(tmp_path / "none.tsv")
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(FileFormatError, match="is a folder"):
        read_graph(tmp_path / "folder.tsv")
    with pytest.raises(FileFormatError, match="is a folder"):
        read_graph(tmp_path)
    with pytest.raises(FileFormatError, match="cannot be opened"):
        read_graph("nul\0byte.tsv")
    os.mkfifo(tmp_path / "pipe.tsv")
    with pytest.raises(FileFormatError, match="is not a regular file"):
        read_graph(tmp_path / "pipe.tsv")


@pytest.mark.parametrize("path", [None, 5, b"g.tsv"])
def test_path_of_wrong_type(path):
    message = f"the path is {path!r}; give the name of a file, as text or as a pathlib.Path"
    with pytest.raises(FileFormatError, match=message):
        read_graph(path)
    with pytest.raises(GraphError, match=message):
        write_graph(Graph.from_edges([(0, 1)]), path)


def test_write_graph_of_another_library(tmp_path):
    with pytest.raises(GraphError, match=r"networkx.*, not a curiograph Graph; make one with cg\.Graph\.from_networkx"):
        write_graph(networkx.path_graph(3), tmp_path / "g.tsv")


@pytest.mark.parametrize("directed", ["no", 1])
def test_directed_must_be_true_or_false(tmp_path, directed):
    with pytest.raises(GraphError, match=f"directed is {directed!r}; give True or False"):
        read_graph(tmp_path / "none.tsv", directed=directed)
    assert read_graph(write_file(tmp_path, "g.tsv", "a\tb\n"), directed=np.bool_(True)).directed


@pytest.mark.parametrize(("name", "start"), [("g.json", b"{"), ("g.gml", b"a"), ("g.graphml", b"<a>")])
def test_file_above_the_size_limit(tmp_path, name, start):
    path = write_file(tmp_path, name, start)
    os.truncate(path, 2**36)
    with pytest.raises(FileFormatError, match=r"is 64\.0 GiB; files of this format are read whole, at most 256 MiB"):
        read_graph(path)
    with pytest.raises(FileFormatError, match=r"is 1 MiB; .*, at most 1 MiB"):
        read_text(write_file(tmp_path, "walks.txt", "a,b\n" * 2**18), limit=1000)
