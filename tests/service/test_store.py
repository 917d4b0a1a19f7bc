"""Graphs of the service: uploads, hostile ones too, and files of the server."""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

import curiograph as cg
from curiograph.service import state
from curiograph.service.error_responses import InternalError
from curiograph.service.server_settings import MAX_NODES, ServiceSettings
from curiograph.service.state import Service
from curiograph.service.store import GraphStore, OpenGraph
from support.serving import get_error, open_client, wait_until


@pytest.fixture(scope="module")
def api() -> Iterator[Any]:
    with open_client(uploads=2, upload_bytes=4 * 2**20) as client:
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
        body = {"graph": result["id"], "walk": ["music", "dance"]}
        assert api.post("/api/v1/measure", json=body).json()["edges"] == [0, 1]
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
        ("", b"a,b\n", 422, "name"),
    ],
)
def test_bad_files(api, name, content, status, message):
    assert message in get_error(api.post("/api/v1/graphs", params={"name": name}, content=content), status)


def hang(path: Path, *arguments: Any) -> None:
    assert path.read_bytes() == b"a,b\n"
    path.with_suffix(".read").touch()
    time.sleep(600)


def test_upload_that_is_cancelled_leaves_nothing(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(state, "read_upload", hang)

    async def upload_and_leave() -> None:
        service = Service(ServiceSettings())
        await service.workers.start()  # multiprocessing has a temporary folder of its own
        before = service.graphs.list_graphs()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        upload = asyncio.create_task(service.add_upload("a.csv", b"a,b\n", False))
        await asyncio.to_thread(wait_until, lambda: bool(list(tmp_path.rglob("*.read"))))
        assert len(list(tmp_path.rglob("*.csv"))) == 1
        upload.cancel()
        with pytest.raises(asyncio.CancelledError):
            await upload
        assert list(tmp_path.iterdir()) == []
        assert service.graphs.list_graphs() == before
        await asyncio.to_thread(service.workers.stop)

    asyncio.run(upload_and_leave())


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
