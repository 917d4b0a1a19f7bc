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
        'page,description\na,red apple\nb,"pear, plum"\n7,seven\n',
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_layouts(tmp_path, content, pack):
    path = tmp_path / "texts.txt"
    path.write_bytes(pack(content.encode()))
    assert read_texts(path, GRAPH) == {"a": "red apple", "b": "pear, plum", 7: "seven"}


@pytest.mark.parametrize("row", ["x\ty", "b", "b\t "])
def test_bad_rows_are_dropped_with_a_warning(tmp_path, row):
    path = tmp_path / "texts.tsv"
    path.write_text(f"a\tapple\n{row}\n")
    with pytest.warns(UserWarning, match=f"1 of 2 rows .*line 2: .*'{row[0]}'"):
        assert read_texts(path, GRAPH) == {"a": "apple"}
