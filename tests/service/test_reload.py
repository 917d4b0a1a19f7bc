"""Hot reload of graphs and prepared nodes."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path

import pytest

import curiograph as cg
from curiograph.service import state
from curiograph.service.graph_store import GraphStore
from curiograph.service.reload import Reloader, load_graph
from support.serving import get_error, open_client, start_server, wait_until

OLD = [("a", "b"), ("b", "c"), ("c", "a")]
NEW = [*OLD, ("a", "d")]


def write_graph(path: Path, edges: list) -> None:
    cg.Graph.from_edges(edges).save(str(path))


def write_parts(path: Path, edges: list) -> None:
    recommender = cg.Recommender(cg.Graph.from_edges(edges))
    recommender.prepare(["a"])
    path.unlink(missing_ok=True)
    recommender.save(path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "items.safetensors"
    write_graph(path, OLD)
    return path


def open_store(file: Path, parts: Path | None = None) -> tuple[GraphStore, Reloader]:
    store = GraphStore(files={"items": file})
    reloader = Reloader(store, {"items": file}, {} if parts is None else {"items": parts})
    store.find("items").opened = load_graph(store, "items", parts)
    return store, reloader


def test_a_changed_file_replaces_the_graph_and_requests_keep_the_old_one(file):
    store, reloader = open_store(file)
    before = store.open("items")
    assert reloader.reload() == {"reloaded": [], "failed": [], "unchanged": ["items"]}
    assert store.open("items") is before
    write_graph(file, NEW)
    assert reloader.reload() == {"reloaded": ["items"], "failed": [], "unchanged": []}
    assert (before.graph.num_nodes, store.open("items").graph.num_nodes) == (3, 4)
    assert before.recommender.recommend(["a"], candidates="last")  # a request in progress
    assert reloader.reload()["unchanged"] == ["items"]


def test_a_broken_file_keeps_the_old_graph_and_logs_one_sentence(file, caplog):
    store, reloader = open_store(file)
    before = store.open("items")
    for breaks in (lambda: os.replace(_write(file.with_suffix(".new"), b"broken"), file), file.unlink):
        breaks()
        with caplog.at_level(logging.ERROR):
            assert reloader.reload()["failed"] == ["items"]
            reloader.poll()
            assert reloader.poll() == []  # not tried again until it changes
        assert store.open("items") is before
        (record,) = caplog.records
        assert "the graph items was not reloaded, and the old one stays:" in record.getMessage()
        assert record.exc_info is None
        caplog.clear()
    write_graph(file, NEW)
    assert reloader.reload()["reloaded"] == ["items"]


def _write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_polling_waits_until_a_file_is_complete(file):
    store, reloader = open_store(file)
    assert reloader.poll() == []
    write_graph(file, NEW)
    assert reloader.poll() == []  # it may still be written
    assert reloader.poll() == ["items"]
    assert reloader.poll() == []
    assert store.open("items").graph.num_nodes == 4


def test_graph_and_prepared_nodes_are_replaced_together(file, tmp_path, caplog):
    parts = tmp_path / "parts.safetensors"
    write_parts(parts, OLD)
    store, reloader = open_store(file, parts)
    assert store.open("items").recommender.num_prepared > 0
    write_graph(file, NEW)
    assert reloader.reload()["failed"] == ["items"]  # the prepared nodes belong to the old graph
    assert "give the name of a new file" in caplog.text
    assert store.open("items").graph.num_nodes == 3
    write_parts(parts, NEW)
    assert reloader.reload()["reloaded"] == ["items"]
    opened = store.open("items")
    assert opened.graph.num_nodes == 4
    assert opened.recommender.num_prepared > 0


def test_watching_goes_on_after_an_unexpected_error(file, monkeypatch, caplog):
    monkeypatch.setattr(state, "_WATCH_SECONDS", 0.01)
    store, reloader = open_store(file)
    polls: list[int] = []
    monkeypatch.setattr(reloader, "poll", lambda: (polls.append(1), 1 / 0))
    with open_client(graphs=store, reloader=reloader):
        wait_until(lambda: len(polls) > 1)
    assert "ZeroDivisionError" in caplog.text


def test_reload_over_http_needs_a_token(file, monkeypatch):
    monkeypatch.setattr(state, "_WATCH_SECONDS", 0.02)
    store, reloader = open_store(file)
    with open_client(graphs=store, reloader=reloader) as client:
        assert "needs a service with a token" in get_error(client.post("/api/v1/reload"), 403)
        write_graph(file, NEW)  # found by watching
        wait_until(lambda: client.get("/api/v1/graphs/items").json()["nodes"] == 4)
    monkeypatch.setattr(state, "_WATCH_SECONDS", 1000)
    with open_client(token="secret", graphs=store, reloader=reloader) as client:
        get_error(client.post("/api/v1/reload"), 401)
        client.headers["Authorization"] = "Bearer secret"
        write_graph(file, OLD)
        assert client.post("/api/v1/reload").json() == {"reloaded": ["items"], "failed": [], "unchanged": []}
        assert client.get("/api/v1/graphs/items").json()["nodes"] == 3


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs SIGHUP")
@pytest.mark.long
def test_reload_by_signal(file):
    import json
    from urllib.request import urlopen

    with start_server("--graph", f"items={file}") as (address, process):
        write_graph(file, NEW)
        process.send_signal(signal.SIGHUP)

        def count_nodes() -> int:
            with urlopen(f"{address}/api/v1/graphs/items") as response:
                return int(json.load(response)["nodes"])

        wait_until(lambda: count_nodes() == 4)
        assert process.poll() is None
