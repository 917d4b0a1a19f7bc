"""GEXF files, written by networkx."""

from __future__ import annotations

import networkx
import pytest

from curiograph.errors import FileFormatError
from curiograph.graph.io.read import read_graph
from support.graph_files import write_file


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.DiGraph])
def test_graphs_are_read(tmp_path, kind):
    given = kind([("a", "b", {"weight": 2.5}), ("b", "ü")])
    networkx.write_gexf(given, tmp_path / "g.gexf")
    graph = read_graph(tmp_path / "g.gexf")
    given.edges["b", "ü"]["weight"] = 1.0
    assert networkx.utils.graphs_equal(graph.to_networkx(), given)


def test_labels_are_the_names_of_nodes(tmp_path):
    text = (
        '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2"><graph defaultedgetype="undirected"><nodes>'
        '<node id="1" label="Oslo"/><node id="2" label="{}"/></nodes><edges><edge id="0" source="1" target="2"/>'
        "</edges></graph></gexf>"
    )
    assert read_graph(write_file(tmp_path, "g.gexf", text.format("Rome"))).labels == ["Oslo", "Rome"]
    with pytest.raises(FileFormatError, match="the nodes '1' and '2' have the same label 'Oslo'"):
        read_graph(write_file(tmp_path, "g.gexf", text.format("Oslo")))


def test_bad_files_are_rejected(tmp_path):
    with pytest.raises(FileFormatError, match="is not GEXF: it begins with"):
        read_graph(write_file(tmp_path, "g.gexf", "a b\n"))
    with pytest.raises(FileFormatError, match="document type"):
        read_graph(write_file(tmp_path, "g.gexf", '<!DOCTYPE a [<!ENTITY b "c">]><gexf/>'))
    with pytest.raises(FileFormatError, match="is not a usable GEXF file"):
        read_graph(write_file(tmp_path, "g.gexf", "<graphml/>"))
