"""Speed and memory of reading edge lists and logs, and of comparing motives of people."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np

import curiograph as cg
from benchmarks.rows import Row, allow, time_call, time_medians


def time_edge_lists(seed: int, quick: bool) -> Iterator[Row]:
    """Time reading a tab-separated edge list with text names, and reopening it from its own file."""
    with tempfile.TemporaryDirectory() as name:
        folder, edges = Path(name), 1_000 if quick else 1_000_000
        path = _write_edge_list(folder, edges, seed)
        theirs = partial(nx.read_edgelist, path, delimiter="\t")
        ours, peer = time_medians(partial(cg.read_graph, path), theirs, repeats=1 if quick else 3)
        yield Row("read a tsv of text names", f"{edges:,} edges", ours, "networkx", peer)
        small, edges = _write_edge_list(folder, 100, seed), 10 * edges
        path, size = _write_edge_list(folder, edges, seed), f"{edges:,} edges"
        seconds, gigabytes = _run_in_process("cg.write_graph(cg.read_graph(path), path + '.safetensors')", small, path)
        yield allow("read a tsv of text names and save .safetensors", size, seconds, 60.0)
        yield _limit_memory(size, gigabytes, 3.0)
        stored = [each.with_name(f"{each.name}.safetensors") for each in (small, path)]
        seconds, _ = _run_in_process("cg.read_graph(path).position('node_7')", *stored)
        yield allow("reopen the .safetensors and look up a name", size, seconds, 1.0)


def time_logs(seed: int, quick: bool) -> Iterator[Row]:
    """Time reading a log of events with ISO dates and splitting it into sessions, without and with blank titles."""
    events = 1_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        for what, blank in (("", 0.0), (", 1 % of the titles blank", 0.01)):
            small, path = (_write_log(Path(name), count, blank, seed) for count in (100, events))
            seconds, gigabytes = _run_in_process("cg.human.read_log(path, session_gap='30min')", small, path)
            yield allow("read a log and split it into sessions", f"{events:,} events{what}", seconds, 5.0)
            yield _limit_memory(f"{events:,} events{what}", gigabytes, 1.0)


def time_motives(seed: int, quick: bool) -> Iterator[Row]:
    """Time the comparison of all motives on the games of Wikispeedia if CURIOGRAPH_DATA has them, or on few walks."""
    folder = Path(os.environ.get("CURIOGRAPH_DATA", "")).resolve() / "wikispeedia"
    if quick:
        graph = cg.toys.library()
        walks = [cg.explore(graph, "random", steps=6, seed=seed + walk).nodes for walk in range(20)]
        people = cg.human.Trajectories.from_walks(walks, users=[walk % 5 for walk in range(20)])
        seconds = time_call(partial(cg.human.hypotheses, graph, people))
        yield allow("compare all motives, all cores", "20 walks on a toy graph", seconds, 60.0)
    if quick or not (folder / "paths_finished.tsv").is_file():
        return
    call = "data = cg.human.load_dataset(path); cg.human.hypotheses(data.graph, data)"
    seconds, gigabytes = _run_in_process(call, folder / "paths_unfinished.tsv", folder)
    yield allow("compare all motives, all cores", "163,275 choices of Wikispeedia", seconds, 60.0)
    yield _limit_memory("163,275 choices of Wikispeedia", gigabytes, 2.0)


def _limit_memory(size: str, gigabytes: float, limit: float) -> Row:
    note = f"{gigabytes:.2f} GB"
    return Row("peak memory of that, GB", size, note=note, ratio=limit / gigabytes, target=1.0)


def _run_in_process(call: str, small: Path, path: Path) -> tuple[float, float]:
    """Run a call in a new process, first on a small file; return the seconds of the second and the peak gigabytes."""
    code = f"""
import time
from pathlib import Path
import curiograph as cg
for path in ({str(small)!r}, {str(path)!r}):
    start = time.perf_counter()
    {call}
seconds = time.perf_counter() - start
peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
print(seconds, int(peak) / 1e6)
"""  # not the resource module, whose peak begins with the memory of this process
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    seconds, gigabytes = done.stdout.split()
    return float(seconds), float(gigabytes)


def _write_edge_list(folder: Path, edges: int, seed: int) -> Path:
    """Write a random edge list with one name per ten edges."""
    path = folder / f"links_{edges}.tsv"
    rng = np.random.default_rng(seed)
    with open(path, "w") as stream:
        for first in range(0, edges, 100_000):
            ends = rng.integers(0, edges // 10, (min(edges - first, 100_000), 2)).tolist()
            stream.write("".join(f"node_{a}\tnode_{b}\n" for a, b in ends))
    return path


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
