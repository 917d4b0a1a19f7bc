"""Walk statistics: every curve against its definition, and the walks against their probabilities."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph import kernels
from curiograph.agents.agent_names import as_agent
from curiograph.centrality.walk_statistics import (
    choose_starts,
    draw_by_rank,
    select_rank,
    simulate_biased_walks,
    simulate_unbiased_walks,
)
from curiograph.exploration.mdp import Candidates, begin
from curiograph.graph.toys import library
from oracles import reference as twins

GRAPH = twins.draw_graph(np.random.default_rng(3), 30, 0.08, directed=True)


def simulate_walks(
    graph: cg.Graph, agent: str | None, walks: int, steps: int, p_g: float = 0.5, **settings
) -> np.ndarray:
    """Return the walks behind `walk_statistics`: positions, -1 after the end."""
    walkers = begin([graph], [choose_starts(graph, None, walks, 0)], "igt", steps, **settings)
    return (
        simulate_unbiased_walks(walkers, steps)
        if agent is None
        else simulate_biased_walks(walkers, as_agent(agent), p_g, steps)
    )


def average_directly(walks: np.ndarray, value) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard error of value(nodes so far) over the walks that reached each step, without None."""
    columns = []
    for t in range(walks.shape[1]):
        found = [value(walk[: t + 1].tolist()) for walk in walks if walk[t] >= 0]
        columns.append([number for number in found if number is not None])
    mean = [np.mean(column) if column else np.nan for column in columns]
    error = [np.std(column, ddof=1) / np.sqrt(len(column)) if len(column) > 1 else np.nan for column in columns]
    return np.asarray(mean), np.asarray(error)


# ---- the draw by rank -----------------------------------------------------------------------------------------------


def compute_probabilities(p_g: float, count: int) -> np.ndarray:
    """Return the rank transition, best first, from exact fractions."""
    p = Fraction(p_g)
    weights = [p**rank for rank in range(count)]
    return np.asarray([float(weight / sum(weights)) for weight in weights])


def sample_ranks(scores: list[float], p_g: float, count: int = 20000) -> np.ndarray:
    """Return how often each candidate is chosen."""
    offsets = np.arange(count + 1) * len(scores)
    nodes = np.tile(np.arange(len(scores), dtype=np.int32), count)
    streams = kernels.random.make_streams(np.uint64(5), 0, count)
    steps = np.full(count, 3)
    chosen = draw_by_rank(Candidates(offsets, nodes), np.tile(np.asarray(scores), count), streams, steps, p_g)
    assert np.all((chosen >= offsets[:-1]) & (chosen < offsets[1:]))
    return np.bincount(chosen - offsets[:-1], minlength=len(scores)) / count


def assert_frequencies(found: np.ndarray, expected: np.ndarray, count: int = 20000) -> None:
    assert np.all(np.abs(found - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / count) + 1e-12)


@pytest.mark.parametrize("p_g", [0.0, 1e-300, 0.2, 0.5, 0.9, 1 - 1e-9, 1 - 2**-53, 1.0])
def test_ranks_are_sampled_by_the_formula(p_g):
    scores = [2.0, -1.0, 5.0, 0.5, np.inf, 3.0]
    assert_frequencies(sample_ranks(scores, p_g)[np.argsort(scores)[::-1]], compute_probabilities(p_g, len(scores)))


@pytest.mark.parametrize("p_g", [0.0, 0.5, 1.0])
def test_ties_share_the_probabilities_of_their_ranks(p_g):
    low, high = compute_probabilities(p_g, 5)[2:].sum() / 3, compute_probabilities(p_g, 5)[:2].sum() / 2
    assert_frequencies(sample_ranks([1.0, 4.0, 1.0, 4.0, 1.0], p_g), np.asarray([low, high, low, high, low]))


@given(st.floats(0, 1), st.integers(1, 10**9), st.floats(0, 1, exclude_max=True))
def test_sampled_rank_inverts_the_cumulative_distribution(p_g, count, luck):
    place = int(select_rank(np.array([luck]), p_g, np.array([count]))[0])
    assert 0 <= place < count
    if 0 < p_g < 1:
        decay = np.log(p_g)
        below, above = (np.expm1(r * decay) / np.expm1(count * decay) for r in (place, place + 1))
        assert below <= luck + 1e-9
        assert above >= luck - 1e-9


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(0, 99))
def test_p_g_zero_takes_the_best(levels, seed):
    offsets = np.asarray([0, 0, len(levels), len(levels)])
    nodes, scores = np.arange(len(levels), dtype=np.int32), np.asarray(levels, float)
    walks = kernels.random.make_streams(np.uint64(seed), 0, 3), np.asarray([4, 5, 6])
    chosen = draw_by_rank(Candidates(offsets, nodes), scores, *walks, 0.0)
    assert chosen.tolist() == kernels.candidates.select_best(offsets, nodes, scores, *walks).tolist()


# ---- the unbiased walker --------------------------------------------------------------------------------------------


WEIGHTED = cg.Graph.from_edges(
    [(0, 1, 1.0), (0, 2, 3.0), (1, 2, 1e308), (1, 3, 1.5e308), (2, 0, 5.0), (2, 1, 0.0), (2, 3, 1e-9), (3, 0, 2.0)],
    directed=True,
)


def normalize_row(row: np.ndarray) -> np.ndarray:
    """Return weights as probabilities, even if their sum exceeds the range of floats; zeros at a dead end."""
    exact = [Fraction(weight) for weight in row.tolist()]
    return np.asarray([float(weight / sum(exact)) if sum(exact) else 0.0 for weight in exact])


@pytest.mark.parametrize("graph", [GRAPH, WEIGHTED, library()])
def test_occupation_equals_the_matrix_power(graph):
    count, steps = 20000, 7
    matrix = np.asarray([normalize_row(row) for row in twins.build_adjacency(graph)])
    start = graph.label(int(np.flatnonzero(graph.degrees)[0]))
    first = choose_starts(graph, [start], count, 0)
    walks = simulate_unbiased_walks(begin([graph], [first], "igt", 2, seed=1), steps)
    for t in range(steps):
        chance = np.linalg.matrix_power(matrix, t)[first[0]]
        seen = np.bincount(walks[:, t][walks[:, t] >= 0], minlength=graph.num_nodes) / count
        assert_frequencies(seen, chance, count)
        assert np.mean(walks[:, t] >= 0) == pytest.approx(chance.sum(), abs=0.02)


def test_walkers_stop_at_dead_ends():
    path = cg.Graph.from_edges([("a", "b"), ("b", "c")], directed=True)
    for agent in (None, "random"):
        found = cg.walk_statistics(path, agent, starts=["a", "b", "c"], walks=6, steps=5)
        assert found.alive.tolist() == [1, 2 / 3, 1 / 3, 0, 0]
        assert found.distance.mean[:3].tolist() == [0, 1, 2]
        assert np.all(np.isnan(found.distance.mean[3:]))
        assert (found.walkers, found.reached) == (6, 3)
    weightless = cg.Graph.from_edges([(0, 1, 0.0), (1, 0, 1.0)], directed=True)
    assert cg.walk_statistics(weightless, starts=[1], walks=3, steps=4).alive.tolist() == [1, 1, 0, 0]
    assert cg.walk_statistics(weightless, walks=3, steps=2).alive.tolist() == [1, 1]  # random starts have out-links


# ---- the curves -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", [None, "random", "max-degree"])
@pytest.mark.parametrize("fallback", ["frontier", "anywhere"])
def test_curves_follow_their_definitions(agent, fallback):
    walks = simulate_walks(GRAPH, agent, 40, 9, fallback=fallback)
    found = cg.walk_statistics(GRAPH, agent, walks=40, steps=9, fallback=fallback)
    theirs = GRAPH.to_networkx()
    lengths = dict(nx.all_pairs_shortest_path_length(theirs))
    definitions = {
        "distance": lambda nodes: lengths[nodes[0]].get(nodes[-1]),
        "returned": lambda nodes: len(nodes) > 1 and nodes[-1] == nodes[0],
        "coverage": lambda nodes: len(set(nodes)),
        "degree": lambda nodes: theirs.to_undirected().degree(nodes[-1]),
        "gaps": lambda nodes: cg.measure(GRAPH, nodes, compressibility=False).beta1[-1],
    }
    for name, value in definitions.items():
        mean, error = average_directly(walks, value)
        assert getattr(found, name).mean == pytest.approx(mean, nan_ok=True), name
        assert getattr(found, name).stderr == pytest.approx(error, nan_ok=True), name
    assert found.alive.tolist() == np.mean(walks >= 0, axis=0).tolist()
    assert found.reached == len(set(walks[walks >= 0].tolist()))


@given(st.integers(0, 10**6))
def test_distances_equal_networkx(seed):
    rng = np.random.default_rng(seed)
    graph = twins.draw_graph(rng, int(rng.integers(2, 12)), 0.2, directed=bool(seed % 2))
    walks = rng.integers(-1, graph.num_nodes, (6, 4)).astype(np.int32)
    walks[:, 0] = np.maximum(walks[:, 0], 0)
    found = kernels.shortest_paths.compute_distances(
        graph.indptr, graph.indices, walks, np.argsort(walks[:, 0], kind="stable")
    )
    for walk, row in zip(walks.tolist(), found.tolist(), strict=True):
        lengths = nx.single_source_shortest_path_length(graph.to_networkx(), walk[0])
        assert row == [lengths.get(v, -1) for v in walk]


# ---- settings -------------------------------------------------------------------------------------------------------


def test_starts_are_used_in_turn():
    graph = cg.Graph.from_edges([("hub", leaf) for leaf in "abcd"])
    found = cg.walk_statistics(graph, starts=["hub", "a"], walks=5, steps=2)
    assert found.degree.mean[0] == pytest.approx((3 * 4 + 2 * 1) / 5)
    one = cg.walk_statistics(graph, starts=np.asarray(["a"]), walks=2, steps=10**4)
    assert one.coverage.mean[-1] == 5


EMPTY = cg.Graph.from_edges([], nodes=["a", "b"])
WEIGHTLESS = cg.Graph.from_edges([(0, 1, 0.0)])


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"starts": []}, cg.errors.WalkError, "starts is empty"),
        ({"starts": ["musik"]}, cg.UnknownNodeError, "'musik'"),
        ({"starts": ["music", "dance"], "walks": 1}, cg.SettingError, "walks is 1"),
        ({"p_g": True}, cg.SettingError, "p_g is True"),
        ({"graph": EMPTY}, cg.GraphError, "no edges"),
        ({"graph": WEIGHTLESS}, cg.GraphError, "weight zero"),
    ],
)
def test_bad_input(settings, kind, message):
    with pytest.raises(kind, match=message):
        cg.walk_statistics(**({"graph": library()} | settings))


# ---- results --------------------------------------------------------------------------------------------------------


def test_seeds_reproduce_and_starts_are_shared():
    same = [cg.walk_statistics(GRAPH, "greedy", walks=20, steps=6, seed=7).to_dict() for _ in range(2)]
    assert same[0] == same[1]
    assert cg.walk_statistics(GRAPH, "greedy", walks=20, steps=6, seed=8).to_dict() != same[0]
    unbiased = cg.walk_statistics(GRAPH, walks=20, steps=6, seed=7).to_dict()
    assert unbiased["rows"][0]["degree"] == same[0]["rows"][0]["degree"]


def test_lines_end_when_few_walkers_are_left():
    tail = cg.Graph.from_edges([(0, 1), (1, 2), *((k, k + 1) for k in range(10, 20)), (20, 0)], directed=True)
    found = cg.walk_statistics(tail, starts=[0, 0, 0, 0, 0, 10], walks=6, steps=6)
    figure = found.plot()
    assert len(figure.axes) == 6  # five panels and the legend
    assert len(figure.axes[0].lines[0].get_xdata()) == 3
    assert "1 of 6 walkers" in figure.axes[-1].get_legend().get_texts()[0].get_text()
