"""gnn and horizon: equality with reference implementations, invariances of scores, and shipped agents."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from importlib import resources
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import curiograph as cg
from curiograph.agents import gnn as gnn_module
from curiograph.agents import horizon as horizon_module
from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.agents.horizon import HorizonAgent, HorizonShape
from curiograph.agents.planner import PlannerAgent
from curiograph.agents.pretrained import load_agent, shipped_agents
from curiograph.agents.registry import as_agent
from curiograph.graph.features import PROFILE_SIZE
from curiograph.graph.generators import FAMILIES
from curiograph.kernels import neighborhood
from oracles import reference

GNN_SHAPES = [
    GnnShape(),
    GnnShape(log_features=True, inner_degree=True, aggregation="sum", width=16),
    GnnShape(log_features=True, width=8),
    GnnShape(inner_degree=True, width=8),
    GnnShape(inner_triangles=True, width=8),
    GnnShape(log_features=True, inner_degree=True, inner_triangles=True, width=8),
]
HORIZON_SHAPES = [
    HorizonShape(),
    HorizonShape(width=8, layers=1, lookahead=2, near=3, far_lookahead=1, hops=1, nodes=5, fan=2),
    HorizonShape(width=8, layers=3, nodes=1000, fan=1000, hops=1000),
]


def gnn(shape: GnnShape = GNN_SHAPES[1], seed: int = 0) -> GnnAgent:
    return GnnAgent(shape, reference.draw_weights(shape.weights(), seed))


def horizon(shape: HorizonShape = HORIZON_SHAPES[2], seed: int = 0) -> HorizonAgent:
    """A horizon agent that by default reads all reachable nodes."""
    return HorizonAgent(shape, reference.draw_weights(shape.weights(), seed))


BOTH = pytest.mark.parametrize("agent", [gnn(), horizon()], ids=["gnn", "horizon"])


def make_walks(graph, walks, steps=10**6, reward="igt", fallback="frontier") -> cg.Exploration:
    """Create a batch that has already visited these walks (positions)."""
    batch = cg.begin([graph], [[walk[0] for walk in walks]], reward, steps, fallback=fallback)
    for i, walk in enumerate(walks):
        batch.nodes[i, : len(walk)] = walk
        batch.lengths[i] = len(walk)
    return batch


def make_random_walks(graph: cg.Graph, length: int, seed: int, count: int = 3, **settings) -> cg.Exploration:
    """Create an unfinished batch of random walks of up to `length` nodes."""
    starts = np.random.default_rng(seed).integers(0, graph.num_nodes, count)
    ended = as_agent("random").run(cg.begin([graph], [starts], "igt", length, seed=seed))
    return make_walks(
        graph, [walk[:n].tolist() for walk, n in zip(ended.nodes, ended.lengths, strict=True)], **settings
    )


def list_cases(batch: cg.Exploration) -> list[tuple[list[int], list[int]]]:
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


# ---- equality with reference implementations ------------------------------------------------------------------------


def reference_gnn(agent: GnnAgent, graph: cg.Graph, batch: cg.Exploration) -> list[float]:
    shape = asdict(agent.shape)
    del shape["width"]
    return [
        reference.compute_gnn_value(graph, [*walk, v], agent.network, **shape)
        for walk, options in list_cases(batch)
        for v in options
    ]


def reference_horizon(agent: HorizonAgent, graph: cg.Graph, batch: cg.Exploration) -> list[float]:
    shape = agent.shape
    values = []
    for walk, options in list_cases(batch):
        most = shape.lookahead if len(walk) < shape.near else shape.far_lookahead
        values += reference.compute_horizon_values(
            graph,
            walk,
            options,
            agent.network,
            layers=shape.layers,
            ahead=min(most, batch.steps - len(walk)),
            hops=shape.hops,
            most=shape.nodes,
            fan=shape.fan,
        )
    return values


@pytest.mark.parametrize("shape", GNN_SHAPES)
@settings(max_examples=25)
@given(st.integers(2, 12), st.floats(0.1, 0.7), st.booleans(), st.integers(1, 9), st.integers(0, 99))
def test_gnn_equals_reference(shape, nodes, chance, directed, length, seed):
    graph = reference.draw_graph(np.random.default_rng(seed), nodes, chance, directed=directed)
    batch, agent = make_random_walks(graph, length, seed), gnn(shape, seed)
    assert_close(agent.scores(batch), reference_gnn(agent, graph, batch))


@pytest.mark.parametrize("shape", HORIZON_SHAPES)
@settings(max_examples=25)
@given(st.integers(2, 12), st.floats(0.1, 0.7), st.booleans(), st.integers(1, 9), st.integers(0, 99))
def test_horizon_equals_reference(shape, nodes, chance, directed, length, seed):
    graph = reference.draw_graph(np.random.default_rng(seed), nodes, chance, directed=directed)
    batch, agent = make_random_walks(graph, length, seed, count=2), horizon(shape, seed)
    assert_close(agent.scores(batch), reference_horizon(agent, graph, batch))


@pytest.mark.parametrize("family", FAMILIES)
def test_both_equal_reference_on_families(family):
    graph = cg.generate(family, nodes=30, seed=1)
    batch = make_random_walks(graph, 10, 5, count=1)
    assert_close(gnn(GNN_SHAPES[0]).scores(batch), reference_gnn(gnn(GNN_SHAPES[0]), graph, batch))
    agent = horizon(replace(HORIZON_SHAPES[0], width=12, nodes=12, fan=5))
    assert_close(agent.scores(batch), reference_horizon(agent, graph, batch))


def test_default_shapes():
    paper = GnnShape().weights()
    assert [paper[f"layers.{k}.weight"] for k in range(3)] == [(64, 2 * PROFILE_SIZE), (64, 128), (64, 128)]
    assert (paper["hidden.weight"], paper["output.weight"]) == ((32, 64), (1, 32))
    assert horizon_module.NUM_FEATURES == PROFILE_SIZE + neighborhood.NUM_FLAGS


def test_number_of_predicted_rewards():
    """At most `lookahead`, at most the remaining steps, and `far_lookahead` for long walks."""
    shape = HorizonShape(lookahead=9, near=10, far_lookahead=3)
    assert shape.ahead(np.array([1, 5, 9, 10, 11]), 50).tolist() == [9, 9, 9, 3, 3]
    assert shape.ahead(np.array([1, 5, 9, 10]), 10).tolist() == [9, 5, 1, 0]
    assert shape.ahead(np.array([48, 49]), 50).tolist() == [2, 1]


# ---- what scores depend on ------------------------------------------------------------------------------------------


@BOTH
def test_scores_do_not_depend_on_the_batch(agent):
    """For walks of all lengths on several graphs, some of them finished."""
    graphs = [cg.generate("ba", nodes=40, seed=0), cg.Graph.from_edges([(0, 1)], nodes=range(3)), cg.toys.library()]
    batch = cg.begin(graphs, [range(40), [0, 1], range(12)], "igt", 12)
    rng = np.random.default_rng(0)
    for _ in range(6):
        going = np.where(rng.random(len(batch.lengths)) < 0.7, batch.best(rng.random(len(batch.candidates.nodes))), -1)
        batch = batch.step(going)
    together, offsets = agent.scores(batch), batch.candidates.offsets
    order = rng.permutation(len(batch.lengths))
    shuffled = batch.rows(order)
    parts = [together[offsets[i] : offsets[i + 1]] for i in order]
    assert_close(agent.scores(shuffled), np.concatenate(parts))
    for i in order[:15]:
        assert_close(agent.scores(batch.rows(np.array([i]))), together[offsets[i] : offsets[i + 1]])


@BOTH
def test_scores_do_not_depend_on_the_batch_size(agent, monkeypatch):
    graph = cg.generate("er", nodes=30, seed=0)
    batch = make_random_walks(graph, 6, 0, count=40)
    whole = agent.scores(batch)
    for size in (1, 2, 37, 10**9):
        monkeypatch.setattr(gnn_module, "_BATCH_ROWS", size)
        monkeypatch.setattr(horizon_module, "_BATCH_ROWS", size)
        assert_close(agent.scores(batch), whole)


@BOTH
@settings(max_examples=20)
@given(st.integers(2, 14), st.floats(0.1, 0.6), st.booleans(), st.integers(1, 12), st.integers(0, 99))
def test_scores_do_not_depend_on_the_order_of_nodes(agent, nodes, chance, directed, length, seed):
    rng = np.random.default_rng(seed)
    graph = reference.draw_graph(rng, nodes, chance, directed=directed)
    new = rng.permutation(nodes)
    source, target = np.nonzero(reference.build_adjacency(graph))
    renamed = cg.Graph.from_edges(np.column_stack([new[source], new[target]]), directed=directed, nodes=range(nodes))
    batch = make_random_walks(graph, length, seed)
    again = make_walks(renamed, [new[walk].tolist() for walk, _ in list_cases(batch)])
    owners = batch.candidates.walks
    there = {(i, v): score for i, v, score in zip(owners, batch.candidates.nodes, agent.scores(batch), strict=True)}
    old = np.argsort(new)
    assert_close(
        agent.scores(again),
        [there[i, old[v]] for i, v in zip(again.candidates.walks, again.candidates.nodes, strict=True)],
    )


@pytest.mark.parametrize("shape", GNN_SHAPES)
def test_gnn_depends_on_subgraph_and_degrees_only(shape):
    """A ring of 8 and one of 30 nodes; and one set of visited nodes in several orders."""
    agent = gnn(shape)
    walks = [[3], [3, 4], [3, 4, 5, 6]]
    near = [agent.scores(make_walks(cg.toys.cycle(size), walks)) for size in (8, 30)]
    assert_close(near[0], near[1])
    graph = cg.generate("ba", nodes=30, seed=2)
    orders = [[4, 0, 7, 9], [7, 4, 0, 9], [0, 7, 4, 9]]  # the last node is the same, so the candidates are
    scores = agent.scores(make_walks(graph, orders)).reshape(3, -1)
    assert_close(scores[1], scores[0])
    assert_close(scores[2], scores[0])


def test_horizon_distinguishes_loops_that_gnn_does_not():
    """Two paths lead from the end of a walk back to its start through nodes of equal degrees; one is shorter."""
    ways = [[0, 1, 2, 3], [3, 4, 5, 6, 7, 8, 0], [3, 9, 10, 11, 0]]
    graph = cg.Graph.from_edges([edge for way in ways for edge in pairwise(way)])
    batch = make_walks(graph, [[0, 1, 2, 3]])
    assert batch.candidates.nodes.tolist() == [4, 9]
    one, other = gnn().scores(batch)
    assert one == pytest.approx(other, rel=1e-5)
    one, other = horizon().scores(batch)
    assert one != pytest.approx(other, rel=1e-5)


def test_horizon_depends_on_the_order_of_visit():
    graph = cg.generate("ba", nodes=30, seed=2)
    scores = horizon().scores(make_walks(graph, [[4, 0, 7, 9], [7, 4, 0, 9]])).reshape(2, -1)
    assert scores[0] != pytest.approx(scores[1], rel=1e-3)


@pytest.mark.parametrize("shape", [HorizonShape(width=8, layers=2), HORIZON_SHAPES[1]])
def test_horizon_does_not_depend_on_distant_nodes(shape):
    """Two rings that differ only on the far side."""
    near = horizon(shape)
    ring = [(i, (i + 1) % 60) for i in range(60)]
    plain, ended = cg.Graph.from_edges(ring), cg.Graph.from_edges([*ring, (29, 31), (30, 60)])
    walks = [[0], [0, 1, 2]]
    steps = 20
    assert_close(near.scores(make_walks(plain, walks, steps)), near.scores(make_walks(ended, walks, steps)))


def test_horizon_reads_part_of_a_hub():
    leaves = 20_000
    star = cg.Graph.from_edges(np.column_stack([np.zeros(leaves, int), np.arange(1, leaves + 1)]))
    batch = make_walks(star, [[5], [9]], steps=3)
    scores = horizon(HorizonShape(width=8, layers=2)).scores(batch)
    assert scores.shape == (2,)
    assert scores[0] == pytest.approx(scores[1], rel=1e-5)


class Counted:
    """A reward that counts its calls."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, subgraph: cg.Graph) -> float:
        self.asked += 1
        return float(subgraph.num_edges)


@BOTH
def test_scoring_computes_no_rewards(agent):
    reward = Counted()
    batch = cg.begin([cg.generate("ws", nodes=20, seed=0)], [range(20)], reward, 6)
    for step in range(1, 6):
        before = reward.asked
        scores = agent.scores(batch)
        assert reward.asked == before
        assert "candidate_values" not in batch.__dict__
        batch = batch.step(batch.best(scores))
        assert reward.asked == 20 * step  # one for each step taken: what the walks earn
    assert agent.scores(batch).tolist() == []


# ---- edges of the domain --------------------------------------------------------------------------------------------


@BOTH
def test_finished_walks_have_no_scores(agent):
    """Finished walks first, last, in between, all of them, and enough of them to fill a batch."""
    graph = cg.Graph.from_edges([(0, 1), (2, 3), (3, 4), (4, 2), (4, 5)])
    going, ended = [2, 4], [0, 1]
    alone = agent.scores(make_walks(graph, [going]))
    assert alone.shape == (2,)
    for walks in ([ended, going], [going, ended], [ended, going, ended, ended, going], [ended] * 200 + [going]):
        assert_close(agent.scores(make_walks(graph, walks)), np.tile(alone, walks.count(going)))
    assert agent.scores(make_walks(graph, [ended] * 3)).shape == (0,)
    assert agent.scores(make_walks(graph, [going], steps=2)).shape == (0,)


@BOTH
def test_empty_batch(agent):
    batch = cg.begin([cg.toys.cycle(4)], [[]], "igt", 3)
    scores = agent.scores(batch)
    assert (scores.shape, scores.dtype) == ((0,), np.float64)
    assert agent.run(batch).nodes.shape == (0, 3)


@BOTH
def test_graph_of_one_edge(agent):
    walk = cg.explore(cg.Graph.from_edges([("a", "b")]), agent, "igt", "a", 2)
    assert walk.nodes == ["a", "b"]


@BOTH
@pytest.mark.parametrize("directed", [True, False])
def test_walks_of_fifty_nodes(agent, directed):
    graph = reference.draw_graph(np.random.default_rng(3), 60, 0.15, directed=directed)
    result = cg.evaluate(agent, graph, "igt", 50, 3)
    assert result.ended_early == 0
    assert np.isfinite(result.mean)


@BOTH
@pytest.mark.parametrize("directed", [True, False])
def test_long_walks_equal_reference(agent, directed):
    graph = reference.draw_graph(np.random.default_rng(3), 70, 0.08, directed=directed)
    batch = make_random_walks(graph, 55, 0, count=1)
    assert batch.lengths.tolist() == [55]
    assert_close(
        agent.scores(batch), (reference_gnn if agent.name == "gnn" else reference_horizon)(agent, graph, batch)
    )


@BOTH
def test_fallback_anywhere(agent):
    """Nodes without edges to the walk, and nodes without any edges."""
    graph = cg.Graph.from_edges([(0, 1), (2, 3)], nodes=range(6))
    batch = make_walks(graph, [[0, 1]], fallback="anywhere")
    assert batch.candidates.nodes.tolist() == [2, 3, 4, 5]
    scores = agent.scores(batch)
    assert_close(scores, (reference_gnn if agent.name == "gnn" else reference_horizon)(agent, graph, batch))
    assert_close([scores[0], scores[2]], [scores[1], scores[3]])


@BOTH
@pytest.mark.parametrize("reward", ["igt", "cpt"])
def test_check_agent_passes(agent, reward):
    assert cg.check_agent(agent, reward=reward) is None
    assert (
        cg.check_agent(
            agent, cg.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (4, 5)], directed=True), reward=reward
        )
        is None
    )
    assert cg.check_agent(agent, cg.generate("er", nodes=40, seed=0), reward=reward) is None


@BOTH
def test_same_seed_same_walks(agent):
    graphs = [cg.generate("ws", nodes=30, seed=seed) for seed in (0, 1)]
    runs = [cg.evaluate(agent, graphs, "cpt", 8, 10, seed=4).returns for _ in range(2)]
    assert np.array_equal(runs[0], runs[1])


@pytest.mark.parametrize("agent", [gnn(GNN_SHAPES[0]), horizon(HORIZON_SHAPES[0])], ids=["gnn", "horizon"])
def test_equivalent_candidates_tie(agent):
    """In a complete graph and in a star all candidates are equivalent, in any batch."""
    for graph in (cg.toys.complete(12), cg.Graph.from_edges([(0, leaf) for leaf in range(1, 14)])):
        scores = agent.scores(cg.begin([graph], [[0] * 50], "igt", 5))
        assert np.all(np.ptp(scores.reshape(50, -1), axis=1) == 0)


@pytest.mark.parametrize("agent", [gnn(GNN_SHAPES[0]), horizon(HORIZON_SHAPES[0])], ids=["gnn", "horizon"])
def test_walk_alone_equals_walk_in_batch(agent):
    batch = cg.begin([cg.toys.grid(5, 5)], [range(25)], "igt", 8)
    together = agent.run(batch).nodes
    alone = [agent.run(batch.rows(np.array([i]))).nodes[0].tolist() for i in range(25)]
    assert together.tolist() == alone


# ---- by the plain name ----------------------------------------------------------------------------------------------


def test_horizon_raises_for_rewards_without_an_agent():
    with pytest.raises(cg.AgentError, match=r"no horizon agent was trained for the reward 'edges'.*curiograph train"):
        cg.explore(cg.toys.cycle(5), "horizon", cg.CallableReward(lambda s: s.num_edges, name="edges"))


# ---- shipped --------------------------------------------------------------------------------------------------------


SHIPPED = pytest.mark.parametrize("name", shipped_agents())


@SHIPPED
def test_shipped_agents_keep_the_contract(name):
    agent = load_agent(name)
    assert agent.name == name
    kinds = {"horizon": HorizonAgent, "planner": PlannerAgent}
    assert isinstance(agent, kinds.get(name.rpartition("-")[2], GnnAgent))
    assert cg.check_agent(name, reward=agent.card["reward"]) is None


@SHIPPED
def test_shipped_agents_have_complete_cards(name):
    card = load_agent(name).card
    assert (card["name"], card["reward"], card["licence"]) == (name, name.partition("-")[0], "MIT")
    assert card["command"].startswith("curiograph train ")
    assert isinstance(card["training"]["seed"], int)
    assert card["training"]["settings"]["train_steps"] > 0
    assert card["validation"]["return"] > 0
    family = name.split("-")[1]
    assert card["returns"].keys() == (set(FAMILIES) if family == "all" else {family})
    assert all(found["mean"] > 0 for found in card["returns"].values())


@SHIPPED
def test_shipped_agents_are_small_and_have_a_json_card(name):
    shelf = resources.files("curiograph.agents") / "shipped"
    assert len((shelf / f"{name}.safetensors").read_bytes()) < 2**20
    assert json.loads((shelf / f"{name}.json").read_text(encoding="utf-8")) == load_agent(name).card
