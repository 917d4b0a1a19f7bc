"""GraphML, GML and GEXF."""

from __future__ import annotations

import pickle

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph
from support.graph_files import assert_read_back, assert_refused, graphs, list_nodes, write_file

GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'
KEY = '<key id="w" for="edge" attr.name="weight" attr.type="double">{}</key>'
GEXF = (
    '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2"><graph defaultedgetype="undirected"><nodes>'
    '<node id="1" label="Oslo"/><node id="2" label="{}"/></nodes><edges><edge id="0" source="1" target="2"/>'
    "</edges></graph></gexf>"
)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.graphml", GRAPHML.format('<graph>\n<node id="a"/>')[:-20], "line 2"),
        (
            "g.graphml",
            GRAPHML.format(
                KEY.format("") + '<graph><edge source="a" target="b"><data key="w">-3</data></edge></graph>'
            ),
            "'a' to 'b' has weight -3.0",
        ),
        ("g.gml", "graph [ node [ id 1", "EOF"),
        ("g.gml", "graph [ node [ id 1 ] edge [ source 1 target 5 ] ]", "undefined target 5"),
        ("g.gml", b"graph [\n\xff", "line 2: is not UTF-8"),
        ("g.gexf", "a b\n", "line 1"),
    ],
)
def test_malformed_files(tmp_path, name, content, message):
    assert_refused(tmp_path, name, content, message)


def test_files_of_other_programs(tmp_path):
    edges = '<edge source="a" target="b"/><edge source="b" target="c"><data key="w">5</data></edge>'
    text = GRAPHML.format(f'{KEY.format("<default>2</default>")}<graph edgedefault="directed">{edges}</graph>')
    weighted = Graph.from_edges([("a", "b", 2), ("b", "c", 5)], directed=True)
    assert read_graph(write_file(tmp_path, "g.graphml", text)) == weighted
    text = "graph [\r\n directed 1\r\n node [ id 5 ]\r\n node [ id 3 ]\r\n edge [ source 3 target 5 ]\r\n]\r\n"
    assert read_graph(write_file(tmp_path, "g.gml", text)) == Graph.from_edges([(3, 5)], nodes=[5, 3], directed=True)
    given_graph = networkx.DiGraph([("a", "b", {"weight": 2.5}), ("b", "ü")])
    networkx.write_gexf(given_graph, tmp_path / "n.gexf")
    given_graph.edges["b", "ü"]["weight"] = 1.0
    assert networkx.utils.graphs_equal(read_graph(tmp_path / "n.gexf").to_networkx(), given_graph)


def test_titles(tmp_path):
    """Labels of other programs are titles, and ids stay the labels; networkx writes the ids of GML as its labels."""
    key = '<key id="n" for="node" attr.name="label" attr.type="string"/>'
    nodes = '<node id="1"><data key="n">Oslo</data></node><node id="2"/>'
    graphml = GRAPHML.format(f'{key}<graph>{nodes}<edge source="1" target="2"/></graph>')
    gml = 'graph [ node [ id {} label "a" {} ] node [ id {} label "{}" ] edge [ source 1 target 2 ] ]'
    for name, text, labels, titles in [
        ("g.graphml", graphml, ["1", "2"], ("Oslo", "2")),
        ("g.gexf", GEXF.format("Rome"), ["1", "2"], ("Oslo", "Rome")),
        ("g.gexf", GEXF.format("Oslo"), ["1", "2"], ("Oslo", "Oslo")),
        ("g.gml", gml.format(1, "", 2, "b"), ["a", "b"], None),
        ("g.gml", gml.format(1, "", 2, "a"), [1, 2], ("a", "a")),
        ("g.gml", gml.format(1, 'title "Oslo"', 2, "b"), ["a", "b"], ("Oslo", "b")),
    ]:
        graph = read_graph(write_file(tmp_path, name, text))
        assert (graph.labels, graph.titles) == (labels, titles)
        assert [graph.title(v) for v in range(2)] == list(titles or labels)
        saved = Graph.from_networkx(networkx.relabel_nodes(graph.to_networkx(), str))
        for ending in ("graphml", "gml", "json", "safetensors"):
            assert_read_back(saved, tmp_path / f"w.{ending}")
        assert saved.subgraph(saved.labels[:1]).titles == (titles and titles[:1])
        assert saved.skeleton.titles == pickle.loads(pickle.dumps(saved)).titles == titles


printable = st.text(max_size=4).filter(lambda text: text.isprintable() and text not in ("()", "[]"))


@pytest.mark.parametrize("ending", ["graphml", "gml"])
@given(graph=graphs(list_nodes(printable)))
def test_round_trip(tmp_path_factory, ending, graph):
    assert_read_back(graph, tmp_path_factory.getbasetemp() / f"w.{ending}")
