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
from curiograph.human.people.measure_catalog import MEASURES, ON_REQUEST
from curiograph.kernels import communities, subgraph_measures
from oracles.flexibility import follow_walk
from oracles.profile import compute_entropy_rate, compute_forward_flow
from oracles.reference import build_skeleton, compute_cpt, draw_graph

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
    found = cg.profile(graph, walks, measures=["structure", "communities"]).measures
    whole = nx.Graph(graph.to_networkx())
    for number, walk in enumerate(walks):
        induced = nx.Graph(whole.subgraph(walk))
        row = {name: values[number] for name, values in found.items()}
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
def test_modularity_and_participation_are_those_of_louvain_communities(case: tuple[cg.Graph, list[list[int]]]) -> None:
    graph, walks = case
    found = cg.profile(graph, walks, measures="communities").measures
    whole = nx.Graph(graph.to_networkx())
    skeleton = graph.skeleton
    for number, walk in enumerate(walks):
        order = list(dict.fromkeys(walk))
        induced = whole.subgraph(order)
        if induced.number_of_edges() == 0:
            assert math.isnan(found["modularity"][number])
            assert math.isnan(found["participation"][number])
            continue
        nodes = np.array(order, np.int32)
        rows = subgraph_measures.link_nodes(skeleton.indptr, skeleton.indices, nodes, 0, len(nodes))
        member, modularity = communities.find_communities(*rows, communities.ORDERS)
        parts = [{order[k] for k in np.flatnonzero(member == name)} for name in np.unique(member)]
        check_equal(modularity, nx.community.modularity(induced, parts))
        check_equal(found["modularity"][number], modularity)
        matrix = nx.to_numpy_array(induced, nodelist=order)
        with np.errstate(invalid="ignore"):  # of nodes without links
            check_equal(found["participation"][number], np.mean(bct.participation_coef(matrix, member + 1)))


@settings(max_examples=25, deadline=None)
@given(graphs_and_walks(), st.integers(0, 2**32))
def test_weighted_measures_equal_bctpy(case: tuple[cg.Graph, list[list[int]]], seed: int) -> None:
    skeleton, walks = case
    edges = [(u, v) for u, v in nx.Graph(skeleton.to_networkx()).edges if u != v]
    values = np.random.default_rng(seed).uniform(0.1, 1.0, len(edges))
    nodes = range(skeleton.num_nodes)
    weighted = cg.Graph.from_edges([(u, v, w) for (u, v), w in zip(edges, values, strict=True)], nodes=nodes)
    if weighted.weights is None or not len(edges):
        return
    names = ["edge_weight", "weighted_clustering", "weighted_path_length"]
    found = cg.profile(weighted, walks, measures=names).measures
    whole = weighted.to_networkx()
    for number, walk in enumerate(walks):
        order = list(dict.fromkeys(walk))
        matrix = nx.to_numpy_array(whole.subgraph(order), nodelist=order)
        links = matrix[np.triu_indices(len(order), 1)]
        check_equal(found["edge_weight"][number], np.mean(links[links > 0]) if links.any() else math.nan)
        if len(order) < 3 or not links.any():
            continue
        check_equal(found["weighted_clustering"][number], np.mean(bct.clustering_coef_wu(matrix)))
        lengths = np.divide(1, matrix, out=np.zeros_like(matrix), where=matrix > 0)
        distances = bct.distance_wei(lengths)[0]
        reached = distances[np.triu_indices(len(order), 1)]
        check_equal(found["weighted_path_length"][number], np.mean(reached[np.isfinite(reached)]))


def test_small_worldness_is_relative_to_rewired_networks() -> None:
    graph = cg.generate("ws", nodes=60, seed=1)
    found = cg.profile(graph, [list(range(60)), [0, 1]], measures="small-world").measures
    induced = graph.to_networkx()
    rewired = []
    for seed in range(20):
        other = induced.copy()
        nx.double_edge_swap(other, 10 * other.number_of_edges(), max_tries=10**6, seed=seed)
        connected = [d for _, row in nx.all_pairs_shortest_path_length(other) for d in row.values() if d]
        rewired.append((nx.average_clustering(other), np.mean(connected)))
    clustering, length = np.mean(rewired, axis=0)
    expected = nx.average_clustering(induced) / clustering
    assert found["relative_clustering"][0] == pytest.approx(expected, rel=0.2)
    sigma = expected / (nx.average_shortest_path_length(induced) / length)
    assert found["small_worldness"][0] == pytest.approx(sigma, rel=0.2)
    assert found["small_worldness"][0] > 2
    assert math.isnan(found["small_worldness"][1])


def test_leaps_are_between_communities_and_may_be_linked_later() -> None:
    edges = [(0, 1), (1, 2), (0, 2), (10, 11), (11, 12), (10, 12), (2, 10), (20, 21), (21, 22), (20, 22)]
    graph = cg.Graph.from_edges(edges)
    walks = [[0, 11, 10, 2], [0, 11, 12], [0, 1, 2, 10], [0, 20, 11], [0]]
    found = cg.profile(graph, walks, measures="leaps").measures
    check_equal(found["leaps"], [1 / 3, 1 / 2, 0, 1, math.nan])  # 2 - 10 is a link
    check_equal(found["dance"], [1 / 3, 0, 0, 0, math.nan])  # 10 and 2 connect 11 with 0


def test_style_is_a_column_of_the_table() -> None:
    graph = cg.generate("ba", nodes=40, seed=0)
    lists = [cg.explore(graph, "max-degree", start=n % 40, steps=12, seed=n) for n in range(48)]
    columns = {"group": {n: "ab"[n % 2] for n in range(12)}}
    users = [n % 12 for n in range(48)]
    walks = cg.human.Trajectories.from_walks(lists, users=users, graph=graph, user_columns=columns)
    table = cg.profile(graph, walks, measures="style")
    assert list(table.measures)[3:] == ["style"]
    people = table.per_user()
    scores = table.styles().to_frame().set_index("user")["score"]
    check_equal(people["style"], scores.loc[people["user"]])
    weights = cg.human.hypotheses(graph, walks, motives=["degree", "igt"], weights=True).per_user()
    driven = weights[weights["motive"] == "igt"]  # a table of people, too
    assert cg.compare_groups(driven, "group", measures=["weight"], permutations=99).rows["people"] == [6]
    assert "style" in cg.compare_groups(table, "group", permutations=99).rows["measure"]


@settings(max_examples=15, deadline=None)
@given(graphs_and_walks())
def test_gaps_compression_and_conformation_equal_their_definitions(case: tuple[cg.Graph, list[list[int]]]) -> None:
    graph, walks = case
    found = cg.profile(graph, walks, measures=["gaps", "compression", "conformation"]).measures
    growths = cg.measure(graph, walks)
    skeleton = build_skeleton(graph)
    for number, walk in enumerate(walks):
        order = list(dict.fromkeys(walk))
        matrix = skeleton[np.ix_(order, order)] + np.eye(len(order))
        stationary = matrix.sum(axis=0) / matrix.sum()
        rate = float(stationary @ scipy.stats.entropy(matrix, base=2, axis=1))  # of the random walk with self-loops
        growth = growths[number]
        closed = sum(gap.closed_at is not None for gap in growth.gaps)
        assert (found["beta0"][number], found["beta1"][number]) == (growth.beta0[-1], growth.beta1[-1])
        assert (found["opened"][number], found["closed"][number]) == (len(growth.gaps), closed)
        assert found["compressibility"][number] == growth.compressibility[-1]
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
    found = cg.profile(graph, walks, measures="steps").measures
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
    found = cg.profile(graph, walks, measures="steps").measures["step_exponent"]
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
    found = {
        name: values[0] for name, values in cg.profile(cg.toys.cycle(10), walk, measures="sequence").measures.items()
    }
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
    found = cg.profile(weighted, walks, measures="meaning").measures
    given_table = cg.profile(graph, walks, measures="meaning", similarity=TableSimilarity(dense)).measures
    linked = build_skeleton(graph)
    for number, walk in enumerate(walks):
        edges = [dense[u, v] for u, v in combinations(set(walk), 2) if linked[u, v]]
        for each in (found, given_table):
            check_equal(each["edge_weight"][number], np.mean(edges) if edges else math.nan)
            check_equal(each["forward_flow"][number], compute_forward_flow(dense, walk))
    alone = cg.profile(weighted, walks, measures="weighted_clustering").measures  # each can be asked for alone
    check_equal(alone["weighted_clustering"], found["weighted_clustering"])


# ---- inputs, tables and choices of measures ----------------------------------------------------------------------


def test_users_sessions_columns_and_skipped() -> None:
    graph = cg.toys.library()
    walks = cg.human.Trajectories.from_walks(
        [["music", "dance", "music"], ["logic", "nowhere"], ["poetry"], ["nowhere"]],
        users=["bob", "ann", "bob", "cid"],
        user_columns={"group": {"ann": "a", "bob": "b"}},
    )
    found = cg.profile(graph, walks)
    assert found.walks.skipped.reasons == {"outside the graph": 2, "empty walks": 1}
    frame = found.to_frame()
    assert frame.iloc[:, :3].to_numpy().tolist() == [["bob", 1, "b"], ["ann", 1, "a"], ["bob", 2, "b"]]
    assert frame["revisits"].tolist() == [1, 0, 0]
    people = found.per_user()
    assert people["user"].tolist() == ["ann", "bob"]
    assert people["group"].tolist() == ["a", "b"]
    assert people["walks"].tolist() == [1, 2]
    assert people["nodes"].tolist() == [1.0, 1.5]
    assert people["density"].isna().tolist() == [True, False]  # a mean over the walks with more than one node
    assert found.to_dict()["rows"][0]["user"] == "bob"
    assert "Profile(3 walks by 2 users" in found._repr_html_()
    assert len(found.plot(["nodes", "edges"]).axes) >= 2
    named = cg.human.Trajectories.from_walks([["music"]], user_columns={"nodes": {}})
    with pytest.raises(cg.SettingError, match="'nodes'"):
        cg.profile(graph, named).to_frame()


def test_walks_are_cut_to_equal_length() -> None:
    graph = cg.generate("er", nodes=30, seed=1)
    walks = draw_walks(np.random.default_rng(3), 30, count=20)
    found = cg.profile(graph, walks, nodes=8)
    firsts = [list(dict.fromkeys(walk))[:8] for walk in walks if len(set(walk)) >= 8]
    whole = cg.profile(graph, firsts)
    assert 0 < len(firsts) < 20
    for name in ("nodes", "edges", "beta1", "compressibility", "modularity"):
        np.testing.assert_array_equal(found.measures[name], whole.measures[name])
    assert found.measures["revisits"].sum() > 0
    with pytest.raises(cg.errors.WalkError, match="99"):
        cg.profile(graph, walks, nodes=99)


def test_inputs_have_equal_profiles() -> None:
    graph = cg.generate("er", nodes=20, seed=1)
    walk = cg.explore(graph, agent="random", start=0, steps=8, seed=0)
    profiles = [cg.profile(graph, given) for given in (walk, walk.nodes, [walk], [walk.nodes])]
    assert len({found.measures["compressibility"][0] for found in profiles}) == 1
    assert cg.profile(graph, [0, 0, 1, 1, 0]).measures["visits"].tolist() == [3]


def test_batches_and_run_folders_do_not_change_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    graph = cg.generate("er", nodes=30, seed=1)
    walks = draw_walks(np.random.default_rng(3), 30, count=20)
    one = cg.profile(graph, walks)
    monkeypatch.setattr("curiograph.human.people.profile._TASK_COST", 2000.0)
    engine = cg.Engine(workers=1, run=tmp_path)
    for found in (cg.profile(graph, walks, engine=engine) for _ in range(2)):  # the second time from files
        for name, values in one.measures.items():
            np.testing.assert_array_equal(values, found.measures[name])


def test_measures_are_selected() -> None:
    graph = cg.toys.cycle(5)
    assert list(cg.profile(graph, [0, 1], measures="beta1").measures) == ["visits", "nodes", "edges", "beta1"]
    plain = {name for name in MEASURES if MEASURES[name].group not in ("meaning", "games", *ON_REQUEST)}
    assert set(cg.profile(graph, [0, 1]).measures) == plain


def test_weights_above_one_are_no_similarities() -> None:
    graph = cg.Graph.from_edges([(0, 1, 3.0), (1, 2, 0.5)])
    assert "forward_flow" not in cg.profile(graph, [0, 1, 2]).measures
    assert cg.profile(graph, [0, 1, 2], measures="edge_weight").measures["edge_weight"].tolist() == [1.75]
    with pytest.raises(cg.SettingError, match="from 0 to 1"):
        cg.profile(graph, [0, 1, 2], measures="forward_flow")


OTHER = cg.Similarity.from_embeddings(cg.Graph.from_edges([("c", "b"), ("b", "a")]), np.eye(3))


@pytest.mark.parametrize(
    ("walks", "options", "error", "words"),
    [
        ([], {}, cg.errors.WalkError, "empty"),
        ([0, 99], {}, cg.UnknownNodeError, "99"),
        ("text", {}, cg.errors.WalkError, "'text'"),
        ([0, 1], {"measures": []}, cg.SettingError, "at least one"),
        ([0, 1], {"measures": ["beta9"]}, cg.errors.UnknownNameError, "'beta9'"),
        ([0, 1], {"measures": "meaning"}, cg.SettingError, "edge_weight"),
        ([0, 1], {"nodes": 1}, cg.SettingError, "nodes is 1"),
        ([0, 1], {"similarity": 3}, cg.SettingError, "3"),
        ([0, 1], {"similarity": OTHER}, cg.GraphError, "graph"),
        ([0, 1], {"similarity": TableSimilarity(np.full((5, 5), np.nan))}, cg.SettingError, "1 NaN"),
        ([0, 1], {"similarity": TableSimilarity(np.full((5, 5), 5.0))}, cg.SettingError, "value of 5"),
    ],
)
def test_bad_input(walks: Any, options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        cg.profile(cg.toys.cycle(5), walks, **options)
