"""Names, callables and the contract of a reward; Betti numbers of whole graphs."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pytest

import curiograph as cg
from curiograph.graph.toys import complete, cycle, grid, library
from curiograph.rewards.cpt import Compressibility
from curiograph.rewards.igt import InformationGaps
from curiograph.rewards.registry import REWARDS, as_reward
from oracles.reference import gudhi_betti, random_graph


def edges_of(subgraph: cg.Graph) -> int:
    return subgraph.num_edges


# ---- names and callables --------------------------------------------------------------------------------------------


def test_names():
    assert set(REWARDS) == {"igt", "cpt"}
    assert isinstance(as_reward("igt"), InformationGaps)
    assert isinstance(as_reward("cpt"), Compressibility)


def test_an_object_is_itself_and_a_function_keeps_its_name():
    own = cg.CallableReward(edges_of, name="edges")
    assert as_reward(own) is own
    assert as_reward(edges_of).name == "edges_of"


def test_a_callable_object_is_called_by_its_class():
    class Density:
        def __call__(self, subgraph: cg.Graph) -> float:
            return subgraph.num_edges / len(subgraph)

    assert as_reward(Density()).name == "Density"


@pytest.mark.parametrize("bad", ["ight", "", 3, None])
def test_unknown_rewards(bad):
    with pytest.raises(cg.UnknownNameError, match=r"igt.*cpt"):
        as_reward(bad)


def test_a_callable_sees_the_undirected_subgraph_with_labels():
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
        (lambda s: float("inf"), "returned inf"),
        (lambda s: None, "returned None"),
        (lambda s: "high", "returned 'high'"),
        (lambda s: [1.0, 2.0], r"returned \[1.0, 2.0\]"),
        (lambda s: 10**400, "finite number"),
    ],
)
def test_a_bad_callable_is_named_with_its_subgraph(function, words):
    with pytest.raises(cg.RewardError, match=words):
        cg.explore(library(), "greedy", function, start="music", steps=3)
    with pytest.raises(cg.RewardError, match=words):
        cg.evaluate("random", [library()], function, steps=3, episodes=2)
    with pytest.raises(cg.RewardError, match=words):
        cg.explore(library(), "beam:4", function, start="music", steps=3)
    with pytest.raises(cg.RewardError, match=words):
        cg.check_reward(function)


def test_the_error_names_the_nodes():
    with pytest.raises(cg.RewardError, match=r"'music', 'poetry'|'poetry', 'music'|'music'"):
        cg.explore(library(), "greedy", raising, start="music", steps=3)


# ---- check_reward ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["igt", "cpt", edges_of, lambda s: len(s) ** 0.5, lambda s: np.float32(1.5)])
@pytest.mark.parametrize("graph", [None, library(), cycle(3), cg.Graph.from_edges([(0, 1)])])
def test_check_reward_accepts(reward, graph):
    cg.check_reward(reward, graph)


def test_check_reward_accepts_on_directed_and_weighted_graphs():
    graph = cg.Graph.from_edges([(0, 1, 2.0), (1, 2, 0.0), (2, 0, 3.0), (2, 3, 1.0)], directed=True)
    for reward in ("igt", "cpt", edges_of):
        cg.check_reward(reward, graph)


class OwnReward:
    """A reward with its own tracker, built to break the contract in one way."""

    name = "own"
    tracker: type[cg.Tracker]

    def track(self, stack, nodes, lengths):
        return self.tracker(stack, nodes, lengths)


class LastNode(cg.Tracker):
    """Depends on the order of visit."""

    def values(self):
        return self.nodes[np.arange(len(self.lengths)), self.lengths - 1].astype(float)

    def candidate_values(self, offsets, candidates):
        return candidates.astype(float)


class Optimist(cg.Tracker):
    """Foresees more than it gives."""

    def values(self):
        return self.lengths.astype(float)

    def candidate_values(self, offsets, candidates):
        return np.full(len(candidates), 99.0)


class TooMany(Optimist):
    def candidate_values(self, offsets, candidates):
        return np.zeros(len(candidates) + 1)


class NotANumber(Optimist):
    def candidate_values(self, offsets, candidates):
        return np.full(len(candidates), np.nan)


@pytest.mark.parametrize(
    ("tracker", "words"),
    [
        (LastNode, "one order of visit"),
        (Optimist, "returned 99.0 for a candidate but"),
        (TooMany, "finite number per candidate"),
        (NotANumber, "finite number per candidate"),
    ],
)
def test_check_reward_catches(tracker, words):
    reward = OwnReward()
    reward.tracker = tracker
    with pytest.raises(cg.RewardError, match=words):
        cg.check_reward(reward)


def test_check_reward_catches_a_reward_with_a_memory():
    calls = iter(range(10**6))
    with pytest.raises(cg.RewardError, match="must not change"):
        cg.check_reward(lambda subgraph: float(next(calls)))


def test_check_reward_needs_edges():
    with pytest.raises(cg.GraphError, match="no edges"):
        cg.check_reward("igt", cg.Graph.from_edges([], nodes=range(3)))


# ---- betti ----------------------------------------------------------------------------------------------------------


def cross_polytope(dimensions: int) -> cg.Graph:
    """Nodes 2i and 2i + 1 are opposite; all others are joined. Its clique complex is a sphere."""
    nodes = 2 * dimensions
    return cg.Graph.from_edges([(u, v) for u, v in combinations(range(nodes), 2) if u // 2 != v // 2])


@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_spheres(dimensions):
    """Square, octahedron, 16-cell: one gap, of the sphere's dimension, besides the one component."""
    sphere = cross_polytope(dimensions)
    assert [cg.betti(sphere, dim) for dim in range(5)] == [1] + [int(dim == dimensions - 1) for dim in range(1, 5)]


def test_known_graphs():
    assert [cg.betti(complete(6), dim) for dim in range(4)] == [1, 0, 0, 0]
    assert [cg.betti(cycle(3), dim) for dim in range(3)] == [1, 0, 0]
    assert [cg.betti(cycle(5), dim) for dim in range(3)] == [1, 1, 0]
    assert cg.betti(grid(4, 5)) == 12
    assert cg.betti(library()) == 18 - 11 - 5  # edges, less a spanning tree, less five triangles that share no loop
    assert [cg.betti(cg.Graph.from_edges([], nodes=range(7)), dim) for dim in range(3)] == [7, 0, 0]


def test_a_torus():
    """Betti numbers 1, 2, 1; triangulated finely enough that every clique is a simplex of the surface."""
    n = 5
    places = [(r, c) for r in range(n) for c in range(n)]
    steps = ((0, 1), (1, 0), (1, 1))
    torus = cg.Graph.from_edges([((r, c), ((r + a) % n, (c + b) % n)) for r, c in places for a, b in steps])
    assert [cg.betti(torus, dim) for dim in range(4)] == [1, 2, 1, 0]


def test_the_projective_plane_is_measured_over_gf2():
    """Betti numbers 1, 1, 1 over GF(2), but 1, 0, 0 over the rationals; subdivided, so that cliques are simplices."""
    triangles = ["124", "125", "136", "134", "156", "235", "236", "246", "345", "456"]
    faces = {frozenset(part) for t in triangles for k in (1, 2, 3) for part in combinations(t, k)}
    flags = [(tuple(sorted(a)), tuple(sorted(b))) for a in faces for b in faces if a < b]
    plane = cg.Graph.from_edges(sorted(flags))
    assert [cg.betti(plane, dim) for dim in range(3)] == [1, 1, 1]


def test_random_graphs_equal_gudhi():
    rng = np.random.default_rng(0)
    for chance in (0.2, 0.5, 0.7):
        for _ in range(8):
            graph = random_graph(rng, 14, chance, directed=bool(rng.integers(2)))
            found = [cg.betti(graph, dim) for dim in range(4)]
            assert found == [gudhi_betti(graph, range(14), dim) for dim in range(4)]


def test_direction_and_weights_are_ignored():
    ring = [("a", "b", 0.0), ("c", "b", 2.0), ("c", "d", 1.0), ("a", "d", 5.0)]
    for directed in (True, False):
        assert cg.betti(cg.Graph.from_edges(ring, directed=directed)) == 1


@pytest.mark.parametrize("dim", [-1, 1.5, "1", None])
def test_bad_dimension(dim):
    with pytest.raises(cg.SettingError, match="dim is"):
        cg.betti(cycle(4), dim=dim)


def test_empty_graph():
    with pytest.raises(cg.GraphError, match="empty"):
        cg.betti(cg.Graph.from_edges([]))


def test_without_gudhi_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gudhi", None)  # what `import` takes for "cannot be imported"
    with pytest.raises(cg.MissingExtraError, match=r"gudhi.*pip install 'curiograph\[topology\]'"):
        cg.betti(cycle(4), dim=2)
    with pytest.raises(cg.MissingExtraError, match="topology"):
        cg.measure(cycle(4), [0, 1], max_dim=2)
    assert cg.betti(cycle(4)) == 1
