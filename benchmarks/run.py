"""Measure speed on one core, compared with other libraries in the same run; each time is a median of repeats."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from curiograph.human.null_models.models import latticize_graph

from benchmarks.centrality import (
    create_random_graph,
    measure_pagerank,
    measure_pagerank_batch,
    measure_push,
    read_wikispeedia,
)
from benchmarks.command import create_parser, exit_on_error, show_results
from benchmarks.curious import (
    measure_catalog_preparation,
    measure_curious_pagerank,
    measure_preparation,
    measure_recommendation,
)
from benchmarks.environments import measure_environments
from benchmarks.learning import measure_acting, measure_training
from benchmarks.peers import compute_gudhi_beta1, compute_ripser_beta1, compute_slow_compressibility
from benchmarks.report import COLUMNS, Report, Result, compare_with_limit, compare_with_peer, describe_machine
from benchmarks.timing import time_medians
from curiograph.agents.evaluate import evaluate
from curiograph.agents.heuristics import RandomAgent
from curiograph.arrays import Float64, Int32, Int64
from curiograph.cli.output import print_remark, show_progress
from curiograph.exploration.mdp import begin
from curiograph.graph.batch import GraphBatch
from curiograph.graph.generators import FAMILIES, generate, generate_split
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph
from curiograph.progress import Progress, no_progress
from curiograph.rewards.cct import FlexibilityTracker
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.rewards.igt import GapTracker
from curiograph.warmup import warm_up


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    parser = create_parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats and smaller sizes, under a minute")
    args = parser.parse_args(arguments)
    with exit_on_error(args):
        with show_progress(args.quiet) as progress:
            report = run(quick=args.quick, seed=args.seed, progress=progress)
        show_results(args, report.to_dict(), "", COLUMNS, report.list_rows())
        if not args.json:
            for line in report.list_remarks():
                print_remark(line, args.quiet)


def run(*, quick: bool = False, seed: int = 0, progress: Progress = no_progress) -> Report:
    """Run all measurements; `quick` uses small sizes."""
    report = Report(describe_machine(), seed)
    progress("compiling kernels")
    report.results.append(Result("all kernels ready (compiled or cached)", "", ours=warm_up()))
    parts = {
        "gaps": measure_gaps,
        "compressibility": measure_compressibility,
        "flexibility": measure_flexibility,
        "episodes": measure_episodes,
        "environments": measure_gymnasium,
        "learning": measure_learning,
        "centrality": measure_centrality,
        "loading": measure_loading,
        "logs": measure_logs,
        "catalogs": measure_catalogs,  # the last: processes that start later begin with its peak memory
    }
    for number, (name, measure) in enumerate(parts.items()):
        progress(name, number / len(parts))
        measure(report, quick)
    return report


def measure_gaps(report: Report, quick: bool) -> None:
    """Time igt of all candidates of a step against peers called per candidate; means over random states."""
    peers = find_gap_peers(report)
    targets = {10: 20.0, 50: 100.0, 200: 500.0}
    for size in (10, 50) if quick else (10, 50, 200):
        graph = generate("rg", nodes=max(50, 4 * size), seed=report.seed)
        states = [_draw_state(graph, size, report.seed + i) for i in range(5 if quick else 20)]
        stack = GraphBatch.of([graph])
        lengths = np.full(len(states), size)
        rows = np.stack([np.append(walk, -1) for walk, _ in states]).astype(np.int32)
        offsets = np.cumsum([0, *(len(candidates) for _, candidates in states)])
        candidates = np.concatenate([candidates for _, candidates in states])
        together = GapTracker(stack, rows, lengths)
        alone = []
        for i, (_, own) in enumerate(states):
            tracker = GapTracker(stack, rows[i : i + 1], lengths[i : i + 1])
            alone.append(partial(tracker.candidate_values, np.array([0, len(own)]), own))
        expected = together.candidate_values(offsets, candidates).tolist()
        matrices = [_get_adjacency(graph, np.append(walk, v)) for walk, own in states for v in own]
        for name, compute_beta1 in peers.items():
            if _call_each(compute_beta1, matrices) != expected:
                raise AssertionError(f"{name} disagrees on the gaps of {size} visited nodes")
        calls: dict[str, Callable[[], Any]] = {
            "walk kept, many walks a call": partial(together.candidate_values, offsets, candidates),
            "walk kept, one walk a call": partial(_run_all, alone),
            "from the bare walk, many walks a call": partial(
                _score_from_walks, stack, rows, lengths, offsets, candidates
            ),
        }
        num_ours = len(calls)
        calls |= {name: partial(_call_each, compute_beta1, matrices) for name, compute_beta1 in peers.items()}
        seconds = [each / len(states) for each in time_medians(*calls.values())]
        ours = dict(zip(list(calls)[:num_ours], seconds, strict=False))
        theirs = dict(zip(list(calls)[num_ours:], seconds[num_ours:], strict=True))
        where = f"{size} nodes visited, {len(candidates) / len(states):.1f} candidates"
        fastest = min(theirs, key=theirs.__getitem__, default=None)
        for way, each in ours.items():
            what = f"igt of all candidates, {way}"
            target = targets[size] if way.startswith("walk kept") else None
            if fastest is None:
                report.results.append(Result(what, where, each))
            else:
                report.results.append(compare_with_peer(what, where, each, fastest, theirs[fastest], target))


def find_gap_peers(report: Report) -> dict[str, Callable[[Float64], int]]:
    """Find the libraries that compute gaps; add those that are not installed to the report."""
    peers: dict[str, Callable[[Float64], int]] = {}
    for name, compute_beta1 in (("ripser", compute_ripser_beta1), ("gudhi", compute_gudhi_beta1)):
        try:
            peers[name] = partial(compute_beta1, import_module(name))
        except ImportError:
            report.missing.append(name)
    return peers


def measure_compressibility(report: Report, quick: bool) -> None:
    """Time cpt of one subgraph against a direct implementation, and its growth with size."""
    for size, target in ((10, 1000.0), (20, 2000.0)):
        graph = generate("rg", nodes=max(50, 4 * size), seed=report.seed)
        rows = np.stack([_draw_state(graph, size, report.seed + i)[0] for i in range(100)])
        tracker = CompressibilityTracker(GraphBatch.of([graph]), rows, np.full(len(rows), size))
        matrices = [_get_adjacency(graph, row) for row in rows[: 2 if quick else 5]]
        together, slow = time_medians(tracker.values, partial(_call_each, compute_slow_compressibility, matrices))
        expected = [compute_slow_compressibility(matrix) for matrix in matrices]
        if not np.allclose(tracker.values()[: len(expected)], expected, atol=1e-9):
            raise AssertionError("the slow twin disagrees")
        ours, theirs = together / len(rows), slow / len(matrices)
        what = "cpt of a subgraph, 100 a call"
        report.results.append(compare_with_peer(what, f"{size} nodes", ours, "slow twin", theirs, target))
    times = {}
    for size in (50, 100) if quick else (50, 100, 200):
        graph = generate("rg", nodes=4 * size, seed=report.seed)
        rows = np.stack([_draw_state(graph, size, report.seed + i)[0] for i in range(4)])
        tracker = CompressibilityTracker(GraphBatch.of([graph]), rows, np.full(len(rows), size))
        times[size] = time_medians(tracker.values)[0] / len(rows)
        report.results.append(Result("cpt of a subgraph", f"{size} nodes", times[size]))
    largest = max(times)
    exponent = float(np.log(times[largest] / times[50]) / np.log(largest / 50))
    report.results.append(Result("cpt grows like n^x, x at most", f"50 to {largest} nodes", ratio=exponent, target=3.2))


def measure_flexibility(report: Report, quick: bool) -> None:
    """Time cct per candidate of random walks, and a latticized graph."""
    graph = read_wikispeedia()
    where = "a random graph like Wikispeedia" if graph is None else "Wikispeedia"
    if graph is None:
        graph = create_random_graph(4_604, 119_882, report.seed, directed=True, power=1.0)
    starts = np.random.default_rng(report.seed).choice(np.flatnonzero(graph.degrees > 0), 100)
    for size in (10, 50) if quick else (10, 50, 200):
        walks, agent = begin([graph], [starts], "cct", size + 1, seed=report.seed), RandomAgent()
        for _ in range(size - 1):
            walks = walks.step(walks.best(agent.scores(walks)))
        candidates = walks.candidates
        tracker = FlexibilityTracker(walks.stack, walks.nodes, walks.lengths)
        (seconds,) = time_medians(partial(tracker.candidate_values, candidates.offsets, candidates.nodes))
        seconds /= len(candidates.nodes)
        report.results.append(compare_with_limit("cct of a candidate", f"{size} nodes visited, {where}", seconds, 1e-6))
    (seconds,) = time_medians(partial(latticize_graph, graph, np.empty((0, 1), np.int32), 0), repeats=1 if quick else 3)
    report.results.append(Result("latticize a graph", f"{graph.skeleton.num_edges:,} edges, {where}", seconds))


def measure_episodes(report: Report, quick: bool) -> None:
    """Time walks of 10 nodes on 50-node graphs, and the baselines of Table 1."""
    sets = {family: generate_split(family, train=0, val=0, test=10, seed=report.seed).test for family in FAMILIES}
    start = time.perf_counter()
    for graphs in sets.values():
        for reward in ("igt", "cpt"):
            for agent in ("random", "max-degree", "min-degree", "greedy"):
                evaluate(agent, graphs, reward, steps=10, episodes=100, seed=report.seed)
    seconds = time.perf_counter() - start
    report.results.append(compare_with_limit("Table 1's baselines", "32 x 1,000 walks", seconds, 20.0))
    for reward in ("igt", "cpt"):
        for agent in ("random", "max-degree", "greedy", "beam"):
            episodes = (2 if quick else 5) if agent == "beam" else 100
            walks = sum(len(graphs) for graphs in sets.values()) * episodes
            start = time.perf_counter()
            for graphs in sets.values():
                evaluate(agent, graphs, reward, steps=10, episodes=episodes, seed=report.seed)
            seconds = (time.perf_counter() - start) / walks
            report.results.append(Result(f"a walk by {agent}, {reward}", f"{1 / seconds:,.0f} walks/s", seconds))
            if agent == "beam" and reward == "igt":
                report.results.append(compare_with_limit("a decision by beam, igt", "width 256", seconds / 9, 5e-3))


def measure_gymnasium(report: Report, quick: bool) -> None:
    """Time the vector environment."""
    report.results += measure_environments(report.seed, quick)


def measure_learning(report: Report, quick: bool) -> None:
    """Time trained agents, and the published training step if torch is installed."""
    report.results += measure_acting(report.seed, quick)
    try:
        import_module("torch")
    except ImportError:
        report.missing.append("torch")
        return
    report.results += measure_training(report.seed, quick)


def measure_centrality(report: Report, quick: bool) -> None:
    """Time PageRank, curious PageRank and recommendation."""
    report.results += measure_pagerank(report.seed, quick, report.missing)
    report.results += measure_pagerank_batch(report.seed, quick)
    report.results += measure_curious_pagerank(report.seed, quick)
    report.results += measure_recommendation(report.seed, quick)
    report.results += measure_preparation(report.seed, quick)
    if not quick:
        report.results += measure_push(report.seed)


def measure_catalogs(report: Report, quick: bool) -> None:
    """Time the preparation of large catalogs."""
    report.results += measure_catalog_preparation(report.seed, quick)


def measure_loading(report: Report, quick: bool) -> None:
    """Time reading a tab-separated edge list with text names, and reopening it from its own file."""
    edges = 100_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = _write_edge_list(Path(folder), edges, report.seed)
        ours, peer = time_medians(
            partial(read_graph, path), partial(nx.read_edgelist, path, delimiter="\t"), repeats=1 if quick else 3
        )
        report.results.append(compare_with_peer("read a tsv of text names", f"{edges:,} edges", ours, "networkx", peer))
        if quick:
            return
        path = _write_edge_list(Path(folder), 10_000_000, report.seed)
        store, size = path.with_suffix(".safetensors"), "10,000,000 edges"
        seconds, gigabytes = _run_in_process(f"read_graph({str(path)!r}).save({str(store)!r})")
        note = f"{gigabytes:.2f} GB"
        report.results += [
            compare_with_limit("read a tsv of text names and save it", size, seconds, 60.0),
            Result("peak memory of that, GB", size, note=note, ratio=3.0 / gigabytes, target=1.0),
        ]
        seconds, _ = _run_in_process(f"read_graph({str(store)!r}).position('node_7')")
        report.results.append(compare_with_limit("reopen the graph and look up a name", size, seconds, 1.0))


def measure_logs(report: Report, quick: bool) -> None:
    """Time reading a log of events with ISO dates and splitting it into sessions, without and with blank titles."""
    events = 100_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        for what, blank in (("", 0.0), (", 1 % of the titles blank", 0.01)):
            path = _write_log(Path(folder), events, blank, report.seed)
            call = f"read_trajectories({str(path)!r}, session_gap='30min', lenient=True)"
            seconds, gigabytes = _run_in_process(call)
            size, note = f"{events:,} events{what}", f"{gigabytes:.2f} GB"
            report.results += [
                compare_with_limit("read a log and split it into sessions", size, seconds, 5.0),
                Result("peak memory of that, GB", size, note=note, ratio=1.0 / gigabytes, target=1.0),
            ]


def _write_log(folder: Path, events: int, blank: float, seed: int) -> Path:
    """Write a csv of events by one user per 50 events, in bursts of 10 pages at intervals of a minute."""
    path = folder / f"log_{events}.csv"
    rng = np.random.default_rng(seed)
    starts = rng.integers(1_780_000_000, 1_790_000_000, events // 10)
    seconds = (starts[:, None] + 60 * np.arange(10)).ravel()
    users = np.repeat(rng.integers(0, events // 50, events // 10), 10).tolist()
    pages = rng.zipf(1.3, events) % (events // 10)
    titles = np.where(rng.random(events) < blank, "", np.char.add("Page number ", pages.astype(str))).tolist()
    times = np.datetime_as_string(seconds.astype("datetime64[s]")).tolist()
    with open(path, "w") as stream:
        stream.write("user,page,time\n")
        stream.writelines(f"u{user},{title},{time}\n" for user, title, time in zip(users, titles, times, strict=True))
    return path


def _run_in_process(call: str) -> tuple[float, float]:
    """Run a call in a new process with loaded kernels; return its seconds and the peak memory in gigabytes."""
    code = (
        "import resource, time\n"
        "from curiograph.graph.io.formats import read_graph\n"
        "from curiograph.human.data.trajectory_file import read_trajectories\n"
        "from curiograph.warmup import warm_up\n"
        "warm_up()\n"
        "start = time.perf_counter()\n"
        f"{call}\n"
        "print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, gigabytes = done.stdout.split()
    return float(seconds), float(gigabytes)


def _write_edge_list(folder: Path, edges: int, seed: int) -> Path:
    """Write a random edge list with one name per ten edges."""
    path = folder / f"links_{edges}.tsv"
    rng = np.random.default_rng(seed)
    with open(path, "w") as stream:
        for _ in range(0, edges, 100_000):
            ends = rng.integers(0, edges // 10, (100_000, 2)).tolist()
            stream.write("".join(f"node_{a}\tnode_{b}\n" for a, b in ends))
    return path


def _draw_state(graph: Graph, size: int, seed: int) -> tuple[Int32, Int32]:
    """Draw a random walk of `size` nodes that has candidates; return the walk and its candidates."""
    start = np.flatnonzero(graph.degrees > 0)[seed % graph.num_nodes]
    exploration = begin([graph], [[int(start)]], "igt", size + 1, seed=seed)
    agent = RandomAgent()
    for _ in range(size - 1):
        exploration = exploration.step(exploration.best(agent.scores(exploration)))
    return exploration.nodes[0, :size], exploration.candidates.nodes


def _get_adjacency(graph: Graph, nodes: Int32 | Int64) -> Float64:
    return np.asarray(graph.induced(np.sort(nodes)).to_scipy().toarray(), np.float64)


def _score_from_walks(stack: GraphBatch, rows: Int32, lengths: Int64, offsets: Int64, candidates: Int32) -> Float64:
    return GapTracker(stack, rows, lengths).candidate_values(offsets, candidates)


def _run_all(calls: Sequence[Callable[[], Any]]) -> None:
    for call in calls:
        call()


def _call_each(function: Callable[[Float64], Any], matrices: list[Float64]) -> list[Any]:
    return [function(matrix) for matrix in matrices]


if __name__ == "__main__":
    main()
