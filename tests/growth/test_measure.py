"""cg.measure: growth of walks after every step."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.graph.toys import complete, cycle, grid, library
from curiograph.growth.compute import compute_growth
from curiograph.growth.first_visits import read_walks
from curiograph.growth.measure import join_parts, measure_part
from curiograph.growth.records import Growth
from curiograph.human.trajectories import Trajectories
from oracles.reference import compute_cpt, draw_graph


def test_walks_of_agents():
    walk = cg.explore(library(), "greedy", "igt", "music", 8, seed=0)
    assert cg.measure(library(), walk).nodes == walk.nodes
    assert walk.growth.beta1[1:].tolist() == walk.rewards
    assert [g.nodes for g in cg.measure(library(), [walk, walk])] == [walk.nodes, walk.nodes]


def test_tuple_labels_are_labels_not_walks():
    growth = cg.measure(grid(2, 2), [(0, 0), (0, 1), (1, 1), (1, 0)])
    assert isinstance(growth, Growth)
    assert growth.gaps[0].opened_by == (1, 0)


@pytest.mark.parametrize("directed", [True, False])
def test_direction_and_weights_do_not_matter(directed):
    rng = np.random.default_rng(1)
    plain = draw_graph(rng, 12, 0.3)
    rows = np.repeat(np.arange(12), plain.degrees)
    edges = [(int(u), int(v), float(rng.integers(0, 3))) for u, v in zip(rows, plain.indices, strict=True) if u < v]
    edges = [(v, u, w) if rng.random() < 0.5 else (u, v, w) for u, v, w in edges]
    other = cg.Graph.from_edges(edges, directed=directed, nodes=range(12))
    walk = rng.permutation(12).tolist()
    one, two = cg.measure(plain, walk), cg.measure(other, walk)
    assert one.to_dict() == two.to_dict()
    assert one.gaps == two.gaps


def test_compressibility_equals_reference_and_is_optional():
    graph = cg.generate("rg", nodes=20, seed=3)
    walk = np.random.default_rng(3).permutation(20)[:10].tolist()
    growth = cg.measure(graph, walk)
    np.testing.assert_allclose(growth.compressibility, [compute_cpt(graph, walk[:t]) for t in range(1, 11)], atol=1e-9)
    without = cg.measure(graph, walk, compressibility=False)
    assert np.isnan(without.compressibility).all()
    assert without.beta1.tolist() == growth.beta1.tolist()


# ---- several walks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("walks", "nodes"),
    [
        ([[0, 1]], [[0, 1]]),
        ([(0, 1), (2, 3)], [[0, 1], [2, 3]]),
        (np.array([[0, 1, 2, 3], [3, 2, 1, 0]]), [[0, 1, 2, 3], [3, 2, 1, 0]]),
    ],
)
def test_lists_tuples_and_arrays_of_walks(walks, nodes):
    assert [growth.nodes for growth in cg.measure(cycle(4), walks)] == nodes


def test_several_walks_equal_single_walks():
    """Also one long walk among short ones, with which they are not padded."""
    graph = cg.generate("ba", nodes=200, seed=0)
    rng = np.random.default_rng(0)
    walks = [rng.integers(200, size=rng.integers(1, 50)).tolist() for _ in range(12)]
    walks.insert(7, rng.permutation(200)[:100].tolist())
    together = cg.measure(graph, walks)
    for number, walk in enumerate(walks):
        assert together[number].to_dict() == cg.measure(graph, walk).to_dict() | {"user": number}
    assert len(together[2:5]) == 3
    assert together[-1].nodes == list(dict.fromkeys(walks[-1]))
    with pytest.raises(IndexError):
        together[13]


@given(st.data())
def test_growth_does_not_depend_on_the_division_into_tasks(data):
    graph = cg.generate("er", nodes=30, seed=data.draw(st.integers(0, 3)))
    walk = st.lists(st.integers(0, 29), min_size=1, max_size=25)
    visits = read_walks(graph, data.draw(st.lists(walk, min_size=1, max_size=8)))
    whole = compute_growth(graph, visits.nodes, visits.offsets)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(whole)), max_size=4)) | {0, len(whole)})
    shared = (graph, visits.nodes, visits.offsets, True)
    parts = join_parts(visits, [measure_part(shared, part) for part in pairwise(cuts)])
    for name, array in vars(whole).items():
        assert array.dtype == getattr(parts, name).dtype
        assert array.tobytes() == getattr(parts, name).tobytes()


def test_compressibility_of_long_walks_is_that_of_the_subgraph():
    graph = cg.generate("ba", nodes=300, seed=0)
    walk = cg.explore(graph, agent="random", start=0, steps=120, seed=0).nodes
    growth = cg.measure(graph, walk)
    for nodes in (2, 100, 101, 120):
        edges = graph.to_networkx().subgraph(walk[:nodes]).edges
        expected = cg.compressibility(cg.Graph.from_edges(list(edges), nodes=walk[:nodes]))  # in the order of visit
        assert growth.compressibility[nodes - 1] == pytest.approx(expected, abs=1e-12)


def test_compressibility_does_not_depend_on_the_order_of_links():
    graph = cg.generate("ws", nodes=60, seed=2)
    walks = [cg.explore(graph, "random", start=n, steps=15, seed=n).nodes for n in range(40)]
    edges = np.array(graph.to_networkx().edges)
    shuffled = cg.Graph.from_edges(np.random.default_rng(0).permutation(edges)[:, ::-1])
    for one, other in zip(cg.measure(graph, walks), cg.measure(shuffled, walks), strict=True):
        assert one.compressibility.tolist() == other.compressibility.tolist()


# ---- tables ---------------------------------------------------------------------------------------------------------


def test_document_and_frame():
    growth = cg.measure(complete(3), [2, 0, 1, 2])
    assert growth.to_dict() == {
        "step": [1, 2, 3],
        "node": [2, 0, 1],
        "edges": [0, 1, 3],
        "beta0": [1, 1, 1],
        "beta1": [0, 0, 0],
        "compressibility": pytest.approx([0.0, 0.5, 0.7505], abs=1e-4),
        "opened": [0, 0, 0],
        "closed": [0, 0, 0],
        "dimension": [1, 1, 2],
        "freedom": [0, 1, 3],
        "conformable": [0, 0, 0],
        "gaps": [],
        "user": 0,
        "session": 1,
        "revisits": 1,
    }
    assert growth.to_frame().to_dict("list") == {name: list(values) for name, values in growth.columns().items()}


def test_frames_of_several_walks():
    people = Trajectories.from_walks(
        [[0, 1], [3, 2, 1, 0]], users=["ann", "bob"], user_columns={"group": {"ann": "a", "bob": "b"}}
    )
    growths = cg.measure(cycle(4), people)
    frame = growths.to_frame()
    assert list(frame.columns[:5]) == ["walk", "user", "session", "group", "step"]
    assert frame["walk"].tolist() == [0, 0, 1, 1, 1, 1]
    assert frame["group"].tolist() == ["a"] * 2 + ["b"] * 4
    assert frame["node"].tolist() == [0, 1, 3, 2, 1, 0]
    assert frame["beta1"].tolist() == frame["opened"].tolist() == [0, 0, 0, 0, 0, 1]
    assert frame["conformable"].tolist() == [0, 0, 0, 0, 0, 1]  # a square is a linkage that moves
    (gap,) = growths.gaps_frame().to_dict("records")
    assert (gap["user"], gap["group"], gap["opened_by"], gap["lifetime"], gap["censored"]) == ("bob", "b", 0, 0, True)
    assert growths.to_dict()["walks"][1]["group"] == "b"
    assert len(growths.plot().lines[0].get_xdata()) == 4
    assert growths.plot("group").get_ylabel() == "information gaps, mean"
    with pytest.raises(cg.SettingError, match="'step'"):
        cg.measure(cycle(4), Trajectories.from_walks([[0]], user_columns={"step": {}})).to_frame()


def test_gaps_of_a_frame_equal_those_of_the_records():
    graph = cg.generate("er", nodes=30, seed=1)
    growths = cg.measure(graph, [cg.explore(graph, "random", "igt", n, 14, seed=n) for n in range(10)])
    frame = growths.gaps_frame()
    assert 0 < frame["censored"].sum() < len(frame)
    for number, growth in enumerate(growths):
        rows = frame[frame["walk"] == number]
        assert rows["opened_by"].tolist() == [gap.opened_by for gap in growth.gaps]
        assert rows["opened_at"].tolist() == [gap.opened_at for gap in growth.gaps]
        assert [None if still else end for still, end in zip(rows["censored"], rows["closed_at"], strict=True)] == [
            gap.closed_at for gap in growth.gaps
        ]
        assert rows["lifetime"].tolist() == [(gap.closed_at or len(growth)) - gap.opened_at for gap in growth.gaps]


# ---- people ---------------------------------------------------------------------------------------------------------


def test_trajectories_are_measured_by_label_walk_by_walk():
    """Labels 10 to 40 are at positions 0 to 3, which the graph has as labels of other nodes too."""
    graph = cg.Graph.from_edges([(10, 20), (20, 30), (30, 40), (40, 10), (3, 2), (2, 1), (1, 0), (0, 3)])
    people = Trajectories.from_walks([[40, 30, 40], ["10", 20, 30, 40], [20]], users=["ann", "bob", "ann"])
    growths = cg.measure(graph, people)
    assert [growth.nodes for growth in growths] == [[40, 30], [10, 20, 30, 40], [20]]
    assert [growth.beta1[-1] for growth in growths] == [0, 1, 0]
    assert growths.revisits.tolist() == [1, 0, 0]
    assert (growths.users, growths.sessions) == (["ann", "bob", "ann"], [1, 1, 2])


def test_visits_outside_the_graph_are_dropped_and_counted():
    people = Trajectories.from_walks([[0, 9, 1], [8, 9], [2, 3]], users=["ann", "bob", "cem"])
    growths = cg.measure(cycle(4), people)
    assert [growth.nodes for growth in growths] == [[0, 1], [2, 3]]
    assert growths.users == ["ann", "cem"]
    assert growths.skipped.reasons == {"outside the graph": 3, "empty walks": 1}
    with pytest.raises(cg.errors.WalkError, match="none of the 1 walks"):
        cg.measure(cycle(4), people[[1]])


# ---- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("walk", "error", "words"),
    [
        ([], cg.errors.WalkError, "empty"),
        ([["music"], []], cg.errors.WalkError, "walk 1 is empty"),
        ("music", cg.errors.WalkError, "'music'"),
        (7, cg.errors.WalkError, "7"),
        (pd.DataFrame({"user": ["ann"]}), cg.errors.WalkError, "from_frame"),
        ([["music"], "dance"], cg.errors.WalkError, "'dance'"),
        ([["music"], ["dance", "dnace"]], cg.UnknownNodeError, "walk 1.*'dnace'.*'dance'"),
        (["music", "poerty"], cg.UnknownNodeError, "'poerty'.*'poetry'"),
    ],
)
def test_bad_walks(walk, error, words):
    with pytest.raises(error, match=words):
        cg.measure(library(), walk)
