"""Published environment files: a fixture of the same format, and malformed files."""

from __future__ import annotations

import json

import pytest

from curiograph.errors import FileFormatError
from curiograph.graph.generators import Split, read_split
from curiograph.graph.graph import Graph


def path_graph(size: int) -> dict:
    return {
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": [{"pos": [0.1 * i, 0.5], "id": i} for i in range(size)],
        "links": [{"source": i, "target": i + 1} for i in range(size - 1)],
    }


def test_published_format(tmp_path):
    path = tmp_path / "set.json"
    train = {"10": path_graph(12), "9": path_graph(11), "0": path_graph(2)}
    path.write_text(json.dumps({"train": train, "val": {"b": path_graph(4), "a": path_graph(3)}, "test": {}}))
    split = read_split(path)
    assert isinstance(split, Split)
    assert [len(graph) for graph in split.train] == [2, 11, 12]  # by number: 0, 9, 10
    assert [len(graph) for graph in split.val] == [4, 3]  # as in the file
    assert split.test == []
    assert split.train[0] == Graph.from_edges([(0, 1)])


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"train": {}, "val": {}}, "'train'"),
        (path_graph(2), "for a single graph use read_graph"),
        ({"train": [], "val": {}, "test": {}}, "train is a list"),
        ({"train": {"3": {"nodes": []}}, "val": {}, "test": {}}, "train graph 3"),
    ],
)
def test_malformed(tmp_path, document, message):
    path = tmp_path / "set.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=message) as error:
        read_split(path)
    assert "set.json" in str(error.value)
