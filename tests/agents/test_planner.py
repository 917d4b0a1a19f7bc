"""The planner: search with learned values, widths, names, and rewards without values."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.agents.agent_names import as_agent
from curiograph.agents.beam import BeamAgent
from curiograph.agents.planner import PlannerAgent, PlannerShape
from curiograph.agents.pretrained import load_agent, save_agent
from curiograph.exploration.mdp import begin
from oracles import reference


def make_planner(width: int = 8, scale: float = 0.0) -> PlannerAgent:
    """Return a planner with random weights; with scale 0 it predicts nothing, as the plain beam does."""
    shape = PlannerShape()
    network = reference.draw_weights(shape.weights(), 3)
    network["deviation"] = np.ones_like(network["deviation"])
    network["scale"] = np.array([0.0, scale], np.float32)
    return PlannerAgent(shape, network, "small", width=width)


@pytest.mark.parametrize("reward", ["igt", "cpt"])
def test_without_predictions_it_is_a_beam_search(reward):
    graph = cg.generate("ws", nodes=20, seed=0)
    exploration = begin([graph], [[0, 5]], reward, 7, seed=2)
    found, best = make_planner(400).run(exploration).returns, BeamAgent(1000).run(exploration).returns
    np.testing.assert_allclose(found, best)  # both keep all walks


@pytest.mark.parametrize("reward", ["igt", pytest.param("cpt", marks=pytest.mark.long)])
def test_a_wide_planner_finds_the_best_walk(reward):
    graph = cg.generate("er", nodes=9, seed=4)
    exploration = begin([graph], [[0]], reward, 6)
    best = reference.find_best_return(graph, 0, 6, reward)
    assert make_planner(2000, scale=1.0).run(exploration).returns[0] == pytest.approx(best)


def test_predictions_of_a_walk():
    """The beam is wider at the start of a walk; beyond nine nodes, walks are ranked by reward."""
    lengths, widths = [], []

    class CountingPlanner(PlannerAgent):
        def estimate_returns(self, current, groups=None, gained=None, budget=None):
            lengths.append(int(current.lengths.max()))
            widths.append(int(np.diff(groups).max()))
            return super().estimate_returns(current, groups, gained, budget)

    planner, graph = make_planner(), cg.generate("er", seed=0)
    CountingPlanner(planner.shape, planner.network).run(begin([graph], [[0]], "igt", 20))
    assert lengths == list(range(1, 10))
    widths.clear()
    CountingPlanner(planner.shape, planner.network, width=10).run(begin([graph], [[0]], "igt", 11))
    assert widths[0] == 1
    assert max(widths) == widths[2] == 23
    assert widths[2:] == sorted(widths[2:], reverse=True)
    assert widths[-1] == 10


def test_scores_are_predicted_returns():
    exploration = begin([cg.generate("ba", seed=0)], [[3, 8]], "igt", 9)
    agent = make_planner(scale=0.5)
    np.testing.assert_allclose(agent.scores(exploration), agent.estimate_returns(exploration), rtol=1e-8)
    cg.check_agent(agent)


def test_names_and_widths(tmp_path):
    assert (as_agent("planner").name, as_agent("planner").width) == ("planner", 8)
    assert as_agent("planner:32").name == "planner:32"
    assert (as_agent("igt-rg-planner:2").name, as_agent("igt-rg-planner:2").width) == ("igt-rg-planner:2", 2)
    save_agent(make_planner(), tmp_path / "mine.safetensors")
    loaded = load_agent(tmp_path / "mine.safetensors")
    assert (loaded.name, loaded.width, loaded.with_width(16).name) == ("small", 8, "small:16")
    assert loaded.with_width(16).with_width(4).name == "small:4"
    for text, words in [
        ("planner:x", "'x'"),
        ("planner:0", "planner width is 0"),
        ("plan:3", "no agent"),
    ]:
        with pytest.raises(cg.CuriographError, match=words):
            as_agent(text)


def test_a_reward_without_values_is_planned_by_a_plain_beam():
    def count_nodes(subgraph: cg.Graph) -> float:
        return float(subgraph.num_edges)

    graph = cg.generate("er", nodes=20, seed=0)
    walks = [cg.explore(graph, agent, count_nodes, start=0, steps=6, seed=0).nodes for agent in ("planner:4", "beam:4")]
    assert walks[0] == walks[1]


def test_values_of_a_sum_are_the_sum_of_the_values():
    graph = cg.generate("ba", nodes=30, seed=1)
    exploration = begin([graph], [[0, 4]], "igt+0.5*cpt", 8)
    alone = {name: load_agent(f"{name}-all-planner") for name in ("igt", "cpt")}
    parts = [alone[name].estimate_returns(begin([graph], [[0, 4]], name, 8)) for name in ("igt", "cpt")]
    np.testing.assert_allclose(as_agent("planner").scores(exploration), parts[0] + 0.5 * parts[1], rtol=1e-6)
    returns = [cg.evaluate(agent, [graph], "igt+0.5*cpt", 8, 10).mean for agent in ("planner", "greedy")]
    assert returns[0] > returns[1]
    cg.check_agent("planner", reward="igt+cpt")


def test_a_term_with_a_negative_weight_keeps_its_value():
    graph = cg.generate("ws", nodes=20, seed=1)
    exploration = begin([graph], [[0]], "igt-0.1*cpt", 6)
    gaps, bits = (begin([graph], [[0]], name, 6) for name in ("igt", "cpt"))
    expected = load_agent("igt-all-planner").estimate_returns(gaps) - 0.1 * bits.candidate_values * 5
    np.testing.assert_allclose(as_agent("planner").scores(exploration), expected, rtol=1e-6)


def test_weighted_single_rewards_and_rewards_of_the_same_name():
    graphs = [cg.generate("ba", seed=seed) for seed in range(2)]
    whole, scaled = (cg.evaluate("planner", graphs, reward, 10, 10).mean for reward in ("igt", "0.01*igt"))
    assert scaled == pytest.approx(0.01 * whole, rel=0.03)  # a sum evaluates all candidates, so walks may differ

    def igt(subgraph: cg.Graph) -> float:
        return -float(subgraph.num_edges)

    walks = [cg.explore(graphs[0], agent, igt, start=0, steps=5, seed=0).nodes for agent in ("planner:2", "beam:2")]
    assert walks[0] == walks[1]
