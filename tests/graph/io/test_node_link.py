"""Node-link JSON."""

from __future__ import annotations

import json

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph
from support.graph_files import assert_read_back, assert_refused, graphs, list_nodes, write_file


def link(**keys) -> str:
    """A document with one link."""
    return json.dumps({"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, **keys}]})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"nodes": [\n{"id": 1}', "line 2: is not valid JSON"),
        ("[" * 100_000, "g.json"),
        ("[1, 2]", "node-link"),
        ("{}", "nodes"),
        ('{"nodes": [{"id": 1}, {"id": 1}], "links": []}', "node 1 is listed twice"),
        ('{"nodes": [{"id": NaN}], "links": []}', "nan"),
        ('{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "target"),
        ('{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 5}]}', "5 is missing"),
        (link(weight=10**400), "weight 1000"),
        (link(weight="x"), "weight 'x'"),
        ('{"directed": 1, "nodes": [], "links": []}', "directed is 1"),
        ('{"nodes": [{"id": ' + "1" * 5000 + '}], "links": []}', "is not usable JSON"),
        (b'{"nodes": [\n"\xff"]}', "line 2: is not UTF-8"),
        (b'{"nodes"\0', "looks like a binary file"),
    ],
)
def test_malformed_json(tmp_path, content, message):
    assert_refused(tmp_path, "g.json", content, message)


def test_json_of_networkx(tmp_path):
    source = networkx.grid_2d_graph(2, 3)
    path = write_file(tmp_path, "g.json", json.dumps(networkx.node_link_data(source, edges="links")))
    assert read_graph(path) == Graph.from_networkx(source)


json_labels = st.recursive(
    st.one_of(st.integers(), st.text(max_size=4), st.floats(allow_nan=False, allow_infinity=False), st.booleans()),
    lambda parts: st.tuples(parts, parts),
)


@given(graphs(list_nodes(json_labels)))
def test_json_round_trip(tmp_path_factory, graph):
    assert_read_back(graph, tmp_path_factory.getbasetemp() / "w.json")
