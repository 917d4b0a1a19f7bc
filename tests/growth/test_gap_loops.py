"""cg.gap_loops: a loop of nodes around every gap."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from oracles.reference import build_skeleton, count_independent_loops, draw_graph


def assert_loops_are_bases(graph: cg.Graph, walk: list[int]) -> None:
    """Every loop is a cycle of S_t through its opener; at every step the loops of the open gaps are a basis of H_1."""
    growth = cg.measure(graph, walk, compressibility=False)
    loops = cg.gap_loops(graph, walk)
    assert len(loops) == len(growth.gaps)
    joined = build_skeleton(graph)
    for gap, loop in zip(growth.gaps, loops, strict=True):
        assert loop[0] == gap.opened_by
        assert len(set(loop)) == len(loop) >= 4
        assert set(loop) <= set(growth.nodes[: gap.opened_at])
        assert all(joined[u, v] for u, v in zip(loop, [*loop[1:], loop[0]], strict=True))
    for t in range(1, len(growth) + 1):
        nodes = growth.nodes[:t]
        place = {node: i for i, node in enumerate(nodes)}
        lives = [(gap.opened_at, gap.closed_at or np.inf) for gap in growth.gaps]
        still = [
            [place[node] for node in loop]
            for (opened, closed), loop in zip(lives, loops, strict=True)
            if opened <= t < closed
        ]
        assert count_independent_loops(joined[np.ix_(nodes, nodes)], still) == len(still) == growth.beta1[t - 1]


@given(st.integers(0, 2**32), st.integers(4, 22), st.sampled_from([0.2, 0.3, 0.4]), st.booleans())
def test_loops_of_open_gaps_are_a_basis(seed, nodes, chance, directed):
    rng = np.random.default_rng(seed)
    assert_loops_are_bases(
        draw_graph(rng, nodes, chance, directed=directed), rng.integers(nodes, size=3 * nodes).tolist()
    )


def test_closed_loop_among_gaps_opened_together():
    """The last of two squares that share an edge opens both gaps; the middle of either closes that one."""
    squares = [*zip("abon", "bona", strict=True), *zip("ocd", "cdn", strict=True)]
    for filled, other in (("abon", "ocdn"), ("ocdn", "abon")):
        graph = cg.Graph.from_edges([*squares, *(("middle", label) for label in filled)])
        walk = ["a", "b", "o", "c", "d", "n", "middle"]
        assert [gap.closed_by for gap in cg.measure(graph, walk).gaps] == ["middle", None]
        assert [set(loop) for loop in cg.gap_loops(graph, walk)] == [set(filled), set(other)]
