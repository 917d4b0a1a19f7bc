"""`curiograph bench --scale`: what many tasks and large graphs cost, and whether that is as promised.

Speed is told as a ratio within this run: two workers against one, a million nodes against ten thousand.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks import engines, large
from curiograph.agents.evaluate import evaluate
from curiograph.errors import SettingError
from curiograph.graph.generators import generate, generate_large
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from curiograph.growth.measure import measure
from curiograph.progress import Progress
from curiograph.validation import resolve_workers
from curiograph.warmup import warm_up

COLUMNS = ("what", "measured", "promised", "as promised")

_SMALL, _MILLION = 10_000, 1_000_000
_FASTER = 1.7  # two workers over one
_SLOWER = 2.0  # a million nodes over ten thousand
_MINUTES = 20.0
_MEMORY = 4 * 2**30
_WALKS, _NODES = 100_000, 50
_LENGTHS = (10, 20, 30, 50, 80)
_DEGREES = (10, 20, 40)


@dataclass(frozen=True)
class Row:
    """One thing that was measured."""

    what: str
    measured: str
    promised: str = ""
    kept: bool | None = None
    """Whether it is as promised; None where nothing was."""

    def cells(self) -> list[str]:
        """For a table."""
        return [self.what, self.measured, self.promised, {True: "yes", False: "NO", None: ""}[self.kept]]


@dataclass
class Scale:
    """Everything that was measured."""

    facts: dict[str, Any] = field(default_factory=dict)
    """Plain values, for files and documentation."""
    rows: list[Row] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return self.facts | {"rows": [vars(row) for row in self.rows]}


def run_scale(largest: int, quick: bool, seed: int, say: Progress) -> Scale:
    """Measure on graphs of ten thousand to `largest` nodes; `quick` measures fewer walks, and no model of costs."""
    if largest < _SMALL:
        raise SettingError(f"--nodes is {largest}; measure on graphs of {_SMALL:,} nodes or more.")
    scale = Scale({"processors": resolve_workers(None), "walks": _WALKS // (50 if quick else 1), "seed": seed})
    say("compiling kernels")
    warm_up()
    say("what engines cost")
    _engines(scale, quick)
    say("two workers against one")
    _speed_ups(scale, quick, seed)
    with tempfile.TemporaryDirectory() as folder:
        paths = [_generated(Path(folder), nodes, 20, seed, say) for nodes in _sizes(largest)]
        _sized(scale, paths, seed, say)
        if not quick:
            say("what a walk costs by its length, and by the degree of the nodes")
            _costs(scale, Path(folder), paths[0], seed, say)
        if largest >= _MILLION:
            _batch(scale, paths[_sizes(largest).index(_MILLION)], scale.facts["walks"], seed, say)
    return scale


def _sizes(largest: int) -> list[int]:
    return sorted({nodes for nodes in (_SMALL, _MILLION, largest) if nodes <= largest})


# ---- engines --------------------------------------------------------------------------------------------------------


def _engines(scale: Scale, quick: bool) -> None:
    installed = ("local", "ray") if find_spec("ray") else ("local",)
    scale.facts["engines"] = found = engines.of_engines(installed, tasks=6 if quick else 20)
    for row in found:
        started = f", started in {row['start']:.1f} s" if row["start"] else ""
        scale.rows.append(
            Row(
                f"overhead of {row['engine']}, {row['workers']} workers, tasks of a second",
                f"{row['overhead']:.1%}{started}",
                f"{engines.PROMISED:.0%}",
                row["overhead"] <= engines.PROMISED,
            )
        )


def _speed_ups(scale: Scale, quick: bool, seed: int) -> None:
    graph = generate_large("ws", _SMALL, seed=seed)
    nodes, offsets = large.walked(graph, 4_000 if quick else 50_000, _NODES, seed)
    walks = [nodes[a:b].tolist() for a, b in pairwise(offsets)]
    graphs = [generate("rg", seed=seed + number) for number in range(40 if quick else 400)]
    works: dict[str, Callable[[int], Any]] = {
        "measure": lambda workers: measure(graph, walks, workers=workers),
        "evaluate": lambda workers: evaluate("horizon", graphs, "igt", 10, 100, seed=seed, workers=workers),
    }
    scale.facts["speed_ups"] = {}
    for name, work in works.items():
        one, two = _seconds(lambda: work(1)), _seconds(lambda: work(2))  # noqa: B023 - called at once
        scale.facts["speed_ups"][name] = {"one": one, "two": two, "ratio": one / two}
        kept = None if quick else one / two >= _FASTER  # of a few seconds, starting processes takes too large a part
        measured = f"{one / two:.2f}x ({one:.1f} s, {two:.1f} s)"
        scale.rows.append(Row(f"{name}: 2 workers over 1", measured, f"{_FASTER}x", kept))


def _seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


# ---- large graphs ---------------------------------------------------------------------------------------------------


def _generated(folder: Path, nodes: int, degree: int, seed: int, say: Progress) -> Path:
    say(f"generating {nodes:,} nodes of mean degree {degree}")
    path = folder / f"{nodes}-{degree}.npz"
    generate_large("ws", nodes, mean_degree=degree, seed=seed).save(str(path))
    return path


def _sized(scale: Scale, paths: Sequence[Path], seed: int, say: Progress) -> None:
    """Decisions and recommendations by the number of nodes."""
    scale.facts["sizes"] = []
    for path in paths:
        say(f"decisions and recommendations on {path.stem.partition('-')[0]} nodes")
        opened = large.opened(path)
        graph = read_graph(path)
        found = opened | {"decisions": large.decisions(graph, seed=seed)}
        found["recommendations"] = large.recommendations(graph, seed=seed)
        scale.facts["sizes"].append(found)
        about = f"{opened['nodes']:,} nodes, {opened['edges']:,} edges"
        scale.rows.append(Row(f"open {about}", f"{opened['seconds']:.2f} s"))
    small = scale.facts["sizes"][0]
    for other in scale.facts["sizes"][1:]:
        for kind in ("decisions", "recommendations"):
            for name, milliseconds in other[kind].items():
                scale.rows.append(_against(f"{name} on {other['nodes']:,} nodes", milliseconds, small[kind][name]))


def _against(what: str, milliseconds: float, before: float) -> Row:
    ratio = milliseconds / before
    measured = f"{milliseconds:.3g} ms, {ratio:.2f} times that on {_SMALL:,}"
    return Row(what, measured, f"{_SLOWER:g} times", ratio <= _SLOWER)


def _costs(scale: Scale, folder: Path, path: Path, seed: int, say: Progress) -> None:
    """What a walk takes to measure, by its length and by the degree of its nodes; and a choice, to judge."""
    graph = read_graph(path)
    scale.facts["lengths"] = [large.measured(graph, 200, nodes, seed=seed) for nodes in _LENGTHS]
    scale.facts["degrees"] = []
    for degree in _DEGREES:
        graph = read_graph(_generated(folder, _SMALL, degree, seed, say))
        found = {"degree": degree, "measured": large.measured(graph, 200, _NODES, seed=seed)["milliseconds"]}
        found |= {"decisions": large.decisions(graph, seed=seed)}
        scale.facts["degrees"].append(found | {"recommendations": large.recommendations(graph, seed=seed)})
    scale.facts["hypotheses"] = large.judged(graph, 200, 30, seed=seed)


def _batch(scale: Scale, path: Path, count: int, seed: int, say: Progress) -> None:
    """Measure very many walks on a million nodes, and watch the memory of all processes."""
    graph: Graph = read_graph(path)
    nodes, offsets = large.walked(graph, count, _NODES, seed)
    walks = [nodes[a:b].tolist() for a, b in pairwise(offsets)]
    with _watched() as peak:
        seconds = _seconds(lambda: measure(graph, walks, workers=2, progress=say))
    scale.facts["batch"] = {"walks": count, "nodes": _NODES, "seconds": seconds, "memory": peak[0]}
    minutes = seconds / 60 * _WALKS / count
    scaled = "" if count == _WALKS else f" (as {count:,} of them tell)"
    scale.rows += [
        Row(f"measure {_WALKS:,} walks of {_NODES} nodes on a million, 2 workers", f"{minutes:.1f} min{scaled}",
            f"{_MINUTES:g} min", minutes <= _MINUTES),
        Row("memory of all its processes", f"{peak[0] / 2**30:.1f} GiB", f"{_MEMORY / 2**30:g} GiB",
            peak[0] <= _MEMORY),
    ]  # fmt: skip


@contextmanager
def _watched() -> Iterator[list[int]]:
    """The most bytes that this process and its workers took together at a time; shared pages count once."""
    peak, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.5):
            peak[0] = max(peak[0], sum(map(_proportional, [os.getpid(), *_children()])))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


def _children() -> list[int]:
    found = []
    for task in Path("/proc/self/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def _proportional(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:  # ended since
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
