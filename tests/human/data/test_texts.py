"""Tables of nodes and texts."""

from __future__ import annotations

import gzip

import pytest

import curiograph as cg
from curiograph.human import read_texts

GRAPH = cg.Graph.from_edges([("a", "b"), ("b", "c d"), ("c d", 7)])


@pytest.mark.parametrize(
    "content",
    [
        "a\tred apple\nb\tpear, plum\n7\tseven\n",
        "# texts\nNode\tText\na\tred apple\nb\tpear, plum\n7\tseven\n",
        "\ufeffa\tred\r\nb\tpear, plum\r\n7\tseven\r\na\tapple\r\n\r\n",
        'a,red apple\nb,"pear, plum"\n7,seven\n',
        'page,description\na,red apple\nb,"pear, plum"\n7,seven\n',
    ],
)
def test_layouts(tmp_path, content):
    path = tmp_path / "texts.txt"
    wanted = {"a": "red apple", "b": "pear, plum", 7: "seven"}
    path.write_bytes(content.encode())
    assert read_texts(path, GRAPH) == wanted
    path.write_bytes(gzip.compress(content.encode()))
    assert read_texts(path, GRAPH) == wanted


def test_encoded_labels_and_later_tabs(tmp_path):
    path = tmp_path / "texts.tsv"
    path.write_text("c%20d\tone\ttwo\n")
    assert read_texts(path, GRAPH) == {"c d": "one\ttwo"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x\ty\na\tb\n", "line 1: the graph has no node 'x'"),
        ("a\tb\nb\n", "line 2: has no text for the node 'b'"),
        ('a,b\nb,"c\n', "line 2: its quotes do not match"),
        ("", "empty|nothing"),
        ("# nothing\n", "contains no texts"),
        ("node\ttext\n", "contains no text of a node"),
        (b"a\t\xff\n", "is not UTF-8"),
        (b"a\0b\tc\n", "NUL"),
    ],
)
def test_bad_files(tmp_path, content, message):
    path = tmp_path / "texts.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(cg.FileFormatError, match=message):
        read_texts(path, GRAPH)


def test_lenient_skips_bad_rows(tmp_path):
    path = tmp_path / "texts.tsv"
    path.write_text("x\ty\na\tapple\nb\n")
    assert read_texts(path, GRAPH, lenient=True) == {"a": "apple"}
    with pytest.raises(cg.FileFormatError, match="no such file"):
        read_texts(tmp_path / "none.tsv", GRAPH)
