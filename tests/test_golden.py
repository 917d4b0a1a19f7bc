"""Golden values, computed by reference implementations or by hand, not by the code under test."""

from __future__ import annotations

import networkx as nx
import pytest

import curiograph as cg
from curiograph.agents.beam import BeamAgent
from curiograph.graph.toys import complete, cycle, grid, library
from curiograph.growth.records import Gap

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


@pytest.mark.parametrize(
    ("reward", "fallback", "start", "steps", "best"),
    [
        ("igt", "frontier", "music", 10, 7.0),
        ("igt", "frontier", "logic", 7, 2.0),
        ("igt", "anywhere", "music", 10, 7.0),
        ("cpt", "frontier", "music", 7, 4.9478556133),
        ("cpt", "frontier", "logic", 7, 4.9478556133),
        ("cpt", "anywhere", "music", 7, 5.0228011108),
    ],
)
def test_best_returns(reward, fallback, start, steps, best):
    """By exhaustive search over all walks."""
    walk = cg.explore(library(), BeamAgent(4096), reward, start, steps, fallback=fallback)
    assert walk.total == pytest.approx(best, abs=1e-9)


def test_best_returns_on_lattices():
    assert cg.explore(grid(3, 3), "beam", "igt", (1, 1), 9).total == 13.0
    assert cg.explore(grid(3, 4), "beam", "igt", (0, 0), 10).total == 17.0


def test_return_of_a_known_walk():
    """Around the first square (1 gap at the fourth node), then the second (2 at the sixth): 0 + 0 + 1 + 1 + 2."""
    growth = cg.measure(grid(2, 3), [(0, 0), (0, 1), (1, 1), (1, 0), (0, 2), (1, 2)])
    assert growth.beta1[1:].tolist() == [0, 0, 1, 1, 2]
    assert growth.beta1[1:].sum() == 4


def test_human_walk():
    """A walk of a person with a revisit."""
    walk = ["physics", "music", "physics", "mathematics", "logic", "philosophy", "biology", "chemistry"]
    growth = cg.measure(library(), walk)
    assert growth.nodes == ["physics", "music", "mathematics", "logic", "philosophy", "biology", "chemistry"]
    assert growth.beta1.tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert growth.edges.tolist() == [0, 1, 3, 4, 5, 6, 8]
    assert growth.gaps == [Gap("chemistry", None, 7, None)]


def test_profile():
    """By networkx, bctpy, gudhi and by hand."""
    found = cg.profile(KARATE, [*range(34), 0, 1])
    expected = {
        "edges": 78,
        "density": 0.139037433155,
        "clustering": 0.570638478208,
        "path_length": 2.408199643494,
        "efficiency": 0.492008318479,
        "core_periphery": 0.578431372549,
        "beta0": 1,
        "beta1": 9,
        "compressibility": 1.311070637788,
        "revisits": 2,
    }
    assert {name: found.measures[name][0] for name in expected} == pytest.approx(expected, abs=1e-9)
