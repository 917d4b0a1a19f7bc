"""`curiograph bench`: one run, one core, the median of repeats, everything stated."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.centrality import batch_rows, pagerank_rows, push_rows
from benchmarks.curious import curious_rows, recommend_rows
from benchmarks.learning import acting, training
from benchmarks.timing import medians
from curiograph.agents.evaluate import evaluate
from curiograph.arrays import Float64, Int32, Int64
from curiograph.exploration.mdp import begin
from curiograph.graph.batch import GraphBatch
from curiograph.graph.generators import FAMILIES, generate, generate_split
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from curiograph.paper.peers import gudhi_beta1, ripser_beta1, slow_compressibility
from curiograph.progress import Progress, no_progress
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.rewards.igt import GapTracker
from curiograph.warmup import warm_up

_PACKAGES = ("curiograph", "numpy", "numba", "scipy", "networkx", "ripser", "gudhi", "igraph", "torch")


@dataclass(frozen=True)
class Result:
    """One line of the report; times in seconds."""

    what: str
    size: str
    ours: float | None = None
    peer: str = ""
    peers: float | None = None
    ratio: float | None = None
    target: float | None = None
    """What the ratio (or, without a peer, `ours`) must reach; None where nothing was promised."""
    note: str = ""


@dataclass
class Report:
    """All results of a run, and the machine it ran on."""

    machine: dict[str, Any]
    seed: int
    results: list[Result] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "machine": self.machine,
            "seed": self.seed,
            "missing_peers": self.missing,
            "results": [asdict(result) for result in self.results],
        }

    def rows(self) -> list[tuple[Any, ...]]:
        """Rows for a table."""
        return [
            (
                r.what,
                r.size,
                seconds_text(r.ours) if r.ours is not None else r.note,
                r.peer,
                seconds_text(r.peers) if r.peers is not None else "",
                ratio_text(r.ratio) if r.ratio is not None else "",
                f"{r.target:,.3g}" if r.target is not None else "",
            )
            for r in self.results
        ]

    def remarks(self) -> Iterator[str]:
        """What a reader should know beside the table."""
        for name in self.missing:
            extra = "train" if name == "torch" else "bench"
            yield f"{name} is not installed, so it was not measured: pip install 'curiograph[{extra}]'"
        yield ", ".join(f"{name} {value}" for name, value in self.machine.items())


def run(*, quick: bool = False, seed: int = 0, progress: Progress = no_progress) -> Report:
    """Measure everything; `quick` keeps to small sizes."""
    report = Report(_machine(), seed)
    progress("compiling kernels")
    report.results.append(Result("all kernels ready (compiled or cached)", "", ours=warm_up()))
    parts = (_gaps, _compressibility, _episodes, _learning, _centrality, _loading)
    for number, part in enumerate(parts):
        progress(part.__name__.strip("_"), number / len(parts))
        part(report, quick)
    return report


def _gaps(report: Report, quick: bool) -> None:
    """igt of all candidates of a step, against peers called per candidate; times are means over random states."""
    peers = _peers(report)
    targets = {10: 20.0, 50: 100.0, 200: 500.0}
    for size in (10, 50) if quick else (10, 50, 200):
        graph = generate("rg", nodes=max(50, 4 * size), seed=report.seed)
        states = [_state(graph, size, report.seed + i) for i in range(5 if quick else 20)]
        stack = GraphBatch.of([graph])
        lengths = np.full(len(states), size)
        rows = np.stack([np.append(walk, -1) for walk, _ in states]).astype(np.int32)
        offsets = np.cumsum([0, *(len(candidates) for _, candidates in states)])
        candidates = np.concatenate([candidates for _, candidates in states])
        together = GapTracker(stack, rows, lengths)
        alone = [
            partial(
                GapTracker(stack, rows[i : i + 1], lengths[i : i + 1]).candidate_values, np.array([0, len(some)]), some
            )
            for i, (_, some) in enumerate(states)
        ]
        found = together.candidate_values(offsets, candidates)
        matrices = [_adjacency(graph, np.append(walk, v)) for walk, some in states for v in some]
        for name, beta1 in peers.items():
            if _each(beta1, matrices) != found.tolist():
                raise AssertionError(f"{name} disagrees on the gaps of {size} visited nodes")
        ways: dict[str, Callable[[], Any]] = {
            "walk kept, many walks a call": partial(together.candidate_values, offsets, candidates),
            "walk kept, one walk a call": partial(_one_by_one, alone),
            "from the bare walk, many walks a call": partial(_from_walk, stack, rows, lengths, offsets, candidates),
        }
        calls: list[Callable[[], Any]] = [
            *ways.values(),
            *(partial(_each, beta1, matrices) for beta1 in peers.values()),
        ]
        count = len(states)
        seconds_each = dict(zip([*ways, *peers], (t / count for t in medians(*calls)), strict=True))
        ours = {way: seconds_each[way] for way in ways}
        theirs = {name: seconds_each[name] for name in peers}
        where = f"{size} nodes visited, {len(candidates) / count:.1f} candidates"
        faster = min(theirs, key=lambda name: theirs[name], default=None)
        for way, seconds in ours.items():
            target = targets[size] if way.startswith("walk kept") else None
            if faster is None:
                report.results.append(Result(f"igt of all candidates, {way}", where, seconds))
            else:
                peer = theirs[faster]
                report.results.append(
                    Result(f"igt of all candidates, {way}", where, seconds, faster, peer, peer / seconds, target)
                )


def _compressibility(report: Report, quick: bool) -> None:
    """cpt of one subgraph against the slow twin, and how it grows with size."""
    for size, target in ((10, 1000.0), (20, 2000.0)):
        graph = generate("rg", nodes=max(50, 4 * size), seed=report.seed)
        rows = np.stack([_state(graph, size, report.seed + i)[0] for i in range(100)])
        tracker = CompressibilityTracker(GraphBatch.of([graph]), rows, np.full(len(rows), size))
        matrices = [_adjacency(graph, row) for row in rows[: 2 if quick else 5]]
        batch, few = medians(tracker.values, partial(_each, slow_compressibility, matrices))
        ours, twin = batch / len(rows), few / len(matrices)
        expected = [slow_compressibility(matrix) for matrix in matrices]
        if not np.allclose(tracker.values()[: len(expected)], expected, atol=1e-9):
            raise AssertionError("the slow twin disagrees")
        report.results.append(
            Result("cpt of a subgraph, 100 a call", f"{size} nodes", ours, "slow twin", twin, twin / ours, target)
        )
    times = {}
    for size in (50, 100) if quick else (50, 100, 200):
        graph = generate("rg", nodes=4 * size, seed=report.seed)
        rows = np.stack([_state(graph, size, report.seed + i)[0] for i in range(4)])
        tracker = CompressibilityTracker(GraphBatch.of([graph]), rows, np.full(len(rows), size))
        times[size] = medians(tracker.values)[0] / len(rows)
        report.results.append(Result("cpt of a subgraph", f"{size} nodes", times[size]))
    largest = max(times)
    exponent = float(np.log(times[largest] / times[50]) / np.log(largest / 50))
    report.results.append(Result("cpt grows like n^x, x at most", f"50 to {largest} nodes", ratio=exponent, target=3.2))


def _episodes(report: Report, quick: bool) -> None:
    """Walks of 10 nodes per second on 50-node graphs, and the cost of Table 1."""
    sets = {family: generate_split(family, train=0, val=0, test=10, seed=report.seed).test for family in FAMILIES}
    start = time.perf_counter()
    for graphs in sets.values():
        for reward in ("igt", "cpt"):
            for agent in ("random", "max-degree", "min-degree", "greedy"):
                evaluate(agent, graphs, reward, steps=10, episodes=100, seed=report.seed)
    seconds = time.perf_counter() - start
    report.results.append(
        Result("Table 1's baselines", "32 x 1,000 walks", seconds, "allowed", 20.0, 20.0 / seconds, 1.0)
    )
    for reward in ("igt", "cpt"):
        for agent in ("random", "max-degree", "greedy", "beam"):
            episodes = (2 if quick else 5) if agent == "beam" else 100
            walks = sum(len(graphs) for graphs in sets.values()) * episodes
            start = time.perf_counter()
            for graphs in sets.values():
                evaluate(agent, graphs, reward, steps=10, episodes=episodes, seed=report.seed)
            seconds = (time.perf_counter() - start) / walks
            rate = f"{1 / seconds:,.0f} walks/s"
            report.results.append(Result(f"a walk by {agent}, {reward}", rate, seconds))
            if agent == "beam" and reward == "igt":
                decision = seconds / 9
                report.results.append(
                    Result("a decision by beam, igt", "width 256", decision, "allowed", 5e-3, 5e-3 / decision, 1.0)
                )


def _learning(report: Report, quick: bool) -> None:
    """Trained agents at work, and the published training step if torch is there."""
    rows = acting(report.seed, quick)
    try:
        import_module("torch")
        rows += training(report.seed, quick)
    except ImportError:
        report.missing.append("torch")
    report.results += [Result(*row) for row in rows]


def _centrality(report: Report, quick: bool) -> None:
    """PageRank of one history, of many, of the best nodes of a large graph; curious PageRank; recommendation."""
    rows = pagerank_rows(report.seed, quick, report.missing) + batch_rows(report.seed, quick)
    rows += curious_rows(report.seed, quick) + recommend_rows(report.seed, quick)
    if not quick:
        rows += push_rows(report.seed)
    report.results += [Result(*row) for row in rows]


def _loading(report: Report, quick: bool) -> None:
    """Reading a tab-separated edge list with text names, and reopening it from our own file."""
    import networkx as nx

    edges = 100_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = _edge_list(Path(folder), edges, report.seed)
        ours, peer = medians(
            partial(read_graph, path), partial(nx.read_edgelist, path, delimiter="\t"), repeats=1 if quick else 3
        )
        report.results.append(
            Result("read a tsv of text names", f"{edges:,} edges", ours, "networkx", peer, peer / ours)
        )
        if not quick:
            _large_file(report, _edge_list(Path(folder), 10_000_000, report.seed))


def _large_file(report: Report, path: Path) -> None:
    """Time and memory of a file of 10 million edges, each in a process of its own."""
    store = path.with_suffix(".npz")
    seconds, gigabytes = _in_process(f"read_graph({str(path)!r}).save({str(store)!r})")
    size = "10,000,000 edges"
    report.results += [
        Result("read a tsv of text names and save .npz", size, seconds, "allowed", 60.0, 60.0 / seconds, 1.0),
        Result("peak memory of that, GB", size, note=f"{gigabytes:.2f} GB", ratio=3.0 / gigabytes, target=1.0),
    ]
    again, _ = _in_process(f"read_graph({str(store)!r}).position('node_7')")
    report.results.append(Result("reopen the .npz and look up a name", size, again, "allowed", 1.0, 1.0 / again, 1.0))


def _in_process(call: str) -> tuple[float, float]:
    """Seconds of a call in a new process, kernels loaded, and the peak memory of that process in gigabytes."""
    code = (
        "import resource, time\n"
        "from curiograph.warmup import warm_up\n"
        "from curiograph.graph.io.read import read_graph\n"
        "warm_up()\n"
        "start = time.perf_counter()\n"
        f"{call}\n"
        "print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, gigabytes = done.stdout.split()
    return float(seconds), float(gigabytes)


def _edge_list(folder: Path, edges: int, seed: int) -> Path:
    """A random edge list in which ten edges share a name."""
    path = folder / f"links_{edges}.tsv"
    rng = np.random.default_rng(seed)
    with open(path, "w") as stream:
        for _ in range(0, edges, 100_000):
            ends = rng.integers(0, edges // 10, (100_000, 2)).tolist()
            stream.write("".join(f"node_{a}\tnode_{b}\n" for a, b in ends))
    return path


def _from_walk(stack: GraphBatch, rows: Int32, lengths: Int64, offsets: Int64, candidates: Int32) -> Float64:
    return GapTracker(stack, rows, lengths).candidate_values(offsets, candidates)


def _one_by_one(calls: Sequence[Callable[[], Float64]]) -> None:
    for call in calls:
        call()


def _each(function: Callable[[Float64], Any], matrices: list[Float64]) -> list[Any]:
    return [function(matrix) for matrix in matrices]


def _peers(report: Report) -> dict[str, Callable[[Float64], int]]:
    peers: dict[str, Callable[[Float64], int]] = {}
    for name, beta1 in (("ripser", ripser_beta1), ("gudhi", gudhi_beta1)):
        try:
            module = import_module(name)
        except ImportError:
            report.missing.append(name)
            continue
        peers[name] = partial(beta1, module)
    return peers


def _state(graph: Graph, size: int, seed: int) -> tuple[Int32, Int32]:
    """A random walk of `size` nodes that still has somewhere to go, and its candidates."""
    from curiograph.agents.heuristics import RandomAgent

    start = np.flatnonzero(graph.degrees > 0)[seed % graph.num_nodes]
    exploration = begin([graph], [[int(start)]], "igt", size + 1, seed=seed)
    agent = RandomAgent()
    for _ in range(size - 1):
        exploration = exploration.step(exploration.best(agent.scores(exploration)))
    return exploration.nodes[0, :size], exploration.candidates.nodes


def _adjacency(graph: Graph, nodes: Int32 | Int64) -> Float64:
    return np.asarray(graph.induced(np.sort(nodes)).to_scipy().toarray(), np.float64)


def _machine() -> dict[str, Any]:
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **versions,
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def ratio_text(value: float) -> str:
    """A ratio with as many digits as it deserves."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def seconds_text(value: float) -> str:
    """A time as people read it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"
