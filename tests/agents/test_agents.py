"""Agents: what each picks, beam against exhaustive search, the contract, explore and evaluate."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import curiograph as cg
from curiograph.agents.beam import BeamAgent
from curiograph.agents.registry import AGENTS, as_agent
from curiograph.graph.generators import FAMILIES
from curiograph.graph.toys import complete, cycle, grid, library
from oracles import reference as twins
from oracles.reference import random_graph

FALLBACKS = ("frontier", "anywhere")
BASELINES = ("random", "max-degree", "min-degree", "greedy")
EVERYONE = (*BASELINES, "beam", "beam:3")


def silently_explore(*args, **settings) -> cg.Walk:
    """explore, where an early end is expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return cg.explore(*args, **settings)


def visited(batch: cg.Exploration, walk: int) -> list[int]:
    return batch.nodes[walk, : batch.lengths[walk]].tolist()


# ---- baselines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("agent", "sign"), [("max-degree", 1), ("min-degree", -1)])
def test_degree_agents_score_by_degree_in_the_whole_graph(agent, sign, directed):
    graph = random_graph(np.random.default_rng(0), 15, 0.3, directed=directed)
    batch = cg.begin([graph], [np.flatnonzero(graph.degrees)], "igt", 5)
    neighbours = (twins.adjacency(graph) > 0).sum(axis=1)
    assert as_agent(agent).scores(batch).tolist() == (sign * neighbours[batch.candidates.nodes]).tolist()


def test_degree_agents_on_a_known_graph():
    """From the middle of a path with a hub at one end and a leaf at the other."""
    graph = cg.Graph.from_edges([("leaf", "middle"), ("middle", "hub"), ("hub", "a"), ("hub", "b")])
    assert cg.explore(graph, "max-degree", start="middle", steps=2).nodes == ["middle", "hub"]
    assert cg.explore(graph, "min-degree", start="middle", steps=2).nodes == ["middle", "leaf"]


def test_random_takes_every_candidate_alike():
    batch = cg.begin([complete(6)], [[0] * 3000], "igt", 2, seed=1)
    chosen = as_agent("random").run(batch).nodes[:, 1]
    counts = np.bincount(chosen, minlength=6)[1:]
    assert ((counts - 600) ** 2 / 600).sum() < 18.5  # 4 degrees of freedom, 0.1 %


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("reward", ["igt", "cpt"])
def test_greedy_takes_the_highest_reward(reward, fallback):
    rng = np.random.default_rng(2)
    for _ in range(6):
        graph = random_graph(rng, 10, 0.3, directed=bool(rng.integers(2)))
        start = int(np.flatnonzero(graph.degrees)[0])
        walk = silently_explore(graph, "greedy", reward, start, 6, fallback=fallback)
        for t in range(1, len(walk)):
            before = walk.nodes[:t]
            values = {v: twins.REWARDS[reward](graph, [*before, v]) for v in twins.candidates(graph, before, fallback)}
            assert values[walk.nodes[t]] == pytest.approx(max(values.values()), abs=1e-9)
            assert walk.rewards[t - 1] == pytest.approx(values[walk.nodes[t]], abs=1e-9)


def test_greedy_breaks_ties_at_random():
    """In a clique all nodes give the same; the last bits of a float must not decide."""

    def noisy(subgraph: cg.Graph) -> float:
        return 1.0 + 1e-13 * subgraph.labels[-1]

    for reward in ("igt", "cpt", noisy):
        seconds = {cg.explore(complete(8), "greedy", reward, 0, 4, seed=seed).nodes[1] for seed in range(60)}
        assert seconds == set(range(1, 8))


# ---- walks of all agents --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("reward", ["igt", "cpt"])
@pytest.mark.parametrize("agent", EVERYONE)
def test_walks_are_valid_and_rewards_true(agent, reward, fallback):
    rng = np.random.default_rng(4)
    for directed in (True, False):
        graph = random_graph(rng, 12, 0.2, directed=directed)
        start = int(np.flatnonzero(graph.degrees)[-1])
        walk = silently_explore(graph, agent, reward, start, 7, fallback=fallback, seed=2)
        assert walk.nodes[0] == start
        assert len(set(walk.nodes)) == len(walk) <= 7
        for t in range(1, len(walk)):
            assert walk.nodes[t] in twins.candidates(graph, walk.nodes[:t], fallback)
        if len(walk) < 7:
            assert walk.ended_early
            assert not twins.candidates(graph, walk.nodes, fallback)
        expected = [twins.REWARDS[reward](graph, walk.nodes[:t]) for t in range(2, len(walk) + 1)]
        assert walk.rewards == pytest.approx(expected, abs=1e-9)
        assert walk.total == pytest.approx(sum(expected))


@pytest.mark.parametrize("agent", EVERYONE)
def test_same_seed_same_walk(agent):
    graph = cg.generate("ws", nodes=30, seed=0)
    walks = [cg.explore(graph, agent, "cpt", None, 8, seed=seed).to_dict() for seed in (1, 1, 2, 3)]
    assert walks[0] == walks[1]
    assert walks[0] != walks[2] or walks[0] != walks[3]


# ---- beam -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("reward", "discount"), [("igt", 1.0), ("igt", 0.6), ("cpt", 1.0), ("cpt", 0.8)])
def test_a_wide_beam_finds_the_best_walk(reward, discount, directed, fallback):
    rng = np.random.default_rng(6)
    for _ in range(4):
        graph = random_graph(rng, 8, 0.3, directed=directed)
        start = int(rng.choice(np.flatnonzero(graph.degrees)))
        walk = silently_explore(graph, BeamAgent(10**6, discount), reward, start, 6, fallback=fallback)
        found = twins.walk_return(graph, walk.nodes, reward, discount)
        assert found == pytest.approx(twins.best_return(graph, start, 6, reward, fallback, discount), abs=1e-9)


def test_a_wide_beam_finds_the_best_walk_on_a_larger_graph():
    graph = cg.generate("rg", nodes=20, seed=5)
    best = twins.best_return(graph, 0, 7, "igt")
    assert cg.explore(graph, "beam:100000", "igt", 0, 7).total == best
    assert best > cg.explore(graph, "greedy", "igt", 0, 7).total


def test_beam_scores_are_the_best_returns_through_each_candidate():
    graph = random_graph(np.random.default_rng(1), 8, 0.4)
    batch = cg.begin([graph], [[0, 1]], "igt", 5)
    scores = BeamAgent(10**5, discount=0.7).scores(batch)
    for walk, v, score in zip(batch.candidates.walks, batch.candidates.nodes, scores, strict=True):
        best = max(
            twins.walk_return(graph, path, "igt", 0.7)
            for path in twins.all_walks(graph, visited(batch, walk)[0], 5, "frontier")
            if path[1] == v
        )
        assert score == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("reward", ["igt", "cpt"])
@pytest.mark.parametrize("family", FAMILIES)
def test_beam_beats_greedy_and_a_wider_beam_a_narrow_one(family, reward):
    graphs = [cg.generate(family, nodes=30, seed=seed) for seed in range(4)]
    greedy, narrow, wide = (
        cg.evaluate(agent, graphs, reward, 8, "all").mean for agent in ("greedy", "beam:4", "beam:64")
    )
    assert greedy <= wide
    assert narrow <= wide + 1e-9


def test_beam_keeps_one_walk_for_each_set_and_last_node():
    """In a clique of 7, 6 * 5 * 4 walks of 4 nodes leave a start, two for each set and last node."""
    sizes = []

    def count(subgraph: cg.Graph) -> float:
        sizes.append(len(subgraph))
        return 0.0

    cg.explore(complete(7), BeamAgent(10**4), count, 0, 5)
    assert sizes.count(4) == 6 * 5 * 4
    assert sizes.count(5) == 6 * 5 * 4 // 2 * 3  # each state kept has 3 candidates


def test_dedup_keeps_the_better_order():
    """Two orders of one set: the ring closed early earns more, and is the one that goes on."""
    graph = cg.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (2, 4), (4, 5)])
    walk = cg.explore(graph, "beam", "igt", 0, 6)
    assert walk.total == twins.best_return(graph, 0, 6, "igt")


def test_beam_of_width_one_walks_too():
    assert len(cg.explore(library(), "beam:1", "igt", "music", 8)) == 8


def test_discount_makes_beam_impatient():
    """A short way to a small reward soon, or a long way to a large one."""

    def prize(subgraph: cg.Graph) -> float:
        return 1.0 if "near" in subgraph else 10.0 * ("far" in subgraph)

    graph = cg.Graph.from_edges(
        [("start", "near"), ("near", "x"), ("x", "y"), ("start", "a"), ("a", "b"), ("b", "far")]
    )
    assert cg.explore(graph, BeamAgent(64, 1.0), prize, "start", 4).nodes[1] == "a"
    assert cg.explore(graph, BeamAgent(64, 0.1), prize, "start", 4).nodes[1] == "near"


def test_negative_rewards():
    """A beam must go on to the end even where every step costs."""
    walk = cg.explore(cycle(5), "beam", lambda s: -float(s.num_edges), 0, 5)
    assert walk.rewards == [-1.0, -2.0, -3.0, -5.0]


def test_a_beam_does_not_know_its_batch():
    """Ties are broken by the walk's own stream, whatever else is planned beside it, even walks of other lengths."""
    graph = cg.generate("ws", nodes=40, seed=2)
    batch = cg.begin([graph], [list(range(8))], "igt", 9, seed=5)
    choices = np.where(np.arange(8) % 2, batch.candidates.offsets[:-1], -1)
    agent = BeamAgent(3)
    for mixed in (batch, batch.step(choices)):
        together = agent.run(mixed)
        for i in range(8):
            assert visited(agent.run(mixed.rows(np.array([i]))), 0) == visited(together, i)


def test_beams_in_several_portions_are_the_same(monkeypatch):
    graph = cg.generate("rg", nodes=25, seed=0)
    whole = cg.evaluate("beam:8", graph, "igt", 6, "all")
    monkeypatch.setattr("curiograph.agents.beam._BATCH_WALKS", 24)
    parts = cg.evaluate("beam:8", graph, "igt", 6, "all")
    assert whole.returns[0].tolist() == parts.returns[0].tolist()


def test_an_enormous_width_costs_no_memory():
    assert cg.explore(cycle(6), BeamAgent(10**12), "igt", 0, 6).total == 1.0


def test_beam_leaves_the_exploration_alone():
    batch = cg.begin([library()], [[0, 1]], "cpt", 6)
    before = batch.nodes.copy()
    agent = BeamAgent(8)
    first = agent.scores(batch)
    agent.run(batch)
    assert np.array_equal(agent.scores(batch), first)
    assert np.array_equal(batch.nodes, before)
    assert batch.lengths.tolist() == [1, 1]


# ---- names ----------------------------------------------------------------------------------------------------------


def test_names():
    assert [as_agent(name).name for name in AGENTS] == list(AGENTS)
    assert as_agent("beam:64").name == "beam:64"
    assert as_agent("beam:256").name == "beam"


@pytest.mark.parametrize(
    ("agent", "error", "words"),
    [
        ("gready", cg.UnknownNameError, "'gready'.*random, max-degree, min-degree, greedy, horizon, beam"),
        ("greedy:3", cg.UnknownNameError, "'greedy:3'"),
        ("", cg.UnknownNameError, "no agent ''"),
        (None, cg.UnknownNameError, "None is not an agent"),
        (42, cg.UnknownNameError, "42 is not an agent"),
        ("beam:0", cg.SettingError, "beam width is 0"),
        ("beam:-5", cg.SettingError, "beam width is -5"),
        ("beam:wide", cg.SettingError, "beam width is 'wide'"),
        ("beam:", cg.SettingError, "beam width is ''"),
        ("beam:2.5", cg.SettingError, "beam width is '2.5'"),
    ],
)
def test_bad_agents(agent, error, words):
    with pytest.raises(error, match=words):
        cg.explore(library(), agent, "igt", "music", 3)
    with pytest.raises(error, match=words):
        cg.evaluate(agent, [library()])
    with pytest.raises(error, match=words):
        cg.check_agent(agent)


@pytest.mark.parametrize("discount", [0, -0.5, 1.5, float("nan")])
def test_bad_discount(discount):
    with pytest.raises(cg.SettingError, match="discount is"):
        BeamAgent(8, discount)


@pytest.mark.parametrize("width", [0, -1, 2.5, "8", None])
def test_bad_width(width):
    with pytest.raises(cg.SettingError, match="beam width is"):
        BeamAgent(width)


# ---- explore --------------------------------------------------------------------------------------------------------


def test_an_early_end_is_said():
    graph = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("d", "e")])
    with pytest.warns(UserWarning, match="ended early, after 3 of 10 nodes.*'a'"):
        walk = cg.explore(graph, "greedy", "igt", "a", 10)
    assert walk.ended_early
    assert walk.to_dict()["ended_early"]
    with pytest.warns(UserWarning, match="after 5 of 10"):
        assert len(cg.explore(graph, "greedy", "igt", "a", 10, fallback="anywhere")) == 5


@pytest.mark.parametrize("agent", EVERYONE)
def test_every_agent_may_end_early(agent):
    graph = cg.Graph.from_edges([(0, 1), (1, 2), (3, 4)], directed=True)
    with pytest.warns(UserWarning, match="after 2 of 4"):
        assert cg.explore(graph, agent, "cpt", 3, 4).nodes == [3, 4]


def test_no_warning_without_need():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not cg.explore(cycle(5), "greedy", "igt", 0, 5).ended_early
        assert cg.explore(cycle(5), "greedy", "igt", 0, 1).nodes == [0]


def test_an_isolated_start():
    graph = cg.Graph.from_edges([("a", "b")], nodes=["alone"])
    with pytest.raises(cg.WalkError, match="'alone' has no neighbors"):
        cg.explore(graph, "greedy", "igt", "alone", 2)
    assert cg.explore(graph, "greedy", "igt", "alone", 3, fallback="anywhere").nodes[0] == "alone"
    assert all(cg.explore(graph, "random", "igt", None, 2, seed=s).nodes[0] != "alone" for s in range(20))


def test_a_start_without_way_out():
    graph = cg.Graph.from_edges([("a", "b")], directed=True)
    with pytest.raises(cg.WalkError, match="'b' has no out-neighbors"):
        cg.explore(graph, "greedy", "igt", "b", 2)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"start": "musik"}, cg.UnknownNodeError, "no node 'musik'; the nearest names are 'music'"),
        ({"start": 3}, cg.UnknownNodeError, "no node 3"),
        ({"start": ["music"]}, cg.UnknownNodeError, "no node"),
        ({"steps": 0}, cg.SettingError, "steps is 0"),
        ({"steps": "5"}, cg.SettingError, "steps is '5'"),
        ({"seed": -1}, cg.SettingError, "seed is -1"),
        ({"seed": None}, cg.SettingError, "seed is None"),
        ({"fallback": "home"}, cg.UnknownNameError, "'home'"),
        ({"reward": "joy"}, cg.UnknownNameError, "'joy'"),
        ({"graph": cg.Graph.from_edges([])}, cg.GraphError, "empty"),
        ({"graph": cg.Graph.from_edges([], nodes=["music"])}, cg.GraphError, "no edges"),
    ],
)
def test_bad_settings(settings, error, words):
    with pytest.raises(error, match=words):
        cg.explore(**({"graph": library(), "start": "music", "steps": 3} | settings))


def test_labels_come_back_as_given():
    walk = cg.explore(grid(3, 3), "greedy", "igt", (1, 1), 4)
    assert walk.nodes[0] == (1, 1)
    assert all(node in grid(3, 3) for node in walk)
    assert (len(walk), walk[0], list(walk)) == (4, (1, 1), walk.nodes)


def test_a_random_start_is_any_node():
    starts = [cg.explore(cycle(6), "random", "igt", None, 2, seed=seed).nodes[0] for seed in range(300)]
    counts = np.bincount(starts, minlength=6)
    assert ((counts - 50) ** 2 / 50).sum() < 20.5  # 5 degrees of freedom, 0.1 %


def edges_of(subgraph: cg.Graph) -> float:
    return float(subgraph.num_edges)


@pytest.mark.parametrize("agent", EVERYONE)
def test_a_reward_of_ones_own(agent):
    graph = cg.generate("er", nodes=20, seed=0)
    walk = cg.explore(graph, agent, edges_of, 0, 5)
    assert walk.reward == "edges_of"
    assert walk.rewards == [graph.subgraph(walk.nodes[:t]).num_edges for t in range(2, 6)]


# ---- evaluate -------------------------------------------------------------------------------------------------------


def test_shapes_and_formulas():
    graphs = [cg.generate("ba", nodes=n, seed=0) for n in (12, 20, 30)]
    result = cg.evaluate("random", graphs, "igt", 8, 25, seed=1)
    assert [r.shape for r in result.returns] == [(25,)] * 3
    every = np.concatenate(result.returns)
    means = np.array([r.mean() for r in result.returns])
    assert result.episodes == 75
    assert result.mean == pytest.approx(every.mean())
    assert result.sem == pytest.approx(np.sqrt(((every - every.mean()) ** 2).sum() / 74 / 75))
    assert result.sem_by_graph == pytest.approx(np.sqrt(((means - means.mean()) ** 2).sum() / 2 / 3))
    assert result.by_graph.tolist() == means.tolist()
    summary = result.to_dict()
    assert summary["by_graph"] == means.tolist()
    assert (summary["agent"], summary["reward"], summary["graphs"], summary["steps"]) == ("random", "igt", 3, 8)


def test_one_from_every_node():
    result = cg.evaluate("greedy", [cycle(5), cycle(7)], "igt", 5, "all")
    assert [len(r) for r in result.returns] == [5, 7]
    assert result.by_graph.tolist() == [1.0, 0.0]
    graph = cg.Graph.from_edges([(0, 1)], nodes=range(3))
    assert len(cg.evaluate("greedy", graph, steps=2, episodes="all").returns[0]) == 2
    assert len(cg.evaluate("greedy", graph, steps=2, episodes="all", fallback="anywhere").returns[0]) == 3


def test_every_node_equals_exploring_from_it():
    """greedy without ties to break: the batch walks as each walk alone would."""
    graph = cg.generate("rg", nodes=20, seed=3)
    weights = {node: 2.0**-i for i, node in enumerate(graph.labels)}
    found = cg.evaluate("greedy", graph, lambda s: sum(weights[v] for v in s.labels), 6, "all").returns[0]
    alone = [
        cg.explore(graph, "greedy", lambda s: sum(weights[v] for v in s.labels), start, 6).total for start in range(20)
    ]
    assert found.tolist() == pytest.approx(alone)


def test_seeds():
    graph = cg.generate("er", nodes=30, seed=0)
    runs = [cg.evaluate("greedy", [graph, graph], "igt", 8, 30, seed=seed).returns for seed in (4, 4, 5)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
    assert not np.array_equal(runs[0][0], runs[0][1])  # the same graph twice is explored twice, not copied


def test_more_episodes_and_graphs_leave_the_first_alone():
    graphs = [cg.generate("ws", nodes=30, seed=seed) for seed in range(3)]
    few = cg.evaluate("random", graphs[:1], "cpt", 6, 10, seed=2)
    many = cg.evaluate("random", graphs, "cpt", 6, 40, seed=2)
    assert many.returns[0][:10].tolist() == few.returns[0].tolist()


def test_one_graph_has_no_error_between_graphs():
    result = cg.evaluate("random", cycle(6), "igt", 4, 5)
    assert np.isnan(result.sem_by_graph)
    assert np.isnan(cg.evaluate("random", cycle(6), "igt", 4, 1).sem)


def test_early_ends_are_counted():
    graph = cg.Graph.from_edges([(0, 1), (2, 3), (3, 4)])
    assert cg.evaluate("random", graph, "igt", 3, "all").ended_early == 2
    assert cg.evaluate("random", graph, "igt", 99, "all").ended_early == 5


@pytest.mark.parametrize("agent", ["greedy", "beam:4"])
def test_evaluate_with_a_reward_of_ones_own(agent):
    result = cg.evaluate(agent, [cycle(5), complete(5)], edges_of, 3, "all")
    assert result.by_graph.tolist() == [1 + 2, 1 + 3]
    assert result.reward == "edges_of"


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"episodes": 0}, cg.SettingError, "episodes is 0"),
        ({"episodes": "some"}, cg.SettingError, "episodes is 'some'"),
        ({"episodes": 1.5}, cg.SettingError, "episodes is 1.5"),
        ({"steps": 0}, cg.SettingError, "steps is 0"),
        ({"graphs": []}, cg.SettingError, "no graphs"),
        ({"graphs": [cg.Graph.from_edges([])]}, cg.GraphError, "empty"),
        ({"seed": -2}, cg.SettingError, "seed is -2"),
        ({"fallback": "x"}, cg.UnknownNameError, "'x'"),
    ],
)
def test_bad_evaluations(settings, error, words):
    with pytest.raises(error, match=words):
        cg.evaluate(**({"agent": "greedy", "graphs": [library()], "steps": 3, "episodes": 2} | settings))


# ---- the contract ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["igt", "cpt"])
@pytest.mark.parametrize("agent", EVERYONE)
def test_check_agent_accepts_all_of_ours(agent, reward):
    cg.check_agent(agent, reward=reward)


def test_check_agent_on_a_directed_graph_with_ends():
    graph = cg.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (4, 5)], directed=True)
    for agent in EVERYONE:
        cg.check_agent(agent, graph)


class Homebody:
    """A user's own agent, no subclass of ours."""

    def scores(self, exploration: cg.Exploration) -> list[float]:
        return (-exploration.candidates.nodes).tolist()


def test_an_object_of_ones_own():
    cg.check_agent(Homebody())
    walk = cg.explore(grid(3, 3), Homebody(), "igt", (1, 1), 3)
    assert walk.agent == "Homebody"
    assert walk.nodes == [(1, 1), (0, 1), (0, 0)]


class WrongShape(Homebody):
    def scores(self, exploration):
        return np.zeros(len(exploration.candidates.nodes) + 1)


class OneNumber(Homebody):
    def scores(self, exploration):
        return 1.0


class NotANumber(Homebody):
    def scores(self, exploration):
        return np.full(len(exploration.candidates.nodes), np.nan)


class Words(Homebody):
    def scores(self, exploration):
        return ["good"] * len(exploration.candidates.nodes)


class Moody(Homebody):
    calls = 0

    def scores(self, exploration):
        self.calls += 1
        return self.calls * np.arange(len(exploration.candidates.nodes), dtype=float)


class Sociable(Homebody):
    def scores(self, exploration):
        nodes = exploration.candidates.nodes.astype(float)
        return nodes - nodes.mean()


class Vandal(Homebody):
    def scores(self, exploration):
        exploration.nodes[:, 0] = 0
        return np.zeros(len(exploration.candidates.nodes))


class Thief(Homebody):
    def scores(self, exploration):
        exploration.rewards[:] = 99.0
        return np.zeros(len(exploration.candidates.nodes))


class Forger(Homebody):
    def scores(self, exploration):
        exploration.candidates.nodes[:] = 0
        return np.zeros(len(exploration.candidates.nodes))


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (WrongShape, r"WrongShape.*shape \(\d+,\); the shape must be"),
        (OneNumber, r"OneNumber.*shape \(\)"),
        (NotANumber, "NotANumber.*NaN"),
        (Words, "Words.*one number per candidate"),
        (Moody, "Moody.*not deterministic"),
        (Sociable, "Sociable.*alone"),
        (Vandal, "Vandal.*must not modify the exploration"),
        (Thief, "Thief.*must not modify the exploration"),
        (Forger, "Forger.*must not modify the exploration"),
    ],
)
def test_check_agent_catches(agent, words):
    with pytest.raises(cg.AgentError, match=words):
        cg.check_agent(agent())


@pytest.mark.parametrize("agent", [WrongShape, OneNumber, NotANumber, Words])
def test_bad_scores_are_never_walked_on(agent):
    """Neither from an object of a user nor from one that inherits from Agent."""

    class Inherits(agent, cg.Agent):
        name = "inherits"

    for made in (agent(), Inherits()):
        with pytest.raises(cg.AgentError):
            cg.explore(library(), made, "igt", "music", 4)
        with pytest.raises(cg.AgentError):
            cg.evaluate(made, library(), "igt", 4, 3)


class Quitter(cg.Agent):
    name = "quitter"

    def scores(self, exploration):
        return np.zeros(len(exploration.candidates.nodes))

    def run(self, exploration):
        return exploration


class Circler(Quitter):
    name = "circler"

    def run(self, exploration):
        ended = super(Quitter, self).run(exploration)
        ended.nodes[:, 2] = ended.nodes[:, 0]
        return ended


@pytest.mark.parametrize(("agent", "words"), [(Quitter, "stops before"), (Circler, "visits a node twice")])
def test_check_agent_catches_bad_runs(agent, words):
    with pytest.raises(cg.AgentError, match=words):
        cg.check_agent(agent())


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
@pytest.mark.parametrize("agent", ["greedy", "beam:16"])
def test_the_scale_of_a_reward_changes_no_choice(agent, scale):
    graph = cg.generate("ba", nodes=40, seed=1)
    walk = cg.explore(graph, agent, lambda s: scale * s.num_edges, start=0, steps=8, seed=0)
    assert walk.nodes == cg.explore(graph, agent, lambda s: s.num_edges, start=0, steps=8, seed=0).nodes


def test_clustered_error_of_unequal_graphs_is_that_of_the_pooled_mean():
    result = cg.Evaluation("a", "igt", 10, [np.array([0.0, 2.0]), np.array([4.0, 4.0, 4.0, 4.0])])
    excess = np.array([2.0 - 2 * result.mean, 16.0 - 4 * result.mean])
    assert result.sem_by_graph == pytest.approx(np.sqrt(2 * np.sum(excess**2)) / 6)


@pytest.mark.parametrize("wrong", [None, 5, "rg", {"a": 1}, [None], cg.toys.cycle(4).to_networkx()])
def test_what_is_no_graph_is_refused_everywhere(wrong):
    calls = [
        lambda: cg.explore(wrong),
        lambda: cg.evaluate("greedy", wrong),
        lambda: cg.measure(wrong, [0]),
        lambda: cg.betti(wrong),
        lambda: cg.compressibility(wrong),
        lambda: cg.begin(wrong, [[0]], "igt", 3),
        lambda: cg.check_reward("igt", wrong or 0),
        lambda: cg.check_agent("greedy", wrong or 0),
    ]
    for call in calls:
        with pytest.raises(cg.GraphError, match="not a curiograph Graph"):
            call()


def test_likely_mistakes_are_explained():
    graph = cg.toys.cycle(5)
    with pytest.raises(cg.SettingError, match=r"sets\.test"):
        cg.evaluate("greedy", cg.generate_split("ws", nodes=10, train=1, val=1, test=1))
    with pytest.raises(cg.UnknownNameError, match=r"make one: BeamAgent\(\)"):
        cg.explore(graph, BeamAgent)
    with pytest.raises(cg.WalkError, match=r"graph\.position\(label\)"):
        cg.begin([graph], [["a"]], "igt", 3)
    for seed in (-1, None, 1.5, True, 2**64):
        with pytest.raises(cg.SettingError, match="seed is"):
            cg.explore(graph, seed=seed)
