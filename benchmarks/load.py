"""Measure recommendations over HTTP under load, with all nodes prepared, and light requests next to heavy ones.

The server runs in its own process, as in production; wrk sends the requests from the same machine.
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
import psutil
from curiograph.human.data.load import get_cache_folder
from curiograph.recommendation.prepared import CuriousRanker

from benchmarks import mixed_load
from benchmarks.centrality import create_random_graph, read_wikispeedia
from benchmarks.command import create_parser, exit_on_error, show_results
from curiograph.centrality.history import History
from curiograph.cli.output import show_progress, show_table
from curiograph.errors import SettingError
from curiograph.files import open_atomic
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph, write_graph
from curiograph.progress import Progress
from curiograph.recommendation.recommender import Recommender

COLUMNS = ("candidates", "requests/s", "p50", "p99", "errors", "memory first", "last", "max", "target met")
CONNECTIONS = 32
TARGETS = {"requests": 500.0, "p99": 0.1, "growth": 0.05}
"""Minimum requests per second; maximum seconds and maximum relative growth of memory."""

_CASES = (("last", False), ("all", False), ("last", True))  # candidates, and whether reasons are requested
_NUM_BODIES = 5_000
_BATCH = 16  # nodes prepared between two progress updates
_SAVE_INTERVAL = 60  # seconds between two saves of prepared nodes
_SOAK_SECONDS = 600
_START_TIMEOUT = 600  # seconds until the first answer
_STOP_TIMEOUT = 60  # seconds from SIGTERM to the end of the server
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
    """Result of one load; times in seconds, memory in bytes."""

    graph: str
    candidates: str
    reasons: bool
    connections: int
    runs: int
    """Number of loads in a row; the other values are those of the one with the largest p99."""
    seconds: float
    requests_per_second: float
    p50: float
    p99: float
    slowest: float
    errors: int
    memory_first: int
    """Memory after the first second, when everything that is allocated once has been."""
    memory_last: int
    memory_max: int

    @property
    def met(self) -> bool:
        """Whether all targets are met."""
        return (
            self.requests_per_second >= TARGETS["requests"]
            and self.p99 <= TARGETS["p99"]
            and self.errors == 0
            and self.memory_max <= self.memory_first * (1 + TARGETS["growth"])
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under the keys of stored runs."""
        return asdict(self) | {"met": self.met}

    def list_cells(self) -> list[Any]:
        """Cells of a table row."""
        memory = [f"{each / 2**20:.0f} MiB" for each in (self.memory_first, self.memory_last, self.memory_max)]
        times = [f"{1e3 * each:.1f} ms" for each in (self.p50, self.p99)]
        candidates = f"{self.candidates}, with reasons" if self.reasons else self.candidates
        return [candidates, round(self.requests_per_second), *times, self.errors, *memory, self.met]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    parser = create_parser(__doc__)
    parser.add_argument("--graph", type=Path, help="graph file (default: Wikispeedia)")
    parser.add_argument("--seconds", type=int, default=60, help="duration of each load (default: 60)")
    parser.add_argument("--runs", type=int, default=5, help="loads in a row, of which the slowest counts (default: 5)")
    parser.add_argument("--visits", type=int, default=3_000, help="visits of the page (default: 3000)")
    parser.add_argument("--soak", action="store_true", help="only send everything at once, for ten minutes")
    args = parser.parse_args(arguments)
    with exit_on_error(args):
        with show_progress(args.quiet) as progress:
            loads = [] if args.soak else run(args.graph, args.seconds, args.seed, progress, args.runs)
            checks = run_checks(args.graph, args.seconds, args.seed, progress, args.visits, args.soak)
        document = {"loads": [load.to_dict() for load in loads], "checks": [check.to_dict() for check in checks]}
        if loads and not args.json:
            first = loads[0]
            title = f"ten recommendations on {first.graph}, {first.connections} connections, {first.seconds:.0f} s"
            show_table(f"{title}, slowest of {first.runs}", COLUMNS, [load.list_cells() for load in loads])
        title = "everything at once" if args.soak else "other clients"
        show_results(args, document, title, mixed_load.COLUMNS, [check.list_cells() for check in checks])


def run(graph: Path | None, seconds: int, seed: int, progress: Progress, runs: int = 1) -> list[Load]:
    """Load a server with random histories of 3 to 8 nodes, for several candidate sets, with and without reasons.

    Parameters
    ----------
    graph : Path, optional
        Graph file. By default Wikispeedia if CURIOGRAPH_DATA has it, otherwise a random graph of its size. Its
        prepared nodes are stored in the cache folder of the user.
    seconds : int
        Duration of each load.
    seed : int
        Seed of the histories.
    progress : callable
        Progress callback.
    runs : int
        Number of loads in a row; the slowest, by p99, is returned.
    """
    wrk = shutil.which("wrk")
    if wrk is None:
        raise SettingError("the load comes from wrk, which is not installed: apt install wrk.")
    name, g = _read_graph(graph, seed)
    parts = _prepare_all_nodes(g, progress)
    loads = []
    with tempfile.TemporaryDirectory() as folder:
        npz = Path(folder) / "load.safetensors"
        write_graph(g, npz)
        for candidates, reasons in _CASES:
            progress(f"{seconds} s of load, candidates {candidates}{', with reasons' if reasons else ''}")
            with run_server(["--graph", f"load={npz}", "--parts", f"load={parts}"]) as (address, process):
                url = f"{address}/api/v1/recommend"
                bodies = _create_bodies(g, candidates, reasons, seed)
                first = Request(url, bodies[0].encode(), {"Content-Type": "application/json"})
                with urlopen(first, timeout=_START_TIMEOUT) as answer:  # everything is in place before the load
                    answer.read()
                results = [_run_wrk(wrk, Path(folder), url, bodies, seconds, process.pid) for _ in range(runs)]
            found = max((found for found, _ in results), key=lambda each: float(each["p99"]))
            took = found["microseconds"] / 1e6
            loads.append(
                Load(
                    graph=name,
                    candidates=candidates,
                    reasons=reasons,
                    connections=CONNECTIONS,
                    runs=runs,
                    seconds=took,
                    requests_per_second=found["requests"] / took,
                    p50=found["p50"] / 1e6,
                    p99=found["p99"] / 1e6,
                    slowest=found["max"] / 1e6,
                    errors=sum(each["errors"] for each, _ in results),
                    memory_first=results[0][1][0],
                    memory_last=results[-1][1][-1],
                    memory_max=max(max(each) for _, each in results),
                )
            )
    return loads


def run_checks(
    graph: Path | None, seconds: int, seed: int, progress: Progress, visits: int, soak: bool
) -> list[mixed_load.Check]:
    """Measure what one client notices of the others; with `soak`, send everything at once for ten minutes."""
    _, g = _read_graph(graph, seed)
    parts = _prepare_all_nodes(g, progress)
    labels = [g.label(int(v)) for v in np.flatnonzero(g.degrees)]
    with tempfile.TemporaryDirectory() as folder:
        npz = Path(folder) / "load.safetensors"
        write_graph(g, npz)
        with run_server(["--graph", f"load={npz}", "--parts", f"load={parts}"]) as (address, process):
            if soak:
                return mixed_load.soak(address, process.pid, labels, _SOAK_SECONDS, progress)
            visit = mixed_load.measure_visits(address, process.pid, visits, progress)
            light = mixed_load.measure_light(address, labels, seconds, progress)
        with run_server(["--limit", "seconds=5"]) as (address, process):
            return [*light, visit, mixed_load.measure_hostile(address, progress)]


def _read_graph(graph: Path | None, seed: int) -> tuple[str, Graph]:
    """Return the name and the graph of a file; by default Wikispeedia or a random graph of its size."""
    if graph is not None:
        return graph.name, read_graph(graph)
    wikispeedia = read_wikispeedia()
    if wikispeedia is not None:
        return "Wikispeedia", wikispeedia
    name = "uniform, directed, of Wikispeedia's size"
    return name, create_random_graph(4_600, 120_000, seed, directed=True)


def get_parts_folder() -> Path:
    """Return the folder of prepared nodes in the cache of the user; create it if necessary."""
    folder = get_cache_folder().parent / "load"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _prepare_all_nodes(graph: Graph, progress: Progress) -> Path:
    """Prepare the nodes that the file of prepared nodes of this graph lacks, with regular saves; return the file."""
    recommender = Recommender(graph)
    rankers = [part for part in recommender.ranker.parts().values() if isinstance(part, CuriousRanker)]
    file = get_parts_folder() / f"parts-{rankers[0].describe(graph)['graph']}.safetensors"
    if file.exists():
        recommender.load(file)
    nodes = range(recommender.graph.num_nodes)
    missing = [recommender.graph.label(v) for v in nodes if not recommender.is_prepared(History.from_visits([v]))]
    saved = time.monotonic()
    for first in range(0, len(missing), _BATCH):
        progress(f"preparing node {first} of {len(missing)}, once", first / len(missing))
        recommender.prepare(missing[first : first + _BATCH])
        if time.monotonic() - saved > _SAVE_INTERVAL:
            recommender.save(file)
            saved = time.monotonic()
    if missing:
        recommender.save(file)
    return file


@contextmanager
def run_server(arguments: Sequence[str]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start `curiograph serve`; yield its address and process once it is ready, and stop it at the end."""
    command = [sys.executable, "-m", "curiograph", "serve", "--port", "0", "--json", "--quiet", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "CURIOGRAPH_TOKEN"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield _read_address(process), process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                code = process.wait(_STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                raise SettingError(f"the server did not end within {_STOP_TIMEOUT} s of SIGTERM.") from None
            if code != 0:
                raise SettingError(f"the server ended with exit code {code}; see its output above.")


def _read_address(process: subprocess.Popen[str]) -> str:
    """Read the JSON document that the server prints when it is ready."""
    text = ""
    for line in process.stdout or ():
        text += line
        if line.startswith("}"):
            return str(json.loads(text)["address"])
    raise SettingError("the server did not start; see its output above.")


def _create_bodies(graph: Graph, candidates: str, reasons: bool, seed: int) -> list[str]:
    """Create request bodies with random histories."""
    rng = np.random.default_rng(seed)
    connected = np.flatnonzero(graph.degrees)
    bodies = []
    for _ in range(_NUM_BODIES):
        history = rng.choice(connected, min(len(connected), int(rng.integers(3, 9))), replace=False)
        labels = [graph.label(int(v)) for v in history]
        bodies.append(json.dumps({"graph": "load", "history": labels, "candidates": candidates, "reasons": reasons}))
    return bodies


def _run_wrk(
    wrk: str, folder: Path, url: str, bodies: Sequence[str], seconds: int, pid: int
) -> tuple[dict[str, Any], list[int]]:
    """Run wrk; return its result, and the resident bytes of the server second by second."""
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
            memory.append(psutil.Process(pid).memory_info().rss)
        output = process.stdout.read() if process.stdout else ""
    found = [line.removeprefix("RESULT ") for line in output.splitlines() if line.startswith("RESULT ")]
    if process.returncode != 0 or not found:
        raise SettingError(f"wrk ended with exit code {process.returncode} and no result.")
    return json.loads(found[0]), memory


if __name__ == "__main__":
    main()
