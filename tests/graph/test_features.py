"""The local degree profile."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import curiograph as cg
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import PROFILE_SIZE
from oracles import reference
from support.small_graphs import graphs


@given(graphs())
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
