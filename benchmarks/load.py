"""`curiograph bench --load`: recommendations over HTTP under load, from parts that were computed ahead.

The server is a process of its own, as a product would run it; wrk asks it from the same machine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np

from benchmarks.centrality import random_graph, wikispeedia
from curiograph.centrality.history import History
from curiograph.errors import SettingError
from curiograph.files import open_atomic
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from curiograph.human.data.load import get_cache_folder
from curiograph.progress import Progress
from curiograph.recommendation.prepared import CuriousRanker
from curiograph.recommendation.recommender import Recommender

CONNECTIONS = 32
PROMISED = {"requests": 500.0, "p99": 0.1, "growth": 0.05}
"""Requests a second at least; seconds and share of memory at most."""

_CASES = (("last", False), ("all", False), ("last", True))
"""Candidates, and whether with reasons."""
_BODIES = 5_000
_AT_ONCE = 16
_SECONDS = 60
"""Between two writings of a file of parts."""
_START = 600
"""Seconds in which a server has to be ready."""
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


@dataclass(frozen=True)
class Load:
    """What one load came to; times in seconds, memory in bytes."""

    graph: str
    candidates: str
    reasons: bool
    connections: int
    seconds: float
    requests_per_second: float
    p50: float
    p99: float
    slowest: float
    errors: int
    memory_first: int
    """After the first second, when all that is allocated once has been."""
    memory_last: int
    memory_max: int

    @property
    def kept(self) -> bool:
        """Whether all was reached that is promised."""
        return (
            self.requests_per_second >= PROMISED["requests"]
            and self.p99 <= PROMISED["p99"]
            and self.errors == 0
            and self.memory_max <= self.memory_first * (1 + PROMISED["growth"])
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"kept": self.kept}

    def row(self) -> list[Any]:
        """A line of the table."""
        memory = [f"{each / 2**20:.0f} MiB" for each in (self.memory_first, self.memory_last, self.memory_max)]
        times = [f"{1e3 * each:.1f} ms" for each in (self.p50, self.p99)]
        asked = f"{self.candidates}, with reasons" if self.reasons else self.candidates
        return [asked, round(self.requests_per_second), *times, self.errors, *memory, self.kept]


COLUMNS = ("candidates", "requests/s", "p50", "p99", "errors", "memory first", "last", "max", "as promised")


def run_load(graph: Path | None, seconds: int, seed: int, progress: Progress) -> list[Load]:
    """Load a server with random histories of 3 to 8 nodes: with the neighbours of the last node as candidates, with
    all nodes, and with reasons.

    Parameters
    ----------
    graph : a file; Wikispeedia where CURIOGRAPH_DATA has it, otherwise a random graph of its size. What is computed
        ahead for it is kept in the user's cache.
    """
    wrk = shutil.which("wrk")
    if wrk is None:
        raise SettingError("the load comes from wrk, which is not installed: apt install wrk.")
    name, g = _graph(graph, seed)
    recommender = Recommender(g)
    file = _cache() / f"parts-{_digest(recommender)}.safetensors"
    _prepare(recommender, file, progress)
    loads = []
    with tempfile.TemporaryDirectory() as folder:
        npz = Path(folder) / "load.npz"
        g.save(str(npz))
        for candidates, reasons in _CASES:
            progress(f"{seconds} s of load, candidates {candidates}{', with reasons' if reasons else ''}")
            with served(["--graph", f"load={npz}", "--parts", f"load={file}"]) as (address, process):
                bodies = _bodies(g, candidates, reasons, seed)
                _first_answer(address, bodies[0])
                found, memory = _loaded(wrk, Path(folder), f"{address}/api/v1/recommend", bodies, seconds, process.pid)
            took = found["microseconds"] / 1e6
            p50, p99, slowest = (found[each] / 1e6 for each in ("p50", "p99", "max"))
            loads.append(
                Load(name, candidates, reasons, CONNECTIONS, took, found["requests"] / took, p50, p99, slowest,
                     found["errors"], memory[0], memory[-1], max(memory))
            )  # fmt: skip
    return loads


def _graph(file: Path | None, seed: int) -> tuple[str, Graph]:
    if file is not None:
        return file.name, read_graph(file)
    found = wikispeedia()
    if found is not None:
        return "Wikispeedia", found
    return "uniform, directed, of Wikispeedia's size", random_graph(4_600, 120_000, seed, directed=True)


def _cache() -> Path:
    folder = get_cache_folder().parent / "load"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _digest(recommender: Recommender) -> str:
    """What tells the graph from all others."""
    parts = [part for part in recommender.ranker.parts().values() if isinstance(part, CuriousRanker)]
    return str(parts[0].describe(recommender.graph)["graph"])


def _prepare(recommender: Recommender, file: Path, progress: Progress) -> None:
    """Compute the parts of all nodes, unless the file has them; interrupted, it goes on where it stopped."""
    if file.exists():
        recommender.load(file)
    nodes = range(recommender.graph.num_nodes)
    missing = [recommender.graph.label(v) for v in nodes if not recommender.is_prepared(History.from_visits([v]))]
    written = time.monotonic()
    for first in range(0, len(missing), _AT_ONCE):
        progress(f"preparing node {first} of {len(missing)}, once", first / len(missing))
        recommender.prepare(missing[first : first + _AT_ONCE])
        if time.monotonic() - written > _SECONDS:
            recommender.save(file)
            written = time.monotonic()
    if missing:
        recommender.save(file)


@contextmanager
def served(arguments: Sequence[str]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server that is ready, and ends in good order."""
    command = [sys.executable, "-m", "curiograph", "serve", "--port", "0", "--json", "--quiet", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "CURIOGRAPH_TOKEN"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield _address(process), process
        finally:
            process.send_signal(signal.SIGTERM)
            if process.wait(60) != 0:
                raise SettingError(f"the server ended with exit code {process.returncode}; see what it said above.")


def _address(process: subprocess.Popen[str]) -> str:
    said = ""
    for line in process.stdout or ():
        said += line
        if line.startswith("}"):
            return str(json.loads(said)["address"])
    raise SettingError("the server did not start; see what it said above.")


def _bodies(graph: Graph, candidates: str, reasons: bool, seed: int) -> list[str]:
    asked = {"candidates": candidates, "reasons": reasons}
    rng = np.random.default_rng(seed)
    some = np.flatnonzero(graph.degrees)
    histories = (rng.choice(some, min(len(some), int(rng.integers(3, 9))), replace=False) for _ in range(_BODIES))
    return [
        json.dumps({"graph": "load", "history": [graph.label(int(v)) for v in history]} | asked)
        for history in histories
    ]


def _first_answer(address: str, body: str) -> None:
    """Ask once, so that the load begins with everything in place; raises if there is no answer."""
    asked = Request(f"{address}/api/v1/recommend", body.encode(), {"Content-Type": "application/json"})
    with urlopen(asked, timeout=_START) as answer:
        answer.read()


def _loaded(
    wrk: str, folder: Path, url: str, bodies: Sequence[str], seconds: int, pid: int
) -> tuple[dict[str, Any], list[int]]:
    """What wrk found, and the memory of the server, second by second."""
    script, lines = folder / "load.lua", folder / "bodies.jsonl"
    for path, text in ((script, _SCRIPT), (lines, "\n".join(bodies) + "\n")):
        with open_atomic(path) as stream:
            stream.write(text.encode())
    command = [wrk, "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(script), url]
    environment = os.environ | {"CURIOGRAPH_BODIES": str(lines)}
    memory: list[int] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        while process.poll() is None:
            time.sleep(1)
            memory.append(_memory(pid))
        said = process.stdout.read() if process.stdout else ""
    found = [line.removeprefix("RESULT ") for line in said.splitlines() if line.startswith("RESULT ")]
    if process.returncode != 0 or not found:
        raise SettingError(f"wrk ended with exit code {process.returncode} and no result.")
    return json.loads(found[0]), memory


def _memory(pid: int) -> int:
    """Resident bytes of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise SettingError(f"process {pid} has no memory: it has ended.")
