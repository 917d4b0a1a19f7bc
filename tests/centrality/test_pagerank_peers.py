"""Self-loops, parallel edges and dangling vectors: PageRank against networkx."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.exploration.mdp import Candidates
from curiograph.recommendation.rankers import PageRankRanker

# ---- examples -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.85, 0.95])
@pytest.mark.parametrize("directed", [True, False])
def test_graph_without_edges_gives_the_restart_distribution(alpha, directed):
    graph = cg.Graph.from_edges([], nodes=["a", "b", "c"], directed=directed)
    assert cg.pagerank(graph, alpha).scores.tolist() == pytest.approx([1 / 3] * 3)
    assert cg.pagerank(graph, alpha, ["b", "a"]).scores.tolist() == pytest.approx([0.5, 0.5, 0])
    many = cg.pagerank(graph, alpha, [["a"], ["b"], ["c"], ["a", "c"], ["b"]]).scores
    np.testing.assert_allclose(many[3], [0.5, 0, 0.5])
    with pytest.raises(cg.GraphError, match="no nodes"):
        cg.pagerank(cg.Graph.from_edges([]))


# ---- random multigraphs ---------------------------------------------------------------------------------------------


@st.composite
def multigraphs(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[float] | None, int, bool]:
    """Edges with self-loops and repetitions, weights or None, number of nodes, and whether they are directed.

    Undirected edges have ascending ends: both directions of an edge count once, and twice in a multigraph.
    """
    nodes = draw(st.integers(1, 8))
    ends = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=25))
    weights = [draw(st.floats(0.01, 100.0)) for _ in edges] if draw(st.booleans()) else None
    directed = draw(st.booleans())
    return edges if directed else [(min(edge), max(edge)) for edge in edges], weights, nodes, directed


def build(edges: list[tuple[int, int]], weights: list[float] | None, nodes: int, directed: bool) -> cg.Graph:
    rows = edges if weights is None else [(u, v, w) for (u, v), w in zip(edges, weights, strict=True)]
    return cg.Graph.from_edges(rows, directed=directed, nodes=range(nodes))


@given(multigraphs(), st.sampled_from([0.3, 0.85, 0.95]), st.data())
def test_multigraphs_agree_with_networkx_in_all_variants(case, alpha, data):
    edges, weights, nodes, directed = case
    peer = nx.MultiDiGraph() if directed else nx.MultiGraph()
    peer.add_nodes_from(range(nodes))
    for number, (u, v) in enumerate(edges):
        peer.add_edge(u, v, **({} if weights is None else {"weight": weights[number]}))
    history = data.draw(st.lists(st.integers(0, nodes - 1), min_size=1, max_size=3, unique=True))
    expected = nx.pagerank(peer, alpha, dict.fromkeys(history, 1), tol=1e-14, max_iter=5000)
    expected = [expected[v] for v in range(nodes)]
    graph = build(*case)
    assert graph == cg.Graph.from_networkx(peer)
    np.testing.assert_allclose(cg.pagerank(graph, alpha, history).scores, expected, atol=1e-10)
    np.testing.assert_allclose(cg.pagerank(graph, alpha, [history] * 5).scores[4], expected, atol=1e-10)


@given(multigraphs(), st.sampled_from([0.3, 0.85]), st.data())
def test_dangling_vectors_agree_with_networkx(case, alpha, data):
    edges, weights, nodes, _ = case
    graph = build(edges, weights, nodes, True)
    peer = graph.to_networkx()
    some = st.dictionaries(st.integers(0, nodes - 1), st.floats(0.1, 10.0), min_size=1)
    dangling, personalization = data.draw(some), data.draw(some)
    options: dict[str, Any] = {"tol": 1e-14, "max_iter": 5000}
    expected = nx.pagerank(peer, alpha, personalization, dangling=dangling, **options)
    found = cg.pagerank(graph, alpha, personalization, dangling=dangling)
    np.testing.assert_allclose(found.scores, [expected[v] for v in range(nodes)], atol=1e-10)
    assert found.residual <= 1e-12
    assert found.scores.sum() == pytest.approx(1, abs=1e-12)
    many = cg.pagerank(graph, alpha, [personalization, [0]], dangling=dangling)
    np.testing.assert_allclose(many.scores[0], found.scores, atol=1e-11)
    expected = nx.pagerank(peer, alpha, {0: 1}, dangling=dangling, **options)
    np.testing.assert_allclose(many.scores[1], [expected[v] for v in range(nodes)], atol=1e-10)


def test_bad_dangling_vectors():
    graph = cg.toys.library()
    with pytest.raises(cg.SettingError, match="all zero"):
        cg.pagerank(graph, dangling={"music": 0})
    with pytest.raises(cg.UnknownNodeError, match="musik"):
        cg.pagerank(graph, dangling={"musik": 1})


# ---- other users of the transition ----------------------------------------------------------------------------------

MIXED = [(0, 0), (0, 1), (0, 1), (1, 2), (2, 3), (3, 3), (3, 3), (3, 0), (4, 0)]


@pytest.mark.parametrize("directed", [True, False])
def test_ranker_uses_self_loops_and_parallel_edges(directed, monkeypatch):
    graph = cg.Graph.from_edges(MIXED, directed=directed)
    expected = cg.pagerank(graph, history=[0]).scores
    candidates = Candidates(np.array([0, 4]), np.array([1, 2, 3, 4], np.int32))
    for most, error in ((10**6, 1e-9), (0, 0.02)):  # exact, and by local push
        for limit in ("MAX_EXACT_NODES", "MAX_SOLVED_NODES"):
            monkeypatch.setattr(f"curiograph.recommendation.rankers.{limit}", most)
        found = PageRankRanker().scores(graph, [np.array([0], np.int32)], candidates)
        np.testing.assert_allclose(found, expected[1:], atol=error)


@pytest.mark.parametrize("directed", [True, pytest.param(False, marks=pytest.mark.long)])
def test_curiosity_ignores_self_loops_and_parallel_edges(directed):
    graph = cg.generate("er", nodes=30, seed=1)
    edges = [(u, v) for u, v in graph.to_networkx().edges]
    plain = cg.Graph.from_edges(edges, directed=directed, nodes=range(30))
    rich = cg.Graph.from_edges(
        edges + edges[:9] + [(v, v) for v in range(0, 30, 3)], directed=directed, nodes=range(30)
    )
    assert rich.loops is not None
    assert rich.weights is not None
    assert (rich.num_edges, rich.degrees.tolist()) == (plain.num_edges, plain.degrees.tolist())
    assert rich.skeleton == plain.skeleton
    assert np.array_equal(rich.degree_profile, plain.degree_profile)
    for agent, reward in (("greedy", "igt"), ("beam:4", "cpt"), ("random", "igt"), ("igt-rg", "igt")):
        runs = [cg.explore(g, agent, reward, start=0, steps=9, seed=2) for g in (plain, rich)]
        assert runs[0].nodes == runs[1].nodes
        assert runs[0].rewards == runs[1].rewards
        assert cg.measure(plain, runs[0]).to_dict() == cg.measure(rich, runs[0]).to_dict()
    looped = cg.Graph.from_edges([*edges, (0, 0)], directed=directed, nodes=range(30))
    assert cg.compressibility(looped) == cg.compressibility(plain)


def test_weight_attribute_of_networkx():
    source = nx.DiGraph()
    source.add_edge("a", "b", clicks=3, weight=9)
    source.add_edge("a", "c", clicks=1, weight=9)
    assert cg.Graph.from_networkx(source).weights.tolist() == [9, 9]
    assert cg.Graph.from_networkx(source, weight="clicks").weights.tolist() == [3, 1]
    assert cg.Graph.from_networkx(source, weight=None).weights is None
    with pytest.raises(cg.GraphError, match="'visits'"):
        cg.Graph.from_networkx(source, weight="visits")
    source.add_edge("b", "c", weight=1)
    with pytest.raises(cg.GraphError, match="from 'b' to 'c'"):
        cg.Graph.from_networkx(source, weight="clicks")
