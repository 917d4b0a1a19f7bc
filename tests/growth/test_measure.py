"""cg.measure: growth of walks after every step."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.graph.batch import GraphBatch
from curiograph.graph.toys import complete, cycle, grid, library
from curiograph.growth.compute import compute_growth
from curiograph.growth.measure import concatenate_results, measure_task
from curiograph.growth.visits import find_visits
from curiograph.human.data.dataset import Dataset
from curiograph.human.trajectories import Trajectories
from curiograph.rewards.cpt import CompressibilityTracker
from oracles.reference import compute_cpt, compute_gudhi_pairs, draw_graph


def test_filled_ring():
    """The fourth node of a square opens a gap, the middle closes it."""
    graph = cg.Graph.from_edges([*zip("abcd", "bcda", strict=True), *((x, "middle") for x in "abcd")])
    growth = cg.measure(graph, ["a", "b", "c", "d", "middle"])
    assert growth.beta0.tolist() == [1, 1, 1, 1, 1]
    assert growth.beta1.tolist() == [0, 0, 0, 1, 0]
    assert growth.edges.tolist() == [0, 1, 2, 4, 8]
    assert growth.gaps == [cg.Gap(dim=1, opened_by="d", closed_by="middle", opened_at=4, closed_at=5)]
    assert growth.gaps[0].lifetime == 1


def test_open_gap_has_no_lifetime():
    (gap,) = cg.measure(cycle(5), [0, 1, 2, 3, 4]).gaps
    assert (gap.closed_by, gap.closed_at, gap.lifetime) == (None, None, None)


def test_elder_rule():
    """Two rings share the path 0-3; a node that fills their sum closes the younger of the two."""
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    graph = cg.Graph.from_edges([*ring, (0, 6), (6, 3), *((7, v) for v in (0, 6, 3, 4, 5))])
    growth = cg.measure(graph, [0, 1, 2, 3, 4, 5, 6, 7])
    assert growth.beta1.tolist() == [0, 0, 0, 0, 0, 1, 2, 1]
    assert [(g.opened_by, g.closed_by) for g in growth.gaps] == [(5, None), (6, 7)]


def test_scattered_nodes_are_components():
    growth = cg.measure(grid(3, 3), [(0, 0), (0, 2), (2, 0), (2, 2), (1, 1), (0, 1)])
    assert growth.beta0.tolist() == [1, 2, 3, 4, 5, 3]
    assert growth.beta1.tolist() == [0] * 6


def test_only_first_visits_count():
    back_and_forth = ["music", "physics", "music", "poetry", "physics", "dance"]
    growth = cg.measure(library(), back_and_forth)
    once = cg.measure(library(), ["music", "physics", "poetry", "dance"])
    assert growth.nodes == once.nodes == ["music", "physics", "poetry", "dance"]
    assert growth.columns() == once.columns()
    assert (growth.revisits, once.revisits) == (2, 0)
    assert len(growth) == 4


def test_several_walks_equal_single_walks():
    graph = cg.generate("ba", nodes=40, seed=0)
    rng = np.random.default_rng(0)
    walks = [rng.integers(40, size=rng.integers(1, 50)).tolist() for _ in range(12)]
    together = cg.measure(graph, walks)
    assert isinstance(together, cg.Growths)
    assert len(together) == 12
    for walk, growth in zip(walks, together, strict=True):
        alone = cg.measure(graph, walk)
        assert growth.to_dict() == alone.to_dict() | {"user": growth.user}
        assert growth.gaps == alone.gaps
        assert growth.revisits == alone.revisits


def test_thousands_of_walks():
    graph = cycle(5)
    walks = [[i % 5, (i + 1) % 5, (i + 2) % 5][: 1 + i % 3] for i in range(5000)]
    growths = cg.measure(graph, walks, compressibility=False)
    assert [growth.nodes for growth in growths] == walks


def test_list_of_one_walk_returns_growths():
    assert isinstance(cg.measure(cycle(4), [[0, 1]]), cg.Growths)


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_any_sequence_is_a_walk(kind):
    assert cg.measure(cycle(4), kind([0, 1, 2, 3])).beta1.tolist() == [0, 0, 0, 1]


def test_walks_as_rows_of_an_array():
    growths = cg.measure(cycle(4), np.array([[0, 1, 2, 3], [3, 2, 1, 0]]))
    assert [g.beta1[-1] for g in growths] == [1, 1]


def test_walks_of_agents():
    walk = cg.explore(library(), "greedy", "igt", "music", 8, seed=0)
    assert cg.measure(library(), walk).nodes == walk.nodes
    assert walk.growth.beta1[1:].tolist() == walk.rewards
    assert [g.nodes for g in cg.measure(library(), [walk, walk])] == [walk.nodes, walk.nodes]


def test_tuple_labels_are_labels_not_walks():
    growth = cg.measure(grid(2, 2), [(0, 0), (0, 1), (1, 1), (1, 0)])
    assert isinstance(growth, cg.Growth)
    assert growth.gaps[0].opened_by == (1, 0)


def test_tuples_of_labels_are_walks():
    assert [g.nodes for g in cg.measure(cycle(4), [(0, 1), (2, 3)])] == [[0, 1], [2, 3]]


def test_tuple_labels_in_several_walks():
    walks = [[(0, 0), (0, 1)], [(1, 1)]]
    assert [g.nodes for g in cg.measure(grid(2, 2), walks)] == walks


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


def test_compressibility_agrees_with_the_function():
    walk = library().labels
    growth = cg.measure(library(), walk)
    assert growth.compressibility[-1] == pytest.approx(cg.compressibility(library()), abs=1e-12)


@st.composite
def graph_and_walk(draw):
    nodes = draw(st.integers(2, 11))
    pairs = [(u, v) for u in range(nodes) for v in range(u)]
    edges = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    walk = draw(st.lists(st.integers(0, nodes - 1), min_size=1, max_size=20))
    return cg.Graph.from_edges(edges, nodes=range(nodes)), walk


@given(graph_and_walk())
def test_opened_minus_closed_gaps_equal_beta1(case):
    graph, walk = case
    growth = cg.measure(graph, walk)
    columns = growth.to_dict()
    assert (np.cumsum(columns["opened"]) - np.cumsum(columns["closed"])).tolist() == columns["beta1"]
    assert sum(gap.closed_at is None for gap in growth.gaps) == growth.beta1[-1]
    for gap in growth.gaps:
        assert growth.nodes[gap.opened_at - 1] == gap.opened_by
        assert gap.closed_at is None or growth.nodes[gap.closed_at - 1] == gap.closed_by
        assert gap.lifetime is None or gap.lifetime >= 1
    assert [gap.opened_at for gap in growth.gaps] == sorted(gap.opened_at for gap in growth.gaps)


@given(graph_and_walk())
def test_higher_dimensions_equal_gudhi(case):
    graph, walk = case
    first = list(dict.fromkeys(walk))
    growth = cg.measure(graph, walk, max_dim=3)
    expected = compute_gudhi_pairs(graph, first, top=3)
    assert growth.betti.shape == (len(first), 4)
    for dim in range(4):
        assert growth.betti[:, dim].tolist() == expected.curve(dim).tolist()
    for dim in (1, 2, 3):
        found = [
            (g.opened_at - 1, np.inf if g.closed_at is None else g.closed_at - 1) for g in growth.gaps if g.dim == dim
        ]
        assert sorted(found) == expected.sorted(dim)


def test_octahedron():
    octahedron = cg.Graph.from_edges([(u, v) for u in range(6) for v in range(u) if u // 2 != v // 2])
    growth = cg.measure(octahedron, [0, 2, 1, 3, 4, 5], max_dim=2)
    assert growth.betti.tolist() == [[1, 0, 0]] * 3 + [[1, 1, 0], [1, 0, 0], [1, 0, 1]]
    assert [(g.dim, g.opened_by, g.closed_by) for g in growth.gaps] == [(1, 3, 4), (2, 5, None)]


def test_dense_graphs_in_dimension_2_equal_gudhi():
    rng = np.random.default_rng(5)
    for _ in range(5):
        graph = draw_graph(rng, 25, 0.5)
        walk = rng.permutation(25).tolist()
        growth = cg.measure(graph, walk, max_dim=2, compressibility=False)
        expected = compute_gudhi_pairs(graph, walk, top=2)
        assert growth.betti.T.tolist() == [expected.curve(dim).tolist() for dim in range(3)]


@given(st.data())
def test_growth_does_not_depend_on_the_other_walks(data):
    """Results are bit-identical for any division of the walks into tasks."""
    graph = cg.generate("er", nodes=30, seed=data.draw(st.integers(0, 3)))
    walk = st.lists(st.integers(0, 29), min_size=1, max_size=25)
    visits = find_visits(graph, data.draw(st.lists(walk, min_size=1, max_size=8)))
    whole = compute_growth(graph, visits.nodes, visits.offsets)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(whole)), max_size=4)) | {0, len(whole)})
    shared = (graph, visits, 1, True)
    parts = concatenate_results(visits, [measure_task(shared, (a, b)) for a, b in pairwise(cuts)])
    for name, array in vars(whole).items():
        assert array.dtype == getattr(parts, name).dtype
        assert array.tobytes() == getattr(parts, name).tobytes()


def test_compressibility_equals_the_tracker_bit_for_bit():
    graph = cg.generate("er", nodes=60, seed=0)
    walk = np.random.default_rng(0).permutation(60)[:40].astype(np.int32)
    stack, expected = GraphBatch.of([graph]), []
    for t in range(1, 41):
        expected += CompressibilityTracker(stack, walk[None, :t], np.array([t])).values().tolist()
    assert cg.measure(graph, walk.tolist()).compressibility.tolist() == expected


def test_growths_index_and_slice():
    walks = [[0, 1, 2, 3, 0], [2], [4, 3, 2, 1, 0]]
    growths = cg.measure(cycle(5), walks)
    alone = cg.measure(cycle(5), walks[2]).to_dict()
    assert growths[-1].to_dict() == growths.items[2].to_dict() == alone | {"user": 2}
    assert [growth.nodes for growth in growths[::-2]] == [walks[2], walks[0][:4]]
    assert growths[1:].to_frame()["node"].tolist() == [2, 4, 3, 2, 1, 0]
    assert growths[1:].to_frame()["opened"].tolist() == [0, 0, 0, 0, 0, 1]
    assert len(growths[3:]) == len(growths[3:].to_frame()) == 0
    with pytest.raises(IndexError):
        growths[3]


# ---- tables ---------------------------------------------------------------------------------------------------------


def test_columns_are_plain_and_to_dict_adds_the_gaps():
    growth = cg.measure(complete(3), [2, 0, 1, 2])
    columns = growth.columns()
    assert growth.to_dict() == {**columns, "user": 0, "session": 1, "gaps": [], "revisits": 1, "outside": 0}
    assert columns == {
        "user": [0, 0, 0],
        "session": [1, 1, 1],
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
    }
    assert all(type(x) in (int, float) for column in columns.values() for x in column)


def test_to_frame():
    pytest.importorskip("pandas")
    growth = cg.measure(cycle(4), [0, 1, 2, 3], max_dim=2)
    frame = growth.to_frame()
    assert list(frame.columns) == [
        "user",
        "session",
        "step",
        "node",
        "edges",
        "beta0",
        "beta1",
        "beta2",
        "compressibility",
        "opened",
        "closed",
        "dimension",
        "freedom",
        "conformable",
    ]
    assert frame.to_dict("list") == growth.columns()


def test_runs_stored_without_degrees_of_freedom_are_computed_again(tmp_path, monkeypatch):
    walks = [[0, 1, 2, 3], [2, 1]]
    with monkeypatch.context() as older:
        older.setattr("curiograph.growth.measure.STEP_ARRAYS", ("betti", "edges", "bits"))
        with pytest.raises(TypeError):
            cg.measure(cycle(4), walks, run=tmp_path, workers=1)
    growths = cg.measure(cycle(4), walks, run=tmp_path, workers=1)
    assert growths[0].conformable.tolist() == [0, 0, 0, 1]
    assert len(list(tmp_path.glob("measure-*"))) == 2


def test_to_frame_of_several():
    pytest.importorskip("pandas")
    frame = cg.measure(cycle(4), [[0, 1], [3, 2, 1, 0]]).to_frame()
    assert frame["walk"].tolist() == [0, 0, 1, 1, 1, 1]
    assert frame["node"].tolist() == [0, 1, 3, 2, 1, 0]
    assert frame["beta1"].tolist() == [0, 0, 0, 0, 0, 1]
    assert frame["conformable"].tolist() == [0, 0, 0, 0, 0, 1]  # a square is a linkage that moves


# ---- people ---------------------------------------------------------------------------------------------------------


def test_trajectories_are_measured_by_label_walk_by_walk():
    """Labels 10 to 40 are at positions 0 to 3, which the graph has as labels of other nodes too."""
    graph = cg.Graph.from_edges([(10, 20), (20, 30), (30, 40), (40, 10), (3, 2), (2, 1), (1, 0), (0, 3)])
    people = Trajectories.from_walks([[40, 30, 40], [10, 20, 30, 40], [20]], users=["ann", "bob", "ann"])
    growths = cg.measure(graph, people)
    assert [growth.nodes for growth in growths] == [[40, 30], [10, 20, 30, 40], [20]]
    assert [growth.beta1[-1] for growth in growths] == [0, 1, 0]
    assert growths.revisits.tolist() == [1, 0, 0]
    assert (growths.users, growths.sessions) == (["ann", "bob", "ann"], [1, 1, 2])
    frame = growths.to_frame()
    assert frame["user"].tolist() == ["ann"] * 2 + ["bob"] * 4 + ["ann"]
    assert frame["session"].tolist() == [1] * 6 + [2]
    assert growths[1:].users == ["bob", "ann"]
    assert [walk["session"] for walk in growths.to_dict()["walks"]] == [1, 1, 2]
    data = Dataset("mine", people, Path("mine.csv"))
    assert cg.measure(graph, data).to_dict() == growths.to_dict()


def test_texts_of_a_file_denote_integer_labels():
    growths = cg.measure(cycle(4), Trajectories.from_walks([["3", "2"]]))
    assert growths[0].nodes == [3, 2]


def test_visits_outside_the_graph_are_an_error_or_dropped_and_counted():
    people = Trajectories.from_walks([[0, 9, 1], [8, 9], [2, 3]], users=["ann", "bob", "cem"])
    with pytest.raises(cg.UnknownNodeError, match=r"no node 9.* Give lenient=True"):
        cg.measure(cycle(4), people)
    growths = cg.measure(cycle(4), people, lenient=True)
    assert [growth.nodes for growth in growths] == [[0, 1], [2, 3]]
    assert growths.users == ["ann", "cem"]
    assert [growth.outside for growth in growths] == [1, 0]
    assert growths.skipped.reasons == {"outside the graph": 3, "empty walks": 1}
    assert growths.to_dict()["skipped"]["count"] == 4
    with pytest.raises(cg.WalkError, match="none of the 1 walks visits a node of the graph"):
        cg.measure(cycle(4), people.rows([1]), lenient=True)
    lists = cg.measure(cycle(4), [[0, 9, 1], [8], [2]], lenient=True)
    assert ([growth.nodes for growth in lists], lists.users) == ([[0, 1], [2]], [0, 2])
    assert cg.measure(cycle(4), [0, 9, 1, 0], lenient=True).outside == 1


def test_user_columns_are_columns_of_the_frame():
    people = Trajectories.from_walks(
        [[0, 1], [2]], users=["ann", "bob"], user_columns={"group": {"ann": "a", "bob": "b"}, "score": {"bob": 3}}
    )
    growths = cg.measure(cycle(4), people)
    assert growths.user_columns == {"group": {"ann": "a", "bob": "b"}, "score": {"ann": None, "bob": 3}}
    frame = growths.to_frame()
    assert list(frame.columns[:5]) == ["walk", "user", "session", "group", "score"]
    assert frame["group"].tolist() == ["a", "a", "b"]
    named = Trajectories.from_walks([[0]], user_columns={"step": {}})
    with pytest.raises(cg.SettingError, match="column 'step' of the users is also a column"):
        cg.measure(cycle(4), named).to_frame()


def test_a_frame_is_not_a_walk():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user": ["ann"], "item": ["music"]})
    with pytest.raises(cg.WalkError, match=r"Trajectories\.from_frame"):
        cg.measure(library(), frame)


def test_frames_with_tuple_labels():
    pytest.importorskip("pandas")
    assert cg.measure(grid(2, 2), [(0, 0), (0, 1)]).to_frame()["node"].tolist() == [(0, 0), (0, 1)]


# ---- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("walk", "error", "words"),
    [
        ([], cg.WalkError, "empty"),
        ([["music"], []], cg.WalkError, "walk 1 is empty"),
        ("music", cg.WalkError, "list of node labels.*'music'"),
        (b"music", cg.WalkError, "list of node labels"),
        (7, cg.WalkError, "list of node labels.*7"),
        ({"music"}, cg.WalkError, "list of node labels"),
        ([["music"], "dance"], cg.WalkError, "list of node labels.*'dance'"),
        ([["music"], 3], cg.WalkError, "list of node labels.*3"),
        (["music", "poerty"], cg.UnknownNodeError, "'poerty'; the nearest names are 'poetry'"),
        (["music", 3], cg.UnknownNodeError, "no node 3"),
        (["music", ["dance"]], cg.UnknownNodeError, r"no node \['dance'\]"),
        (["music", None], cg.UnknownNodeError, "None"),
    ],
)
def test_bad_walks(walk, error, words):
    with pytest.raises(error, match=words):
        cg.measure(library(), walk)


def test_error_has_the_number_of_the_empty_walk():
    with pytest.raises(cg.WalkError, match="walk 3000 is empty"):
        cg.measure(cycle(4), [[0, 1]] * 3000 + [[]], compressibility=False)


@pytest.mark.parametrize("max_dim", [0, -1, 1.5, "2"])
def test_bad_dimension(max_dim):
    with pytest.raises(cg.SettingError, match="max_dim is"):
        cg.measure(cycle(4), [0, 1], max_dim=max_dim)


def test_slices_are_growths_and_frames_start_with_the_walk():
    growths = cg.measure(cycle(5), [[0, 1], [2], [3, 4, 0]])
    assert isinstance(growths[:2], cg.Growths)
    assert growths.to_frame()["walk"].tolist() == [0, 0, 1, 2, 2, 2]
    assert growths.to_frame().columns[0] == "walk"
    assert len(growths.to_dict()["walks"]) == 3


def test_one_long_walk_among_short_ones():
    """Walks are padded only to the longest walk of their batch."""
    graph = cg.generate("er", nodes=400, seed=0)
    rng = np.random.default_rng(0)
    walks = [rng.permutation(400)[: 3 + i % 20].tolist() for i in range(50)]
    walks.insert(7, rng.permutation(400)[:300].tolist())
    together = cg.measure(graph, walks, compressibility=False)
    for walk, growth in zip(walks, together, strict=True):
        assert growth.nodes == walk
        assert growth.beta1.tolist() == cg.measure(graph, walk, compressibility=False).beta1.tolist()


def test_errors_name_the_walk_and_the_entry():
    with pytest.raises(cg.UnknownNodeError, match=r"walk 1, entry 2: the graph has no node 9"):
        cg.measure(cycle(5), [[0, 1], [2, 3, 9]])
    with pytest.raises(cg.UnknownNodeError, match=r"no node \(9, 9\)"):
        cg.measure(cg.toys.grid(3, 3), [(9, 9), (0, 0)])


def test_plots_show_what_was_measured():
    growth = cg.measure(cg.toys.grid(3, 3), [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1)])
    axes = growth.plot()
    steps = axes.lines[0].get_ydata()
    assert list(steps) == [*growth.beta1.tolist(), growth.beta1[-1]]  # the last step is drawn half as wide
    lives = axes.figure.axes[1]
    assert len([line for line in lives.lines if len(line.get_xdata()) == 2]) == len(growth.gaps)
    many = cg.measure(cycle(5), [[0, 1, 2], [1, 2], [2, 3, 4, 0, 1]])
    assert len(many.plot().lines[0].get_xdata()) == 5


# ---- long walks -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_walk() -> tuple[cg.Graph, list[int]]:
    graph = cg.generate("ba", nodes=400, seed=0)
    return graph, cg.explore(graph, agent="random", start=0, steps=240, seed=0).nodes


def test_compressibility_of_long_walks_is_by_the_fast_heuristic(long_walk):
    graph, walk = long_walk
    growth = cg.measure(graph, walk)
    for nodes in (2, 30, 100, 101, 150, 240):
        expected = cg.compressibility(graph.subgraph(walk[:nodes]))
        assert growth.compressibility[nodes - 1] == pytest.approx(expected, abs=1e-12)
    assert np.diff(growth.compressibility[101:]).min() > -0.05
