"""Measure the service: recommendations under load, with all nodes prepared, and light requests next to heavy and
hostile ones. The server is a process of its own; wrk sends the load from the same machine."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import numpy as np
import pandas as pd
import psutil

import curiograph as cg
from benchmarks.graphs import create_preferential_graph, read_or_create_graph
from benchmarks.hostile_requests import MEGABYTE, create_bodies, create_heads, create_uploads
from benchmarks.rows import measure_memory, run_command
from curiograph.progress import Progress

CONNECTIONS = 32
CASES = (("last", False, 1_000), ("all", False, 1_000), ("last", True, 1_000))
"""Candidates, whether reasons are requested, and the recommendations per second to reach."""
POWER_LAW = {5_000: 1_500, 30_000: 800, 100_000: 400}
"""Recommendations per second to reach, with all nodes as candidates, on power-law graphs of this size or smaller."""
_LINKS = 10
"""Links that each node of these graphs adds."""
HEAVY = {"graph": "load", "agent": "beam:256", "reward": "igt", "steps": 60}
NUM_HEAVY, BATCH = 12, 1_000
NUM_VISITS = 100
_NUM_BODIES = 5_000
_SCRIPT = """\
local bodies = {}
for line in io.lines(os.getenv("CURIOGRAPH_BODIES")) do bodies[#bodies + 1] = line end
local next = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
function request()
  next = next % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[next])
end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '\\nRESULT {"requests": %d, "microseconds": %d, "p50": %d, "p99": %d, "max": %d, "errors": %d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max,
    e.connect + e.read + e.write + e.status + e.timeout))
end
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--graph", type=Path, help="graph file (default: Wikispeedia)")
    parser.add_argument("--seconds", type=int, default=10, help="duration of each load (default: 10)")
    parser.add_argument("--runs", type=int, default=3, help="loads in a row, of which the slowest counts (default: 3)")
    parser.add_argument("--nodes", type=int, nargs="*", default=list(POWER_LAW), help="sizes of power-law graphs")
    run_command(parser, arguments, run)


def run(args: Namespace, progress: Progress) -> Iterator[tuple[dict[str, Any], dict[str, pd.DataFrame]]]:
    """Prepare all nodes of each graph, and measure the server with them."""
    wrk = shutil.which("wrk")
    if wrk is None:
        raise cg.SettingError("the load comes from wrk, which is not installed: apt install wrk.")
    name, graph = (args.graph.name, cg.read_graph(args.graph)) if args.graph else read_or_create_graph(args.seed)
    cases: Sequence[tuple[str, bool, int]] = CASES
    loads: list[dict[str, Any]] = []
    checks: list[dict[str, Any]] = []
    for size in [None, *args.nodes]:
        if size is not None:
            target = next((rate for most, rate in POWER_LAW.items() if size <= most), 0)
            name, graph = f"power law, {size:,} nodes", create_preferential_graph(size, _LINKS, args.seed)
            cases = (("all", False, target),)
        with tempfile.TemporaryDirectory() as folder:
            server = prepare_server(graph, Path(folder), progress)
            for candidates, reasons, target in cases:
                bodies = _create_bodies(graph, candidates, reasons, args.seed)
                with server() as (address, pid):
                    send(address, "POST", "/api/v1/recommend", bodies[0].encode())  # everything is in place before
                    runs = []
                    for number in range(args.runs):
                        progress(f"{args.seconds} s of load, candidates {candidates}", number / args.runs)
                        runs.append(_run_wrk(wrk, Path(folder), address, bodies, args.seconds, pid))
                load = {"graph": name, "candidates": candidates, "reasons": reasons, "connections": CONNECTIONS}
                loads.append(load | summarize_runs(runs, target))
            labels = [graph.label(int(v)) for v in np.flatnonzero(graph.degrees)]
            with server() as (address, pid):
                if size is None:
                    checks += measure_light(address, pid, labels, args.seconds, progress)
                else:
                    checks.append(measure_small(address, name, labels, args.seconds))
    with run_server() as (address, pid):
        checks += measure_visits(address, pid)
    with run_server("--seconds", "5") as (address, _):
        checks.append(measure_hostile(address, progress))
    tables = {"ten recommendations": pd.DataFrame(loads), "other clients": pd.DataFrame(checks)}
    yield {"loads": loads, "checks": checks}, tables


def prepare_server(graph: cg.Graph, folder: Path, progress: Progress) -> Callable[[], Any]:
    """Prepare all nodes of a graph; return the function that starts a server with it as `load`."""
    file, parts = folder / "load.safetensors", folder / "parts.safetensors"
    cg.write_graph(graph, file)
    cg.Recommender(graph).prepare(file=parts, progress=progress)
    return partial(run_server, "--graph", f"load={file}", "--parts", f"load={parts}")


@contextmanager
def run_server(*arguments: str) -> Iterator[tuple[str, int]]:
    """Start `curiograph serve`; yield its address and process id once it is ready, and stop it at the end."""
    command = [sys.executable, "-m", "curiograph", "serve", "--port", "0", "--json", "--quiet", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "CURIOGRAPH_TOKEN"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        ready = process.stdout.readline() if process.stdout else ""
        if not ready:
            raise cg.SettingError("the server did not start; see its output above.")
        try:
            yield json.loads(ready)["address"], process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            if process.wait(60) != 0:
                raise cg.SettingError(f"the server ended with exit code {process.returncode}; see its output above.")


def send(address: str, method: str, path: str, body: Any = None) -> tuple[int, float]:
    """Send a request over a connection of its own; return its status and the seconds until it was complete."""
    start, server = time.perf_counter(), urlsplit(address)
    with closing(http.client.HTTPConnection(server.hostname or "", server.port, timeout=120)) as connection:
        status, _ = _exchange(connection, method, path, body)
        return status, time.perf_counter() - start


def _exchange(connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
    """Send a request; return the status and the content of the response, which may be compressed."""
    content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Accept-Encoding": "gzip"} | ({} if body is None else {"Content-Type": "application/json"})
    connection.request(method, path, content, headers)
    with connection.getresponse() as response:
        return response.status, response.read()


# ---- load -----------------------------------------------------------------------------------------------------------


def _create_bodies(graph: cg.Graph, candidates: str, reasons: bool, seed: int) -> list[str]:
    """Create request bodies with random histories of 3 to 8 nodes."""
    rng = np.random.default_rng(seed)
    connected, bodies = np.flatnonzero(graph.degrees), []
    for _ in range(_NUM_BODIES):
        history = rng.choice(connected, min(len(connected), int(rng.integers(3, 9))), replace=False)
        labels = [graph.label(int(v)) for v in history]
        bodies.append(json.dumps({"graph": "load", "history": labels, "candidates": candidates, "reasons": reasons}))
    return bodies


def _run_wrk(wrk: str, folder: Path, address: str, bodies: Sequence[str], seconds: int, pid: int) -> dict[str, Any]:
    """Run wrk; return its result, with the bytes of the server second by second, without the files that it maps."""
    script, lines, memory = folder / "load.lua", folder / "bodies.jsonl", []
    script.write_text(_SCRIPT)
    lines.write_text("\n".join(bodies) + "\n")
    url, environment = f"{address}/api/v1/recommend", os.environ | {"CURIOGRAPH_BODIES": str(lines)}
    command = [wrk, "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(script), url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        while process.poll() is None:
            time.sleep(1)
            resident = psutil.Process(pid).memory_info()
            memory.append(resident.rss - resident.shared)
        output = process.stdout.read() if process.stdout else ""
    found = [line.removeprefix("RESULT ") for line in output.splitlines() if line.startswith("RESULT ")]
    if process.returncode != 0 or not found:
        raise cg.SettingError(f"wrk ended with exit code {process.returncode} and no result.")
    return {**json.loads(found[0]), "memory": memory}


def summarize_runs(runs: Sequence[dict[str, Any]], target: int) -> dict[str, Any]:
    """Return the values of the run with the largest p99, and errors and memory of all runs; seconds and bytes."""
    slowest = max(runs, key=lambda run: run["p99"])
    seconds = slowest["microseconds"] / 1e6
    load = {
        "target": target,
        "runs": len(runs),
        "seconds": seconds,
        "requests_per_second": slowest["requests"] / seconds,
        **{name: slowest[name] / 1e6 for name in ("p50", "p99")},
        "slowest": slowest["max"] / 1e6,
        "errors": sum(run["errors"] for run in runs),
        "memory_first": runs[0]["memory"][-1],
        "memory_last": runs[-1]["memory"][-1],
        "memory_max": max(max(run["memory"]) for run in runs),
    }
    is_fast = load["requests_per_second"] >= target and load["p99"] <= 0.1 and load["errors"] == 0
    return load | {"met": is_fast and load["memory_max"] <= 1.05 * load["memory_first"]}


# ---- what one client notices of the others --------------------------------------------------------------------------


def check(name: str, value: float, target: float, unit: str) -> dict[str, Any]:
    """Return a measured value, in seconds or bytes, with its target."""
    return {"name": name, "value": value, "target": target, "unit": unit, "met": value <= target}


@contextmanager
def repeat_in_threads(functions: Sequence[Callable[[], object]]) -> Iterator[None]:
    """Call each function again and again in a thread of its own while the block runs; wait for the last calls."""
    done = threading.Event()

    def repeat(function: Callable[[], object]) -> None:
        while not done.is_set():
            with suppress(OSError, http.client.HTTPException):  # the server may close the connection
                function()

    with ThreadPoolExecutor(len(functions)) as pool:
        calls = [pool.submit(repeat, function) for function in functions]
        try:
            yield
        finally:
            done.set()
    for call in calls:
        call.result()


def draw_batch(labels: list[Any]) -> list[list[Any]]:
    """Draw the histories of a huge batch."""
    rng = np.random.default_rng(0)
    return [[labels[i] for i in rng.integers(0, len(labels), 5)] for _ in range(BATCH)]


def measure_small(address: str, name: str, labels: list[Any], seconds: float) -> dict[str, Any]:
    """Measure recommendations on a small graph while huge batches are answered on the graph `load`."""
    batch, times = {"graph": "load", "histories": draw_batch(labels)}, list[float]()
    with repeat_in_threads([partial(send, address, "POST", "/api/v1/recommend", batch)]):
        time.sleep(seconds / 10)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            body = {"graph": "toy:library", "history": ["music", "physics"]}
            status, took = send(address, "POST", "/api/v1/recommend", body)
            times.append(took if status == 200 else np.inf)
    p99 = float(np.percentile(times, 99))
    return check(f"recommendation on a toy graph next to a batch of {BATCH:,} ({name}), p99", p99, 0.06, "s")


def measure_light(address: str, pid: int, labels: list[Any], seconds: float, progress: Progress) -> list[Any]:
    """Measure light requests while heavy ones and a huge batch run; `labels` are prepared nodes of the graph `load`."""
    histories, answers = draw_batch(labels), list[tuple[int, float]]()

    def send_heavy(path: str, body: Any) -> None:
        answers.append(send(address, "POST", f"/api/v1/{path}", body))

    batch = {"graph": "load", "histories": histories, "k": 300}
    heavy = [*[partial(send_heavy, "explore", HEAVY)] * NUM_HEAVY, partial(send_heavy, "recommend", batch)]
    light = {
        "look": {"graph": "toy:library", "walk": ["music", "physics"]},
        "recommend": {"graph": "load", "history": histories[0], "prepared_only": True},
    }
    times: dict[str, list[float]] = {path: [] for path in light}
    with repeat_in_threads(heavy):
        time.sleep(seconds / 2)  # in which everything is allocated that is allocated once
        before, end = measure_memory(pid), time.monotonic() + seconds
        while time.monotonic() < end:
            progress("light requests next to heavy ones", 1 - (end - time.monotonic()) / seconds)
            for path, body in light.items():
                status, took = send(address, "POST", f"/api/v1/{path}", body)
                times[path].append(took if status == 200 else np.inf)
        growth = measure_memory(pid) - before
    check_heavy(answers)
    load = f"next to {NUM_HEAVY} heavy requests and a batch of {BATCH:,} histories, p99"
    p99 = {path: float(np.percentile(values, 99)) for path, values in times.items()}
    return [
        check(f"`/look` on a toy graph {load}", p99["look"], 0.1, "s"),
        check(f"prepared recommendation {load}", p99["recommend"], 0.5, "s"),
        check(f"growth of memory in {seconds:.0f} s of them", growth, 100 * MEGABYTE, "bytes"),
    ]


def check_heavy(answers: Sequence[tuple[int, float]]) -> None:
    """Raise an error if heavy requests fail, or are too short to disturb others; 503 is the time limit."""
    failed = sorted({status for status, _ in answers} - {200, 503})
    typical = np.median([seconds for _, seconds in answers]) if answers else 0.0
    if failed:
        raise cg.SettingError(f"heavy requests were answered with status {failed}; see the output of the server.")
    if typical < 1:
        raise cg.SettingError(f"heavy requests take {typical:.2f} s; choose a graph on which they take 1 s or more.")


@contextmanager
def time_health(address: str) -> Iterator[list[float]]:
    """Yield the times of /healthz, which is requested again and again while the block runs."""
    times = [0.0]

    def check_health() -> None:
        start = time.perf_counter()
        try:
            send(address, "GET", "/healthz")
        finally:  # also if it timed out
            times.append(time.perf_counter() - start)
        time.sleep(0.01)

    with repeat_in_threads([check_health]):
        yield times


def visit(address: str) -> int:
    """Open the page as a browser does: its files, the first graph, its picture, one view; return the bytes received."""
    server = urlsplit(address)
    with closing(http.client.HTTPConnection(server.hostname or "", server.port, timeout=120)) as connection:
        received, paths, seen = 0, ["/"], set[str]()
        while paths:
            path = paths.pop()
            status, content = _exchange(connection, "GET", path)
            if status != 200:
                raise cg.SettingError(f"GET {path} was answered with status {status}.")
            received += len(content)
            text = gzip.decompress(content).decode() if content.startswith(b"\x1f\x8b") else content.decode()
            names = re.findall(r"""(?:src=|href=|from |import )["']([^"':?#]+)["']""", text)
            linked = {urljoin(path, name) for name in names if Path(name).suffix in (".js", ".css", ".svg")}
            paths += sorted(linked - seen)
            seen |= linked
        walk = {"graph": "toy:everyday", "walk": [cg.toys.everyday().labels[0]]}
        for method, name, body in (("GET", "graphs/toy:everyday/picture", None), ("POST", "view", walk)):
            status, content = _exchange(connection, method, f"/api/v1/{name}", body)
            if status != 200:
                raise cg.SettingError(f"{method} {name} was answered with status {status}.")
            received += len(content)
        return received


def visit_at_once(address: str) -> list[int]:
    """Let many visitors open the page at the same time; return the bytes that each received."""
    with ThreadPoolExecutor(NUM_VISITS) as visitors:
        return list(visitors.map(visit, [address] * NUM_VISITS))


def measure_visits(address: str, pid: int) -> list[Any]:
    """Measure /healthz while many visitors open the page at once, and the cost of a visit."""

    def measure_cpu() -> float:
        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)

    with ProcessPoolExecutor(1) as process:  # so that visitors do not delay the other requests of this process
        process.submit(visit, address).result()
        with time_health(address) as times:
            received = process.submit(visit_at_once, address).result()
    before = measure_cpu()
    for _ in range(NUM_VISITS):
        visit(address)
    seconds = (measure_cpu() - before) / NUM_VISITS
    return [
        check(f"`/healthz` while {NUM_VISITS} visits open at once, p99", float(np.percentile(times, 99)), 0.05, "s"),
        check("download of a visit, compressed", max(received), 60_000, "bytes"),
        check("processor time of the server per visit", seconds, 0.002, "s"),
    ]


def measure_hostile(address: str, progress: Progress) -> dict[str, Any]:
    """Measure the longest time of /healthz while hostile heads, bodies and uploads arrive, all as large as allowed."""
    requests = [(f"/api/v1/{path}", content) for _, path, content in create_bodies(2 * MEGABYTE)]
    requests += [(f"/api/v1/graphs?name={file}", content) for _, file, content in create_uploads(3 * MEGABYTE)]
    heads, server = list(create_heads(16 * MEGABYTE)), urlsplit(address)
    with time_health(address) as times:
        for number, (path, content) in enumerate(requests):
            progress(f"hostile request {number} of {len(requests)}", number / len(requests))
            with suppress(OSError, http.client.HTTPException):
                send(address, "POST", path, content)
        for _, pieces, pause in heads:
            with suppress(OSError), socket.create_connection((server.hostname, server.port)) as connection:
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(pause)
    number = len(requests) + len(heads)
    return check(f"longest block of `/healthz` by {number} kinds of hostile requests", max(times), 0.2, "s")


if __name__ == "__main__":
    main()
