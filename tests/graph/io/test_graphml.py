"""GraphML."""

from __future__ import annotations

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from support.graph_files import assert_read_back, graphs, write_file

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
def test_malformed_graphml(tmp_path, content, message):
    path = write_file(tmp_path, "g.graphml", content)
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
def test_tag_of_megabytes_is_rejected_at_once(tmp_path, head, filling, tail):
    """The parser reads an unfinished tag again with every chunk, which would take quadratic time."""
    path = write_file(tmp_path, "g.graphml", head + filling * 2**25 + tail)
    with pytest.raises(FileFormatError, match="line 2: has a tag or comment longer than 1 MiB"):
        read_graph(path)


@pytest.mark.parametrize("size", [2**20, 2**21, 2**22 + 5])
def test_graphml_of_several_chunks(tmp_path, size):
    text = GRAPHML.format('<graph>{}<edge source="a" target="b"/></graph>')
    path = write_file(tmp_path, "g.graphml", text.format(" " * (size - len(text) + 2)))
    assert path.stat().st_size == size
    assert read_graph(path) == Graph.from_edges([("a", "b")])
    path.write_text(text.format(" " * size)[:-3])
    with pytest.raises(FileFormatError, match="line 1: is not valid XML"):
        read_graph(path)


def test_graphml_of_other_programs(tmp_path):
    key = '<key id="w" for="edge" attr.name="weight" attr.type="double"><default>2</default></key>'
    edges = '<edge source="a" target="b"/><edge source="b" target="c"><data key="w">5</data></edge>'
    path = write_file(tmp_path, "g.graphml", GRAPHML.format(f'{key}<graph edgedefault="directed">{edges}</graph>'))
    assert read_graph(path) == Graph.from_edges([("a", "b", 2), ("b", "c", 5)], directed=True)
    networkx.write_graphml(networkx.path_graph(3), tmp_path / "n.graphml")
    assert read_graph(tmp_path / "n.graphml").labels == ["0", "1", "2"]


text_labels = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=4)


@given(graphs(text_labels))
def test_graphml_round_trip(tmp_path_factory, graph):
    assert_read_back(graph, tmp_path_factory.getbasetemp() / "w.graphml")
