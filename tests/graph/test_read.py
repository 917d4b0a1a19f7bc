"""Files in and out: a slow twin of the parser, round trips, and every kind of broken file."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph import kernels
from curiograph.errors import FileFormatError, GraphError
from curiograph.files import read_text
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from curiograph.graph.io.write import write_graph
from curiograph.graph.labels import IntegerLabels, RangeLabels, TextLabels

BLANKS = " \t\n\r\v\f"
HEADERS = {("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("node1", "node2")}
ENDINGS = {".tsv": "\t", ".csv": ",", ".txt": " "}


# ---- the slow twin --------------------------------------------------------------------------------------------------


def slow_edge_list(data: bytes, delimiter: str) -> Graph | int:
    """The graph in an edge list without quotes, line by line; or the number of the line that is wrong, 0 for none."""
    edges: list[tuple] = []
    first = True
    for number, line in enumerate(data.decode("utf-8-sig").split("\n"), start=1):
        if not line.strip(BLANKS) or line.strip(BLANKS).startswith("#"):
            continue
        if delimiter == " ":
            fields = [field for field in re.split(f"[{BLANKS}]+", line) if field]
        else:
            fields = [field.strip(BLANKS) for field in line.split(delimiter)]
        header = first and len(fields) in (2, 3) and tuple(field.lower() for field in fields[:2]) in HEADERS
        first = False
        if header:
            continue
        if len(fields) not in (2, 3) or "" in fields[:2] or (edges and len(edges[0]) != len(fields)):
            return number
        if len(fields) == 3:
            if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", fields[2]):
                return number
            weight = float(fields[2])
            if not 0 <= weight < float("inf"):
                return number
            edges.append((fields[0], fields[1], weight))
        else:
            edges.append(tuple(fields))
    names = [name for edge in edges for name in edge[:2]]
    if not names:
        return 0
    if all(re.fullmatch("0|-?[1-9][0-9]*", name) and -(2**63) <= int(name) < 2**63 for name in names):
        edges = [(int(edge[0]), int(edge[1]), *edge[2:]) for edge in edges]
    return Graph.from_edges(edges)


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
    """Mostly sound edge lists, with one kind of name and weights all over or nowhere."""
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
def test_parser_equals_slow_twin(tmp_path_factory, case):
    text, delimiter = case
    path = tmp_path_factory.getbasetemp() / ("twin" + {v: k for k, v in ENDINGS.items()}[delimiter])
    path.write_bytes(text.encode())
    if not text:
        return
    expected = slow_edge_list(text.encode(), delimiter)
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
    """The same names, once with quotes and once with quotes and other special characters taken out."""
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
def test_numbers_equal_float(text):
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
            read_graph(path)


edge_numbers = st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**19, 0])


@given(st.one_of(st.integers().map(str), edge_numbers.map(str), st.text("-0123456789a", max_size=21)))
def test_whole_numbers_equal_int(text):
    given_names = TextLabels.from_labels([text])
    whole, values = kernels.text.parse_integers(given_names.blob, given_names.offsets)
    assert whole == bool(re.fullmatch("0|-?[1-9][0-9]*", text) and -(2**63) <= int(text) < 2**63)
    if whole:
        assert values.tolist() == [int(text)]


# ---- sound edge lists -----------------------------------------------------------------------------------------------


def write(folder, name: str, content: str | bytes):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_more_names_and_text_than_the_first_room(tmp_path):
    """Names and their text grow several times; one name is longer than the first room for all."""
    rng = np.random.default_rng(0)
    pairs = [(f"node_{u}", f"node_{v}") for u, v in rng.integers(0, 20_000, (30_000, 2))] + [("long" * 50_000, "b")]
    graph = read_graph(write(tmp_path, "g.tsv", "".join(f"{u}\t{v}\n" for u, v in pairs)), directed=True)
    assert graph == Graph.from_edges(pairs, directed=True)
    assert graph.position("long" * 50_000) == len(graph) - 2


def test_kinds_of_names(tmp_path):
    assert isinstance(read_graph(write(tmp_path, "a.txt", "1 0\n0 2\n")).names, RangeLabels)
    sparse = read_graph(write(tmp_path, "b.txt", "70 -3\n-3 12\n"))
    assert isinstance(sparse.names, IntegerLabels)
    assert sparse.labels == [70, -3, 12]
    text = read_graph(write(tmp_path, "c.txt", "1 01\n"))
    assert text.labels == ["1", "01"]


def test_endings_and_capitals(tmp_path):
    for name in ("a.edges", "a.edgelist", "A.TXT"):
        assert read_graph(write(tmp_path, name, "a  \t b\n")).labels == ["a", "b"]
    assert read_graph(write(tmp_path, "a.tsv", "a b\tc d\n")).labels == ["a b", "c d"]
    assert read_graph(str(write(tmp_path, "b.tsv", "a\tb"))).num_edges == 1


def test_quoted_csv(tmp_path):
    text = 'Source,Target,w\r\n# note\r\n\r\n"a, ""b""",c,1\r\n"#d\n# not a note",c,0.5\r\n'
    graph = read_graph(write(tmp_path, "q.csv", text))
    assert graph.labels == ['a, "b"', "c", "#d\n# not a note"]
    assert graph.weights.tolist() == [1, 1, 0.5, 0.5]


def test_direction(tmp_path):
    path = write(tmp_path, "g.tsv", "a\tb\n")
    assert not read_graph(path).directed
    assert read_graph(path, directed=True).directed
    saved = tmp_path / "g.json"
    write_graph(read_graph(path), saved)
    with pytest.raises(FileFormatError, match="the graph in the file is undirected, but directed=True"):
        read_graph(saved, directed=True)
    assert not read_graph(saved, directed=False).directed
    silent = write(tmp_path, "s.json", '{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}')
    assert read_graph(silent, directed=True).directed


# ---- broken edge lists ----------------------------------------------------------------------------------------------


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
def test_broken_edge_list(tmp_path, name, content, message):
    path = write(tmp_path, name, content)
    with pytest.raises(FileFormatError, match=message) as error:
        read_graph(path)
    assert str(path) in str(error.value)


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
def test_path_that_is_no_path(path):
    message = f"the path is {path!r}; give the name of a file, as text or as a pathlib.Path"
    with pytest.raises(FileFormatError, match=message):
        read_graph(path)
    with pytest.raises(GraphError, match=message):
        write_graph(Graph.from_edges([(0, 1)]), path)


def test_write_graph_of_another_library(tmp_path):
    with pytest.raises(GraphError, match=r"networkx.*, not a curiograph Graph; make one with cg\.Graph\.from_networkx"):
        write_graph(networkx.path_graph(3), tmp_path / "g.tsv")


@pytest.mark.parametrize("directed", ["no", 1])
def test_directed_is_true_or_false(tmp_path, directed):
    with pytest.raises(GraphError, match=f"directed is {directed!r}; give True or False"):
        read_graph(tmp_path / "none.tsv", directed=directed)
    assert read_graph(write(tmp_path, "g.tsv", "a\tb\n"), directed=np.bool_(True)).directed


@pytest.mark.parametrize(("name", "start"), [("g.json", b"{"), ("g.gml", b"a"), ("g.graphml", b"<a>")])
def test_file_of_gigabytes_that_would_be_read_whole(tmp_path, name, start):
    path = write(tmp_path, name, start)
    os.truncate(path, 2**36)
    with pytest.raises(FileFormatError, match=r"is 64\.0 GiB; files of this format are read whole, at most 256 MiB"):
        read_graph(path)
    with pytest.raises(FileFormatError, match=r"is 1 MiB; .*, at most 1 MiB"):
        read_text(write(tmp_path, "walks.txt", "a,b\n" * 2**18), limit=1000)


def test_line_of_gigabytes_is_refused_at_once(tmp_path):
    """A sparse file of 64 GiB: the fault is in its first bytes, and nothing else may be read."""
    path = write(tmp_path, "g.tsv", b"a\tb\n" + b"x" * (2**20 + 2))
    os.truncate(path, 2**36)
    with pytest.raises(FileFormatError, match="line 2: is longer than 1 MiB"):
        read_graph(path)


# ---- node-link JSON, GraphML, GML -----------------------------------------------------------------------------------


def link(**keys) -> str:
    return json.dumps({"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, **keys}]})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"nodes": [\n{"id": 1}', "line 2: is not valid JSON .* truncated"),
        ("[" * 100_000, "nested too deeply"),
        ('{"nodes": [{"id": ' + "[" * 900 + "]" * 900 + '}], "links": []}', "nested too deeply"),
        ("[1, 2]", "holds a list, not a node-link object"),
        ("{}", "the list 'nodes' is missing"),
        ('{"nodes": 3, "links": []}', "the list 'nodes' is a int"),
        ('{"nodes": []}', "neither links nor edges"),
        ('{"nodes": [], "links": [], "edges": []}', "both links and edges"),
        ('{"nodes": [{"name": 1}], "links": []}', "node 0 has no 'id'"),
        ('{"nodes": [7], "links": []}', "node 0 is 7, not an object"),
        ('{"nodes": [{"id": 1}, {"id": 1}], "links": []}', "nodes 0 and 1 have the same id 1"),
        ('{"nodes": [{"id": {}}], "links": []}', "an object cannot be a label"),
        ('{"nodes": [{"id": NaN}], "links": []}', "not a finite number"),
        ('{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "link 0 has no 'target'"),
        ('{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 5}]}', "target 5, which is not among the nodes"),
        (link(weight=float("nan")), "link 0 has weight nan"),
        (link(weight=float("inf")), "link 0 has weight inf"),
        (link(weight=-1), "link 0 has weight -1"),
        (link(weight=10**400), "link 0 has weight inf"),
        (link(weight="3"), "weight '3', which is not a number"),
        ('{"directed": 1, "nodes": [], "links": []}', "directed is 1; it must be true or false"),
        ('{"nodes": [{"id": ' + "1" * 5000 + '}], "links": []}', "is not usable JSON"),
        (b'{"nodes": [\n"\xff"]}', "line 2: is not UTF-8"),
        (b"PK\x03\x04", "zip archive"),
        (b'{"nodes"\0', "looks like a binary file"),
        ("\ufeff\n aaa", "is not JSON: it begins with 'a', not with { or \\["),
        (" \n\t", "line 2: is not valid JSON"),
    ],
)
def test_broken_json(tmp_path, content, message):
    path = write(tmp_path, "g.json", content)
    with pytest.raises(FileFormatError, match=message) as error:
        read_graph(path)
    assert str(path) in str(error.value)


def test_json_weights_on_some_links(tmp_path):
    links = '[{"source": 1, "target": 2}, {"source": 1, "target": 2, "weight": 1}]'
    with pytest.raises(FileFormatError, match="some links have a weight and others do not"):
        read_graph(write(tmp_path, "g.json", f'{{"nodes": [{{"id": 1}}, {{"id": 2}}], "links": {links}}}'))


def test_json_of_networkx(tmp_path):
    source = networkx.grid_2d_graph(2, 3)
    path = write(tmp_path, "g.json", json.dumps(networkx.node_link_data(source, edges="links")))
    assert read_graph(path) == Graph.from_networkx(source)


BOMB = '<?xml version="1.0"?>\n<!DOCTYPE b [<!ENTITY a "{}">\n{}]>\n<graphml>&a9;</graphml>'.format(
    "lol" * 10, "\n".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
)
GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BOMB, "line 2: has a document type declaration"),
        (BOMB.encode("utf-16"), "UTF-16"),
        (BOMB.encode("utf-16-le"), "has a document type declaration"),
        (GRAPHML.format('<graph edgedefault="directed">\n<node id="a"/>')[:-20], "line 2: is not valid XML"),
        ("a\tb\n", "is not GraphML: it begins with .a., not with <"),
        ("<svg></svg>", "not a usable GraphML file"),
        (GRAPHML.format("<graph><node/></graph>"), "a node without id"),
        (GRAPHML.format('<graph><edge source="a"/></graph>'), "an edge without source or target"),
        (GRAPHML.format('<graph><node id="a"><data key="k">1</data></node></graph>'), "no key k"),
        (
            GRAPHML.format(
                '<key id="w" for="edge" attr.name="weight" attr.type="double"/><graph><edge source="a" target="b">'
                '<data key="w">-3</data></edge></graph>'
            ),
            "the edge from 'a' to 'b' has weight -3.0",
        ),
        (
            GRAPHML.format(
                '<key id="w" for="edge" attr.name="weight" attr.type="int"/><graph><edge source="a" target="b">'
                '<data key="w">heavy</data></edge></graph>'
            ),
            "not a usable GraphML file",
        ),
        (GRAPHML.format('<key id="w" attr.name="x" attr.type="alien"/><graph></graph>'), "not a usable GraphML file"),
        ('<?xml version="1.0" encoding="klingon"?><graphml/>', "line 1: is not valid XML"),
    ],
)
def test_broken_graphml(tmp_path, content, message):
    path = write(tmp_path, "g.graphml", content)
    with pytest.raises(FileFormatError, match=message) as error:
        read_graph(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("head", "filling", "tail"),
    [
        ("<graphml>\n<node ", "a", ""),
        ("<graphml>\n<node id='", ">", ""),
        ("<graphml>\n<node id='", "a", "'/></graphml>"),
        ("<graphml>\n<!-- ", ">", ""),
    ],
)
def test_tag_of_megabytes_is_refused_at_once(tmp_path, head, filling, tail):
    """The parser reads an unfinished tag again with every piece, so this would take time that grows with its square."""
    path = write(tmp_path, "g.graphml", head + filling * 2**25 + tail)
    with pytest.raises(FileFormatError, match="line 2: has a tag or comment longer than 1 MiB"):
        read_graph(path)


@pytest.mark.parametrize("size", [2**20, 2**21, 2**22 + 5])
def test_graphml_of_several_pieces(tmp_path, size):
    text = GRAPHML.format('<graph>{}<edge source="a" target="b"/></graph>')
    path = write(tmp_path, "g.graphml", text.format(" " * (size - len(text) + 2)))
    assert path.stat().st_size == size
    assert read_graph(path) == Graph.from_edges([("a", "b")])
    path.write_text(text.format(" " * size)[:-3])
    with pytest.raises(FileFormatError, match="line 1: is not valid XML"):
        read_graph(path)


def test_graphml_of_others(tmp_path):
    key = '<key id="w" for="edge" attr.name="weight" attr.type="double"><default>2</default></key>'
    edges = '<edge source="a" target="b"/><edge source="b" target="c"><data key="w">5</data></edge>'
    path = write(tmp_path, "g.graphml", GRAPHML.format(f'{key}<graph edgedefault="directed">{edges}</graph>'))
    assert read_graph(path) == Graph.from_edges([("a", "b", 2), ("b", "c", 5)], directed=True)
    networkx.write_graphml(networkx.path_graph(3), tmp_path / "n.graphml")
    assert read_graph(tmp_path / "n.graphml").labels == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("graph [ node [ id 1", "not a usable GML file .*found EOF"),
        ("graph " + "[ a " * 5000, "not a usable GML file"),
        ("nothing", "not a usable GML file"),
        ('"', "is not GML: it begins with .*, not with a letter or #"),
        ('graph [ node [ id 1 label "a" ] node [ id 2 label "a" ] ]', "have the same label 'a'"),
        ('graph [ node [ id 1 label "a" ] node [ id 2 ] ]', "node 2 has no label but others do"),
        ("graph [ node [ id 1 ] edge [ source 1 target 5 ] ]", "undefined target 5"),
        ("graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight -1 ] ]", "weight -1.0"),
        ("graph [ node 5 ]", "not a usable GML file"),
        ("graph [ node [ id [ x 1 ] ] ]", "not a usable GML file"),
        (b"graph [\n\xff", "line 2: is not UTF-8"),
    ],
)
def test_broken_gml(tmp_path, content, message):
    path = write(tmp_path, "g.gml", content)
    with pytest.raises(FileFormatError, match=message) as error:
        read_graph(path)
    assert str(path) in str(error.value)


@given(
    st.text('graph [node id 1label"a"]edge source target 1.-+eE#&;\n', max_size=40), st.sampled_from(["gml", "graphml"])
)
def test_any_text_is_refused_or_read(tmp_path_factory, text, ending):
    path = tmp_path_factory.getbasetemp() / f"any.{ending}"
    path.write_text(f"graph [ {text}" if ending == "gml" else GRAPHML.format(f"<graph>{text}</graph>"))
    with suppress(FileFormatError):
        read_graph(path)


def test_gml_without_labels(tmp_path):
    text = "graph [\r\n directed 1\r\n node [ id 5 ]\r\n node [ id 3 ]\r\n edge [ source 3 target 5 ]\r\n]\r\n"
    graph = read_graph(write(tmp_path, "g.gml", text))
    assert graph == Graph.from_edges([(3, 5)], nodes=[5, 3], directed=True)


# ---- writing --------------------------------------------------------------------------------------------------------

json_labels = st.recursive(
    st.one_of(
        st.integers(), st.text(max_size=4), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none()
    ),
    lambda parts: st.tuples(parts, parts),
)
text_labels = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=4)


@st.composite
def graphs(draw, labels, isolated=True):
    nodes = draw(st.lists(labels, unique_by=str, min_size=1, max_size=6))
    nodes = list(dict.fromkeys(nodes))
    position = st.integers(0, len(nodes) - 1)
    pairs = draw(st.lists(st.tuples(position, position).filter(lambda pair: pair[0] != pair[1]), max_size=8))
    pairs = pairs if len(nodes) > 1 else []
    weight = st.floats(0, 1e300) if draw(st.booleans()) else st.nothing()
    edges = [(nodes[u], nodes[v], *([draw(weight)] if not weight.is_empty else [])) for u, v in pairs]
    if not isolated:
        used = {end for pair in pairs for end in pair}
        nodes = [node for number, node in enumerate(nodes) if number in used]
    return Graph.from_edges(edges, directed=draw(st.booleans()), nodes=nodes)


def assert_read_back(graph: Graph, path) -> None:
    write_graph(graph, path)
    again = read_graph(path)
    assert again == graph
    assert repr(again.labels) == repr(graph.labels)


@given(graphs(json_labels))
def test_json_round_trip(tmp_path_factory, graph):
    assert_read_back(graph, tmp_path_factory.getbasetemp() / "w.json")


@given(graphs(text_labels))
def test_graphml_round_trip(tmp_path_factory, graph):
    assert_read_back(graph, tmp_path_factory.getbasetemp() / "w.graphml")


@given(graphs(st.one_of(st.integers(), st.text(max_size=4).filter(lambda text: text not in ("()", "[]")))))
def test_gml_round_trip(tmp_path_factory, graph):
    assert_read_back(graph, tmp_path_factory.getbasetemp() / "w.gml")


@given(
    graphs(st.one_of(st.integers(-5, 5), st.text(max_size=4)), isolated=False), st.sampled_from(["tsv", "csv", "txt"])
)
def test_edge_list_round_trip(tmp_path_factory, graph, ending):
    """What can be written is read back, up to the order of nodes and labels that look like numbers."""
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
def test_what_cannot_be_written(tmp_path, name, edges, nodes, message):
    with pytest.raises(GraphError, match=message):
        write_graph(Graph.from_edges(edges, nodes=nodes), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_csv_quotes(tmp_path):
    graph = Graph.from_edges([('a, "b"', "#c", 0.1), ("#c", "two\nlines", 2.0)])
    write_graph(graph, tmp_path / "g.csv")
    assert (tmp_path / "g.csv").read_text() == 'source,target,weight\n"a, ""b""","#c",0.1\n"#c","two\nlines",2.0\n'
    assert read_graph(tmp_path / "g.csv") == graph


def test_names_that_look_like_a_header(tmp_path):
    graph = Graph.from_edges([("u", "v"), ("v", "source")])
    for ending in ("tsv", "csv", "txt"):
        assert_read_back(graph, tmp_path / f"g.{ending}")


def test_comments_that_look_like_edges_are_said(tmp_path):
    path = tmp_path / "tags.tsv"
    path.write_text("# hashtags that meet\n#metoo\t#love\npeace\tlove\n")
    with pytest.warns(UserWarning, match=r"tags\.tsv, line 2: starts with # and was taken for a comment"):
        assert read_graph(path).num_edges == 1


@pytest.mark.parametrize("first", ["# source\ttarget", "#FromNodeId\tToNodeId", "#", "#alone", "##\tx", "#a\tb\tc\td"])
def test_ordinary_comments_are_silent(tmp_path, first, recwarn):
    path = tmp_path / "links.tsv"
    path.write_text(f"{first}\na\tb\n")
    assert read_graph(path).num_edges == 1
    assert not recwarn.list
