"""Names of agents, wrapped objects, and cg.check_agent."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.agents.agent_names import AGENTS, as_agent
from curiograph.agents.beam import BeamAgent
from curiograph.exploration.mdp import Exploration, begin
from curiograph.graph.toys import grid, library

ALL_AGENTS = ("random", "max-degree", "min-degree", "greedy", "beam", "beam:3")


def test_names():
    assert [as_agent(name).name for name in AGENTS] == list(AGENTS)
    assert as_agent("beam:64").name == "beam:64"
    assert as_agent("beam:256").name == "beam"


@pytest.mark.parametrize(
    ("agent", "error", "words"),
    [
        ("gready", cg.errors.UnknownNameError, "'gready'"),
        ("greedy:3", cg.errors.UnknownNameError, "'greedy:3'"),
        ("", cg.errors.UnknownNameError, "no agent ''"),
        (None, cg.errors.UnknownNameError, "None is not an agent"),
        ("beam:0", cg.SettingError, "beam width is 0"),
        ("beam:wide", cg.SettingError, "'wide'"),
        ("beam:2.5", cg.SettingError, "'2.5'"),
    ],
)
def test_bad_agents(agent, error, words):
    with pytest.raises(error, match=words):
        cg.explore(library(), agent, "igt", "music", 3)


DEAD_ENDS = cg.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (4, 5)], directed=True)


@pytest.mark.parametrize(("graph", "reward"), [(None, "igt"), (None, "cpt"), (DEAD_ENDS, "igt")])
@pytest.mark.parametrize("agent", ALL_AGENTS)
def test_check_agent_accepts_builtin_agents(agent, graph, reward):
    assert cg.check_agent(agent, graph, reward=reward) is None


class LowestPosition:
    """A custom agent that does not inherit from Agent."""

    def scores(self, exploration: Exploration) -> list[float]:
        return (-exploration.candidates.nodes).tolist()


def test_custom_object():
    assert cg.check_agent(LowestPosition()) is None
    walk = cg.explore(grid(3, 3), LowestPosition(), "igt", (1, 1), 3)
    assert walk.agent == "LowestPosition"
    assert walk.nodes == [(1, 1), (0, 1), (0, 0)]


def broken(name, function):
    """Return an agent with this function as its method `scores`."""
    return type(name, (LowestPosition,), {"scores": function})()


def count(exploration):
    return len(exploration.candidates.nodes)


def write(exploration, array):
    array[:] = 0
    return np.zeros(count(exploration))


CALLS = iter(range(1, 10**6))
MALFORMED = [
    broken("WrongShape", lambda self, e: np.zeros(count(e) + 1)),
    broken("OneNumber", lambda self, e: 1.0),
    broken("NotANumber", lambda self, e: np.full(count(e), np.nan)),
    broken("Words", lambda self, e: ["good"] * count(e)),
]
WRONG = [
    broken("NonDeterministic", lambda self, e: next(CALLS) * np.arange(count(e), dtype=float)),
    broken("DependsOnBatch", lambda self, e: e.candidates.nodes - e.candidates.nodes.mean()),
    broken("WritesNodes", lambda self, e: write(e, e.nodes[:, 0])),
    broken("WritesRewards", lambda self, e: write(e, e.rewards)),
    broken("WritesCandidates", lambda self, e: write(e, e.candidates.nodes)),
]


@pytest.mark.parametrize("agent", MALFORMED + WRONG, ids=lambda agent: type(agent).__name__)
def test_check_agent_rejects(agent):
    with pytest.raises(cg.errors.AgentError, match=f"'{type(agent).__name__}'"):
        cg.check_agent(agent)


@pytest.mark.parametrize("agent", MALFORMED, ids=lambda agent: type(agent).__name__)
def test_malformed_scores_raise(agent):
    with pytest.raises(cg.errors.AgentError, match=f"'{type(agent).__name__}'"):
        cg.explore(library(), agent, "igt", "music", 4)


class StopsEarly(cg.Agent):
    name = "quitter"

    def scores(self, exploration):
        return np.zeros(len(exploration.candidates.nodes))

    def run(self, exploration):
        return exploration


class VisitsTwice(StopsEarly):
    name = "circler"

    def run(self, exploration):
        ended = super(StopsEarly, self).run(exploration)
        ended.nodes[:, 2] = ended.nodes[:, 0]
        return ended


@pytest.mark.parametrize(("agent", "words"), [(StopsEarly, "'quitter'"), (VisitsTwice, "'circler'")])
def test_check_agent_rejects_bad_runs(agent, words):
    with pytest.raises(cg.errors.AgentError, match=words):
        cg.check_agent(agent())


@pytest.mark.parametrize("wrong", [None, 5, "rg", {"a": 1}, [None], cg.toys.cycle(4).to_networkx()])
def test_non_graphs_raise_everywhere(wrong):
    calls = [
        lambda: cg.explore(wrong),
        lambda: cg.evaluate("greedy", wrong),
        lambda: cg.measure(wrong, [0]),
        lambda: cg.betti(wrong),
        lambda: cg.compressibility(wrong),
        lambda: begin(wrong, [[0]], "igt", 3),
        lambda: cg.check_reward("igt", wrong or 0),
        lambda: cg.check_agent("greedy", wrong or 0),
    ]
    for call in calls:
        with pytest.raises(cg.GraphError, match="not a curiograph Graph"):
            call()


def test_messages_for_common_mistakes():
    graph = cg.toys.cycle(5)
    with pytest.raises(cg.SettingError, match=r"sets\.test"):
        cg.evaluate("greedy", cg.generate_split("ws", nodes=10, train=1, val=1, test=1))
    with pytest.raises(cg.errors.UnknownNameError, match=r"pass an instance: BeamAgent\(\)"):
        cg.explore(graph, BeamAgent)
    with pytest.raises(cg.errors.WalkError, match=r"graph\.position\(label\)"):
        begin([graph], [["a"]], "igt", 3)
    for seed in (-1, None, 1.5, True, 2**64):
        with pytest.raises(cg.SettingError, match="seed is"):
            cg.explore(graph, seed=seed)
