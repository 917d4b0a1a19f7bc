"""Golden values, computed by reference implementations or by hand, not by the code under test."""

from __future__ import annotations

import networkx as nx
import pytest

import curiograph as cg
from curiograph.graph.toys import complete, cycle, grid, library

PATH = cg.Graph.from_edges([(i, i + 1) for i in range(4)])
STAR = cg.Graph.from_edges([(0, i) for i in range(1, 6)])
PETERSEN = cg.Graph.from_edges(list(nx.petersen_graph().edges))
KARATE = cg.Graph.from_edges(list(nx.karate_club_graph().edges))
TRIANGLES = cg.Graph.from_edges([edge.split("-") for edge in ["a-b", "b-c", "c-a", "c-d", "d-e", "e-c"]], directed=True)


@pytest.mark.parametrize(
    ("graph", "gaps", "with_loops", "without"),
    [
        (library(), 2, 0.890812646598, 0.569551529039),
        (cycle(6), 1, 0.579442257605, 0.479030902718),
        (complete(6), 0, 1.163175082804, 1.025287199090),
        (grid(3, 3), 4, 0.719447991440, 0.702539842416),
        (PATH, 0, 0.615405609897, 0.4),
        (STAR, 0, 0.661185228022, 0.632902807517),
        (PETERSEN, 6, 0.672297389723, 0.473161123007),
        (KARATE, 9, 1.311070637788, 1.181345989098),
    ],
)
def test_gaps_and_compressibility(graph, gaps, with_loops, without):
    assert cg.betti(graph) == gaps
    assert cg.compressibility(graph) == pytest.approx(with_loops, abs=1e-9)
    assert cg.compressibility(graph, self_loops=False) == pytest.approx(without, abs=1e-9)


def test_directed():
    """Two directed triangles that share c: without self-loops, the walk branches only at c, once in three steps."""
    assert cg.rate_distortion(TRIANGLES, self_loops=False).entropy == pytest.approx(1 / 3)
    assert cg.compressibility(TRIANGLES) == pytest.approx(0.442700282647, abs=1e-9)
    assert cg.compressibility(TRIANGLES, self_loops=False) == pytest.approx(1 / 15, abs=1e-9)


def test_return_of_a_known_walk():
    """Around the first square (1 gap at the fourth node), then the second (2 at the sixth): 0 + 0 + 1 + 1 + 2."""
    growth = cg.measure(grid(2, 3), [(0, 0), (0, 1), (1, 1), (1, 0), (0, 2), (1, 2)])
    assert growth.beta1[1:].tolist() == [0, 0, 1, 1, 2]
    assert growth.beta1[1:].sum() == 4
