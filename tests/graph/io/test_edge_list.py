"""Edge lists: comparison with the reference reader, valid and malformed files, writing."""

from __future__ import annotations

import re

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.centrality.pagerank import pagerank
from curiograph.errors import FileFormatError, GraphError
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph, write_graph
from curiograph.graph.labels import IntegerLabels, RangeLabels
from oracles.edge_list import parse_edge_list
from support.graph_files import assert_read_back, assert_refused, graphs, list_nodes, write_file

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
    assert_refused(tmp_path, name, content, message)


@given(
    graphs(list_nodes(st.one_of(st.integers(-5, 5), st.text(max_size=4))), isolated=False),
    st.sampled_from(["tsv", "csv", "txt"]),
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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.csv", "cue,target,strength\na,b,0.5\nb,c,2\n"),
        ("g.csv", "cue;target;strength\na;b;0,5\nb;c;2\n"),
        ("g.csv", "a;b;0.5\nb;c;2\n"),
        ("g.csv", "sep=;\r\nVon;Nach;Gewicht\r\na;b;,5\r\nb;c;2,0\r\n"),
        ("g.csv", 'Wort;Antwort;"N"\n"a";b;0,5\nb;c;2\n'),
        ("g.csv", "sep=|\na|b|0.5\nb|c|2\n"),
        ("g.txt", "\ufefffrom;to;weight\r\na;b;0,5\r\nb;c;2\r\n"),
        ("g.tsv", 'source,target,weight\n"a",b,0.5\nb,c,2\n'),
        ("g.csv", "From\tTo\tWeight\na\tb\t0.5\nb\tc\t2\n"),
        ("g.tsv", "cue\ttarget\tR123.Strength\na\tb\t0.5\nb\tc\t2\n"),
        ("g.txt", "# links\nWord Other count\na b 0.5\nb c 2\n"),
        ("g.csv", ",a,b,c\na,0,0.5,0\nb,0.5,0,2\nc,0,2,0\n"),
        ("g.csv", "# matrix\nword;a;b;c\na;;0,5;\nb;0,5;;2\nc;;2;0\n"),
        ("g.tsv", '""\t"a"\t"b"\t"c"\n"a"\t0\t.5\t0\n"b"\t.5\t0\t2\n"c"\t0\t2\t0\n'),
    ],
)
def test_layouts_of_one_graph(tmp_path, name, text):
    graph = read_graph(write_file(tmp_path, name, text))
    assert graph == Graph.from_edges([("a", "b", 0.5), ("b", "c", 2.0)])
    assert graph.labels == ["a", "b", "c"]


def test_adjacency_matrix(tmp_path):
    directed = read_graph(write_file(tmp_path, "g.csv", ",7,9\n7,0,1\n9,0,1\n"))
    assert directed == Graph.from_edges([(7, 9), (9, 9)], directed=True)
    for text, message in [
        (",a,b\na,0,1\nc,1,0\n", "'b'"),
        (",a,b\na,0,1\n", "'b'"),
        (",a,b\na,0,x\nb,1,0\n", "has 3 fields|the source|'x'"),
        (",a,b\na,0,1\nb,x,0\n", "row 'b', column 'a': 'x'"),
        (",a,b\na,0,-1\nb,-1,0\n", "-1"),
    ]:
        with pytest.raises(FileFormatError, match=message):
            read_graph(write_file(tmp_path, "g.csv", text))


@pytest.mark.parametrize("text", ["a\tb\tNA\nb\tc\t2\n", "a\tb\t-1e3\nb\tc\t2\n", "a\tb\t\nb\tc\t2\n"])
def test_bad_weight_of_the_first_line_is_no_header(tmp_path, text):
    with pytest.raises(FileFormatError, match="line 1: the weight"):
        read_graph(write_file(tmp_path, "g.tsv", text))


def test_directed_links_that_are_read_as_undirected(tmp_path, recwarn):
    """Links that lead both ways have the weight of the others, and are named; PageRank is that of networkx."""
    links = networkx.gnp_random_graph(30, 0.1, seed=1, directed=True)
    path = write_file(tmp_path, "g.tsv", "".join(f"{u}\t{v}\n" for u, v in links.edges))
    both = sum(links.has_edge(v, u) for u, v in links.edges) // 2
    undirected = links.to_undirected()
    with pytest.warns(
        UserWarning, match=f"{100 * both / undirected.number_of_edges():.3g} % of the links .*directed=True"
    ):
        graph = read_graph(path)
    assert graph.weights is None
    recwarn.clear()
    for found, theirs in [(graph, undirected), (read_graph(path, directed=True), links)]:
        expected = networkx.pagerank(theirs, alpha=0.85, tol=1e-13, max_iter=1000)
        ours = dict(zip(found.labels, pagerank(found, alpha=0.85).scores.tolist(), strict=True))
        assert ours == pytest.approx({node: expected[node] for node in ours}, abs=1e-9)
    read_graph(path, directed=False)
    write_file(tmp_path, "g.tsv", "a\tb\nb\ta\nb\tc\nc\tb\n")  # a list of both directions of every link
    assert read_graph(path).weights is None
    assert not recwarn.list
    write_file(tmp_path, "g.tsv", "a\tb\t2\nb\ta\t3\nb\tc\t1\n")
    with pytest.warns(UserWarning, match=r"50 % of the links .* sum"):
        assert read_graph(path).get_edges()[2].tolist() == [5, 1]


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
