"""Node-link JSON."""

from __future__ import annotations

import json

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from support.graph_files import assert_read_back, graphs, write_file


def link(**keys) -> str:
    """A document with one link."""
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
def test_malformed_json(tmp_path, content, message):
    path = write_file(tmp_path, "g.json", content)
    with pytest.raises(FileFormatError, match=message) as error:
        read_graph(path)
    assert str(path) in str(error.value)


def test_json_weights_on_some_links(tmp_path):
    links = '[{"source": 1, "target": 2}, {"source": 1, "target": 2, "weight": 1}]'
    with pytest.raises(FileFormatError, match="some links have a weight and others do not"):
        read_graph(write_file(tmp_path, "g.json", f'{{"nodes": [{{"id": 1}}, {{"id": 2}}], "links": {links}}}'))


def test_json_of_networkx(tmp_path):
    source = networkx.grid_2d_graph(2, 3)
    path = write_file(tmp_path, "g.json", json.dumps(networkx.node_link_data(source, edges="links")))
    assert read_graph(path) == Graph.from_networkx(source)


json_labels = st.recursive(
    st.one_of(
        st.integers(), st.text(max_size=4), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none()
    ),
    lambda parts: st.tuples(parts, parts),
)


@given(graphs(json_labels))
def test_json_round_trip(tmp_path_factory, graph):
    assert_read_back(graph, tmp_path_factory.getbasetemp() / "w.json")
