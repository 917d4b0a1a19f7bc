"""`profile`: every measure against an outside implementation, inputs, tables and groups."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import bct
import igraph
import networkx as nx
import numpy as np
import powerlaw
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import curiograph as cg
from curiograph.human.profile.compute import Sequences, compute_measures
from curiograph.human.profile.measures import GROUPS, MEASURES, select_measures
from curiograph.kernels import subgraph_measures, voids
from oracles.flexibility import follow_walk
from oracles.profile import compute_entropy_rate, compute_forward_flow, find_communities
from oracles.reference import build_skeleton, compute_cpt, compute_gudhi_betti, compute_gudhi_pairs, draw_graph

EXACT = 1e-9


def draw_walks(rng: np.random.Generator, nodes: int, count: int = 6) -> list[list[int]]:
    """Draw walks with returns; neighbors in a walk differ."""
    walks = []
    for _ in range(count):
        walk = rng.integers(nodes, size=rng.integers(1, 40)).tolist()
        walks.append([v for t, v in enumerate(walk) if t == 0 or v != walk[t - 1]])
    return walks


@st.composite
def graphs_and_walks(draw: st.DrawFn) -> tuple[cg.Graph, list[list[int]]]:
    """Random graphs from sparse to dense, with isolated nodes, and walks on them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    nodes = draw(st.integers(2, 30))
    graph = draw_graph(rng, nodes, draw(st.floats(0.02, 0.9)), directed=draw(st.booleans()))
    return graph, draw_walks(rng, nodes)


def check_equal(found: Any, expected: Any, tolerance: float = EXACT) -> None:
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@settings(max_examples=25, deadline=None)
@given(graphs_and_walks())
def test_structure_equals_networkx_igraph_and_bctpy(case: tuple[cg.Graph, list[list[int]]]) -> None:
    graph, walks = case
    found = cg.profile(graph, walks, measures=["structure", "communities"])
    whole = nx.Graph(graph.to_networkx())
    for number, walk in enumerate(walks):
        induced = nx.Graph(whole.subgraph(walk))
        row = {name: found[name][number] for name in found}
        size = len(induced)
        assert (row["nodes"], row["edges"]) == (size, induced.number_of_edges())
        check_equal(row["density"], nx.density(induced) if size > 1 else math.nan)
        check_equal(row["clustering"], nx.average_clustering(induced) if size > 2 else math.nan)
        check_equal(row["efficiency"], nx.global_efficiency(induced) if size > 1 else math.nan)
        if induced.number_of_edges() == 0:
            assert all(math.isnan(row[name]) for name in ("path_length", "modularity", "core_periphery"))
            continue
        theirs = igraph.Graph.from_networkx(induced)
        check_equal(row["path_length"], theirs.average_path_length(unconn=True))
        matrix = nx.to_numpy_array(induced)
        check_equal(row["path_length"], bct.charpath(bct.distance_bin(matrix), include_infinite=False)[0])
        check_equal(row["core_periphery"], bct.core_periphery_dir(matrix.copy(), seed=number)[1])


@settings(max_examples=25, deadline=None)
@given(graphs_and_walks())
def test_modularity_is_that_of_greedy_communities(case: tuple[cg.Graph, list[list[int]]]) -> None:
    graph, walks = case
    found = cg.profile(graph, walks, measures="modularity")["modularity"]
    whole = nx.Graph(graph.to_networkx())
    skeleton = graph.skeleton
    for number, walk in enumerate(walks):
        order = list(dict.fromkeys(walk))
        induced = whole.subgraph(order)
        if induced.number_of_edges() == 0:
            assert math.isnan(found[number])
            continue
        nodes = np.array(order, np.int32)
        starts, links = subgraph_measures.link_nodes(skeleton.indptr, skeleton.indices, nodes, 0, len(nodes))
        member = subgraph_measures.find_communities(starts, links)
        assert member.tolist() == find_communities(build_skeleton(graph)[np.ix_(order, order)])
        parts = [{order[k] for k in np.flatnonzero(member == name)} for name in np.unique(member)]
        check_equal(found[number], nx.community.modularity(induced, parts))


def test_modularity_is_as_high_as_that_of_networkx_and_igraph() -> None:
    ours, networkx_values, igraph_values = [], [], []
    for seed in range(40):
        graph = cg.generate("rg", nodes=40, seed=seed)
        ours.append(cg.profile(graph, list(range(40)), measures="modularity")["modularity"][0])
        theirs = graph.to_networkx()
        networkx_values.append(nx.community.modularity(theirs, nx.community.greedy_modularity_communities(theirs)))
        igraph_values.append(
            igraph.Graph.from_networkx(graph.to_networkx()).community_fastgreedy().as_clustering().modularity
        )
    # equal gains are resolved differently, so single values differ
    assert np.mean(ours) == pytest.approx(np.mean(networkx_values), abs=0.005)
    assert np.mean(ours) == pytest.approx(np.mean(igraph_values), abs=0.005)


@settings(max_examples=25, deadline=None)
@given(graphs_and_walks())
def test_gaps_equal_gudhi(case: tuple[cg.Graph, list[list[int]]]) -> None:
    graph, walks = case
    found = cg.profile(graph, walks, measures="gaps")
    for number, walk in enumerate(walks):
        order = list(dict.fromkeys(walk))
        for dim in range(3):
            assert found[f"beta{dim}"][number] == compute_gudhi_betti(graph, order, dim)
        opened, closed = compute_gudhi_pairs(graph, order).by_dim[1].T
        lifetimes = np.minimum(closed, len(order) - 1) - opened
        assert found["opened"][number] == len(opened)
        assert found["closed"][number] == np.isfinite(closed).sum()
        check_equal(found["gap_lifetime"][number], np.mean(lifetimes) if len(lifetimes) else math.nan)


@pytest.mark.parametrize(("chance", "seed"), [(0.3, 0), (0.4, 1), (0.5, 2), (0.6, 3), (0.75, 4)])
def test_voids_of_dense_graphs_equal_gudhi(chance: float, seed: int) -> None:
    graph = draw_graph(np.random.default_rng(seed), 34, chance)
    order = list(range(34))
    assert cg.profile(graph, order, measures="beta2")["beta2"][0] == compute_gudhi_betti(graph, order, 2)


def test_voids_of_spheres() -> None:
    octahedron = cg.Graph.from_networkx(nx.octahedral_graph())
    two = cg.Graph.from_networkx(nx.disjoint_union(nx.octahedral_graph(), nx.octahedral_graph()))
    large = cg.Graph.from_networkx(nx.disjoint_union(nx.octahedral_graph(), nx.cycle_graph(80)))  # two words of bits
    counts = [cg.profile(g, g.labels, measures="beta2")["beta2"][0] for g in (octahedron, two, large)]
    assert counts == [1, 2, 1]
    rows = np.array([[0b110], [0b101], [0b011]], np.uint64)
    assert voids.collapse(rows) == 2  # a triangle is a point


@settings(max_examples=15, deadline=None)
@given(graphs_and_walks())
def test_compression_and_conformation_equal_their_definitions(case: tuple[cg.Graph, list[list[int]]]) -> None:
    graph, walks = case
    found = cg.profile(graph, walks, measures=["compression", "conformation"])
    growths = cg.measure(graph, walks)
    skeleton = build_skeleton(graph)
    for number, walk in enumerate(walks):
        order = list(dict.fromkeys(walk))
        matrix = skeleton[np.ix_(order, order)] + np.eye(len(order))
        stationary = matrix.sum(axis=0) / matrix.sum()
        rate = float(stationary @ scipy.stats.entropy(matrix, base=2, axis=1))  # of the random walk with self-loops
        assert found["compressibility"][number] == growths[number].compressibility[-1]
        bits = compute_cpt(graph, order) if len(order) < 12 else found["compressibility"][number]  # slow
        check_equal(found["compressibility"][number], bits)
        check_equal(found["entropy"][number], rate)
        check_equal(found["normalized_compressibility"][number], bits / rate if rate > 0 else math.nan)
        state = follow_walk(skeleton, order)[-1]
        assert (found["dimension"][number], found["conformable"][number]) == (state.dimension, state.conformable)


@settings(max_examples=25, deadline=None)
@given(graphs_and_walks())
def test_step_lengths_equal_networkx(case: tuple[cg.Graph, list[list[int]]]) -> None:
    graph, walks = case
    found = cg.profile(graph, walks, measures="steps")
    distances = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph.to_networkx())))
    for number, walk in enumerate(walks):
        lengths = [distances[u][v] for u, v in pairwise(walk) if v in distances[u]]
        check_equal(found["step_length"][number], np.mean(lengths) if lengths else math.nan)
        if not lengths or max(lengths) == 1:
            assert math.isnan(found["step_exponent"][number])


def test_step_exponents_equal_powerlaw_and_scipy() -> None:
    graph = cg.generate("ws", nodes=200, seed=0)
    rng = np.random.default_rng(0)
    walks = [rng.integers(200, size=60).tolist() for _ in range(3)] + [[0, 1, 2, 3, 100]]
    found = cg.profile(graph, walks, measures="steps")["step_exponent"]
    distances = dict(nx.all_pairs_shortest_path_length(graph.to_networkx()))
    for number, walk in enumerate(walks):
        lengths = np.array([distances[u][v] for u, v in pairwise(walk) if u != v])

        def compute_cost(exponent: float, lengths: np.ndarray = lengths) -> float:
            return float(np.mean(exponent * np.log(lengths)) + np.log(scipy.special.zeta(exponent)))

        best = scipy.optimize.minimize_scalar(compute_cost, bounds=(1.001, 30), options={"xatol": 1e-10})
        assert found[number] == pytest.approx(best.x, abs=1e-6)
        if number < 3:
            theirs = powerlaw.Fit(lengths, xmin=1, discrete=True, estimate_discrete=False, verbose=False)
            assert found[number] == pytest.approx(theirs.power_law.alpha, abs=1e-3)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=60))
def test_sequence_measures_equal_scipy(drawn: list[int]) -> None:
    walk = [v for t, v in enumerate(drawn) if t == 0 or v != drawn[t - 1]]
    found = {name: values[0] for name, values in cg.profile(cg.toys.cycle(10), walk, measures="sequence").items()}
    counts = sorted(Counter(walk).values(), reverse=True)
    assert (found["visits"], found["nodes"], found["revisits"]) == (len(walk), len(counts), len(walk) - len(counts))
    check_equal(found["revisit_share"], 1 - len(counts) / len(walk))
    check_equal(found["visit_entropy"], scipy.stats.entropy(counts, base=2))
    check_equal(found["entropy_rate"], compute_entropy_rate(walk))
    if len(walk) < 2:
        assert math.isnan(found["heaps"])
        assert math.isnan(found["zipf"])
        return
    times, distinct = np.arange(1, len(walk) + 1), [len(set(walk[: t + 1])) for t in range(len(walk))]
    check_equal(found["heaps"], scipy.stats.linregress(np.log(times), np.log(distinct)).slope)
    ranks = np.log(np.arange(1, len(counts) + 1))

    def compute_cost(exponent: float) -> float:
        return float(exponent * np.dot(counts, ranks) / len(walk) + np.log(np.exp(-exponent * ranks).sum()))

    best = scipy.optimize.minimize_scalar(compute_cost, bounds=(-1, 20), options={"xatol": 1e-9})
    assert found["zipf"] == pytest.approx(best.x, abs=1e-5)


class TableSimilarity:
    """Similarity from a matrix."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix

    def compute_pairs(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return self.matrix[first, second]


@settings(max_examples=15, deadline=None)
@given(graphs_and_walks())
def test_meaning_equals_its_definition(case: tuple[cg.Graph, list[list[int]]]) -> None:
    graph, walks = case
    rng = np.random.default_rng(0)
    matrix = rng.random((graph.num_nodes, graph.num_nodes))
    matrix = matrix if graph.directed else (matrix + matrix.T) / 2
    weights = matrix[np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr)), graph.indices]
    weighted = cg.Graph(graph.indptr, graph.indices, weights, directed=graph.directed)
    dense = np.zeros((graph.num_nodes, graph.num_nodes))
    dense[np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr)), graph.indices] = weights
    dense = np.maximum(dense, dense.T)
    found = cg.profile(weighted, walks, measures="meaning")
    given_table = cg.profile(graph, walks, measures="meaning", similarity=TableSimilarity(dense))
    linked = build_skeleton(graph)
    for number, walk in enumerate(walks):
        edges = [dense[u, v] for u, v in combinations(set(walk), 2) if linked[u, v]]
        for each in (found, given_table):
            check_equal(each["edge_weight"][number], np.mean(edges) if edges else math.nan)
            check_equal(each["forward_flow"][number], compute_forward_flow(dense, walk))


def test_similarities_are_numbers() -> None:
    with pytest.raises(cg.SettingError, match=r"shape \(1,\) for 1 pairs, with 1 NaN"):
        cg.profile(cg.toys.cycle(5), [0, 1], similarity=TableSimilarity(np.full((5, 5), np.nan)))


# ---- inputs, tables and choices of measures ----------------------------------------------------------------------


def test_similarities_are_at_most_one() -> None:
    with pytest.raises(cg.SettingError, match="returned 5; similarities are at most 1"):
        cg.profile(cg.toys.cycle(5), [0, 1], similarity=TableSimilarity(np.full((5, 5), 5.0)))


def test_similarity_of_another_graph_is_refused() -> None:
    graph, other = cg.Graph.from_edges([("a", "b"), ("b", "c")]), cg.Graph.from_edges([("c", "b"), ("b", "a")])
    similarity = cg.Similarity.from_embeddings(graph, np.eye(3))
    with pytest.raises(cg.GraphError, match="build it with this graph"):
        cg.profile(other, ["a", "b"], similarity=similarity)


def test_no_walks_are_named() -> None:
    with pytest.raises(cg.WalkError, match="there are no walks"):
        cg.profile(cg.toys.cycle(5), [])


def test_users_sessions_columns_and_skipped() -> None:
    graph = cg.toys.library()
    walks = cg.human.Trajectories.from_walks(
        [["music", "dance", "music"], ["logic", "nowhere"], ["poetry"], ["nowhere"]],
        users=["bob", "ann", "bob", "cid"],
        user_columns={"group": {"ann": "a", "bob": "b"}},
    )
    with pytest.raises(cg.UnknownNodeError, match="lenient=True"):
        cg.profile(graph, walks)
    found = cg.profile(graph, walks, lenient=True)
    assert (found.users, found.sessions) == (["bob", "ann", "bob"], [1, 1, 2])
    assert found.user_columns == {"group": {"ann": "a", "bob": "b"}}
    assert found.skipped.reasons == {"outside the graph": 2, "empty walks": 1}
    frame = found.to_frame()
    assert list(frame.columns)[:3] == ["user", "group", "session"]
    assert frame["revisits"].tolist() == [1, 0, 0]
    people = found.per_user()
    assert people["user"].tolist() == ["ann", "bob"]
    assert people["walks"].tolist() == [1, 2]
    assert people["nodes"].tolist() == [1.0, 1.5]
    assert people["density"].isna().tolist() == [True, False]  # a mean over the walks with more than one node
    document = found.to_dict()
    assert document["walks"][0]["user"] == "bob"
    assert document["skipped"]["count"] == 3
    assert "Profile(3 walks by 2 users" in found._repr_html_()
    assert len(found.plot(["nodes", "edges"]).axes) >= 2


def test_inputs_have_equal_profiles() -> None:
    graph = cg.generate("er", nodes=20, seed=1)
    walk = cg.explore(graph, agent="random", start=0, steps=8, seed=0)
    found = [cg.profile(graph, given)["compressibility"][0] for given in (walk, walk.nodes, [walk], [walk.nodes])]
    assert len(set(found)) == 1
    assert cg.profile(graph, [0, 0, 1, 1, 0])["visits"].tolist() == [3]


def test_batches_and_run_folders_do_not_change_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    graph = cg.generate("er", nodes=30, seed=1)
    walks = draw_walks(np.random.default_rng(3), 30, count=20)
    one = cg.profile(graph, walks, workers=1)
    monkeypatch.setattr("curiograph.human.profile.compute._TASK_COST", 2000.0)
    for found in (cg.profile(graph, walks, workers=1, run=tmp_path) for _ in range(2)):  # the second time from files
        for name in one:
            np.testing.assert_array_equal(one[name], found[name])


def test_measures_are_selected() -> None:
    graph = cg.toys.cycle(5)
    assert list(cg.profile(graph, [0, 1], measures="beta1")) == ["visits", "nodes", "edges", "beta1"]
    assert set(cg.profile(graph, [0, 1])) == {name for name in MEASURES if MEASURES[name].group != "meaning"}
    for group in GROUPS:
        assert {name for name in MEASURES if MEASURES[name].group == group} <= set(
            select_measures(group, has_meaning=True)
        )
    walks = Sequences(np.array([0, 1], np.int32), np.array([0, 2]))
    assert list(compute_measures(graph, walks, ["edges"])) == ["edges"]


@pytest.mark.parametrize(
    ("walks", "options", "error", "message"),
    [
        ([], {}, cg.WalkError, "no walks"),
        ([[0], []], {}, cg.WalkError, "walk 1 is empty"),
        ([0, 99], {}, cg.UnknownNodeError, "99"),
        ("text", {}, cg.WalkError, "list of node labels"),
        ([0, 1], {"measures": []}, cg.SettingError, "at least one"),
        ([0, 1], {"measures": ["beta9"]}, cg.UnknownNameError, "no measure 'beta9'"),
        ([0, 1], {"measures": "meaning"}, cg.SettingError, "needs a graph with weights"),
        ([0, 1], {"similarity": 3}, cg.SettingError, "compute_pairs"),
        ([[9]], {"lenient": True}, cg.WalkError, "none of the 1 walks"),
    ],
)
def test_bad_input(walks: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        cg.profile(cg.toys.cycle(5), walks, **options)


def test_weights_above_one_are_no_similarities() -> None:
    graph = cg.Graph.from_edges([(0, 1, 3.0), (1, 2, 0.5)])
    assert "forward_flow" not in cg.profile(graph, [0, 1, 2])
    assert cg.profile(graph, [0, 1, 2], measures="edge_weight")["edge_weight"].tolist() == [1.75]
    with pytest.raises(cg.SettingError, match="from 0 to 1"):
        cg.profile(graph, [0, 1, 2], measures="forward_flow")


def test_groups_are_compared_by_all_measures() -> None:
    graph = cg.toys.cycle(40)
    rng = np.random.default_rng(0)
    walks = [[(n + step) % 40 for step in range(12)] for n in range(12)]
    walks += [rng.permutation(40)[:12].tolist() for _ in range(12)]
    found = cg.profile(graph, walks, measures=["structure", "steps"])
    groups = ["near"] * 12 + ["far"] * 12
    compared = cg.compare_groups(found, groups)
    assert compared["step_length"].p_adjusted < 0.01
    assert compared["step_length"].means["far"].value == pytest.approx(found["step_length"][12:].mean())
    assert math.isnan(compared["nodes"].p_value)
    values = [found["edges"][:12], found["edges"][12:]]
    reference = scipy.stats.permutation_test(
        values, lambda a, b: abs(a.mean() - b.mean()), n_resamples=9999, alternative="greater", rng=0
    )
    assert compared["edges"].p_value == pytest.approx(reference.pvalue, abs=0.01)
    assert "step_exponent" not in compared  # all steps of the first group have length 1
    assert len(compared.plot().axes) == 1
    assert compared.to_dict()["people"][0]["group"] in ("near", "far")
    with pytest.raises(cg.WalkError, match="step_exponent"):
        found.compare_groups(groups, measures=["step_exponent"])
    with pytest.raises(cg.SettingError, match="whole walks"):
        cg.compare_groups(found, groups, steps=3)
