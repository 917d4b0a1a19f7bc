"""gnn: equality with a reference implementation, and what its scores depend on."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import curiograph as cg
from curiograph.agents.agent_names import as_agent
from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.exploration.mdp import Exploration, begin
from curiograph.graph.graph import PROFILE_SIZE
from oracles import reference

SHAPES = [
    GnnShape(),
    GnnShape(log_features=True, inner_degree=True, aggregation="sum", width=16),
    GnnShape(inner_triangles=True, width=8),
    GnnShape(log_features=True, inner_degree=True, inner_triangles=True, width=8),
]


def gnn(shape: GnnShape = SHAPES[1], seed: int = 0) -> GnnAgent:
    return GnnAgent(shape, reference.draw_weights(shape.weights(), seed))


def make_walks(graph, walks, steps=10**6, fallback="frontier") -> Exploration:
    """Create a batch that has already visited these walks (positions)."""
    batch = begin([graph], [[walk[0] for walk in walks]], "igt", steps, fallback=fallback)
    for i, walk in enumerate(walks):
        batch.nodes[i, : len(walk)] = walk
        batch.lengths[i] = len(walk)
    return batch


def make_random_walks(graph: cg.Graph, length: int, seed: int, count: int = 3) -> Exploration:
    """Create an unfinished batch of random walks of up to `length` nodes."""
    starts = np.random.default_rng(seed).integers(0, graph.num_nodes, count)
    ended = as_agent("random").run(begin([graph], [starts], "igt", length, seed=seed))
    return make_walks(graph, [walk[:n].tolist() for walk, n in zip(ended.nodes, ended.lengths, strict=True)])


def list_cases(batch: Exploration) -> list[tuple[list[int], list[int]]]:
    """List every walk with its candidates."""
    offsets, nodes = batch.candidates.offsets, batch.candidates.nodes.tolist()
    return [
        (batch.nodes[i, :n].tolist(), nodes[offsets[i] : offsets[i + 1]]) for i, n in enumerate(batch.lengths.tolist())
    ]


def assert_close(scores, expected) -> None:
    """Assert equality within 1e-5 of the largest value."""
    scores, expected = np.asarray(scores), np.asarray(expected)
    assert scores.shape == expected.shape
    assert scores == pytest.approx(expected, rel=1e-5, abs=1e-5 * np.max(np.abs(expected), initial=1))


def assert_equals_reference(agent: GnnAgent, graph: cg.Graph, batch: Exploration) -> None:
    shape = asdict(agent.shape)
    del shape["width"]
    expected = [
        reference.compute_gnn_value(graph, [*walk, v], agent.network, **shape)
        for walk, options in list_cases(batch)
        for v in options
    ]
    assert_close(agent.scores(batch), expected)


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=25)
@given(st.integers(2, 12), st.floats(0.1, 0.7), st.booleans(), st.integers(1, 9), st.integers(0, 99))
def test_equals_reference(shape, nodes, chance, directed, length, seed):
    graph = reference.draw_graph(np.random.default_rng(seed), nodes, chance, directed=directed)
    assert_equals_reference(gnn(shape, seed), graph, make_random_walks(graph, length, seed))


@pytest.mark.parametrize("directed", [True, False])
def test_long_walks_equal_reference(directed):
    graph = reference.draw_graph(np.random.default_rng(3), 70, 0.08, directed=directed)
    assert_equals_reference(gnn(), graph, make_random_walks(graph, 55, 0, count=1))


def test_candidates_without_edges_equal_reference():
    graph = cg.Graph.from_edges([(0, 1), (2, 3)], nodes=range(6))
    batch = make_walks(graph, [[0, 1]], fallback="anywhere")
    assert batch.candidates.nodes.tolist() == [2, 3, 4, 5]
    assert_equals_reference(gnn(), graph, batch)


def test_default_shape_is_that_of_the_paper():
    paper = GnnShape().weights()
    assert [paper[f"layers.{k}.weight"] for k in range(3)] == [(64, 2 * PROFILE_SIZE), (64, 128), (64, 128)]
    assert (paper["hidden.weight"], paper["output.weight"]) == ((32, 64), (1, 32))


def test_scores_do_not_depend_on_the_batch():
    """For walks of all lengths on several graphs, some of them finished."""
    agent = gnn()
    graphs = [cg.generate("ba", nodes=40, seed=0), cg.Graph.from_edges([(0, 1)], nodes=range(3)), cg.toys.library()]
    batch = begin(graphs, [range(40), [0, 1], range(12)], "igt", 12)
    rng = np.random.default_rng(0)
    for _ in range(6):
        going = np.where(rng.random(len(batch.lengths)) < 0.7, batch.best(rng.random(len(batch.candidates.nodes))), -1)
        batch = batch.step(going)
    together, offsets = agent.scores(batch), batch.candidates.offsets
    order = rng.permutation(len(batch.lengths))
    parts = [together[offsets[i] : offsets[i + 1]] for i in order]
    assert_close(agent.scores(batch.rows(order)), np.concatenate(parts))
    for i in order[:15]:
        assert_close(agent.scores(batch.rows(np.array([i]))), together[offsets[i] : offsets[i + 1]])


@settings(max_examples=20)
@given(st.integers(2, 14), st.floats(0.1, 0.6), st.booleans(), st.integers(1, 12), st.integers(0, 99))
def test_scores_do_not_depend_on_the_order_of_nodes(nodes, chance, directed, length, seed):
    rng, agent = np.random.default_rng(seed), gnn()
    graph = reference.draw_graph(rng, nodes, chance, directed=directed)
    new = rng.permutation(nodes)
    source, target = np.nonzero(reference.build_adjacency(graph))
    renamed = cg.Graph.from_edges(np.column_stack([new[source], new[target]]), directed=directed, nodes=range(nodes))
    batch = make_random_walks(graph, length, seed)
    again = make_walks(renamed, [new[walk].tolist() for walk, _ in list_cases(batch)])
    owners = batch.candidates.walks
    there = {(i, v): score for i, v, score in zip(owners, batch.candidates.nodes, agent.scores(batch), strict=True)}
    old = np.argsort(new)
    expected = [there[i, old[v]] for i, v in zip(again.candidates.walks, again.candidates.nodes, strict=True)]
    assert_close(agent.scores(again), expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_scores_depend_on_subgraph_and_degrees_only(shape):
    """A ring of 8 and one of 30 nodes; and one set of visited nodes in several orders."""
    agent = gnn(shape)
    near = [agent.scores(make_walks(cg.toys.cycle(size), [[3], [3, 4], [3, 4, 5, 6]])) for size in (8, 30)]
    assert_close(near[0], near[1])
    orders = [[4, 0, 7, 9], [7, 4, 0, 9], [0, 7, 4, 9]]  # the last node is the same, so the candidates are
    scores = agent.scores(make_walks(cg.generate("ba", nodes=30, seed=2), orders)).reshape(3, -1)
    assert_close(scores[1:], [scores[0], scores[0]])


def test_scoring_computes_no_rewards():
    calls = []
    batch = begin([cg.generate("ws", nodes=20, seed=0)], [range(20)], lambda s: float(len(calls.append(s) or s)), 6)
    for step in range(1, 6):
        scores = gnn().scores(batch)
        assert len(calls) == 20 * (step - 1)
        batch = batch.step(batch.best(scores))
        assert len(calls) == 20 * step  # one for each step taken: what the walks earn


def test_finished_walks_have_no_scores():
    """Finished walks first, last, in between, all of them, and enough of them to fill a batch."""
    agent, graph = gnn(), cg.Graph.from_edges([(0, 1), (2, 3), (3, 4), (4, 2), (4, 5)])
    going, ended = [2, 4], [0, 1]
    alone = agent.scores(make_walks(graph, [going]))
    for walks in ([ended, going], [going, ended], [ended, going, ended, ended, going], [ended] * 200 + [going]):
        assert_close(agent.scores(make_walks(graph, walks)), np.tile(alone, walks.count(going)))
    assert agent.scores(make_walks(graph, [ended] * 3)).shape == (0,)
    assert agent.run(begin([graph], [[]], "igt", 3)).nodes.shape == (0, 3)


def test_equivalent_candidates_tie():
    """In a complete graph and in a star all candidates are equivalent, in any batch."""
    for graph in (cg.toys.complete(12), cg.Graph.from_edges([(0, leaf) for leaf in range(1, 14)])):
        scores = gnn(SHAPES[0]).scores(begin([graph], [[0] * 50], "igt", 5))
        assert np.all(np.ptp(scores.reshape(50, -1), axis=1) == 0)
