"""The walk of a visitor, its pictures and its links, without a browser."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from starlette.datastructures import QueryParams

import curiograph as cg
from curiograph.service.page.drawing import draw_growth, draw_picture
from curiograph.service.page.layout import compute_visible_area, extend_layout
from curiograph.service.page.panels import build_candidate_rows, describe_choices, describe_last_step, describe_reason
from curiograph.service.page.share_link import build_link, read_link
from curiograph.service.page.walk_session import SharedWalk, WalkSession, choose_start, make_rival, open_walk
from curiograph.service.server_settings import ServiceSettings
from curiograph.service.step_view import view_step
from curiograph.service.store import GraphStore, OpenGraph

GRAPH = cg.generate("er", nodes=50, seed=3)


def open_link(query: QueryParams, graphs: GraphStore, **settings: int) -> WalkSession:
    return open_walk(*read_link(query, graphs, ServiceSettings(**settings)))


def walk_steps(steps: int, agent: str = "greedy", reward: str = "igt") -> WalkSession:
    session = WalkSession("er", OpenGraph(GRAPH), 0, agent, reward)
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


@pytest.mark.parametrize("agent", ["igt-er", "beam:4", "planner", "planner:2"])
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
    before = draw_picture(session), draw_growth(session), session.to_dict()
    session.visit(session.view.nodes[0])
    session.undo()
    assert (draw_picture(session), draw_growth(session), session.to_dict()) == before


def test_pictures_show_walk_and_gaps() -> None:
    session = walk_steps(12)
    picture: Any = draw_picture(session)
    gaps = cg.measure(GRAPH, session.nodes).gaps
    assert [(gap["opened"], gap["closed"]) for gap in picture["gaps"]] == [
        (gap.opened_at, gap.closed_at) for gap in gaps
    ]
    for drawn, loop in zip(picture["gaps"], cg.gap_loops(GRAPH, session.nodes), strict=True):
        assert [session.nodes[step] for step in drawn["nodes"]] == loop
    assert [node["name"] for node in picture["nodes"]] == [str(node) for node in session.nodes]
    assert len([link for link in picture["links"] if len(link) == 2]) == GRAPH.subgraph(session.nodes).num_edges
    assert picture["candidates"][0]["best"]
    assert picture["candidates"][0]["name"] == str(session.view.choice)
    growth: Any = draw_growth(session)
    assert growth["gaps"] == cg.measure(GRAPH, session.nodes).beta1.tolist()
    assert len(growth["bits"]) == 12
    json.dumps([picture, growth], allow_nan=False)


def test_titles_have_no_underscores() -> None:
    graph = cg.Graph.from_edges([("Bertrand_Russell", "United_Kingdom"), ("United_Kingdom", "Time_zone")])
    session = WalkSession("mine", OpenGraph(graph), "Bertrand_Russell")
    session.advance()
    shown = json.dumps([draw_picture(session)["nodes"], draw_growth(session), describe_choices(session)])
    assert "_" not in shown + describe_last_step(session)
    assert "United Kingdom" in shown


def test_link_opens_the_same_walk() -> None:
    store = GraphStore(ServiceSettings())
    session = WalkSession("er", store.open("er"), 0, "greedy", "cpt")
    for _ in range(4):
        session.advance()
    session.visit(session.view.nodes[-1])
    shared = open_link(QueryParams(build_link(session).removeprefix("/?")), store)
    assert shared.to_dict() == session.to_dict()
    assert shared.view.choice == session.view.choice
    assert draw_picture(shared) == draw_picture(session)


def test_long_links_contain_positions() -> None:
    graph = cg.Graph.from_edges([(f"{'name ' * 30}{i}", f"{'name ' * 30}{i + 1}") for i in range(60)])
    session = WalkSession("mine", OpenGraph(graph), graph.labels[0])
    for _ in range(50):
        session.advance()
    assert len(build_link(session)) < 1_000
    store = GraphStore(ServiceSettings())
    session.graph_id = store.keep_upload("mine.csv", OpenGraph(graph)).id
    shared = open_link(QueryParams(build_link(session).removeprefix("/?")), store)
    assert shared.nodes == session.nodes


def test_nodes_without_links_are_no_starts() -> None:
    nowhere = cg.Graph.from_edges([("a", "b")], directed=True)
    with pytest.raises(cg.errors.WalkError, match="no walk can start"):
        WalkSession("mine", OpenGraph(nowhere), "b")
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
        open_link(QueryParams(query), GraphStore(ServiceSettings()), steps=8)


def test_end_of_a_walk() -> None:
    graph = cg.Graph.from_edges([("a", "b")])
    session = WalkSession("mine", OpenGraph(graph), "a")
    session.advance()
    assert session.view.choice is None
    assert describe_choices(session) == ["No next node is left: undo or restart."]
    with pytest.raises(cg.errors.WalkError, match="ends here"):
        session.advance()
    assert session.nodes == ["a", "b"]
    assert draw_picture(session)["candidates"] == []


def test_dead_end() -> None:
    graph = cg.Graph.from_edges([("a", "b"), ("a", "c")])
    session = WalkSession("mine", OpenGraph(graph), "a")
    session.visit("b")
    assert session.view.nodes == ["c"]
    assert "Dead end" in describe_choices(session)[0]


def test_page_opens_on_an_open_and_a_closed_gap() -> None:
    session = open_link(QueryParams(), GraphStore(ServiceSettings()))
    opened, closed = session.growth.gaps[-1], session.growth.gaps[0]
    assert opened.opened_at == len(session.steps)
    assert opened.closed_at is None
    assert closed.closed_at is not None
    assert len(session.view.nodes) > 1
    again = open_link(QueryParams(build_link(session).removeprefix("/?")), GraphStore(ServiceSettings()))
    assert draw_picture(again) == draw_picture(session)


@pytest.mark.parametrize("agent", ["planner", "greedy"])
def test_steps_never_move_old_nodes_and_rarely_the_view(agent: str) -> None:
    session = WalkSession("er", OpenGraph(GRAPH), 0, agent)
    places, views = [session.coordinates], [compute_visible_area(session.coordinates)]
    for _ in range(30):
        session.advance()
        assert np.array_equal(session.coordinates[:-1], places[-1])
        places.append(session.coordinates)
        views.append(compute_visible_area(session.coordinates))
    assert sum(before != after for before, after in itertools.pairwise(views)) <= 9
    apart = np.linalg.norm(places[-1][:, None] - places[-1], axis=2) + np.eye(31)
    assert apart.min() > 0.4
    left, top, right, bottom = views[-1]
    assert (places[-1] > [left, top]).all()
    assert (places[-1] < [right, bottom]).all()


def test_layout_draws_a_gap_as_a_ring() -> None:
    for length in (4, 6, 9):
        edges = sorted([*((i, i + 1) for i in range(length - 1)), (0, length - 1)])
        places = extend_layout(np.zeros((1, 2)), edges, length)
        x, y = places.T
        area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
        assert area > 0.5 * length / 4  # not flat, and not tangled


def test_reasons_have_the_numbers_of_the_table() -> None:
    example = open_link(QueryParams(), GraphStore(ServiceSettings()))
    graph = cg.generate("er", nodes=150, seed=0)
    nodes = cg.explore(graph, "random", "igt", start=0, steps=60, seed=0).nodes  # reasons consider the last 50
    for session in (example, open_walk(OpenGraph(graph), SharedWalk("er", "random", "igt", 0, nodes, ["you"] * 59))):
        top = cg.recommend(session.graph, session.nodes, 5, candidates="last")
        rows = {row["name"]: row for row in build_candidate_rows(session)}
        for reason in top.reasons:
            described, row = describe_reason(reason, session.view), rows[str(reason.node)]
            assert described.startswith(f"Gaps {row['gaps']:+d}, " if row["gaps"] else "Gaps 0, ")
            assert f"{row['bits']:+.3f} bits" in described


def test_star_has_few_rows() -> None:
    star = cg.Graph.from_edges([("hub", f"leaf {i}") for i in range(1_000)])
    session = WalkSession("mine", OpenGraph(star), "hub", "greedy")
    rows = build_candidate_rows(session)
    assert len(rows) == 200
    assert rows[0]["name"] == session.view.choice
    assert describe_choices(session)[0] == "The table has the best 200 of 1,000 next nodes."


def test_rival_walks_as_explore() -> None:
    session = walk_steps(6)
    rival = make_rival(session.opened, session)
    assert rival.nodes == cg.explore(GRAPH, "greedy", "igt", 0, 6, seed=0).nodes
    assert {step.by for step in rival.steps[1:]} == {"greedy"}
    assert draw_picture(rival, "Greedy")["candidates"] == []
