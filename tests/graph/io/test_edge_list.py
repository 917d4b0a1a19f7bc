"""Edge lists: comparison with the reference reader, valid and malformed files, writing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError, GraphError
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph, write_graph
from curiograph.graph.labels import IntegerLabels, RangeLabels
from oracles.edge_list import parse_edge_list
from support.graph_files import assert_read_back, graphs, write_file

DELIMITERS = {".tsv": "\t", ".csv": ",", ".txt": " "}
names = st.sampled_from(
    ["0", "1", "2", "3", "a", "b", "ä", "名", "-7", "-0", "007", "x y", "u", "v", "Source", "#x", ""]
)
numbers = st.sampled_from(["0", "1", "2", "3", "4"])
weights = st.one_of(
    st.floats(0, 1e300).map(repr),
    st.sampled_from(["1", ".5", "5.", "+2", "1e3", "1E-400", "1e400", "-1", "-0", "nan", "inf", "1_0", "", "x", "٣"]),
)
endings = st.sampled_from(["\n", "\r\n", "\n\n", " \n", "\n# note\n"])


@st.composite
def files(draw):
    """Mostly valid edge lists, with one kind of name and weights on all lines or none."""
    delimiter = draw(st.sampled_from(["\t", ",", " "]))
    kind = draw(st.sampled_from([names, numbers]))
    columns = draw(st.sampled_from([2, 2, 3]))
    sound = st.floats(0, 1e300).map(repr)
    rows = []
    for _ in range(draw(st.integers(0, 8))):
        fields = [draw(kind) for _ in range(2)]
        if columns == 3:
            fields.append(draw(st.one_of(sound, sound, sound, weights)))
        if draw(st.integers(0, 19)) == 0:
            fields = fields[: draw(st.integers(1, 3))] + ["z"] * draw(st.integers(0, 3))
        rows.append(draw(st.sampled_from(["", "", " "])) + delimiter.join(fields) + draw(endings))
    return draw(st.sampled_from(["", "\ufeff", "# c\n", "source,target\n", "u v\n"])) + "".join(rows), delimiter


@given(files())
def test_reader_equals_reference(tmp_path_factory, case):
    text, delimiter = case
    path = tmp_path_factory.getbasetemp() / ("reference" + {v: k for k, v in DELIMITERS.items()}[delimiter])
    path.write_bytes(text.encode())
    if not text:
        return
    expected = parse_edge_list(text.encode(), delimiter)
    if isinstance(expected, Graph):
        graph = read_graph(path)
        assert graph == expected
        assert repr(graph.labels) == repr(expected.labels)
        assert graph.cleaning == expected.cleaning
    else:
        with pytest.raises(FileFormatError, match=f"line {expected}:" if expected else "holds no edges"):
            read_graph(path)


def test_types_of_labels(tmp_path):
    assert isinstance(read_graph(write_file(tmp_path, "a.txt", "1 0\n0 2\n")).names, RangeLabels)
    sparse = read_graph(write_file(tmp_path, "b.txt", "70 -3\n-3 12\n"))
    assert isinstance(sparse.names, IntegerLabels)
    assert sparse.labels == [70, -3, 12]
    text = read_graph(write_file(tmp_path, "c.txt", "1 01\n"))
    assert text.labels == ["1", "01"]


def test_quoted_csv(tmp_path):
    text = 'Source,Target,w\r\n# note\r\n\r\n"a, ""b""",c,1\r\n"#d\n# not a note",c,0.5\r\n'
    graph = read_graph(write_file(tmp_path, "q.csv", text))
    assert graph.labels == ['a, "b"', "c", "#d\n# not a note"]
    assert graph.weights.tolist() == [1, 1, 0.5, 0.5]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.tsv", "a\tb\nc\n", r"line 2: .*\['c'\].*tabs"),
        ("g.txt", "a b\na b c d\n", "line 2: has 4 fields.*blanks"),
        ("g.tsv", "a\tb\tx\n", "line 1: the weight 'x'"),
        ("g.tsv", "a\tb\t1\nb\tc\t1e999\n", "line 2: the weight '1e999'"),
        ("g.tsv", "a\tb\nb\tc\t1\n", "line 2: has a weight"),
        ("g.tsv", "a\tb\n\tc\n", "line 2: the source"),
        ("g.tsv", b"a\tb\nc\t\xe4\n", "line 2: is not UTF-8"),
        ("g.tsv", b"a\tb\nc\0\td\n", "line 2: holds a NUL"),
        ("g.tsv", b"PK\x03\x04\x14\0", "zip"),
        ("g.txt", "a b\n".encode("utf-16"), "UTF-16"),
        ("g.tsv", "", "is empty"),
        ("g.tsv", "# nothing\n\nsource\ttarget\n", "no edges"),
        ("g.csv", '"a",b\nc,"d\n', "line 2: is not valid csv"),
        ("g.tsv", "a\tb\t1e308\nb\ta\t1e308\n", "add up"),
        ("g.tsv", "a\tb\n" * 300_000 + "c\n", "line 300001: has 1 field"),
    ],
)
def test_malformed_edge_list(tmp_path, name, content, message):
    path = write_file(tmp_path, name, content)
    with pytest.raises(FileFormatError, match=message) as error:
        read_graph(path)
    assert str(path) in str(error.value)


@given(
    graphs(st.one_of(st.integers(-5, 5), st.text(max_size=4)), isolated=False), st.sampled_from(["tsv", "csv", "txt"])
)
def test_edge_list_round_trip(tmp_path_factory, graph, ending):
    """A graph that can be written is read back, up to the order of nodes and the type of labels."""
    path = tmp_path_factory.getbasetemp() / f"w.{ending}"
    try:
        write_graph(graph, path)
    except GraphError as error:
        assert re.search("would not be read back|no edges|same text", str(error))  # noqa: PT017
        return
    again = read_graph(path, directed=graph.directed)
    order = [str(label) for label in again.labels]
    assert sorted(order) == sorted(str(label) for label in graph.labels)
    for label in graph.labels:
        same = again.labels[order.index(str(label))]
        assert sorted(map(str, again.neighbors(same))) == sorted(map(str, graph.neighbors(label)))
    assert again.num_edges == graph.num_edges


def test_names_that_look_like_a_header(tmp_path):
    graph = Graph.from_edges([("u", "v"), ("v", "source")])
    for ending in ("tsv", "csv", "txt"):
        assert_read_back(graph, tmp_path / f"g.{ending}")


@pytest.mark.parametrize("text", ["Page\tLink\na\tb\nb\tc\n", "# links\n\nPage\tLink\n1\t2\n2\t3\n"])
def test_unknown_header_is_a_warning(tmp_path, text):
    with pytest.warns(UserWarning, match="'Page' and 'Link'"):
        assert read_graph(write_file(tmp_path, "links.tsv", text)).num_nodes == 5


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\nb\tc\nc\td\n",
        "source\ttarget\nx\ty\na\tb\nb\tc\n",
        "a\tb\nc\td\ne\tf\n",
        "a\tb\nc\td\nd\ta\n",
    ],
)
def test_edges_that_are_no_header(tmp_path, text, recwarn):
    (tmp_path / "links.tsv").write_text(text)
    read_graph(tmp_path / "links.tsv")
    assert not recwarn.list
