"""Hot reload of graphs and prepared nodes."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

import curiograph as cg
from curiograph.service.server_settings import ServiceSettings
from curiograph.service.store import GraphStore
from support.serving import get_error, open_client, wait_until

OLD = [("a", "b"), ("b", "c"), ("c", "a")]
NEW = [*OLD, ("a", "d")]
ENDS = (".safetensors", "-parts.safetensors")
"""Ends of the names of a graph and its parts."""


def write_graph(path: Path, edges: list) -> None:
    cg.write_graph(cg.Graph.from_edges(edges), path)


def write_parts(path: Path, edges: list) -> None:
    recommender = cg.Recommender(cg.Graph.from_edges(edges))
    path.unlink(missing_ok=True)
    recommender.prepare(["a"], file=path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "items.safetensors"
    write_graph(path, OLD)
    return path


def open_store(file: Path, parts: Path | None = None) -> GraphStore:
    store = GraphStore(ServiceSettings(graphs={"items": file}, parts={} if parts is None else {"items": parts}))
    store.open_files()
    return store


def test_a_changed_file_replaces_the_graph_and_requests_keep_the_old_one(file):
    store = open_store(file)
    before = store.open("items")
    assert store.reload() == {"reloaded": [], "failed": [], "unchanged": ["items"]}
    assert store.open("items") is before
    write_graph(file, NEW)
    assert store.reload() == {"reloaded": ["items"], "failed": [], "unchanged": []}
    assert (before.graph.num_nodes, store.open("items").graph.num_nodes) == (3, 4)
    assert before.recommender.recommend(["a"], candidates="last")  # a request in progress
    assert store.reload()["unchanged"] == ["items"]


def test_a_broken_file_keeps_the_old_graph_and_logs_one_sentence(file, caplog):
    store = open_store(file)
    before = store.open("items")
    new = file.with_suffix(".new")
    new.write_bytes(b"broken")
    for breaks in (lambda: new.replace(file), file.unlink):
        breaks()
        with caplog.at_level(logging.ERROR):
            assert store.reload()["failed"] == ["items"]
            store.reload(poll=True)
            store.reload(poll=True)  # not tried again until it changes
        assert store.open("items") is before
        (record,) = caplog.records
        assert "the graph items was not reloaded, and the old one stays:" in record.getMessage()
        assert record.exc_info is None
        caplog.clear()
    write_graph(file, NEW)
    assert store.reload()["reloaded"] == ["items"]


def test_polling_waits_until_a_file_is_complete(file):
    store = open_store(file)
    write_graph(file, NEW)
    store.reload(poll=True)
    assert store.open("items").graph.num_nodes == 3  # it may still be written
    store.reload(poll=True)
    opened = store.open("items")
    assert opened.graph.num_nodes == 4
    store.reload(poll=True)
    assert store.open("items") is opened


def test_graph_and_prepared_nodes_are_replaced_together(file, tmp_path, caplog):
    parts = tmp_path / "parts.safetensors"
    write_parts(parts, OLD)
    store = open_store(file, parts)
    assert store.open("items").recommender.num_prepared > 0
    write_graph(file, NEW)
    assert store.reload()["failed"] == ["items"]  # the prepared nodes belong to the old graph
    assert "items" in caplog.text
    assert store.open("items").graph.num_nodes == 3
    write_parts(parts, NEW)
    assert store.reload()["reloaded"] == ["items"]
    opened = store.open("items")
    assert opened.graph.num_nodes == 4
    assert opened.recommender.num_prepared > 0


@pytest.mark.parametrize(
    "settings",
    [
        {"ranker": "mixture"},
        {"ranker": "mixture", "weights": {"pagerank": 1}},  # without the other components
        {"ranker": "pagerank"},
        {"ranker": "pagerank:0.7"},
    ],
)
def test_ranker_and_alpha_of_the_prepared_nodes_are_the_default(settings, file, tmp_path):
    settings = settings | {"alpha": 0.4}
    parts, recommender = tmp_path / "parts.safetensors", cg.Recommender(cg.Graph.from_edges(OLD), **settings)
    recommender.prepare(file=parts)
    with open_client(graphs={"items": file}, parts={"items": parts}) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200)
        for body in (
            {},
            {"alpha": 0.4},
            {"alpha": 0.85},
            {"ranker": "pagerank"},
            {"ranker": "igt"},
            {"ranker": "mixture"},
        ):
            found = client.post("/api/v1/recommend", json={"graph": "items", "history": ["a", "b"], **body}).json()
            wanted = settings | body if body.keys() <= {"alpha"} else {"alpha": 0.4} | body
            expected = cg.recommend(recommender.graph, ["a", "b"], **wanted)
            assert {each["node"]: each["score"] for each in found["recommendations"]} == pytest.approx(dict(expected))
        assert client.app.state.service.graphs.open("items").recommender.num_prepared == recommender.num_prepared


def make_catalog(folder: Path, name: str, size: int) -> cg.Recommender:
    """Write a graph of items with this name, and its parts."""
    edges = [(f"{name} {number}", f"{name} {number % 7}") for number in range(7, size)]
    recommender = cg.Recommender(cg.Graph.from_edges(edges))
    recommender.prepare()  # in memory: the file will be overwritten
    cg.write_graph(recommender.graph, folder / f"{name}{ENDS[0]}")
    cg.Recommender(recommender.graph).prepare(file=folder / f"{name}{ENDS[1]}")
    return recommender


@pytest.mark.parametrize(
    "change",
    [shutil.copyfile, lambda source, target: target.write_bytes(b"short"), lambda source, target: target.unlink()],
)
def test_what_is_done_to_a_file_does_not_change_what_is_served(tmp_path, change):
    old, _ = make_catalog(tmp_path, "old", 60), make_catalog(tmp_path, "new", 40)
    files = [tmp_path / f"old{end}" for end in ENDS]
    opened = open_store(*files).open("items")
    for file, end in zip(files, ENDS, strict=True):
        change(tmp_path / f"new{end}", file)
    assert all(label.startswith("old") for label in opened.graph.names)
    assert opened.recommender.recommend(["old 9", "old 50"]) == old.recommend(["old 9", "old 50"])
    assert opened.recommender.num_prepared == old.num_prepared


def test_copying_over_served_files_during_requests(tmp_path):
    expected = {name: make_catalog(tmp_path, name, size) for name, size in (("old", 90), ("new", 40))}
    file, parts = (shutil.copyfile(tmp_path / f"old{end}", tmp_path / f"items{end}") for end in ENDS)

    def read_items() -> str:
        """Check a response; return the name of its catalog."""
        body = {"graph": "items", "histories": [["old 9", "old 10", "new 9", "new 10"]]}
        (user,) = client.post("/api/v1/recommend", json=body).json()["users"]
        name = str(user["history"][0].partition(" ")[0])
        found = [(each["node"], each["score"]) for each in user["recommendations"]]
        assert found == expected[name].recommend(user["history"])
        return name

    with open_client(graphs={"items": file}, parts={"items": parts}) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200)
        for before, after in (("old", "new"), ("new", "old")):
            for target, end in ((file, ENDS[0]), (parts, ENDS[1])):
                shutil.copyfile(tmp_path / f"{after}{end}", target)  # not atomic
                assert read_items() == before or target == parts
            wait_until(lambda after=after: read_items() == after)


def test_reload_by_watching_and_over_http(file):
    with open_client(graphs={"items": file}) as client:
        assert "token" in get_error(client.post("/api/v1/reload"), 403)
        assert client.get("/api/v1/graphs/items").json()["nodes"] == 3
        write_graph(file, NEW)
        wait_until(lambda: client.get("/api/v1/graphs/items").json()["nodes"] == 4)
    with open_client(token="a secret of ours", graphs={"items": file}) as client:
        get_error(client.post("/api/v1/reload"), 401)
        client.headers["Authorization"] = "Bearer a secret of ours"
        wait_until(lambda: client.get("/readyz").status_code == 200)
        assert client.post("/api/v1/reload").json() == {"reloaded": [], "failed": [], "unchanged": ["items"]}
