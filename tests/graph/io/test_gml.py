"""GML."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from support.graph_files import assert_read_back, graphs, write_file

GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'


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
def test_malformed_gml(tmp_path, content, message):
    path = write_file(tmp_path, "g.gml", content)
    with pytest.raises(FileFormatError, match=message) as error:
        read_graph(path)
    assert str(path) in str(error.value)


@given(
    st.text('graph [node id 1label"a"]edge source target 1.-+eE#&;\n', max_size=40), st.sampled_from(["gml", "graphml"])
)
def test_random_text_is_rejected_or_read(tmp_path_factory, text, ending):
    path = tmp_path_factory.getbasetemp() / f"any.{ending}"
    path.write_text(f"graph [ {text}" if ending == "gml" else GRAPHML.format(f"<graph>{text}</graph>"))
    with suppress(FileFormatError):
        assert isinstance(read_graph(path), Graph)


def test_gml_without_labels(tmp_path):
    text = "graph [\r\n directed 1\r\n node [ id 5 ]\r\n node [ id 3 ]\r\n edge [ source 3 target 5 ]\r\n]\r\n"
    graph = read_graph(write_file(tmp_path, "g.gml", text))
    assert graph == Graph.from_edges([(3, 5)], nodes=[5, 3], directed=True)


@given(graphs(st.one_of(st.integers(), st.text(max_size=4).filter(lambda text: text not in ("()", "[]")))))
def test_gml_round_trip(tmp_path_factory, graph):
    assert_read_back(graph, tmp_path_factory.getbasetemp() / "w.gml")
