"""The Graph: construction, labels, structure, and errors."""

from __future__ import annotations

import copy
import pickle

import igraph
import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import GraphError, UnknownNodeError
from curiograph.graph.graph import Cleaning, Graph, as_graph, require_edges

edges_of_letters = st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=30)


@given(edges_of_letters, st.booleans())
def test_from_edges_equals_dictionary_of_sets(edges, directed):
    graph = Graph.from_edges(edges, directed=directed)
    rows: dict[str, set[str]] = {}
    for u, v in edges:
        rows.setdefault(u, set())
        rows.setdefault(v, set())
        if u != v:
            rows[u].add(v)
            if not directed:
                rows[v].add(u)
    assert graph.labels == list(rows)
    assert {label: set(graph.neighbors(label)) for label in graph.labels} == rows
    assert graph.cleaning.self_loops == sum(u == v for u, v in edges)
    assert graph.cleaning.self_loops + graph.cleaning.parallel_edges + graph.num_edges == len(edges)
    for row in range(len(graph)):
        assert np.all(np.diff(graph.indices[graph.indptr[row] : graph.indptr[row + 1]]) > 0)


@given(edges_of_letters, st.booleans(), st.sets(st.sampled_from("abcdefg")))
def test_subgraph_keeps_edges_between_its_nodes(edges, directed, chosen):
    graph = Graph.from_edges(edges, directed=directed, nodes="abcdefg")
    assert graph.subgraph(graph.labels) == graph
    small = graph.subgraph(chosen)
    assert small.labels == [label for label in graph.labels if label in chosen]
    for label in small.labels:
        assert small.neighbors(label) == [other for other in graph.neighbors(label) if other in chosen]


def test_order_of_nodes():
    assert Graph.from_edges([("b", "a"), ("c", "b")]).labels == ["b", "a", "c"]
    assert Graph.from_edges([(2, 1), (1, 0)]).labels == [0, 1, 2]
    assert Graph.from_edges([(7, 3)]).labels == [7, 3]
    assert Graph.from_edges([(2, 1)], nodes=[0, 1, 2]).labels == [0, 1, 2]
    assert Graph.from_edges([(True, 2)]).labels == [True, 2]


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64])
def test_integer_array_equals_list(dtype):
    pairs = [(0, 3), (3, 1), (1, 2), (2, 2), (3, 0)]
    graph = Graph.from_edges(np.array(pairs, dtype))
    assert graph == Graph.from_edges(pairs)
    assert graph.cleaning == Cleaning(self_loops=1, parallel_edges=1, both_ways=1)
    assert Graph.from_edges(np.array([(5, 9)], dtype)).labels == [5, 9]
    assert Graph.from_edges(np.empty((0, 2), dtype)).num_nodes == 0


@given(edges_of_letters)
def test_undirected_edge_counts_as_often_as_its_more_frequent_direction(edges):
    graph = Graph.from_edges(edges)
    pairs = {frozenset(edge) for edge in edges if edge[0] != edge[1]}
    expected = {pair: max(edges.count(tuple(pair)), edges.count(tuple(pair)[::-1])) for pair in pairs}
    source, target, weights = graph.get_edges()
    found = [1.0] * len(source) if weights is None else weights.tolist()
    ends = [frozenset((graph.label(u), graph.label(v))) for u, v in zip(source, target, strict=True)]
    counts = {pair: weight for pair, weight in zip(ends, found, strict=True) if len(pair) == 2}
    if weights is None:  # all edges are repeated equally often
        assert len(set(expected.values())) <= 1
        expected = dict.fromkeys(expected, 1.0)
    assert counts == expected
    assert graph.cleaning.both_ways == sum(tuple(p) in edges and tuple(p)[::-1] in edges for p in pairs)


def test_weights_of_parallel_edges_are_summed_and_zero_weights_kept():
    graph = Graph.from_edges([("a", "b", 1), ("b", "a", 2), ("b", "c", 0)])
    assert graph.num_edges == 2
    assert graph.weights.tolist() == [3, 3, 0, 0]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b", float("nan"))], "edge 0 has weight nan"),
        ([("a", "b"), ("b", "c", -1)], "edge 1 has weight -1"),
        ([("a", "b", 10**400)], "weight 1000"),
        ([("a", "b", "x")], "'x'"),
        ([("a", "b", 1e308), ("a", "b", 1e308)], "add up"),
        ([("a", "b"), ("b", "c", 1)], "edge 0 has no weight"),
        ([("a",)], "give pairs"),
        ([(["a"], "b")], "must be hashable"),
        ([(float("nan"), "b")], "nan cannot be a label"),
        (None, r"edges is None; give pairs \(u, v\)"),
        ([{1, 2}], r"edge 0 is \{1, 2\}; give pairs"),
    ],
)
def test_bad_edges(edges, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edges(edges)


def test_numpy_scalars():
    plain = Graph.from_edges([(5, 9, 0.5), ("a", 5, 2.0)], directed=True)
    edges = [(np.int64(5), np.uint8(9), np.float32(0.5)), np.array(["a", 5, 2], object)]
    graph = Graph.from_edges(edges, directed=np.bool_(True), nodes=np.array([5, 9]))
    assert graph == plain
    assert [type(label) for label in graph.labels] == [int, int, str]
    assert graph.directed is True
    assert graph.label(np.int32(1)) == 9
    assert graph.position(np.int64(9)) == 1
    assert Graph.from_edges([(np.int64(1), np.int64(0))]).labels == [0, 1]


class Derived(networkx.DiGraph):
    """A user-defined subclass."""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (networkx.Graph(), r"networkx\..*cg\.Graph\.from_networkx\("),
        (Derived(), r"Derived, not .*cg\.Graph\.from_networkx\("),
        (igraph.Graph(), r"cg\.Graph\.from_igraph\("),
        (scipy.sparse.eye_array(2), r"cg\.Graph\.from_scipy\("),
        ("g.tsv", r"'g.tsv' is a str.*cg\.read_graph\(path\)"),
        ([(0, 1)], r"\[\(0, 1\)\] is a list.*cg\.Graph\.from_edges\("),
    ],
)
def test_as_graph(value, message):
    with pytest.raises(GraphError, match=message):
        as_graph(value)


def test_empty_graphs():
    empty = Graph.from_edges([])
    assert (len(empty), empty.num_edges, empty.labels) == (0, 0, [])
    with pytest.raises(GraphError, match="empty"):
        require_edges(empty)
    with pytest.raises(GraphError, match="no edges"):
        require_edges(Graph.from_edges([], nodes=["a"]))
    with pytest.raises(UnknownNodeError, match="it is empty"):
        empty.position("a")


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("2", "has the number 2; give it without quotes"),
        (3, "start with 0, 1, 2"),
        (True, "start with 0, 1, 2"),
        (["a"], "start with 0, 1, 2"),
    ],
)
def test_unknown_label(label, message):
    graph = Graph.from_edges([(0, 1), (1, 2)])
    assert label not in graph
    with pytest.raises(UnknownNodeError, match=message):
        graph.position(label)


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"]])
@pytest.mark.parametrize("position", [-1, 3, None, 1.0])
def test_position_outside(labels, position):
    with pytest.raises(UnknownNodeError, match=f"no node at position {position!r}; it has 3 nodes, and"):
        Graph.from_edges([], nodes=labels).label(position)


@pytest.mark.parametrize("name", ["directed", "weights", "cleaning", "degrees", "new"])
def test_attributes_cannot_be_set(name):
    graph = Graph.from_edges([("a", "b", 2.0), ("b", "c", 1.0)])
    for each in (graph, graph.skeleton, copy.copy(graph), pickle.loads(pickle.dumps(graph))):
        with pytest.raises(AttributeError, match=f"'{name}' cannot be set"):
            setattr(each, name, True)
    assert graph.num_edges == 2


def test_arrays_stay_read_only_through_pickle():
    graph = Graph.from_edges([("a", "b", 2.0), ("b", "c", 1.0)], directed=True)
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    assert again.cleaning == graph.cleaning
    for array in (graph.indptr, graph.weights, again.indptr, again.indices, again.weights):
        assert not array.flags.writeable


def test_skeleton():
    graph = Graph.from_edges([("a", "b", 2.0), ("b", "a", 1.0), ("b", "c", 1.0)], directed=True)
    assert graph.skeleton == Graph.from_edges([("a", "b"), ("b", "c")])
    assert graph.skeleton is graph.skeleton
    plain = Graph.from_edges([(0, 1)])
    assert plain.skeleton is plain


def test_equality():
    graph = Graph.from_edges([("a", "b", 2.0)])
    assert graph != Graph.from_edges([("a", "b")])
    assert graph != Graph.from_edges([("a", "b", 2.0)], directed=True)
    assert graph != Graph.from_edges([("a", "c", 2.0)])
    assert graph != "graph"
    assert hash(graph) == hash(Graph.from_edges([("a", "b", 2.0)]))
