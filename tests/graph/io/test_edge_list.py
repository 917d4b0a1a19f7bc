"""Edge lists: comparison with the reference reader, valid and malformed files, writing."""

from __future__ import annotations

import os
import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph import kernels
from curiograph.errors import FileFormatError, GraphError
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from curiograph.graph.io.write import write_graph
from curiograph.graph.labels import IntegerLabels, RangeLabels, TextLabels
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


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), min_size=1, max_size=8))
def test_quoted_csv_equals_kernel(tmp_path_factory, pairs):
    """The same names with and without quotes, special characters removed."""
    clean = [tuple(re.sub(r'[",#\s\x00-\x1f]', "", name) or "e" for name in pair) for pair in pairs]
    folder = tmp_path_factory.getbasetemp()
    (folder / "plain.csv").write_text("".join(f"{u},{v}\n" for u, v in clean), encoding="utf-8")
    (folder / "quoted.csv").write_text("".join(f'"{u}", "{v}"\r\n' for u, v in clean), encoding="utf-8")
    plain, quoted = read_graph(folder / "plain.csv"), read_graph(folder / "quoted.csv")
    assert plain == quoted
    assert type(plain.names) is type(quoted.names)


@given(
    st.one_of(st.floats(0, allow_infinity=False).map(repr), st.from_regex(r"\A[0-9]{1,20}(\.[0-9]{0,20})?\Z"), weights)
)
def test_parse_number_equals_float(text):
    data = np.frombuffer(text.encode(), np.uint8)
    value = kernels.text.parse_number(data, 0, len(data))
    sound = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text, re.ASCII)
    if value < 0:
        assert not sound or float(text) < 0
    else:
        assert sound
        assert np.isnan(value) or value == float(text)


@given(st.one_of(st.binary(max_size=12), st.text(max_size=6).map(str.encode)), st.binary(max_size=2))
def test_invalid_utf8_is_found_where_the_strict_decoder_finds_it(tmp_path_factory, data, tail):
    path = tmp_path_factory.getbasetemp() / "encoding.tsv"
    data = b"a\tb\n#\t" + data.replace(b"\0", b"") + tail.replace(b"\0", b"")
    path.write_bytes(data)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        with pytest.raises(FileFormatError, match=f"line {line}: is not UTF-8"):
            read_graph(path)
    else:
        with suppress(FileFormatError):
            assert isinstance(read_graph(path), Graph)


edge_numbers = st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**19, 0])


@given(st.one_of(st.integers().map(str), edge_numbers.map(str), st.text("-0123456789a", max_size=21)))
def test_parse_integers_equals_int(text):
    given_names = TextLabels.from_labels([text])
    whole, values = kernels.text.parse_integers(given_names.blob, given_names.offsets)
    assert whole == bool(re.fullmatch("0|-?[1-9][0-9]*", text) and -(2**63) <= int(text) < 2**63)
    if whole:
        assert values.tolist() == [int(text)]


def test_more_names_than_the_initial_capacity(tmp_path):
    """The table and the text grow several times; one name is longer than the initial capacity for all."""
    rng = np.random.default_rng(0)
    pairs = [(f"node_{u}", f"node_{v}") for u, v in rng.integers(0, 20_000, (30_000, 2))] + [("long" * 50_000, "b")]
    graph = read_graph(write_file(tmp_path, "g.tsv", "".join(f"{u}\t{v}\n" for u, v in pairs)), directed=True)
    assert graph == Graph.from_edges(pairs, directed=True)
    assert graph.position("long" * 50_000) == len(graph) - 2


def test_types_of_labels(tmp_path):
    assert isinstance(read_graph(write_file(tmp_path, "a.txt", "1 0\n0 2\n")).names, RangeLabels)
    sparse = read_graph(write_file(tmp_path, "b.txt", "70 -3\n-3 12\n"))
    assert isinstance(sparse.names, IntegerLabels)
    assert sparse.labels == [70, -3, 12]
    text = read_graph(write_file(tmp_path, "c.txt", "1 01\n"))
    assert text.labels == ["1", "01"]


def test_extensions_ignore_case(tmp_path):
    for name in ("a.edges", "a.edgelist", "A.TXT"):
        assert read_graph(write_file(tmp_path, name, "a  \t b\n")).labels == ["a", "b"]
    assert read_graph(write_file(tmp_path, "a.tsv", "a b\tc d\n")).labels == ["a b", "c d"]
    assert read_graph(str(write_file(tmp_path, "b.tsv", "a\tb"))).num_edges == 1


def test_quoted_csv(tmp_path):
    text = 'Source,Target,w\r\n# note\r\n\r\n"a, ""b""",c,1\r\n"#d\n# not a note",c,0.5\r\n'
    graph = read_graph(write_file(tmp_path, "q.csv", text))
    assert graph.labels == ['a, "b"', "c", "#d\n# not a note"]
    assert graph.weights.tolist() == [1, 1, 0.5, 0.5]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.tsv", "a\tb\nc\n", r"line 2: has 1 field \(\['c'\]\); a line needs 2 .* separated by tabs"),
        ("g.csv", "a,b\n\n#\na,b,1,2\n", r"line 4: has 4 fields .* separated by commas"),
        ("g.txt", "a b\na b c d\n", r"line 2: has 4 fields .* separated by blanks"),
        ("g.tsv", "a\tb\tx\n", "line 1: the weight 'x' is not a number; if this line is a header"),
        ("g.tsv", "a\tb\t1\na\tb\tnan\n", "line 2: the weight 'nan' is not finite"),
        ("g.tsv", "a\tb\t-inf\n", "line 1: the weight '-inf' is not finite"),
        ("g.tsv", "a\tb\t-1.5\n", "line 1: the weight '-1.5' is negative"),
        ("g.tsv", "a\tb\t1\nb\tc\t1e999\n", "line 2: the weight '1e999' is too large"),
        ("g.tsv", "a\tb\t\n", "line 1: the weight '' is not a number"),
        ("g.tsv", "a\tb\nb\tc\t1\n", "line 2: has a weight but earlier lines have none"),
        ("g.tsv", "a\tb\t1\nb\tc\n", "line 2: has no weight but earlier lines have one"),
        ("g.tsv", "a\tb\n\tc\n", "line 2: the source has no name"),
        ("g.csv", "a,b\nc, \n", "line 2: the target has no name"),
        ("g.tsv", b"a\tb\nc\t\xe4\n", "line 2: is not UTF-8"),
        ("g.tsv", b"# \xff\na\tb\n", "line 1: is not UTF-8"),
        ("g.tsv", b"a\tb\nc\0\td\n", "line 2: holds a NUL byte; this looks like a binary file"),
        ("g.tsv", b"PK\x03\x04\x14\0", r"extension .tsv is for text, but the file is a zip archive"),
        ("g.csv", b"\x1f\x8b\x08", "gzip; unpack it first"),
        ("g.txt", "a b\n".encode("utf-16"), "UTF-16 text; save it as UTF-8"),
        ("g.tsv", "a\tb\n" + "x" * (2**20 + 1) + "\n", "line 2: is longer than 1 MiB"),
        ("g.tsv", "", "is empty"),
        ("g.tsv", "# nothing\n\nsource\ttarget\n", "holds no edges"),
        ("g.csv", '# "\n', "holds no edges"),
        ("g.csv", '"a",b\nc,"d\n', "line 2: is not valid csv"),
        ("g.csv", '"a",b\n#\nc\n', "line 3: has 1 field"),
        ("g.csv", '"a",b\n"",c\n', "line 2: the source has no name"),
        ("g.csv", '"a",b,1\nb,c\n', "line 2: has no weight but earlier"),
        ("g.csv", '"a",b,1\nb,c,-1\n', "line 2: the weight '-1' is negative"),
        ("g.tsv", "a\tb\t1e308\nb\ta\t1e308\n", "add up to more than a number can hold"),
        (
            "g.xyz",
            "a b\n",
            "extension '.xyz' is not known; known extensions are .tsv, .csv, .txt, .edges, .edgelist, .graphml",
        ),
        ("g", "a b\n", "extension '' is not known"),
    ],
)
def test_malformed_edge_list(tmp_path, name, content, message):
    path = write_file(tmp_path, name, content)
    with pytest.raises(FileFormatError, match=message) as error:
        read_graph(path)
    assert str(path) in str(error.value)


def test_line_of_gigabytes_is_rejected_at_once(tmp_path):
    """A sparse file of 64 GiB: the fault is in its first bytes, and nothing else may be read."""
    path = write_file(tmp_path, "g.tsv", b"a\tb\n" + b"x" * (2**20 + 2))
    os.truncate(path, 2**36)
    with pytest.raises(FileFormatError, match="line 2: is longer than 1 MiB"):
        read_graph(path)


@given(
    graphs(st.one_of(st.integers(-5, 5), st.text(max_size=4)), isolated=False), st.sampled_from(["tsv", "csv", "txt"])
)
def test_edge_list_round_trip(tmp_path_factory, graph, ending):
    """A graph that can be written is read back, up to the order of nodes and the type of labels."""
    path = tmp_path_factory.getbasetemp() / f"w.{ending}"
    try:
        write_graph(graph, path)
    except GraphError as error:
        assert re.search("would not be read back|no edges", str(error))  # noqa: PT017
        return
    again = read_graph(path, directed=graph.directed)
    order = [str(label) for label in again.labels]
    assert sorted(order) == sorted(str(label) for label in graph.labels)
    for label in graph.labels:
        same = again.labels[order.index(str(label))]
        assert sorted(map(str, again.neighbors(same))) == sorted(map(str, graph.neighbors(label)))
    assert again.num_edges == graph.num_edges


def test_csv_quotes(tmp_path):
    graph = Graph.from_edges([('a, "b"', "#c", 0.1), ("#c", "two\nlines", 2.0)])
    write_graph(graph, tmp_path / "g.csv")
    assert (tmp_path / "g.csv").read_text() == 'source,target,weight\n"a, ""b""","#c",0.1\n"#c","two\nlines",2.0\n'
    assert read_graph(tmp_path / "g.csv") == graph


def test_names_that_look_like_a_header(tmp_path):
    graph = Graph.from_edges([("u", "v"), ("v", "source")])
    for ending in ("tsv", "csv", "txt"):
        assert_read_back(graph, tmp_path / f"g.{ending}")


def test_comments_that_look_like_edges_warn(tmp_path):
    path = tmp_path / "tags.tsv"
    path.write_text("# hashtags that meet\n#metoo\t#love\npeace\tlove\n")
    with pytest.warns(UserWarning, match=r"tags\.tsv, line 2: starts with # and was taken for a comment"):
        assert read_graph(path).num_edges == 1


@pytest.mark.parametrize("first", ["# source\ttarget", "#FromNodeId\tToNodeId", "#", "#alone", "##\tx", "#a\tb\tc\td"])
def test_ordinary_comments_do_not_warn(tmp_path, first, recwarn):
    path = tmp_path / "links.tsv"
    path.write_text(f"{first}\na\tb\n")
    assert read_graph(path).num_edges == 1
    assert not recwarn.list


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("links.tsv", "Page\tLink\na\tb\nb\tc\n", 1),
        ("links.tsv", "# links\n\nPage\tLink\n1\t2\n2\t3\n", 3),
        ("links.csv", 'Page,Link\n"a",b\nb,c\n', 1),
    ],
)
def test_unknown_header_is_a_warning(tmp_path, name, text, line):
    file = tmp_path / name
    file.write_text(text)
    with pytest.warns(
        UserWarning, match=rf"{name}, line {line}: 'Page' and 'Link' occur nowhere else; if this is a head"
    ):
        assert read_graph(file).num_nodes == 5


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\nb\tc\nc\td\n",
        "a\tb\nc\td\n",
        "source\ttarget\nx\ty\na\tb\nb\tc\n",
        "1\t2\n3\t4\n5\t6\n",
        "a\tb\nc\td\ne\tf\n",
        "a\ta\nb\tc\nc\td\n",
        "a\tb\nc\td\nd\ta\n",
    ],
)
def test_edges_that_are_no_header(tmp_path, text, recwarn):
    (tmp_path / "links.tsv").write_text(text)
    read_graph(tmp_path / "links.tsv")
    assert not recwarn.list
