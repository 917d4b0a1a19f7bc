"""Names of rewards, callables as rewards, and cg.check_reward."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.graph.toys import cycle, library
from curiograph.rewards.reward import Tracker
from curiograph.rewards.reward_names import as_reward


def edges_of(subgraph: cg.Graph) -> int:
    return subgraph.num_edges


@pytest.mark.parametrize("bad", ["ight", "", 3, None])
def test_unknown_rewards(bad):
    with pytest.raises(cg.errors.UnknownNameError, match=r"igt.*cpt"):
        as_reward(bad)


def test_callable_receives_the_undirected_subgraph_with_labels():
    seen = []

    def spy(subgraph: cg.Graph) -> float:
        seen.append(subgraph)
        return 0.0

    graph = cg.Graph.from_edges([("a", "b", 2.0), ("b", "c", 3.0), ("c", "a", 4.0), ("c", "d", 5.0)], directed=True)
    cg.explore(graph, "greedy", spy, start="a", steps=3)
    assert {tuple(s.labels) for s in seen} == {("a", "b"), ("a", "b", "c")}
    assert all(not s.directed and s.weights is None for s in seen)
    assert max(s.num_edges for s in seen) == 3


def raising(subgraph: cg.Graph) -> float:
    raise KeyError("no such thing")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (raising, "'raising' raised KeyError on the subgraph of .*no such thing"),
        (lambda s: float("nan"), "returned nan"),
        (lambda s: "high", "returned 'high'"),
        (lambda s: [1.0, 2.0], r"returned \[1.0, 2.0\]"),
    ],
)
def test_bad_callables(function, words):
    with pytest.raises(cg.errors.RewardError, match=words):
        cg.explore(library(), "greedy", function, start="music", steps=3)
    with pytest.raises(cg.errors.RewardError, match=words):
        cg.check_reward(function)


@pytest.mark.parametrize("reward", ["igt", "cpt", "cct", edges_of, lambda s: len(s) ** 0.5, lambda s: np.float32(1.5)])
@pytest.mark.parametrize("graph", [None, library(), cycle(3), cg.Graph.from_edges([(0, 1)])])
def test_check_reward_accepts(reward, graph):
    assert cg.check_reward(reward, graph) is None


class OwnReward:
    """A reward with its own tracker that violates the contract."""

    name = "own"
    tracker: type[Tracker]

    def track(self, stack, nodes, lengths):
        return self.tracker(stack, nodes, lengths)


class LastNode(Tracker):
    """Depends on the order of visit."""

    def values(self):
        return self.nodes[np.arange(len(self.lengths)), self.lengths - 1].astype(float)

    def candidate_values(self, offsets, candidates):
        return candidates.astype(float)


class Overestimates(Tracker):
    """Returns a larger value for a candidate than after the step."""

    def values(self):
        return self.lengths.astype(float)

    def candidate_values(self, offsets, candidates):
        return np.full(len(candidates), 99.0)


@pytest.mark.parametrize(
    ("tracker", "words"),
    [(LastNode, "two orders of visit"), (Overestimates, "99.0 and")],
)
def test_check_reward_rejects(tracker, words):
    reward = OwnReward()
    reward.tracker = tracker
    with pytest.raises(cg.errors.RewardError, match=words):
        cg.check_reward(reward)


class DeclaredLastNode(LastNode):
    depends_on_order = True


class NumberOfSteps(Tracker):
    """Depends on whether a walk grew or was given at once."""

    depends_on_order = True

    def __init__(self, stack, nodes, lengths):
        super().__init__(stack, nodes, lengths)
        self.steps = np.zeros(len(lengths))

    def values(self):
        return self.steps

    def candidate_values(self, offsets, candidates):
        return np.repeat(self.steps + 1, np.diff(offsets))

    def update(self):
        self.steps = self.steps + 1


def test_rewards_may_declare_that_they_depend_on_the_order():
    reward = OwnReward()
    reward.tracker = DeclaredLastNode
    assert cg.check_reward(reward) is None
    assert cg.check_reward({reward: 1.0, "igt": 2.0}) is None
    reward.tracker = NumberOfSteps
    with pytest.raises(cg.errors.RewardError, match="node by node"):
        cg.check_reward(reward)


def test_check_reward_rejects_stateful_rewards():
    calls = iter(range(10**6))
    with pytest.raises(cg.errors.RewardError, match="'lambda'"):
        cg.check_reward(lambda subgraph: float(next(calls)))
