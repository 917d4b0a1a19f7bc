"""Conversion to and from networkx, igraph, scipy, PyTorch Geometric, arrays and tensors."""

from __future__ import annotations

from types import SimpleNamespace

import igraph
import networkx
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.errors import GraphError
from curiograph.graph.graph import Cleaning, Graph
from support.graph_files import graphs

plain_labels = st.one_of(
    st.integers(), st.text(max_size=4), st.floats(allow_nan=False), st.booleans(), st.binary(max_size=3)
)
any_labels = st.recursive(plain_labels, lambda parts: st.tuples(parts, parts) | st.frozensets(parts, max_size=2))


def make_graphs(labels=any_labels):
    """Graphs with isolated nodes, of any direction, weighted or not."""
    return graphs(st.lists(labels, unique=True, max_size=8), st.floats(2**-20, 2**20))


def assert_same(graph: Graph, other: Graph) -> None:
    assert graph == other
    assert repr(graph.labels) == repr(other.labels)  # equal labels may differ in type: 1, 1.0, True
    if graph.num_edges:
        assert (graph.weights is None) == (other.weights is None)


def unweighted_if_empty(graph: Graph) -> Graph:
    """Formats that store weights with the edges do not keep that a graph without edges was weighted."""
    if graph.num_edges or graph.loops is not None or graph.weights is None:
        return graph
    return Graph(graph.indptr, graph.indices, directed=graph.directed, names=graph.names)


@given(make_graphs())
def test_networkx_round_trip(graph):
    assert_same(unweighted_if_empty(graph), Graph.from_networkx(graph.to_networkx()))


@given(make_graphs())
def test_pyg_round_trip(graph):
    """torch_geometric's own conversion of the edges is the oracle; weights are kept in single precision."""
    utils = pytest.importorskip("torch_geometric.utils", reason="needs PyG: pip install 'curiograph[pyg]'")
    data = graph.to_pyg()
    assert data.validate()
    rows, columns = graph.to_scipy().nonzero()
    assert data.edge_index.tolist() == [rows.tolist(), columns.tolist()]
    if not graph.directed:
        assert data.is_undirected()
    assert set(utils.to_networkx(data).edges) == set(zip(rows.tolist(), columns.tolist(), strict=True))
    back = Graph.from_pyg(data, directed=graph.directed)
    if graph.weights is not None and graph.num_edges:
        np.testing.assert_allclose(back.weights, graph.weights, rtol=1e-6)
        graph, back = graph.skeleton, back.skeleton
    assert repr(back.labels) == repr(graph.labels)
    assert back.directed == graph.directed
    np.testing.assert_array_equal(back.indices, graph.indices)


def test_direction_of_pyg_edges():
    def convert(edges, directed=None, **values):
        return Graph.from_pyg(SimpleNamespace(edge_index=np.array(edges), num_nodes=3, **values), directed=directed)

    assert not convert([[0, 1], [1, 0]]).directed
    assert convert([[0, 1], [1, 2]]).directed
    assert convert([[0, 1], [1, 0]], edge_attr=np.array([[1.0], [2.0]])).directed
    assert convert([[0, 1], [1, 0]], edge_weight=np.array([2.0, 2.0])).weights.tolist() == [2.0, 2.0]
    for edges, weights in (([[1, 2], [0, 1]], [2, 3]), ([[1, 0, 2], [0, 1, 1]], [2, 2, 3])):
        assert_same(convert(edges, directed=False), Graph.from_edges([(0, 1), (1, 2)]))
        weighted = convert(edges, directed=False, edge_weight=torch.tensor(weights, dtype=float, requires_grad=True))
        assert_same(weighted, Graph.from_edges([(0, 1, 2), (1, 2, 3)]))
    for edges in ([[0], [3]], [[0.5], [1.0]]):
        with pytest.raises(GraphError, match="0 to 2"):
            convert(edges)
    with pytest.raises(GraphError, match=r"\(1,\) for 2 edges"):
        convert([[0, 1], [1, 0]], edge_weight=np.array([2.0]))
    with pytest.raises(GraphError, match=r"networkx\.\S+Graph"):
        Graph.from_pyg(networkx.Graph())


@pytest.mark.parametrize("convert", [np.array, torch.tensor, torch.Tensor, pd.DataFrame])
def test_edges_of_arrays_tensors_and_frames(convert):
    """A 4-cycle has 4 nodes, whatever holds it; a third column has weights."""
    cycle = [[0, 1], [1, 2], [2, 3], [3, 0]]
    assert_same(Graph.from_edges(convert(cycle)), Graph.from_edges(cycle))
    assert_same(Graph.from_edges(list(torch.tensor(cycle))), Graph.from_edges(cycle))
    assert_same(Graph.from_edges(pd.Series(cycle)), Graph.from_edges(cycle))
    weighted = [[*edge, 2] for edge in cycle]
    assert_same(Graph.from_edges(convert(weighted)), Graph.from_edges(weighted))
    assert Graph.from_edges(convert(cycle)).position(torch.tensor(2)) == 2


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), r"\(2, 4\).*transpose"),
        (np.array([[0.5, 1.0]]), r"\[0.5, 1.0\].*whole numbers"),
        (np.array([[True, False]]), "bool"),
        (torch.tensor([[0.0, 1.0]], requires_grad=True), "numpy array"),
        (np.array([[0, 1, -1.0]]), "weight -1.0"),
    ],
)
def test_arrays_that_are_no_edges(edges, words):
    with pytest.raises(GraphError, match=words):
        Graph.from_edges(edges)


@given(make_graphs(st.text(max_size=4)))
def test_igraph(graph):
    source, target, weights = graph.get_edges()
    other = igraph.Graph(n=len(graph), edges=np.column_stack([source, target]).tolist(), directed=graph.directed)
    other.vs["name"] = graph.labels
    if weights is not None:
        other.es["weight"] = weights.tolist()
    assert_same(unweighted_if_empty(graph), Graph.from_igraph(other))


@given(make_graphs())
def test_scipy_round_trip(graph):
    matrix = graph.to_scipy()
    again = Graph.from_scipy(matrix, directed=graph.directed, nodes=graph.labels)
    if graph.weights is not None and np.all(matrix.data == 1):
        graph = Graph(graph.indptr, graph.indices, directed=graph.directed, names=graph.names, loops=graph.loops)
    assert_same(graph, again)


def test_networkx_multigraph_is_merged_and_counted():
    source = networkx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "a"), ("b", "b")])
    graph = Graph.from_networkx(source)
    assert graph.directed
    assert graph.num_edges == 2
    assert graph.cleaning == Cleaning(self_loops=1, parallel_edges=1)
    assert graph.to_scipy().toarray().tolist() == networkx.to_numpy_array(source).tolist() == [[0, 2], [1, 1]]


@pytest.mark.parametrize(("weight", "message"), [(float("nan"), "weight nan"), ("heavy", "'heavy'")])
def test_networkx_bad_weight_names_the_edge(weight, message):
    source = networkx.Graph()
    source.add_edge("a", "b", weight=weight)
    with pytest.raises(GraphError, match=f"the edge from 'a' to 'b' has .*{message}"):
        Graph.from_networkx(source)


@pytest.mark.parametrize("convert", [Graph.from_networkx, Graph.from_igraph])
def test_wrong_type(convert):
    with pytest.raises(GraphError, match=r"given a list; give an? (networkx|igraph) Graph"):
        convert([(0, 1)])
    with pytest.raises(GraphError, match=r"given a curiograph\.graph\.graph\.Graph"):
        convert(Graph.from_edges([(0, 1)]))


def test_igraph_without_names_and_with_repeated_names():
    assert Graph.from_igraph(igraph.Graph(n=3, edges=[(2, 0)], directed=True)).labels == [0, 1, 2]
    repeated = igraph.Graph(n=2)
    repeated.vs["name"] = ["a", "a"]
    with pytest.raises(GraphError, match="'a'"):
        Graph.from_igraph(repeated)


def test_scipy_direction_and_weights():
    assert not Graph.from_scipy([[0, 1], [1, 0]]).directed
    assert Graph.from_scipy([[0, 1], [1, 0]]).weights is None
    assert Graph.from_scipy([[0, 1], [0, 0]]).directed
    assert Graph.from_scipy(np.array([[False, True], [True, False]])).weights is None
    assert Graph.from_scipy([[1, 1], [1, 0]]).weights is None
    assert Graph.from_scipy([[5, 1], [1, 0]]).weights.tolist() == [1, 1]
    assert Graph.from_scipy([[5, 1], [1, 0]]).loops.tolist() == [5, 0]
    assert Graph.from_scipy([[5, 1], [1, 0]]).cleaning.self_loops == 1
    assert Graph.from_scipy([[0, 1], [1, 0]], directed=True).num_edges == 2
    assert Graph.from_scipy([[0, 3], [0, 0]], directed=False).weights.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("matrix", "arguments", "message"),
    [
        ([[0, 1, 0], [1, 0, 0]], {}, r"shape \(2, 3\)"),
        ([[0, float("nan")], [1, 0]], {}, "nan"),
        ([[0, 1], [-4, 0]], {}, "-4.0"),
        ([[0, 1j], [1, 0]], {}, "complex"),
        ([["a", "b"], ["c", "d"]], {}, "numbers"),
        ([[0, 1], [1, 0]], {"nodes": ["a"]}, "1 labels for a matrix of 2 rows"),
        ([[0, 1], [2, 0]], {"directed": False}, r"1.0 at \(0, 1\) but 2.0 at \(1, 0\)"),
    ],
)
def test_scipy_rejects(matrix, arguments, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_scipy(matrix, **arguments)


def test_walks_histories_and_starts_of_tensors():
    g = cg.generate("rg", nodes=30, seed=0)
    walk = cg.explore(g, "greedy", start=3, steps=6, seed=0).nodes
    assert cg.explore(g, "greedy", start=torch.tensor(3), steps=6, seed=0).nodes == walk
    lists, tensors = [walk, walk[:4]], [torch.tensor(walk), torch.tensor(walk[:4])]
    assert cg.measure(g, tensors[0]).beta1.tolist() == cg.measure(g, walk).beta1.tolist()
    assert cg.measure(g, [*tensors[0], torch.tensor(walk[0])]).revisits == 1
    np.testing.assert_array_equal(cg.pagerank(g, history=tensors).scores, cg.pagerank(g, history=lists).scores)
    assert cg.recommend(g, tensors[0], k=3) == cg.recommend(g, walk, k=3)
    assert cg.human.Trajectories.from_walks(tensors).names.labels == walk
