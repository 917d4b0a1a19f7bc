"""`curiograph serve` as a process: start, errors, graceful shutdown."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
import yaml

import curiograph as cg
from curiograph.service.server import open_socket
from support.serving import WITHOUT_PRIVILEGES, start_server, wait_until


def test_serve_and_shut_down_gracefully(tmp_path: Path):
    graph, parts = tmp_path / "mine.safetensors", tmp_path / "parts.safetensors"
    cg.write_graph(cg.toys.library(), graph)
    recommender = cg.Recommender(cg.toys.library())
    recommender.prepare(["music", "logic"], file=parts)
    options = ("--graph", f"mine={graph}", "--parts", f"mine={parts}")
    with start_server(*options) as (address, process):
        body = {"graph": "mine", "history": ["music", "logic"], "k": 2}
        top = _read(_post(f"{address}/api/v1/recommend", body))["recommendations"]
        assert [(each["node"], each["score"]) for each in top] == recommender.recommend(["music", "logic"], 2)
        for method, path, status in (
            ("GET", "/api/v1/nowhere", 404),
            ("GET", "/api", 404),
            ("GET", "/docs", 404),
            ("GET", "/openapi.json", 404),
            ("PUT", "/api/v1/measure", 405),
            ("POST", "/healthz", 405),
        ):  # otherwise the page would answer with HTML
            with pytest.raises(HTTPError) as refused:
                urlopen(Request(f"{address}{path}", method=method))
            assert (refused.value.code, list(json.load(refused.value))) == (status, ["error"])
        assert refused.value.headers["Allow"] == "GET, HEAD"
        slow = {"graph": "er", "agent": "beam", "reward": "cpt", "start": 0, "steps": 14}
        responses: list[Any] = []
        waiting = threading.Thread(target=lambda: responses.append(_read(_post(f"{address}/api/v1/explore", slow))))
        waiting.start()
        wait_until(lambda: _is_open(address, "er"))  # the request is in progress
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        waiting.join()
        assert len(responses[0]["nodes"]) == 14
        assert "Traceback" not in (process.stderr.read() if process.stderr else "")


def test_responses_are_sent_without_delay():
    async def accept() -> int:
        options: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def keep_option(_: Any, writer: asyncio.StreamWriter) -> None:
            connection = writer.get_extra_info("socket")
            options.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        bound = open_socket("127.0.0.1", 0)
        async with await asyncio.start_server(keep_option, sock=bound):
            with socket.create_connection(bound.getsockname()):
                return await options

    assert asyncio.run(accept()) != 0


@pytest.mark.skipif(WITHOUT_PRIVILEGES != () and shutil.which("setpriv") is None, reason="needs setpriv")
def test_command_of_compose_and_nightly_batch_start_from_a_folder_that_cannot_be_written_to(tmp_path: Path):
    compose = yaml.safe_load((Path(__file__).parents[2] / "compose.yml").read_text())
    program, *options = compose["services"]["curiograph"]["command"]
    data, token = tmp_path / "data", "a secret of ours"
    data.mkdir()
    graph, parts, log = (data / name for name in ("items.safetensors", "parts.safetensors", "users.csv"))
    cg.write_graph(cg.toys.library(), graph)
    recommender = cg.Recommender(cg.toys.library())
    recommender.prepare(file=parts)
    log.write_text("user,item\n1,music\n1,logic\n")
    data.chmod(0o555)
    options = [each.replace("/data/", f"{data}/") for each in options if each != "--port=8000"]
    with start_server(*options, token=token, prefix=WITHOUT_PRIVILEGES) as (address, _):
        assert program == "serve"
        url = f"http://127.0.0.1:{urlsplit(address).port}/api/v1/recommend"
        request = _post(url, {"graph": "items", "history": ["music"]})
        request.add_header("Authorization", f"Bearer {token}")
        found = _read(request)["recommendations"]
        assert [(each["node"], each["score"]) for each in found] == recommender.recommend(["music"])
    out = tmp_path / "top.csv"
    batch = ("recommend", graph, "--parts", parts, "--histories", log, "--out", out)
    subprocess.run([*WITHOUT_PRIVILEGES, sys.executable, "-m", "curiograph", *map(str, batch)], check=True)
    assert len(out.read_text().splitlines()) == 11
    assert sorted(data.iterdir()) == [graph, parts, log]


def _post(url: str, body: Any) -> Request:
    return Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})


def _is_open(address: str, graph_id: str) -> bool:
    graphs = _read(Request(f"{address}/api/v1/graphs"))["graphs"]
    return any(graph["id"] == graph_id and graph["nodes"] is not None for graph in graphs)


def _read(request: Request) -> Any:
    with urlopen(request) as response:
        return json.load(response)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "0.0.0.0"], "--token"),
        (["--host", "no.such.host.invalid", "--token", "x" * 16], "cannot serve on"),
        (["--token", " "], "the token has 0 characters"),
        (["--token", "x" * 16, "--no-token"], "leave one of them out"),
        (["--root-path", "curiograph"], "--root-path is 'curiograph'"),
        (["--store", __file__], "--store"),
        (["--graph", f"rg={__file__}"], "a graph 'rg' already"),
        (["--graph", "mine"], "--graph is 'mine'"),
        (["--graph", "mine=nowhere.csv"], "no such file"),
        (["--parts", "toy:library=nowhere.safetensors"], "no such file"),
        (["--parts", f"mine={__file__}"], "the graph 'mine'; the graphs are toy:"),
        (["--graph", f"mine={__file__}"], "test_server.py"),
    ],
)
def test_invalid_options(run, monkeypatch, arguments, message):
    monkeypatch.delenv("CURIOGRAPH_TOKEN", raising=False)
    result = run("serve", "--port", "0", *arguments)
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert message in result.err
