"""Features and networks of the planner against slow reference implementations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.agents.planner import NUM_FEATURES, NUM_SCREENED, PlannerAgent, PlannerShape, compute_features
from curiograph.exploration.mdp import begin
from curiograph.kernels import lookahead
from oracles import lookahead as oracle


def make_agent(seed=0, **shape):
    rng, shape = np.random.default_rng(seed), PlannerShape(**shape)
    network = {name: rng.normal(size=size).astype(np.float32) for name, size in shape.weights().items()}
    network["deviation"] = np.abs(network["deviation"]) + 0.5
    return PlannerAgent(shape, network)


def walk_at_random(graph, reward, steps, length, seed, walks=4):
    rng = np.random.default_rng(seed)
    exploration = begin([graph], [rng.choice(np.flatnonzero(graph.degrees), walks)], reward, steps, seed=seed)
    while exploration.lengths.min() < length and not exploration.finished:
        exploration = exploration.step(exploration.best(rng.random(len(exploration.candidates.nodes))))
    return exploration


def check_features(exploration, fan):
    features, unit = compute_features(exploration, fan)
    offsets = exploration.candidates.offsets
    for i, (first, last) in enumerate(pairwise(offsets)):
        if first == last:
            continue
        expected, expected_unit = oracle.compute_features(
            exploration.stack.graphs[0],
            exploration.nodes[i, : exploration.lengths[i]].tolist(),
            exploration.steps,
            float(exploration.values[i]),
            exploration.candidates.nodes[first:last].tolist(),
            exploration.candidate_values[first:last],
            fan,
        )
        np.testing.assert_allclose(features[first:last], expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(unit[first:last], expected_unit)


@given(
    family=st.sampled_from(["rg", "ws", "ba", "er"]),
    reward=st.sampled_from(["igt", "cpt"]),
    length=st.integers(1, 14),
    fan=st.sampled_from([3, 24]),
    seed=st.integers(0, 10**6),
)
def test_features_follow_their_definitions(family, reward, length, fan, seed):
    check_features(walk_at_random(cg.generate(family, nodes=30, seed=seed), reward, 15, length, seed), fan)


def test_features_of_directed_graphs_follow_out_neighbors():
    rng = np.random.default_rng(1)
    graph = cg.Graph.from_edges([(int(a), int(b)) for a, b in rng.integers(0, 25, (90, 2)) if a != b], directed=True)
    check_features(walk_at_random(graph, "igt", 12, 6, 0), 24)


def test_links_of_hubs_are_found_and_old_nodes_are_forgotten():
    star = [(0, leaf) for leaf in range(1, 400)] + [(leaf, leaf + 1) for leaf in range(1, 399)]
    check_features(walk_at_random(cg.Graph.from_edges(star), "igt", 90, 80, 0, walks=2), 24)


def test_the_workspace_is_zero_again():
    exploration = walk_at_random(cg.generate("ba", seed=0), "igt", 10, 5, 0)
    agent = make_agent()
    first = agent.estimate_returns(exploration)
    assert np.array_equal(first, agent.estimate_returns(exploration))
    alone = [agent.estimate_returns(exploration.rows(np.array([i]))) for i in range(4)]
    assert np.array_equal(first, np.concatenate(alone))


def predict_slopes(agent, features):
    n = {name: array.astype(np.float64) for name, array in agent.network.items()}
    inputs = (features - n["mean"]) / n["deviation"]
    screen = np.maximum(inputs[:, :NUM_SCREENED] @ n["screen.0.weight"].T + n["screen.0.bias"], 0)
    first = np.maximum(inputs @ n["value.0.weight"].T + n["value.0.bias"], 0)
    second = np.maximum(first @ n["value.2.weight"].T + n["value.2.bias"], 0)
    outputs = screen @ n["screen.2.weight"][0] + n["screen.2.bias"], second @ n["value.4.weight"][0] + n["value.4.bias"]
    return [n["scale"][0] + n["scale"][1] * output for output in outputs]


@pytest.mark.parametrize("budget", [2**62, 7])
def test_estimates_are_those_of_the_networks(budget):
    exploration, agent = walk_at_random(cg.generate("er", seed=2), "igt", 10, 5, 3), make_agent()
    features, unit = compute_features(exploration, agent.shape.fan)
    walks = exploration.candidates.walks
    gained = np.array([0.0, 5.0, -2.0, 1.0])
    left = exploration.steps - 1 - exploration.lengths[walks]
    known = gained[walks] + exploration.candidate_values * (1 + left)
    screened, valued = (known + slopes * unit * left * (left + 1) / 2 for slopes in predict_slopes(agent, features))
    groups = np.array([0, 2, 4])
    estimates = agent.estimate_returns(exploration, groups, gained, budget)
    for first, last in pairwise(groups):
        inside = np.flatnonzero((walks >= first) & (walks < last))
        evaluated = inside[np.argsort(-screened[inside])[:budget]]
        np.testing.assert_allclose(estimates[evaluated], valued[evaluated], rtol=1e-4, atol=1e-2)
        others = np.setdiff1d(inside, evaluated)
        assert len(others) == max(0, len(inside) - budget)
        assert np.all(estimates[others] < estimates[evaluated].min())


def test_the_last_step_needs_no_prediction():
    exploration, agent = walk_at_random(cg.generate("er", seed=2), "igt", 6, 5, 3), make_agent()
    assert np.array_equal(agent.estimate_returns(exploration), exploration.candidate_values)


def test_sizes_agree_with_the_kernel():
    assert (NUM_FEATURES, NUM_SCREENED) == (lookahead.NUM_FEATURES, lookahead.FREE)
