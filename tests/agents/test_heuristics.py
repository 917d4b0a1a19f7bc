"""Heuristic agents, and the validity of the walks of all agents without weights."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.agents.agent_names import as_agent
from curiograph.exploration.mdp import begin
from curiograph.graph.toys import complete
from oracles import reference
from oracles.reference import draw_graph

pytestmark = pytest.mark.filterwarnings("ignore:.*ended early")
FALLBACKS = ("frontier", "anywhere")

ALL_AGENTS = ("random", "max-degree", "min-degree", "greedy", "beam", "beam:3")


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("agent", "sign"), [("max-degree", 1), ("min-degree", -1)])
def test_degree_agents_score_by_degree_in_the_whole_graph(agent, sign, directed):
    graph = draw_graph(np.random.default_rng(0), 15, 0.3, directed=directed)
    batch = begin([graph], [np.flatnonzero(graph.degrees)], "igt", 5)
    neighbors = (reference.build_adjacency(graph) > 0).sum(axis=1)
    assert as_agent(agent).scores(batch).tolist() == (sign * neighbors[batch.candidates.nodes]).tolist()


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("reward", ["igt", "cpt"])
def test_greedy_takes_the_highest_reward(reward, fallback):
    rng = np.random.default_rng(2)
    for _ in range(6):
        graph = draw_graph(rng, 10, 0.3, directed=bool(rng.integers(2)))
        start = int(np.flatnonzero(graph.degrees)[0])
        walk = cg.explore(graph, "greedy", reward, start, 6, fallback=fallback)
        for t in range(1, len(walk)):
            before = walk.nodes[:t]
            values = {
                v: reference.REWARDS[reward](graph, [*before, v])
                for v in reference.find_candidates(graph, before, fallback)
            }
            assert values[walk.nodes[t]] == pytest.approx(max(values.values()), abs=1e-9)
            assert walk.rewards[t - 1] == pytest.approx(values[walk.nodes[t]], abs=1e-9)


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("reward", ["igt", "cpt"])
@pytest.mark.parametrize("name", ["random", "max-degree", "min-degree", "greedy"])
def test_walks_of_one_kernel_are_those_of_single_steps(name, reward, fallback):
    """Walks on several graphs, some of which have begun; 40 nodes need larger tables and more room for edges."""
    rng, agent = np.random.default_rng(3), as_agent(name)
    graphs = [draw_graph(rng, 12, 0.1, directed=True), cg.generate("er", nodes=60, seed=0), cg.generate("ba", seed=0)]
    walks = begin(graphs, [np.flatnonzero(graph.degrees)[:3] for graph in graphs], reward, 40, fallback=fallback)
    walks = walks.step(np.where(walks.candidates.counts > 1, walks.candidates.offsets[:-1], -1))
    fast, slow = agent.run(walks), walks
    assert np.array_equal(agent.run(fast).nodes, fast.nodes)
    while not slow.finished:
        slow = slow.step(slow.best(agent.scores(slow)))
    for field in ("nodes", "lengths", "rewards"):
        np.testing.assert_array_equal(getattr(fast, field), getattr(slow, field))


def test_greedy_breaks_ties_at_random():
    """In a clique all candidates have equal values; the last bits of a float must not decide."""

    def noisy(subgraph: cg.Graph) -> float:
        return 1.0 + 1e-13 * subgraph.labels[-1]

    for reward in ("igt", "cpt", noisy):
        seconds = {cg.explore(complete(8), "greedy", reward, 0, 4, seed=seed).nodes[1] for seed in range(60)}
        assert seconds == set(range(1, 8))


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("reward", ["igt", "cpt"])
@pytest.mark.parametrize("agent", ALL_AGENTS)
def test_walks_are_valid_and_rewards_correct(agent, reward, fallback):
    rng = np.random.default_rng(4)
    for directed in (True, False):
        graph = draw_graph(rng, 12, 0.2, directed=directed)
        start = int(np.flatnonzero(graph.degrees)[-1])
        walk = cg.explore(graph, agent, reward, start, 7, fallback=fallback, seed=2)
        assert walk.nodes[0] == start
        assert len(set(walk.nodes)) == len(walk) <= 7
        for t in range(1, len(walk)):
            assert walk.nodes[t] in reference.find_candidates(graph, walk.nodes[:t], fallback)
        if len(walk) < 7:
            assert walk.ended_early
            assert not reference.find_candidates(graph, walk.nodes, fallback)
        expected = [reference.REWARDS[reward](graph, walk.nodes[:t]) for t in range(2, len(walk) + 1)]
        assert walk.rewards == pytest.approx(expected, abs=1e-9)
        assert walk.total == pytest.approx(sum(expected))
