"""The local degree profile."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import PROFILE_SIZE
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
