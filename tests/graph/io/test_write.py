"""Writing: labels and paths that a format cannot store."""

from __future__ import annotations

import pytest

from curiograph.errors import GraphError
from curiograph.graph.graph import Graph
from curiograph.graph.io.write import write_graph


@pytest.mark.parametrize(
    ("name", "edges", "nodes", "message"),
    [
        ("g.tsv", [("a", "b")], ["a", "b", "alone"], "node 'alone' has no edges.*save the graph as .npz or .json"),
        ("g.csv", [], [], "no edges"),
        ("g.tsv", [("a\tx", "b")], None, "would not be read back"),
        ("g.tsv", [("a\nx", "b")], None, "would not be read back"),
        ("g.tsv", [("#a", "b")], None, "would not be read back"),
        ("g.csv", [("", "b")], None, "would not be read back"),
        ("g.csv", [(" a", "b")], None, "would not be read back"),
        ("g.csv", [("\ud800", "b")], None, "would not be read back"),
        ("g.csv", [((1, 2), "b")], None, r"\(1, 2\) is neither text nor a whole number"),
        ("g.gml", [((1, 2), "b")], None, r"\(1, 2\) is neither text nor a whole number"),
        ("g.gml", [("()", "b")], None, "would not be read back"),
        ("g.graphml", [(1, "1")], None, "1 and '1' are the same in GraphML"),
        ("g.graphml", [("a\0", "b")], None, "XML cannot hold"),
        ("g.json", [(float("inf"), "b")], None, "inf cannot be written as JSON"),
        ("g.json", [(b"a", "b")], None, "b'a' cannot be written as JSON"),
        ("g.xyz", [("a", "b")], None, "extension '.xyz' is not known; use one of .npz, .json"),
        ("none/g.tsv", [("a", "b")], None, "does not exist; create it first"),
    ],
)
def test_graphs_that_cannot_be_written(tmp_path, name, edges, nodes, message):
    with pytest.raises(GraphError, match=message):
        write_graph(Graph.from_edges(edges, nodes=nodes), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
