"""REST responses equal the results of the library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import curiograph as cg
from curiograph.service.computations import search_nodes
from curiograph.service.json_labels import LabelIndex, encode_label
from curiograph.service.store import OpenGraph
from support.serving import get_error, open_client

LIBRARY = "toy:library"


@pytest.fixture(scope="module")
def api() -> Iterator[Any]:
    with open_client() as client:
        yield client


def post(api: Any, path: str, **body: Any) -> Any:
    response = api.post(f"/api/v1/{path}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_graphs_agents_and_rewards_are_listed(api):
    ids = [each["id"] for each in api.get("/api/v1/graphs").json()["graphs"]]
    assert LIBRARY in ids
    one = api.get(f"/api/v1/graphs/{LIBRARY}").json()
    assert (one["nodes"], one["edges"], one["directed"]) == (12, 18, False)
    agents = {each["name"]: each["about"] for each in api.get("/api/v1/agents").json()["agents"]}
    assert {"greedy", "beam", *cg.shipped_agents()} <= set(agents)
    assert all(agents.values())
    assert [each["name"] for each in api.get("/api/v1/rewards").json()["rewards"]] == ["igt", "cpt", "cct"]


def test_nodes_are_found_by_text(api):
    result = api.get(f"/api/v1/graphs/{LIBRARY}/nodes", params={"query": "MU", "limit": 5}).json()
    assert result == {"nodes": ["music"], "titles": ["music"], "total": 12}
    assert len(api.get(f"/api/v1/graphs/{LIBRARY}/nodes", params={"limit": 3}).json()["nodes"]) == 3


def test_measure_equals_library(api):
    walk = ["music", "mathematics", "logic", "philosophy", "history", "poetry", "music"]
    result = post(api, "measure", graph=LIBRARY, walk=walk)
    growth = cg.measure(cg.toys.library(), walk)
    of_people = ("user", "session", "outside")  # requests have no users, and unknown nodes are an error
    assert result == {name: value for name, value in growth.to_dict().items() if name not in of_people}
    several = post(api, "measure", graph=LIBRARY, walks=[walk, walk[:2]])["walks"]
    assert several[0] == result
    assert several[1]["beta1"] == [0, 0]
    bare = post(api, "measure", graph=LIBRARY, walk=walk, compressibility=False)
    assert bare["compressibility"] == [None] * 6


@pytest.mark.parametrize("agent", ["greedy", "beam:4", "planner", "planner:2", "random", "igt-rg"])
def test_explore_equals_library(api, agent):
    result = post(api, "explore", graph="rg", agent=agent, reward="igt", start=7, steps=8, seed=3)
    graph = cg.generate("rg", nodes=50, seed=3)
    assert result == cg.explore(graph, agent, "igt", 7, 8, seed=3).to_dict()


def test_look_step_by_step_equals_explore(api):
    walk = ["music"]
    while len(walk) < 6:
        view = post(api, "look", graph=LIBRARY, walk=walk, agent="greedy", reward="cpt", seed=5)
        assert view["choice"] in [each["node"] for each in view["candidates"]]
        assert set(view["best"]) == set(view["candidates"][0]["values"])
        assert view["total"] == len(view["candidates"])
        walk.append(view["choice"])
    assert walk == cg.explore(cg.toys.library(), "greedy", "cpt", "music", 6, seed=5).nodes


def test_rank_equals_pagerank_and_curious_pagerank(api):
    graph, history = cg.toys.library(), ["music", "logic"]
    result = post(api, "rank", graph=LIBRARY, history=history, alpha=0.5, k=4)
    assert [(each["node"], each["score"]) for each in result["ranking"]] == cg.pagerank(graph, 0.5, history).top(4)
    assert result["ranking"][0]["stderr"] is None
    curious = post(api, "rank", graph=LIBRARY, history=history, agent="greedy", reward="cpt", k=4, seed=1)
    eta = cg.curious_pagerank(graph, "greedy", 0.85, history, reward="cpt", seed=1)
    assert [(each["node"], each["score"]) for each in curious["ranking"]] == eta.top(4)
    assert post(api, "rank", graph=LIBRARY)["history"] is None


@pytest.mark.parametrize("candidates", ["last", "history", "all"])
def test_recommend_equals_library(api, candidates):
    graph, histories = cg.toys.library(), [["music", "physics"], ["logic"], ["music", "logic", "music"]]
    recommender = cg.Recommender(graph)
    recommender.prepare()
    expected = recommender.recommend(histories, 3, candidates=candidates, theory=True)
    settings = {"graph": LIBRARY, "k": 3, "candidates": candidates}
    result = post(api, "recommend", histories=histories, theory=True, **settings)
    for one, top in zip(result["users"], expected, strict=True):
        plain = top.to_dict()
        assert one["history"] == plain["history"]
        assert one["candidates"] == plain["candidates"]
        for mine, its in zip(one["recommendations"], plain["recommendations"], strict=True):
            assert mine == its | {name: _to_lists(its[name]) for name in ("shares", "links", "opens", "closes")}
    plain = post(api, "recommend", histories=histories, reasons=True, **settings)
    theory = ("opens", "closes", "compressibility")
    for user in result["users"]:
        for node in user["recommendations"]:
            for name in theory:
                del node[name]
    assert plain == result
    alone = post(api, "recommend", history=histories[0], **settings)
    assert [tuple(each.values())[:2] for each in alone["recommendations"]] == expected[0]
    assert set(alone["recommendations"][0]) == {"node", "score"}


def test_recommend_with_excluded_allowed_unknown_and_no_nodes(api):
    graph, settings = cg.toys.library(), {"graph": LIBRARY, "k": 3}
    recommender = cg.Recommender(graph)
    recommender.prepare(["music"])
    expected = recommender.recommend(["music"], 3, exclude=["physics"], diversity=0.5)
    found = post(api, "recommend", history=["music"], exclude=["physics", "moon"], diversity=0.5, **settings)
    assert [(each["node"], each["score"]) for each in found["recommendations"]] == expected
    found = post(api, "recommend", history=["music"], filter=["logic", "moon"], **settings)
    assert [each["node"] for each in found["recommendations"]] == ["logic"]
    found = post(api, "recommend", histories=[["music"], ["moon", 7], []], reasons=True, **settings)
    popular = cg.recommend(graph, [], 3)
    assert [user.get("skipped") for user in found["users"]] == [None, ["moon", 7], None]
    for user in found["users"][1:]:
        assert [(each["node"], each["score"]) for each in user["recommendations"]] == popular
        assert user["recommendations"][0]["sentence"] == popular.reasons[0].sentence
    assert post(api, "recommend", history=["moon"], unknown="skip", **settings)["skipped"] == ["moon"]
    with_text = post(api, "recommend", graph="toy:cycle", history=["3"], exclude=["4"], filter=["4", 2], k=3)
    assert [each["node"] for each in with_text["recommendations"]] == [2]


@pytest.mark.parametrize(
    "settings",
    [
        {"ranker": "pagerank"},
        {"ranker": "pagerank:0.5"},
        {"ranker": "pagerank:0.5", "alpha": 0.2},
        {"ranker": "igt", "alpha": 0.85},
        {"ranker": "cpt", "alpha": 0.5},
        {"weights": {"pagerank": 1, "igt": 0.5}},
        {"ranker": "mixture", "alpha": 0.1, "weights": {"cpt": 2}},
    ],
)
def test_rankers_equal_library(api, settings):
    graph, history = cg.toys.library(), ["music", "physics"]
    expected = cg.recommend(graph, history, 4, **settings)
    for body in ({"history": history}, {"histories": [history, ["logic"]]}):
        found = post(api, "recommend", graph=LIBRARY, k=4, reasons=True, **body, **settings)
        user = found["users"][0] if "users" in found else found
        assert {each["node"]: each["score"] for each in user["recommendations"]} == pytest.approx(dict(expected))
        assert user["recommendations"][0]["sentence"] == expected.reasons[0].sentence


def test_rankers_with_the_same_alpha_share_what_is_prepared(api):
    opened = api.app.state.service.graphs.open("rg")
    post(api, "recommend", graph="rg", history=[1, 2], ranker="igt")
    _, igt, cpt = opened.recommender.part_rankers.values()
    assert (len(igt.kept[opened.graph]), cpt.kept) == (2, {})
    for number in range(1, 40):
        found = post(
            api, "recommend", graph="rg", history=[1, 2], weights={"igt": number, "cpt": 1}, prepared_only=True
        )
        assert found["used"] == []
    again = opened.get_recommender("igt", None, True)
    assert len(again.find_missing(range(5))) == 3
    assert opened.get_recommender("igt", None, True) is again


def test_similar_nodes_are_recommended_to_who_visited_one(api):
    expected = cg.recommend(cg.toys.cycle(), [3], 2)
    found = api.get("/api/v1/graphs/toy:cycle/similar", params={"node": "3", "k": 2}).json()
    assert {each["node"]: each["score"] for each in found["recommendations"]} == pytest.approx(dict(expected))
    assert "'music'" in get_error(api.get(f"/api/v1/graphs/{LIBRARY}/similar", params={"node": "musik"}), 422)


def test_last_500_nodes_of_a_history_count_and_no_visited_one_is_recommended(tmp_path):
    graph = cg.generate("ba", nodes=700, seed=0)
    cg.write_graph(graph, tmp_path / "ba.safetensors")
    history = [*range(600), *["unknown"] * 600]
    with open_client(graphs={"long": tmp_path / "ba.safetensors"}) as api:
        for settings in ({}, {"alpha": 0.5}):
            (user,) = post(api, "recommend", graph="long", histories=[history], k=100, **settings)["users"]
            assert user["history"] == list(range(100, 600))
            assert {each["node"] for each in user["recommendations"]} == set(range(600, 700))
        assert post(api, "rank", graph="long", history=list(range(600)))["history"] == list(range(100, 600))


def test_prepared_only_lists_used_nodes(api):
    graph, settings = cg.generate("ws", nodes=50, seed=3), {"graph": "ws", "k": 50, "candidates": "history"}
    recommender = api.app.state.service.graphs.open("ws").recommender
    none = post(api, "recommend", history=[3, 7], prepared_only=True, **settings)
    pagerank = cg.recommend(graph, [3, 7], 50, candidates="history", ranker="pagerank")
    assert none["used"] == []
    assert [each["node"] for each in none["recommendations"]] == [node for node, _ in pagerank]
    assert recommender.num_prepared == 0
    recommender.prepare([3])
    some = post(api, "recommend", history=[3, 7], prepared_only=True, **settings)
    assert some["used"] == [3]
    assert {3, 7}.isdisjoint(each["node"] for each in some["recommendations"])
    assert some != none
    recommender.prepare([7])
    every = post(api, "recommend", history=[3, 7], prepared_only=True, **settings)
    assert every.pop("used") == [3, 7]
    assert every == post(api, "recommend", history=[3, 7], **settings)


def _to_lists(value: Any) -> Any:
    return [_to_lists(each) for each in value] if isinstance(value, (list, tuple)) else value


def test_labels_are_text_or_numbers(api):
    assert post(api, "measure", graph="toy:cycle", walk=["0", 1, "2"])["node"] == [0, 1, 2]
    assert post(api, "explore", graph="toy:grid", start="(0, 0)", steps=2)["nodes"][0] == "(0, 0)"
    assert encode_label("\ud800") == "?"
    assert encode_label(float("nan")) == "nan"
    mixed = LabelIndex(cg.Graph.from_edges([("7", 7), (7, 2**60)]))
    assert mixed.walk(["7", 7, str(2**60)]) == ["7", 7, 2**60]


def test_search_order():
    rng = np.random.default_rng(1)
    words = sorted({"".join(rng.choice(list("abAB\xdf"), rng.integers(1, 7))) for _ in range(400)})
    graph = cg.Graph.from_edges([(words[0], word) for word in words[1:]], nodes=words)

    def order(word: str) -> Any:
        return not word.casefold().startswith(text), len(word.casefold()), word.casefold()

    for text, limit in (("", 5), ("a", 3), ("ab", 20), ("bba", 50), ("ss", 7), ("none", 3)):
        result = json.loads(search_nodes(OpenGraph(graph), text.upper(), limit))["nodes"]
        expected = sorted((word for word in words if text in word.casefold()), key=order)[:limit]
        assert list(map(order, result)) == list(map(order, expected))


@pytest.mark.parametrize(
    ("what", "body", "status", "message"),
    [
        ("measure", {"graph": "nope", "walk": ["a"]}, 404, "no graph 'nope'; GET /api/v1/graphs lists all."),
        ("measure", {"graph": LIBRARY, "walk": [None]}, 422, "walk.0: Input should be text or a number; it is None."),
        ("measure", {f"field{i}": i for i in range(999)}, 422, "999 fields"),
        ("measure", {"graph": LIBRARY, "walk": ["musik"]}, 422, "'music'"),
        ("measure", {"graph": LIBRARY}, 422, "body: give either walk or walks."),
        ("measure", {"graph": LIBRARY, "walk": ["music"] * 501}, 413, "at most 500"),
        ("explore", {"graph": LIBRARY, "agent": "/etc/passwd"}, 422, "no agent"),
        ("explore", {"graph": LIBRARY, "agent": "beam:9999"}, 422, "at most 256"),
        ("explore", {"graph": LIBRARY, "reward": "fun"}, 422, "no reward 'fun'"),
        ("explore", {"graph": LIBRARY, "steps": 501}, 422, "at most 500"),
        ("explore", {"graph": LIBRARY, "start": True}, 422, "start: Input should be text or a number; it is True."),
        ("rank", {"graph": LIBRARY, "k": 1001}, 422, "at most 1,000"),
        ("recommend", {"graph": LIBRARY, "history": ["x"], "histories": [["x"]]}, 422, "either history or histories"),
        ("recommend", {"graph": LIBRARY, "histories": [["musik"]], "unknown": "error"}, 422, "'music'"),
        ("recommend", {"graph": LIBRARY, "history": [], "diversity": 2}, 422, "diversity"),
        ("recommend", {"graph": LIBRARY, "history": [], "ranker": "ease"}, 422, "pagerank:RECENCY, igt, cpt"),
        ("recommend", {"graph": LIBRARY, "history": [], "ranker": "pagerank:2"}, 422, "recency is 2"),
        ("recommend", {"graph": LIBRARY, "history": [], "alpha": 1}, 422, "alpha"),
        ("recommend", {"graph": LIBRARY, "history": [], "weights": {"ease": 1}}, 422, "'ease'"),
        ("recommend", {"graph": LIBRARY, "history": [], "weights": {"igt": 0}}, 422, "not all zero"),
        ("recommend", {"graph": LIBRARY, "history": [], "ranker": "igt", "weights": {}}, 422, "for the mixture"),
        ("recommend", {"graph": LIBRARY, "history": [], "alpha": 0.5, "weights": {"ease": 1}}, 422, "'ease'"),
        ("look", {"graph": LIBRARY, "walk": ["music", "music"]}, 422, "twice"),
        ("look", {"graph": LIBRARY, "walk": ["m" * 501]}, 422, "walk.0: String should have at most 500 characters"),
    ],
)
def test_bad_requests(api, what, body, status, message):
    assert message in get_error(api.post(f"/api/v1/{what}", json=body), status)


def test_errors_of_http_have_the_same_format(api):
    as_json = {"Content-Type": "application/json"}
    message = get_error(api.post("/api/v1/measure", content=b"{nonsense", headers=as_json), 422)
    assert "not valid JSON at character 1" in message
    for content, status in ((b"\xff\xfe", 422), (b"[" * 100_001, 400)):
        get_error(api.post("/api/v1/measure", content=content, headers=as_json), status)
    for path in ("/api/v1/nowhere", "/nowhere", "/api/v1/jobs"):
        assert f"'{path}'" in get_error(api.get(path), 404)
    assert get_error(api.put("/api/v1/measure"), 405) == "'/api/v1/measure' does not support PUT; use POST."
    document = api.put("/api/v1/openapi.json")
    get_error(document, 405)
    assert document.headers["allow"] == "GET, HEAD"


def test_content_type_is_json_or_absent(api):
    body = b'{"graph": "toy:library", "history": ["music"], "k": 1}'
    answer = post(api, "recommend", graph=LIBRARY, history=["music"], k=1)
    assert api.post("/api/v1/recommend", content=body).json() == answer
    as_form = {"Content-Type": "application/x-www-form-urlencoded"}
    get_error(api.post("/api/v1/recommend", content=body, headers=as_form), 422)
    for content in (b"", b"[]"):
        get_error(api.post("/api/v1/recommend", content=content), 422)
