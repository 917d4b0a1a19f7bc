"""What the page shows, without a browser: the walk behind it and the pictures it asks for."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from starlette.datastructures import QueryParams

import curiograph as cg
from curiograph.service.config import Limits
from curiograph.service.graph_store import GraphStore
from curiograph.service.page.charts import build_growth_options, build_subgraph_options
from curiograph.service.page.layout import relax_layout
from curiograph.service.page.panels import build_candidate_rows, describe_choices
from curiograph.service.page.share_link import build_link, open_link
from curiograph.service.page.walk_session import WalkSession, choose_start
from curiograph.service.step_view import view_step

GRAPH = cg.generate("er", nodes=50, seed=3)


def walked(steps: int, agent: str = "greedy", reward: str = "igt") -> WalkSession:
    walking = WalkSession("er", GRAPH, 0, agent, reward)
    for _ in range(steps - 1):
        walking.step()
    return walking


@pytest.mark.parametrize(
    ("agent", "reward"), [("greedy", "igt"), ("greedy", "cpt"), ("igt-er", "igt"), ("random", "cpt")]
)
def test_steps_are_those_of_explore(agent: str, reward: str) -> None:
    walking = walked(9, agent, reward)
    assert walking.nodes == cg.explore(GRAPH, agent, reward, start=0, steps=9, seed=0).nodes
    growth = cg.measure(GRAPH, walking.nodes)
    assert np.allclose(walking.bits, growth.compressibility)
    assert walking.returns() == (growth.beta1[1:].sum(), pytest.approx(growth.compressibility[1:].sum()))


@pytest.mark.parametrize("agent", ["horizon", "beam:4", "igt-er-horizon+beam:4"])
def test_agents_that_look_ahead_know_how_far(agent: str) -> None:
    planned = cg.explore(GRAPH, agent, "igt", start=0, steps=8, seed=0).nodes
    assert view_step(GRAPH, [0], agent, "igt", ahead=7).choice == planned[1]


def test_candidates_have_the_values_of_the_walk_that_goes_there() -> None:
    walking = walked(6)
    for row in build_candidate_rows(walking):
        node = walking.seen.nodes[row["id"]]
        after = cg.measure(GRAPH, [*walking.nodes, node])
        assert row["gaps"] == after.beta1[-1] - after.beta1[-2]
        assert row["bits"] == pytest.approx(after.compressibility[-1] - after.compressibility[-2], abs=1e-3)
        assert row["links"] == len(GRAPH.neighbors(node))


def test_undo_leaves_no_trace() -> None:
    walking = walked(7)
    before = build_subgraph_options(walking, False), build_growth_options(walking, False), walking.to_dict()
    walking.take(walking.seen.nodes[0])
    walking.undo()
    assert (build_subgraph_options(walking, False), build_growth_options(walking, False), walking.to_dict()) == before


def test_the_picture_shows_the_walk_and_its_gaps() -> None:
    walking = walked(12)
    loops, graph = build_subgraph_options(walking, False)["series"]
    kinds = [row[0] for row in loops["data"]]
    gaps = cg.measure(GRAPH, walking.nodes).gaps
    assert len(kinds) == len(gaps)
    assert sum(kind == 1 for kind in kinds) == sum(gap.closed_at is not None for gap in gaps)
    assert sum(kind == 2 for kind in kinds) == sum(gap.opened_at == 12 and gap.closed_at is None for gap in gaps)
    visited = [node for node in graph["data"] if node["id"].startswith("v")]
    assert [node["name"] for node in visited] == [f"{step} {node}" for step, node in enumerate(walking.nodes, start=1)]
    subgraph = GRAPH.subgraph(walking.nodes)
    links = [link for link in graph["links"] if link["target"].startswith("v")]
    assert len(links) == subgraph.num_edges
    gap_line, bit_line = build_growth_options(walking, False)["series"]
    assert [y for _, y in gap_line["data"]] == cg.measure(GRAPH, walking.nodes).beta1.tolist()
    assert len(bit_line["data"]) == 12


def test_names_reach_the_picture_as_plain_text() -> None:
    graph = cg.Graph.from_edges([("{b}{a|x}", "<b>b</b>"), ("<b>b</b>", "c")])
    walking = WalkSession("mine", graph, "{b}{a|x}")
    walking.take("<b>b</b>")
    drawn: Any = build_subgraph_options(walking, True)
    assert drawn["tooltip"]["renderMode"] == "richText"
    for node in drawn["series"][1]["data"]:
        assert not set(node["tooltip"]["formatter"]) & set("{}|")
    json.dumps(drawn)


def test_a_shared_walk_is_the_same_walk() -> None:
    shelf, limits = GraphStore(), Limits()
    walking = WalkSession("er", shelf.graph("er"), 0, "greedy", "cpt")
    for _ in range(4):
        walking.step()
    walking.take(walking.seen.nodes[-1])
    shared = open_link(QueryParams(build_link(walking).removeprefix("/?")), shelf, limits)
    assert shared.to_dict() == walking.to_dict()
    assert shared.seen.choice == walking.seen.choice


def test_long_addresses_give_positions() -> None:
    graph = cg.Graph.from_edges([(f"{'name ' * 30}{i}", f"{'name ' * 30}{i + 1}") for i in range(60)])
    walking = WalkSession("mine", graph, graph.labels[0])
    for _ in range(50):
        walking.step()
    assert len(build_link(walking)) < 1_000
    shelf = GraphStore()
    content = "\n".join(f"{'name ' * 30}{i},{'name ' * 30}{i + 1}" for i in range(60)).encode()
    walking.graph_id = shelf.add("mine.csv", content).id
    shared = open_link(QueryParams(build_link(walking).removeprefix("/?")), shelf, Limits())
    assert shared.nodes == walking.nodes


def test_nothing_starts_where_nothing_leads() -> None:
    nowhere = cg.Graph.from_edges([("a", "b")], directed=True)
    with pytest.raises(cg.WalkError, match="no walk can start"):
        WalkSession("mine", nowhere, "b")
    with pytest.raises(cg.GraphError, match="no edges"):
        choose_start(cg.Graph.from_edges([], nodes=["a", "b"]))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("graph=nowhere", "there is no graph 'nowhere'"),
        ("graph=er&agent=/etc/passwd", "the page has no agent '/etc/passwd'"),
        ("graph=er&reward=joy", "the page has no reward 'joy'"),
        ("graph=er&seed=-1", "the seed is '-1'"),
        ("graph=er&walk=0&walk=0", "visits 0 twice"),
        ("graph=er&walk=99", "99"),
        ("graph=er&at=0.50", "at '50'"),
        ("graph=er&" + "&".join(f"walk={n}" for n in range(9)), "9 nodes; at most 8"),
    ],
)
def test_what_cannot_be_shared_is_explained(query: str, said: str) -> None:
    with pytest.raises(cg.CuriographError, match=said):
        open_link(QueryParams(query), GraphStore(), Limits(steps=8))


def test_the_end_of_a_walk() -> None:
    graph = cg.Graph.from_edges([("a", "b")])
    walking = WalkSession("mine", graph, "a")
    walking.step()
    assert walking.seen.choice is None
    assert describe_choices(walking) == ["There is nowhere left to go."]
    with pytest.raises(cg.WalkError, match="ends here"):
        walking.step()
    assert walking.nodes == ["a", "b"]
    build_subgraph_options(walking, False)


def test_a_dead_end_is_told() -> None:
    graph = cg.Graph.from_edges([("a", "b"), ("a", "c")])
    walking = WalkSession("mine", graph, "a")
    walking.take("b")
    assert walking.seen.nodes == ["c"]
    assert "dead end" in describe_choices(walking)[0]


def test_long_walks_leave_out_what_would_take_too_long() -> None:
    graph = cg.generate("er", nodes=400, seed=0)
    walk = cg.explore(graph, "random", "igt", start=0, steps=220, seed=0).nodes
    seen = view_step(graph, walk, "random")
    assert "cpt" not in seen.values
    assert not np.isnan(seen.cpt)


def test_nodes_settle_apart_and_neighbours_near() -> None:
    ring = np.array([[i, (i + 1) % 8] for i in range(8)])
    places = np.random.default_rng(0).normal(size=(8, 2))
    for _ in range(6):
        places = relax_layout(places, ring)
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    linked = apart[ring[:, 0], ring[:, 1]]
    assert linked.max() < apart[~np.eye(8, dtype=bool)].mean()
    assert apart[~np.eye(8, dtype=bool)].min() > 0.1
