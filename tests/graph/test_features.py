"""The local degree profile."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.graph.batch import GraphBatch
from curiograph.graph.features import PROFILE_SIZE, compute_degree_profile
from oracles import reference


@st.composite
def any_graph(draw):
    nodes = draw(st.integers(1, 12))
    pairs = [(u, v) for u in range(nodes) for v in range(nodes) if u != v]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=25, unique=True)) if pairs else []
    return cg.Graph.from_edges(edges, directed=draw(st.booleans()), nodes=range(nodes))


@given(any_graph())
def test_equals_reference(graph):
    profile = graph.degree_profile
    assert profile.shape == (graph.num_nodes, PROFILE_SIZE)
    assert profile.dtype == np.float32
    assert profile == pytest.approx(reference.compute_degree_profile(graph), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("edges", "nodes"),
    [
        ([(1, 2)], 4),  # isolated: first and last
        ([(0, 1)], 4),  # isolated: the last two
        ([(2, 3)], 4),  # isolated: the first two
        ([(0, 4)], 5),  # isolated: between
        ([], 3),
        ([], 0),
    ],
)
def test_node_without_neighbors_has_zeros(edges, nodes):
    graph = cg.Graph.from_edges(edges, nodes=range(nodes))
    expected = np.zeros((nodes, PROFILE_SIZE))
    expected[[v for edge in edges for v in edge]] = 1, 1, 1, 1, 0
    assert graph.degree_profile.tolist() == expected.tolist()


def test_triangle_with_a_tail():
    """The neighbors of node 2 have degrees 2, 2 and 1."""
    graph = cg.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
    assert graph.degree_profile[2] == pytest.approx([3, 1, 2, 5 / 3, np.sqrt(2) / 3])
    assert graph.degree_profile[3].tolist() == [1, 3, 3, 3, 0]


def test_directed_graph_uses_its_skeleton():
    edges = [(0, 1), (1, 0), (1, 2), (3, 1), (2, 3)]
    directed = cg.Graph.from_edges(edges, directed=True)
    both = cg.Graph.from_edges(edges)
    assert directed.degree_profile.tolist() == both.degree_profile.tolist()
    assert (
        directed.degree_profile.tolist()
        != compute_degree_profile(directed.indptr, directed.indices, np.arange(len(directed))).tolist()
    )


def test_large_degrees_are_exact():
    """The mean and deviation of many equal degrees, where sums in single precision would be wrong."""
    leaves = 100_000
    star = cg.Graph.from_edges(np.column_stack([np.zeros(leaves, int), np.arange(1, leaves + 1)]))
    assert star.degree_profile[0].tolist() == [leaves, 1, 1, 1, 0]
    assert star.degree_profile[7].tolist() == [1, leaves, leaves, leaves, 0]


def test_batch_has_the_profiles_of_its_graphs():
    graphs = [cg.toys.cycle(4), cg.Graph.from_edges([(0, 1), (2, 0)], directed=True, nodes=range(4)), cg.toys.library()]
    stacked = GraphBatch.of(graphs).degree_profile
    assert stacked.tolist() == np.concatenate([graph.degree_profile for graph in graphs]).tolist()
    assert GraphBatch.of(graphs[:1]).degree_profile is graphs[0].degree_profile


def test_profiles_of_some_nodes_do_not_depend_on_the_others():
    graph = cg.generate("ba", nodes=300, seed=0)
    some = np.array([7, 299, 7, 0], np.int32)
    assert compute_degree_profile(graph.indptr, graph.indices, some).tolist() == graph.degree_profile[some].tolist()
