"""cg.betti: Betti numbers of whole graphs."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pytest

import curiograph as cg
from curiograph.graph.toys import cycle
from oracles.reference import compute_gudhi_betti, draw_graph


def cross_polytope(dimensions: int) -> cg.Graph:
    """Nodes 2i and 2i + 1 are opposite; all others are joined. Its clique complex is a sphere."""
    nodes = 2 * dimensions
    return cg.Graph.from_edges([(u, v) for u, v in combinations(range(nodes), 2) if u // 2 != v // 2])


@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_spheres(dimensions):
    """Square, octahedron, 16-cell: one gap, of the sphere's dimension, besides the one component."""
    sphere = cross_polytope(dimensions)
    assert [cg.betti(sphere, dim) for dim in range(5)] == [1] + [int(dim == dimensions - 1) for dim in range(1, 5)]


def test_random_graphs_equal_gudhi():
    rng = np.random.default_rng(0)
    for chance in (0.2, 0.5, 0.7):
        for _ in range(8):
            graph = draw_graph(rng, 14, chance, directed=bool(rng.integers(2)))
            found = [cg.betti(graph, dim) for dim in range(4)]
            assert found == [compute_gudhi_betti(graph, range(14), dim) for dim in range(4)]


@pytest.mark.parametrize("dim", [-1, 1.5, "1", None])
def test_bad_dimension(dim):
    with pytest.raises(cg.SettingError, match="dim is"):
        cg.betti(cycle(4), dim=dim)


def test_without_gudhi_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gudhi", None)  # what `import` takes for "cannot be imported"
    with pytest.raises(cg.errors.MissingExtraError, match=r"gudhi.*pip install 'curiograph\[topology\]'"):
        cg.betti(cycle(4), dim=2)
    assert cg.betti(cycle(4)) == 1
