"""Pictures of graphs and views of walks: layouts, and agreement with the library."""

from __future__ import annotations

import json
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import curiograph as cg
from curiograph import kernels
from curiograph.plotting.graph_layout import compute_layout
from curiograph.service import picture, schemas
from curiograph.service.places import lay_out_walk
from curiograph.service.store import OpenGraph


def view(graph: cg.Graph, walk: list[Any], **more: Any) -> Any:
    request = schemas.ViewRequest(graph="any", walk=walk, **more)
    return json.loads(picture.view_walk(OpenGraph(graph), request))


def draw(graph: cg.Graph) -> Any:
    return json.loads(picture.draw_graph(OpenGraph(graph)))


def compare_distances(graph: networkx.Graph, places: Any) -> Any:
    """Return the distance in the picture of every two nodes, relative to that in the graph."""
    paths = networkx.floyd_warshall_numpy(graph)
    first, second = np.triu_indices(len(paths), 1)
    return np.linalg.norm(places[first] - places[second], axis=1) / paths[first, second]


@pytest.mark.parametrize("kind", ["cycle", "grid", "small world"])
def test_layout_is_as_good_as_that_of_networkx(kind: str) -> None:
    graph = {
        "cycle": networkx.cycle_graph(20),
        "grid": networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(7, 7)),
        "small world": networkx.connected_watts_strogatz_graph(60, 4, 0.1, seed=0),
    }[kind]
    ours = compute_layout(cg.Graph.from_networkx(graph))
    theirs = compare_distances(graph, np.array(list(networkx.kamada_kawai_layout(graph).values())))
    best = min(np.mean((scale * theirs - 1) ** 2) for scale in np.linspace(0.1, 30, 300))  # theirs is in a unit square
    assert np.mean((compare_distances(graph, ours) - 1) ** 2) < 1.15 * best
    np.testing.assert_array_equal(ours, compute_layout(cg.Graph.from_networkx(graph)))


def test_layout_of_many_nodes_uses_pivots() -> None:
    graph = networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(30, 40))
    places = compute_layout(cg.Graph.from_networkx(graph))
    lengths = [np.linalg.norm(places[a] - places[b]) for a, b in graph.edges]
    assert np.median(lengths) == pytest.approx(1, abs=0.25)
    assert np.linalg.norm(places[0] - places[-1]) > 30  # opposite corners


def test_layout_of_parts_and_single_nodes() -> None:
    parts = networkx.disjoint_union_all([networkx.cycle_graph(8), networkx.path_graph(4), networkx.empty_graph(30)])
    places = compute_layout(cg.Graph.from_networkx(parts))
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 10 * np.eye(len(places))
    assert np.isfinite(places).all()
    assert apart.min() > 0.2
    assert compute_layout(cg.Graph.from_edges([], nodes=["a"])).shape == (1, 2)


@given(st.integers(2, 30), st.integers(0, 2**20))
@settings(max_examples=30)
def test_pivot_distances_equal_those_of_networkx(size: int, seed: int) -> None:
    graph = networkx.gnp_random_graph(size, 0.15, seed=seed)
    skeleton = cg.Graph.from_networkx(graph).skeleton
    pivots, distances = kernels.layout.compute_pivot_distances(skeleton.indptr, skeleton.indices, min(size, 5))
    assert len(set(pivots.tolist())) == len(pivots)
    for pivot, row in zip(pivots.tolist(), distances.tolist(), strict=True):
        found = networkx.single_source_shortest_path_length(graph, pivot)
        assert row == [found.get(v, -1) for v in range(size)]


def test_picture_of_a_longer_walk_resembles_that_of_the_shorter_one() -> None:
    graph = networkx.gnm_random_graph(40, 200, seed=1)
    links = np.array([sorted(edge) for edge in graph.edges])

    def lay_out(size: int) -> Any:
        return lay_out_walk(size, links[(links < size).all(axis=1)], 5)

    for size in (10, 20, 39):
        moved = np.linalg.norm(lay_out(size + 1)[:size] - lay_out(size)[:size], axis=1)
        assert np.median(moved) < 0.5
        assert len(lay_out(size)) == size + 5


def test_picture_of_a_graph() -> None:
    graph = cg.toys.everyday()
    drawn = draw(graph)
    assert (drawn["nodes"], drawn["edges"], drawn["directed"], drawn["dense"]) == (35, 65, False, False)
    assert drawn["labels"] == graph.labels
    links = {frozenset((drawn["labels"][a], drawn["labels"][b])) for a, b in drawn["links"]}
    assert links == {frozenset((node, other)) for node in graph.labels for other in graph.neighbors(node)}
    assert len(drawn["places"]) == 35
    many = draw(cg.Graph.from_networkx(networkx.random_regular_graph(3, 4_000, seed=0)))
    assert "labels" not in many
    assert 0.9 * 4_000 < np.sum(many["shade"]) <= 4_000
    assert draw(cg.Graph.from_networkx(networkx.gnm_random_graph(200, 4_000, seed=0)))["dense"]


@given(st.integers(0, 2**20), st.booleans())
@settings(max_examples=25)
def test_view_agrees_with_measure(seed: int, is_directed: bool) -> None:
    graph = cg.Graph.from_networkx(networkx.gnp_random_graph(18, 0.25, seed=seed, directed=is_directed))
    walk = np.random.default_rng(seed).permutation(18)[:7].tolist()  # with jumps
    shown = view(graph, walk, agent="greedy")
    growth = cg.measure(graph, walk)
    assert shown["beta1"] == growth.beta1.tolist()
    assert [[walk[i] for i in gap["loop"]] for gap in shown["gaps"]] == cg.gap_loops(graph, walk)
    assert [gap.get("closed_at") for gap in shown["gaps"]] == [gap.closed_at for gap in growth.gaps]
    linked = {frozenset((a, b)) for a, b in graph.to_networkx().edges if a in walk and b in walk}
    assert {frozenset((walk[a], walk[b])) for a, b in shown["links"]} == linked
    assert len(shown["places"]) == len(walk) + len(shown["candidates"])
    for each in shown["candidates"]:
        after = cg.measure(graph, [*walk, each["node"]])
        assert each["opens"] == sum(gap.opened_at == len(walk) + 1 for gap in after.gaps)
        assert each["closes"] == sum(gap.closed_at == len(walk) + 1 for gap in after.gaps)
        assert each["values"]["igt"] == after.beta1[-1]
    if shown["candidates"]:
        assert shown["candidates"][0]["node"] == shown["choice"]


def test_view_of_long_walks_and_of_the_end() -> None:
    graph = cg.generate("ba", nodes=600, seed=0)
    walk = cg.explore(graph, "random", "igt", 0, 500, seed=0).nodes
    shown = view(graph, walk, more=True)
    assert len(shown["beta1"]) == 500
    assert "compressibility" not in shown  # takes too long
    assert len(shown["candidates"]) <= picture.MAX_CANDIDATES
    short = view(graph, walk[:30], more=True)
    np.testing.assert_allclose(short["compressibility"], cg.measure(graph, walk[:30]).compressibility)
    assert set(short["candidates"][0]["values"]) == {"igt", "cpt", "cct", "pagerank", "degree"}
    end = view(cg.toys.cycle(4), [0, 1, 2, 3])
    assert (end["total"], end["candidates"], end.get("choice")) == (0, [], None)
    hub = view(cg.Graph.from_networkx(networkx.star_graph(900)), [0])
    assert (hub["total"], len(hub["candidates"])) == (900, picture.MAX_CANDIDATES)


def test_titles_are_shown() -> None:
    marked = networkx.cycle_graph(4)
    networkx.set_node_attributes(marked, dict(enumerate(["Tea", "Sun", "Sea", "Cup"])), "label")
    graph = cg.Graph.from_networkx(marked)
    assert draw(graph)["titles"] == ["Tea", "Sun", "Sea", "Cup"]
    shown = view(graph, [0, 1, 2])
    assert shown["titles"] == ["Tea", "Sun", "Sea", "Cup"]
    assert shown["reason"] == "It opens 1 gap: Cup - Sea - Sun - Tea."
