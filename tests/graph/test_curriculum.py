"""The curriculum: sizes, kinds, and graphs that depend on the seed alone."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg


def test_graphs_are_reproducible_and_of_the_wanted_sizes():
    sets = cg.generate_curriculum(train=40, val=4, max_nodes=120, seed=1)
    again = cg.generate_curriculum(train=10, val=2, max_nodes=120, seed=1)
    for one, other in zip([*sets.train[:10], *sets.val[:2]], [*again.train, *again.val], strict=True):
        assert np.array_equal(one.indices, other.indices)
        assert one.directed == other.directed
    sizes = [graph.num_nodes for graph in sets.train]
    assert (len(sets.train), len(sets.val), len(sets.test)) == (40, 4, 0)
    assert min(sizes) >= 12
    assert max(sizes) <= 140  # blocks and grids may round up
    assert 2 <= sum(graph.directed for graph in sets.train) <= 20
    degrees = [2 * graph.num_edges / graph.num_nodes for graph in sets.train]
    assert min(degrees) < 6
    assert max(degrees) > 12


def test_every_graph_can_be_explored():
    for graph in cg.generate_curriculum(train=12, val=0, max_nodes=60, seed=2).train:
        assert len(cg.explore(graph, "greedy", "igt", steps=5, seed=0).nodes) > 1


@pytest.mark.parametrize(("settings", "words"), [({"max_nodes": 5}, "max_nodes is 5"), ({"train": -1}, "train is -1")])
def test_bad_settings(settings, words):
    with pytest.raises(cg.SettingError, match=words):
        cg.generate_curriculum(**settings)
