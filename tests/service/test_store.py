"""Graphs of the service: uploads, hostile ones too, and files of the server."""

from __future__ import annotations

import asyncio
import gc
import itertools
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import scipy.io

import curiograph as cg
from curiograph.service import state, uploads
from curiograph.service.error_responses import InternalError, ServiceError
from curiograph.service.server_settings import MAX_FILES, MAX_LABEL, MAX_NODES, ServiceSettings
from curiograph.service.state import Service
from curiograph.service.store import GraphStore, OpenGraph
from support.serving import get_error, open_client, wait_until


@pytest.fixture(scope="module")
def api() -> Iterator[Any]:
    with open_client(uploads_per_client=2, upload_bytes=4 * 2**20) as client:
        yield client


def test_upload_use_and_remove(api):
    content = b"\n".join(
        b"%s,%s" % (str(a).encode(), str(b).encode()) for a, b in cg.toys.library().to_networkx().edges
    )
    for response in (
        api.post("/api/v1/graphs", files={"file": ("mine.csv", content)}),
        api.post("/api/v1/graphs?name=mine.csv", content=content),
    ):
        assert response.status_code == 201, response.text
        result = response.json()
        assert (result["title"], result["kind"], result["nodes"]) == ("mine.csv", "upload", 12)
        assert (result["edges"], result["directed"], result["weighted"]) == (18, False, False)
        body = {"graph": result["id"], "walk": ["music", "dance"]}
        assert api.post("/api/v1/measure", json=body).json()["edges"] == [0, 1]
        assert api.get(f"/api/v1/graphs/{result['id']}").json() == result
        assert result["id"] not in api.get("/api/v1/graphs").text  # private to those who have the id
        assert api.delete(f"/api/v1/graphs/{result['id']}").status_code == 204
        get_error(api.get(f"/api/v1/graphs/{result['id']}"), 404)
        get_error(api.post("/api/v1/measure", json=body), 404)
    assert "only uploads" in get_error(api.delete("/api/v1/graphs/toy:library"), 404)


@pytest.mark.parametrize(
    "name", ["../../../etc/cron.d/a.csv", "..\\..\\a.csv", "/home/someone/.ssh/a.csv", "a\0b.csv", "%2e%2e/a.csv"]
)
def test_file_names_like_paths(api, name):
    response = api.post("/api/v1/graphs", params={"name": name}, content=b"a,b\nb,c\n")
    assert response.status_code == 201, response.text
    assert "/" not in response.json()["title"]
    assert response.json()["id"].startswith("upload-")


def test_formats_whose_arrays_kernels_trust_are_refused(api, tmp_path):
    cg.write_graph(cg.toys.library(), tmp_path / "mine.safetensors")
    scipy.io.savemat(tmp_path / "mine.mat", {"A": np.eye(3)[::-1]})
    for path in (tmp_path / "mine.safetensors", tmp_path / "mine.mat"):
        cg.read_graph(path)
        for name in (path.name, path.name.upper()):
            response = api.post("/api/v1/graphs", params={"name": name}, content=path.read_bytes())
            assert f"'{path.suffix}'" in get_error(response, 422)


@pytest.mark.parametrize(
    ("name", "content", "status", "message"),
    [
        ("a.csv", b"\xff\xfea\0,\0b\0", 422, "a.csv"),
        ("a.csv", b"a,\xff\nb,c\n", 422, "a.csv, line 1"),
        ("a.csv", b"", 422, "a.csv"),
        ("a.json", b"{" * 5_000, 422, "a.json"),
        ("a.graphml", b'<!DOCTYPE a [<!ENTITY b "c">]><graphml>&b;</graphml>', 422, "a.graphml"),
        ("a.exe", b"MZ", 422, "extension"),
        ("noending", b"a,b", 422, "extension"),
        ("a.csv", b"".join(b"%d,%d\n" % (n, n + 1) for n in range(MAX_NODES)), 413, "200,001 nodes"),
        ("a.csv", b" " * (4 * 2**20 + 1), 413, "4,194,305 bytes"),
        ("a.csv", b"a,a\n", 422, "edges"),
        ("a.csv", b"a,%b\n" % (b"b" * (MAX_LABEL + 1)), 413, "501 characters"),
        ("a.json", b'{"nodes": [{"id": 1}, {"id": "1"}], "links": [{"source": 1, "target": "1"}]}', 422, "same text"),
        ("", b"a,b\n", 422, "name"),
    ],
)
def test_bad_files(api, name, content, status, message):
    assert message in get_error(api.post("/api/v1/graphs", params={"name": name}, content=content), status)


def hang(folder: Path, *arguments: Any) -> None:
    assert (folder / "body").read_bytes() == b"a,b\n"
    (folder / "read").touch()
    time.sleep(600)


def test_upload_that_is_cancelled_leaves_nothing(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(state, "read_upload", hang)

    async def upload_and_leave() -> None:
        service = Service(ServiceSettings(store=tmp_path))
        upload = asyncio.create_task(service.add_upload(b"a,b\n", "", "a.csv", False, ""))
        await asyncio.to_thread(wait_until, lambda: bool(list(tmp_path.rglob("read"))))
        upload.cancel()
        with pytest.raises(asyncio.CancelledError):
            await upload
        await asyncio.to_thread(wait_until, lambda: not list(tmp_path.iterdir()))
        await asyncio.to_thread(service.workers.stop)

    asyncio.run(upload_and_leave())


def test_upload_of_a_vault(api):
    notes = [
        ("file", ("Vault/a.md", b"[[b]]")),
        ("file", ("Vault/deep/b.md", b"[[a]], [[c]]")),
        ("file", ("Vault/c.md", b"")),
    ]
    info = api.post("/api/v1/graphs", files=notes).json()
    assert (info["title"], info["nodes"]) == ("Vault", 3)


def test_mixed_labels_become_text(api):
    content = b'{"nodes": [{"id": 1}, {"id": "b"}], "links": [{"source": 1, "target": "b"}]}'
    info = api.post("/api/v1/graphs?name=a.json", content=content).json()
    body = {"graph": info["id"], "walk": [1, "b"]}
    assert api.post("/api/v1/measure", json=body).json()["node"] == ["1", "b"]


def test_form_without_a_file(api):
    assert "`file`" in get_error(api.post("/api/v1/graphs", files={"other": ("a.csv", b"a,b")}), 422)
    assert "`file`" in get_error(api.post("/api/v1/graphs", data={"file": "text"}, files={"x": ("a", b"")}), 422)
    for kind, content in (("multipart/form-data; boundary=x", b"nonsense"), ("multipart/form-data", b"")):
        broken = api.post("/api/v1/graphs", content=content, headers={"Content-Type": kind})
        get_error(broken, broken.status_code)
        assert 400 <= broken.status_code < 500


def test_least_recently_used_upload_is_removed(api):
    ids = [api.post("/api/v1/graphs?name=a.csv", content=b"a,b\n").json()["id"] for _ in range(3)]
    assert [api.get(f"/api/v1/graphs/{each}").status_code for each in ids] == [404, 200, 200]


def test_uploads_are_limited_overall_and_per_client(tmp_path: Path):
    store = GraphStore(ServiceSettings(store=tmp_path, uploads=3, uploads_per_client=2))

    def upload(client: str) -> str:
        cg.write_graph(cg.toys.library(), tmp_path / "new.safetensors")
        return store.keep_upload(tmp_path / "new.safetensors", "mine", client).id

    def list_kept(ids: list[str]) -> list[bool]:
        return [(tmp_path / f"{each}.safetensors").exists() for each in ids]

    ids = [upload("a"), upload("a"), upload("b")]
    store.find(ids[0])  # used after the second
    ids.append(upload("a"))
    assert list_kept(ids) == [True, False, True, True]  # the own one is replaced
    ids.append(upload("b"))
    assert list_kept(ids) == [True, False, False, True, True]  # there are three, of which one is its own
    ids.append(upload("c"))
    assert list_kept(ids) == [False, False, False, True, True, True]  # it has none


def test_uploads_survive_a_restart_and_damaged_ones_are_left_out(tmp_path: Path, caplog):
    with open_client(store=tmp_path / "kept") as api:
        ids = [api.post("/api/v1/graphs?name=links.csv", content=b"a,b,2\nb,c,1\n").json()["id"] for _ in range(3)]
    (tmp_path / "kept" / f"{ids[1]}.safetensors").write_bytes(b"damaged")
    (tmp_path / "kept" / f"{ids[2]}.json").write_bytes(b"damaged")
    with open_client(store=tmp_path / "kept") as api:
        wait_until(lambda: api.get("/readyz").status_code == 200)
        info = api.get(f"/api/v1/graphs/{ids[0]}").json()
        assert (info["title"], info["nodes"], info["weighted"]) == ("links.csv", 3, True)
        for damaged in ids[1:]:
            get_error(api.get(f"/api/v1/graphs/{damaged}"), 404)
            assert sum(damaged in message for message in caplog.messages) == 1


def read_notes(path: Path, **settings: Any) -> cg.Graph:
    """Stand in for the reader of folders: a graph of the notes in order, each linked to the next."""
    notes = sorted(str(note.relative_to(path)) for note in path.rglob("*.md"))
    return cg.Graph.from_edges(list(itertools.pairwise(notes)), directed=True)


def send_notes(folder: Path, names: list[str]) -> tuple[str, list[Any]]:
    """Read a form of notes as a worker does; return the title and the labels of its graph."""
    files = [("file", (name, b"# Note")) for name in names]
    request = httpx.Request("POST", "http://localhost", files=files)
    folder.mkdir()
    (folder / "body").write_bytes(request.read().replace(b"<NUL>", b"\0"))
    title = uploads.read_upload(folder, request.headers["Content-Type"], "", False, 2**20)
    return title, cg.read_graph(folder / "graph.safetensors").labels


def test_folder_of_notes(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(uploads, "read_graph", read_notes)
    assert send_notes(tmp_path / "1", ["Vault/a.md", "Vault/b/\xe9.MD", "Vault/c.md"])[0] == "Vault"
    assert send_notes(tmp_path / "2", ["a.md", "b/a.md"]) == ("notes", ["a.md", "b/a.md"])
    many = [f"note{number}.md" for number in range(MAX_FILES + 1)]
    with pytest.raises(ServiceError, match="20000"):
        send_notes(tmp_path / "3", many)


@pytest.mark.parametrize(
    "name",
    [
        "/etc/a.md",
        "../a.md",
        "b/../../a.md",
        "b\\..\\a.md",
        "C:/a.md",
        "b//a.md",
        "a<NUL>.md",
        "A.MD",
        "a.md/b.md",
        "b.exe",
    ],
)
def test_names_of_notes_that_are_refused(tmp_path: Path, monkeypatch, name):
    monkeypatch.setattr(uploads, "read_graph", read_notes)
    with pytest.raises(cg.errors.FileFormatError, match=r"note|written"):
        send_notes(tmp_path / "in", ["a.md", "b/c.md", name])
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert {path.name for path in tmp_path.rglob("*.*")} <= {"a.md", "c.md"}


def test_error_of_a_file_hides_its_path(tmp_path: Path):
    bad = tmp_path / "secret-folder.csv"
    bad.write_bytes(b"")
    with open_client(graphs={"mine": bad}) as api:
        for response in (
            api.get("/api/v1/graphs/mine"),
            api.post("/api/v1/measure", json={"graph": "mine", "walk": ["a"]}),
        ):
            assert "secret-folder" not in get_error(response, 500)
    with pytest.raises(InternalError, match="log"):  # which is what the page shows
        GraphStore(ServiceSettings(graphs={"mine": bad})).open("mine")


def test_graph_is_read_once(tmp_path: Path):
    cg.write_graph(cg.toys.library(), tmp_path / "mine.safetensors")
    store = GraphStore(ServiceSettings(graphs={"mine": tmp_path / "mine.safetensors"}))
    assert store.find("mine").opened is None
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(lambda _: store.open("mine"), range(4)))
    assert all(each is opened[0] for each in opened)


def test_copies_for_processes_are_deleted_with_the_graph():
    opened = OpenGraph(cg.toys.grid())
    copy = opened.write_copy()
    assert opened.write_copy() == copy
    assert copy.is_file()
    del opened
    gc.collect()
    assert not copy.parent.exists()
