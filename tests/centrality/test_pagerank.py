"""PageRank against a dense solve of the definition, igraph and networkx."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from oracles.reference import compute_pagerank
from support.small_graphs import graphs, histories, make_dense_teleport


@given(st.data(), st.sampled_from([0.0, 0.3, 0.85, 0.99, 0.999]))
def test_scores_follow_the_definition(data: st.DataObject, alpha: float) -> None:
    graph = data.draw(graphs())
    history = data.draw(histories(graph))
    found = cg.pagerank(graph, alpha, history)
    np.testing.assert_allclose(
        found.scores, compute_pagerank(graph, alpha, make_dense_teleport(graph, history)), atol=1e-12 / (1 - alpha)
    )
    assert found.scores.sum() == pytest.approx(1, abs=1e-14)
    assert found.residual <= 1e-12
    assert found.scores.min() >= 0


@given(st.data())
def test_batch_equals_single_histories(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    many = [data.draw(histories(graph)) for _ in range(6)]
    found = cg.pagerank(graph, history=many)
    assert found.scores.shape == (6, graph.num_nodes)
    assert np.all(found.residual <= 1e-12)
    assert found.scores.min() >= 0
    for row, history in zip(found.scores, many, strict=True):
        np.testing.assert_allclose(row, cg.pagerank(graph, history=history).scores, atol=1e-11)


@pytest.mark.parametrize("alpha", [0.99, 0.999, 0.9999])
@pytest.mark.parametrize("directed", [False, True])
def test_high_alpha_converges_on_slow_graphs(alpha: float, directed: bool) -> None:
    lattice = cg.toys.grid(20, 20)
    graph = cg.Graph.from_edges([*lattice.to_networkx().edges], directed=directed, nodes=lattice.labels)
    found = cg.pagerank(graph, alpha, [(3, 4)])
    q = make_dense_teleport(graph, [graph.position((3, 4))])
    np.testing.assert_allclose(found.scores, compute_pagerank(graph, alpha, q), atol=1e-12 / (1 - alpha))


def test_convergence_error_names_the_residual() -> None:
    with pytest.raises(cg.errors.ConvergenceError, match="in 2 iterations, not 1e-12"):
        cg.pagerank(cg.toys.grid(9, 9), 0.99, [(0, 0)], max_iterations=2)
    with pytest.raises(cg.errors.ConvergenceError, match="history 0:"):
        cg.pagerank(cg.toys.grid(9, 9), 0.99, [[(0, 0)], [(1, 1)]], max_iterations=2)
    with pytest.raises(cg.errors.ConvergenceError, match="tolerance"):
        cg.pagerank(cg.toys.library(), 0.85, ["music"], tolerance=1e-30)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 1}, "alpha is 1; "),
        ({"alpha": "high"}, "alpha is 'high'; "),
        ({"history": []}, "the history is empty; "),
        ({"history": ["musik"]}, "'musik'"),
        ({"history": 7}, "the history is 7; "),
        ({"history": [["music"], ["nothing like it"]]}, "history 1:"),
        ({"history": {"music": -1}}, "'music' in the history is -1"),
        ({"history": {"music": 0, "logic": 0}}, "all zero"),
        ({"tolerance": 0}, "tolerance is 0; "),
        ({"max_iterations": 0}, "max_iterations is 0; "),
    ],
)
def test_bad_input(arguments: dict, message: str) -> None:
    with pytest.raises(cg.CuriographError, match=message):
        cg.pagerank(cg.toys.library(), **arguments)


def test_weights_that_overflow_are_refused() -> None:
    huge = cg.Graph.from_edges([(0, 1, 1e308), (0, 2, 1e308)])
    with pytest.raises(cg.GraphError, match="scale them down"):
        cg.pagerank(huge)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14])
@pytest.mark.parametrize("alpha", [0.3, 0.85, 0.999])
def test_every_tolerance_is_reached_on_small_graphs(tolerance, alpha):
    for g in (cg.toys.library(), cg.toys.cycle(7), cg.toys.grid(3, 5), cg.toys.complete(4)):
        for label in g.labels[:4]:
            assert cg.pagerank(g, alpha, [label], tolerance=tolerance).residual <= tolerance
        assert np.all(cg.pagerank(g, alpha, [[v] for v in g.labels[:4]], tolerance=tolerance).residual <= tolerance)


def test_top_takes_ties_in_node_order():
    found = cg.pagerank(cg.toys.cycle(4), 0.5, [0])
    assert [label for label, _ in found.top()] == [0, 1, 3, 2]
    several = cg.pagerank(cg.toys.cycle(4), 0.5, [[0], [2]])
    assert [rows[0][0] for rows in several.top(1)] == [0, 2]
    assert several.to_dict()["rows"][6] == {"history": 1, "node": 2, "score": several.scores[1, 2]}
