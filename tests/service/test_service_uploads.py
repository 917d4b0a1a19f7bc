"""Uploads: friendly ones are read, hostile ones get one sentence, and no name reaches the file system."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import curiograph as cg
from curiograph.service.app import create_app
from curiograph.service.config import Limits
from curiograph.service.graph_store import GraphStore, UnreadableGraphError
from support.serving import TestClient, client, error_of


@pytest.fixture(scope="module")
def api() -> Iterator[Any]:
    with client(Limits(nodes=100, edges=200, uploads=2, upload_bytes=100_000)) as found:
        yield found


def test_a_graph_is_uploaded_used_and_removed(api, tmp_path):
    cg.toys.library().save(str(tmp_path / "mine.npz"))
    content = (tmp_path / "mine.npz").read_bytes()
    for answer in (
        api.post("/api/v1/graphs", files={"file": ("mine.npz", content)}),
        api.post("/api/v1/graphs?name=mine.npz", content=content),
    ):
        assert answer.status_code == 201, answer.text
        found = answer.json()
        assert (found["title"], found["kind"], found["nodes"]) == ("mine.npz", "upload", 12)
        body = {"graph": found["id"], "walk": ["music", "dance"]}
        assert api.post("/api/v1/measure", json=body).json()["edges"] == [0, 1]
        assert api.delete(f"/api/v1/graphs/{found['id']}").status_code == 204
        error_of(api.get(f"/api/v1/graphs/{found['id']}"), 404)
        error_of(api.post("/api/v1/measure", json=body), 404)
    assert "only uploads" in error_of(api.delete("/api/v1/graphs/toy:library"), 404)


def test_labels_come_back_as_they_are_as_json(api):
    hostile = "<script>alert(1)</script>"
    made = api.post("/api/v1/graphs?name=a.tsv", content=f'{hostile}\té"\n'.encode())
    answer = api.post("/api/v1/measure", json={"graph": made.json()["id"], "walk": [hostile, 'é"']})
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.json()["node"] == [hostile, 'é"']
    unknown = api.post("/api/v1/measure", json={"graph": made.json()["id"], "walk": ["<img>"]})
    assert unknown.headers["content-type"].startswith("application/json")


@pytest.mark.parametrize(
    "name", ["../../../etc/cron.d/a.csv", "..\\..\\a.csv", "/home/someone/.ssh/a.csv", "a\0b.csv", "%2e%2e/a.csv"]
)
def test_names_like_paths_reach_no_path(api, name):
    answer = api.post("/api/v1/graphs", params={"name": name}, content=b"a,b\nb,c\n")
    assert answer.status_code == 201, answer.text
    assert "/" not in answer.json()["title"]
    assert answer.json()["id"].startswith("upload-")


def _bomb() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("indptr.npy", b"\0" * 50_000_000)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "status", "message"),
    [
        ("a.csv", b"\xff\xfea\0,\0b\0", 422, "a.csv"),
        ("a.csv", b"a,\xff\nb,c\n", 422, "a.csv, line 1"),
        ("a.csv", b"", 422, "a.csv"),
        ("a.npz", _bomb(), 422, "a.npz"),
        ("a.npz", b"PK\x03\x04nonsense", 422, "a.npz"),
        ("a.json", b"{" * 5_000, 422, "a.json"),
        ("a.graphml", b'<!DOCTYPE a [<!ENTITY b "c">]><graphml>&b;</graphml>', 422, "a.graphml"),
        ("a.exe", b"MZ", 422, "ending"),
        ("noending", b"a,b", 422, "ending"),
        ("a.csv", b"".join(b"%d,%d\n" % (n, n + 1) for n in range(120)), 413, "nodes"),
        ("a.csv", b"".join(b"%d,%d\n" % (a, b) for a in range(25) for b in range(a)), 413, "edges"),
        ("a.csv", b"a,a\n", 422, "edges"),
        ("", b"a,b\n", 422, "name"),
    ],
)
def test_bad_files_get_one_sentence(api, name, content, status, message):
    assert message in error_of(api.post("/api/v1/graphs", params={"name": name}, content=content), status)


def test_a_form_without_a_file_is_refused(api):
    assert "`file`" in error_of(api.post("/api/v1/graphs", files={"other": ("a.csv", b"a,b")}), 422)
    assert "`file`" in error_of(api.post("/api/v1/graphs", data={"file": "text"}, files={"x": ("a", b"")}), 422)
    for kind, content in (("multipart/form-data; boundary=x", b"nonsense"), ("multipart/form-data", b"")):
        broken = api.post("/api/v1/graphs", content=content, headers={"Content-Type": kind})
        error_of(broken, broken.status_code)
        assert 400 <= broken.status_code < 500


def test_old_uploads_make_room_for_new_ones(api):
    ids = [api.post("/api/v1/graphs?name=a.csv", content=b"a,b\n").json()["id"] for _ in range(3)]
    assert [api.get(f"/api/v1/graphs/{each}").status_code for each in ids] == [404, 200, 200]


def test_a_file_of_the_host_that_cannot_be_read_keeps_its_path_to_itself(tmp_path: Path):
    bad = tmp_path / "secret-folder.csv"
    bad.write_bytes(b"")
    app = create_app(GraphStore(Limits(), {"mine": bad}), Limits(), warm=lambda: None)
    with TestClient(app, base_url="http://127.0.0.1") as api:
        for answer in (
            api.get("/api/v1/graphs/mine"),
            api.post("/api/v1/measure", json={"graph": "mine", "walk": ["a"]}),
        ):
            assert "secret-folder" not in error_of(answer, 500)
    with pytest.raises(UnreadableGraphError, match="the server's log says why"):  # which is what the page shows
        GraphStore(Limits(), {"mine": bad}).labels("mine")


def test_a_graph_without_edges_is_measured_and_otherwise_refused_in_the_librarys_words(tmp_path: Path):
    bare = tmp_path / "bare.npz"
    cg.Graph.from_edges([], nodes=["a", "b"]).save(str(bare))
    app = create_app(GraphStore(Limits(), {"bare": bare}), Limits(), warm=lambda: None)
    with TestClient(app, base_url="http://127.0.0.1") as api:
        found = api.post("/api/v1/measure", json={"graph": "bare", "walk": ["a", "b"]})
        assert found.json()["beta0"] == [1, 2]
        for what, body in (("recommend", {"history": ["a"]}), ("explore", {}), ("predict", {"history": ["a"]})):
            assert "no edges" in error_of(api.post(f"/api/v1/{what}", json={"graph": "bare", **body}), 422)


def test_an_upload_that_is_removed_while_it_is_used_is_unknown(monkeypatch):
    shelf = GraphStore()
    name = shelf.add("a.csv", b"a,b\n").id
    assert shelf.labels(name) is shelf.labels(name)
    read = shelf.graph

    def removed(wanted: str) -> Any:
        graph = read(wanted)
        shelf.remove(wanted)
        return graph

    monkeypatch.setattr(shelf, "graph", removed)
    with pytest.raises(cg.UnknownNameError):
        shelf.entry(name)
    again = shelf.add("a.csv", b"a,b\n").id
    assert shelf.labels(again).walk(["a"]) == ["a"]
    assert not shelf._labels
