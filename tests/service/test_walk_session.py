"""The walk of a visitor, its pictures and its links, without a browser."""

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


def walk_steps(steps: int, agent: str = "greedy", reward: str = "igt") -> WalkSession:
    session = WalkSession("er", GRAPH, 0, agent, reward)
    for _ in range(steps - 1):
        session.advance()
    return session


@pytest.mark.parametrize(
    ("agent", "reward"), [("greedy", "igt"), ("greedy", "cpt"), ("greedy", "cct"), ("igt-er", "igt"), ("random", "cpt")]
)
def test_steps_equal_explore(agent: str, reward: str) -> None:
    session = walk_steps(9, agent, reward)
    assert session.nodes == cg.explore(GRAPH, agent, reward, start=0, steps=9, seed=0).nodes
    growth = cg.measure(GRAPH, session.nodes)
    assert np.allclose(session.bits, growth.compressibility)
    assert session.compute_returns() == (growth.beta1[1:].sum(), pytest.approx(growth.compressibility[1:].sum()))


@pytest.mark.parametrize("agent", ["horizon", "beam:4", "planner", "planner:2", "igt-er-horizon+beam:4"])
def test_agents_that_look_ahead_plan_as_explore(agent: str) -> None:
    planned = cg.explore(GRAPH, agent, "igt", start=0, steps=8, seed=0).nodes
    assert view_step(GRAPH, [0], agent, "igt", ahead=7).choice == planned[1]


def test_candidate_rows_equal_measure() -> None:
    session = walk_steps(6)
    for row in build_candidate_rows(session):
        node = session.view.nodes[row["id"]]
        after = cg.measure(GRAPH, [*session.nodes, node])
        assert row["gaps"] == after.beta1[-1] - after.beta1[-2]
        assert row["bits"] == pytest.approx(after.compressibility[-1] - after.compressibility[-2], abs=1e-3)
        assert row["flexibility"] == after.conformable[-1] - after.conformable[-2]
        assert row["links"] == len(GRAPH.neighbors(node))


def test_undo_restores_everything() -> None:
    session = walk_steps(7)
    before = build_subgraph_options(session, False), build_growth_options(session, False), session.to_dict()
    session.visit(session.view.nodes[0])
    session.undo()
    assert (build_subgraph_options(session, False), build_growth_options(session, False), session.to_dict()) == before


def test_pictures_show_walk_and_gaps() -> None:
    session = walk_steps(12)
    loops, graph = build_subgraph_options(session, False)["series"]
    kinds = [row[0] for row in loops["data"]]
    gaps = cg.measure(GRAPH, session.nodes).gaps
    assert len(kinds) == len(gaps)
    assert sum(kind == 1 for kind in kinds) == sum(gap.closed_at is not None for gap in gaps)
    assert sum(kind == 2 for kind in kinds) == sum(gap.opened_at == 12 and gap.closed_at is None for gap in gaps)
    visited = [node for node in graph["data"] if node["id"].startswith("v")]
    assert [node["name"] for node in visited] == [f"{step} {node}" for step, node in enumerate(session.nodes, start=1)]
    subgraph = GRAPH.subgraph(session.nodes)
    links = [link for link in graph["links"] if link["target"].startswith("v")]
    assert len(links) == subgraph.num_edges
    gap_line, bit_line = build_growth_options(session, False)["series"]
    assert [y for _, y in gap_line["data"]] == cg.measure(GRAPH, session.nodes).beta1.tolist()
    assert len(bit_line["data"]) == 12


def test_labels_in_pictures_are_plain_text() -> None:
    graph = cg.Graph.from_edges([("{b}{a|x}", "<b>b</b>"), ("<b>b</b>", "c")])
    session = WalkSession("mine", graph, "{b}{a|x}")
    session.visit("<b>b</b>")
    drawn: Any = build_subgraph_options(session, True)
    assert drawn["tooltip"]["renderMode"] == "richText"
    for node in drawn["series"][1]["data"]:
        assert not set(node["tooltip"]["formatter"]) & set("{}|")
    json.dumps(drawn)


def test_link_opens_the_same_walk() -> None:
    store, limits = GraphStore(), Limits()
    session = WalkSession("er", store.open("er").graph, 0, "greedy", "cpt")
    for _ in range(4):
        session.advance()
    session.visit(session.view.nodes[-1])
    shared = open_link(QueryParams(build_link(session).removeprefix("/?")), store, limits)
    assert shared.to_dict() == session.to_dict()
    assert shared.view.choice == session.view.choice


def test_long_links_contain_positions() -> None:
    graph = cg.Graph.from_edges([(f"{'name ' * 30}{i}", f"{'name ' * 30}{i + 1}") for i in range(60)])
    session = WalkSession("mine", graph, graph.labels[0])
    for _ in range(50):
        session.advance()
    assert len(build_link(session)) < 1_000
    store = GraphStore()
    content = "\n".join(f"{'name ' * 30}{i},{'name ' * 30}{i + 1}" for i in range(60)).encode()
    session.graph_id = store.add_upload("mine.csv", content).id
    shared = open_link(QueryParams(build_link(session).removeprefix("/?")), store, Limits())
    assert shared.nodes == session.nodes


def test_nodes_without_links_are_no_starts() -> None:
    nowhere = cg.Graph.from_edges([("a", "b")], directed=True)
    with pytest.raises(cg.WalkError, match="no walk can start"):
        WalkSession("mine", nowhere, "b")
    with pytest.raises(cg.GraphError, match="no edges"):
        choose_start(cg.Graph.from_edges([], nodes=["a", "b"]))


@pytest.mark.parametrize(
    ("query", "message"),
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
def test_invalid_links(query: str, message: str) -> None:
    with pytest.raises(cg.CuriographError, match=message):
        open_link(QueryParams(query), GraphStore(), Limits(steps=8))


def test_end_of_a_walk() -> None:
    graph = cg.Graph.from_edges([("a", "b")])
    session = WalkSession("mine", graph, "a")
    session.advance()
    assert session.view.choice is None
    assert describe_choices(session) == ["There are no candidates left."]
    with pytest.raises(cg.WalkError, match="ends here"):
        session.advance()
    assert session.nodes == ["a", "b"]
    build_subgraph_options(session, False)


def test_dead_end() -> None:
    graph = cg.Graph.from_edges([("a", "b"), ("a", "c")])
    session = WalkSession("mine", graph, "a")
    session.visit("b")
    assert session.view.nodes == ["c"]
    assert "dead end" in describe_choices(session)[0]


def test_compressibility_is_omitted_for_long_walks() -> None:
    graph = cg.generate("er", nodes=400, seed=0)
    walk = cg.explore(graph, "random", "igt", start=0, steps=220, seed=0).nodes
    seen = view_step(graph, walk, "random")
    assert "cpt" not in seen.values
    assert not np.isnan(seen.cpt)


def test_relaxed_layout_separates_nodes_and_joins_neighbors() -> None:
    ring = np.array([[i, (i + 1) % 8] for i in range(8)])
    places = np.random.default_rng(0).normal(size=(8, 2))
    for _ in range(6):
        places = relax_layout(places, ring)
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    linked = apart[ring[:, 0], ring[:, 1]]
    assert linked.max() < apart[~np.eye(8, dtype=bool)].mean()
    assert apart[~np.eye(8, dtype=bool)].min() > 0.1
