"""Measure many tasks and large graphs, with ratios within one run: two workers against one, a million nodes against
ten thousand."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from curiograph.human.profile.profile import profile
from curiograph.human.profile.styles import simulate_styles

from benchmarks import engines, large
from benchmarks.command import create_parser, exit_on_error, show_results
from benchmarks.timing import time_call
from curiograph.agents.evaluate import evaluate
from curiograph.cli.output import show_progress
from curiograph.errors import SettingError
from curiograph.graph.generators import generate
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph
from curiograph.graph.labels import RangeLabels
from curiograph.growth.measure import measure
from curiograph.progress import Progress
from curiograph.validation import resolve_workers
from curiograph.warmup import warm_up

COLUMNS = ("what", "measured", "target", "target met")

_SMALL, _MILLION = 10_000, 1_000_000
_MIN_SPEEDUP = 1.7  # two workers against one
_MAX_SLOWDOWN = 2.0  # a million nodes against ten thousand
_MAX_MINUTES = 20.0
_MAX_PROFILE_MINUTES = 10.0
_MAX_MEMORY = 4 * 2**30
_PROFILE_SAMPLE = 2_000  # people whose processor time is measured
_WALKS, _NODES = 100_000, 50
_LENGTHS = (10, 20, 30, 50, 80)
_DEGREES = (10, 20, 40)


@dataclass(frozen=True)
class Row:
    """A measurement."""

    what: str
    measured: str
    target: str = ""
    met: bool | None = None
    """Whether the target is met; None if there is none."""

    def list_cells(self) -> list[str]:
        """Cells of a table row."""
        return [self.what, self.measured, self.target, {True: "yes", False: "NO", None: ""}[self.met]]


@dataclass
class Scale:
    """All measurements."""

    facts: dict[str, Any] = field(default_factory=dict)
    """Plain values, for files and documentation."""
    rows: list[Row] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return self.facts | {"rows": [asdict(row) for row in self.rows]}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    parser = create_parser(__doc__)
    parser.add_argument("--nodes", type=int, default=_MILLION, help="nodes of the largest graph (default: a million)")
    parser.add_argument("--only-profiles", action="store_true", help="measure profiles of people, and nothing else")
    parser.add_argument("--quick", action="store_true", help="fewer walks, and no costs by length and degree")
    args = parser.parse_args(arguments)
    with exit_on_error(args):
        with show_progress(args.quiet) as progress:
            call = run_profiles if args.only_profiles else run
            scale = call(args.nodes, args.quick, args.seed, progress)
        rows = [row.list_cells() for row in scale.rows]
        show_results(args, scale.to_dict(), "many tasks and large graphs", COLUMNS, rows)


def run(largest: int, quick: bool, seed: int, progress: Progress) -> Scale:
    """Measure on graphs of ten thousand to `largest` nodes; `quick` uses fewer walks and skips costs by length."""
    if largest < _SMALL:
        raise SettingError(f"--nodes is {largest}; measure on graphs of {_SMALL:,} nodes or more.")
    scale = Scale({"processors": resolve_workers(None), "walks": _WALKS // (50 if quick else 1), "seed": seed})
    progress("compiling kernels")
    warm_up()
    progress("overhead of engines")
    measure_engines(scale, quick)
    progress("two workers against one")
    measure_speedups(scale, quick, seed)
    sizes = sorted({nodes for nodes in (_SMALL, _MILLION, largest) if nodes <= largest})
    with tempfile.TemporaryDirectory() as folder:
        paths = [_save_graph(Path(folder), nodes, 20, seed, progress) for nodes in sizes]
        measure_sizes(scale, paths, seed, progress)
        if not quick:
            progress("costs of a walk by length and by degree")
            measure_costs(scale, Path(folder), paths[0], seed, progress)
        if largest >= _MILLION:
            measure_batch(scale, paths[sizes.index(_MILLION)], scale.facts["walks"], seed, progress)
            measure_profiles(scale, paths[sizes.index(_MILLION)], scale.facts["walks"], seed, progress)
    return scale


def measure_engines(scale: Scale, quick: bool) -> None:
    """Measure the overhead of the installed engines."""
    installed = ("local", "ray") if find_spec("ray") else ("local",)
    scale.facts["engines"] = engines.measure_engines(installed, tasks=6 if quick else 20)
    for row in scale.facts["engines"]:
        started = f", started in {row['start']:.1f} s" if row["start"] else ""
        scale.rows.append(
            Row(
                what=f"overhead of {row['engine']}, {row['workers']} workers, tasks of a second",
                measured=f"{row['overhead']:.1%}{started}",
                target=f"{engines.MAX_OVERHEAD:.0%}",
                met=row["overhead"] <= engines.MAX_OVERHEAD,
            )
        )


def draw_ring(nodes: int, degree: int, seed: int) -> Graph:
    """Draw a ring of nodes linked to the nearest ones, of whose edges a tenth are rewired."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(nodes), degree // 2)
    target = (source + np.tile(np.arange(1, degree // 2 + 1), nodes)) % nodes
    moved = rng.random(len(source)) < 0.1
    target[moved] = rng.integers(0, nodes, np.count_nonzero(moved))
    return Graph.from_arrays(source, target, names=RangeLabels(nodes)).skeleton


def measure_speedups(scale: Scale, quick: bool, seed: int) -> None:
    """Compare two workers with one for `measure` and `evaluate`."""
    graph = draw_ring(_SMALL, 20, seed)
    nodes, offsets = large.draw_walks(graph, 4_000 if quick else 50_000, _NODES, seed)
    walks = [nodes[a:b].tolist() for a, b in pairwise(offsets)]
    graphs = [generate("rg", seed=seed + number) for number in range(40 if quick else 400)]
    functions: dict[str, Callable[[int], Any]] = {
        "measure": lambda workers: measure(graph, walks, workers=workers),
        "evaluate": lambda workers: evaluate("horizon", graphs, "igt", 10, 100, seed=seed, workers=workers),
    }
    scale.facts["speed_ups"] = {}
    for name, function in functions.items():
        one, two = (time_call(lambda: function(workers)) for workers in (1, 2))  # noqa: B023 - called immediately
        scale.facts["speed_ups"][name] = {"one": one, "two": two, "ratio": one / two}
        met = None if quick else one / two >= _MIN_SPEEDUP  # starting processes dominates a few seconds
        measured = f"{one / two:.2f}x ({one:.1f} s, {two:.1f} s)"
        scale.rows.append(Row(f"{name}: 2 workers over 1", measured, f"{_MIN_SPEEDUP}x", met))


def _save_graph(folder: Path, nodes: int, degree: int, seed: int, progress: Progress) -> Path:
    progress(f"generating {nodes:,} nodes of mean degree {degree}")
    path = folder / f"{nodes}-{degree}.safetensors"
    draw_ring(nodes, degree, seed).save(path)
    return path


def measure_sizes(scale: Scale, paths: Sequence[Path], seed: int, progress: Progress) -> None:
    """Measure decisions and recommendations by the number of nodes."""
    sizes = scale.facts["sizes"] = []
    for path in paths:
        progress(f"decisions and recommendations on {path.stem.partition('-')[0]} nodes")
        found = large.measure_opening(path)
        scale.rows.append(Row(f"open {found['nodes']:,} nodes, {found['edges']:,} edges", f"{found['seconds']:.2f} s"))
        graph = read_graph(path)
        found["decisions"] = large.measure_decisions(graph, seed=seed)
        found["recommendations"] = large.measure_recommendations(graph, seed=seed)
        sizes.append(found)
    for other in sizes[1:]:
        for kind in ("decisions", "recommendations"):
            for name, milliseconds in other[kind].items():
                ratio = milliseconds / sizes[0][kind][name]
                scale.rows.append(
                    Row(
                        what=f"{name} on {other['nodes']:,} nodes",
                        measured=f"{milliseconds:.3g} ms, {ratio:.2f} times that on {_SMALL:,}",
                        target=f"{_MAX_SLOWDOWN:g} times",
                        met=ratio <= _MAX_SLOWDOWN,
                    )
                )


def measure_costs(scale: Scale, folder: Path, path: Path, seed: int, progress: Progress) -> None:
    """Measure the cost of a walk by its length and by the degree of its nodes, and the cost of a choice."""
    graph = read_graph(path)
    scale.facts["lengths"] = [large.measure_growth(graph, 200, nodes, seed=seed) for nodes in _LENGTHS]
    scale.facts["degrees"] = []
    for degree in _DEGREES:
        graph = read_graph(_save_graph(folder, _SMALL, degree, seed, progress))
        scale.facts["degrees"].append(
            {
                "degree": degree,
                "measured": large.measure_growth(graph, 200, _NODES, seed=seed)["milliseconds"],
                "decisions": large.measure_decisions(graph, seed=seed),
                "recommendations": large.measure_recommendations(graph, seed=seed),
            }
        )
    scale.facts["hypotheses"] = large.measure_hypotheses(graph, 200, 30, seed=seed)


def measure_batch(scale: Scale, path: Path, count: int, seed: int, progress: Progress) -> None:
    """Measure many walks on a million nodes, and the memory of all processes."""
    graph = read_graph(path)
    nodes, offsets = large.draw_walks(graph, count, _NODES, seed)
    walks = [nodes[a:b].tolist() for a, b in pairwise(offsets)]
    with _watch_memory() as peak:
        seconds = time_call(lambda: measure(graph, walks, workers=2, progress=progress))
    scale.facts["batch"] = {"walks": count, "nodes": _NODES, "seconds": seconds, "memory": peak[0]}
    minutes = seconds / 60 * _WALKS / count
    scaled = "" if count == _WALKS else f" (extrapolated from {count:,})"
    scale.rows += [
        Row(
            what=f"measure {_WALKS:,} walks of {_NODES} nodes on a million, 2 workers",
            measured=f"{minutes:.1f} min{scaled}",
            target=f"{_MAX_MINUTES:g} min",
            met=minutes <= _MAX_MINUTES,
        ),
        Row(
            what="memory of all its processes",
            measured=f"{peak[0] / 2**30:.1f} GiB",
            target=f"{_MAX_MEMORY / 2**30:g} GiB",
            met=peak[0] <= _MAX_MEMORY,
        ),
    ]


def run_profiles(largest: int, quick: bool, seed: int, progress: Progress) -> Scale:
    """Measure profiles of people on a graph of `largest` nodes; `quick` uses fewer people."""
    scale = Scale({"processors": resolve_workers(None), "walks": _WALKS // (20 if quick else 1), "seed": seed})
    with tempfile.TemporaryDirectory() as folder:
        path = _save_graph(Path(folder), largest, 20, seed, progress)
        measure_profiles(scale, path, scale.facts["walks"], seed, progress)
    return scale


def measure_profiles(scale: Scale, path: Path, count: int, seed: int, progress: Progress) -> None:
    """Measure the profiles of simulated people who return to nodes, and the memory of all processes."""
    graph = read_graph(path)
    people = simulate_styles(graph, people=count, visits=_NODES, strength=0.5, seed=seed)
    profile(graph, people.rows(slice(2)), workers=1)  # compiles the kernels
    sample = people.rows(slice(min(count, _PROFILE_SAMPLE)))
    start = time.process_time()
    profile(graph, sample, workers=1)
    milliseconds = 1e3 * (time.process_time() - start) / len(sample)
    with _watch_memory() as peak:
        seconds = time_call(lambda: profile(graph, people, workers=2, progress=progress))
    scale.facts["profiles"] = {
        "people": count,
        "visits": _NODES,
        "seconds": seconds,
        "memory": peak[0],
        "milliseconds": milliseconds,
    }
    minutes = seconds / 60 * _WALKS / count
    scaled = "" if count == _WALKS else f" (extrapolated from {count:,})"
    scale.rows += [
        Row(
            what=f"profile of {_WALKS:,} people, {_NODES} visits, on {graph.num_nodes:,} nodes, 2 workers",
            measured=f"{minutes:.1f} min{scaled}; {milliseconds:.2f} ms of processor time per person",
            target=f"{_MAX_PROFILE_MINUTES:g} min",
            met=minutes <= _MAX_PROFILE_MINUTES,
        ),
        Row(
            what="memory of the processes of profile",
            measured=f"{peak[0] / 2**30:.1f} GiB",
            target=f"{_MAX_MEMORY / 2**30:g} GiB",
            met=peak[0] <= _MAX_MEMORY,
        ),
    ]


@contextmanager
def _watch_memory() -> Iterator[list[int]]:
    """Record the peak memory of this process and its workers in bytes, with shared pages counted once."""
    peak, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.5):
            children = [
                int(child)
                for task in Path("/proc/self/task").iterdir()
                for child in (task / "children").read_text().split()
            ]
            peak[0] = max(peak[0], sum(map(_get_proportional_memory, [os.getpid(), *children])))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


def _get_proportional_memory(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:  # the process has ended
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


if __name__ == "__main__":
    main()
