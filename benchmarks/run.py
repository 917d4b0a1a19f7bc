"""Measure speed on one core, compared with other libraries in the same run; each time is a median of repeats."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import learning, ranking, reading, walks
from benchmarks.rows import Row, format_rows, run_command
from curiograph.cli.warmup import warm_up
from curiograph.errors import SettingError, shorten_text
from curiograph.progress import Progress

FAILED = "failed"
PEERS = ("ripser", "gudhi", "igraph", "torch")
RATIOS = "Ratios should reach their targets (that of n^x: stay below). "
PACKAGES = ("curiograph", "numpy", "numba", "scipy", "networkx", *PEERS)


def time_warm_up(seed: int, quick: bool) -> Iterator[Row]:
    """Time all kernels; the benchmarks after this one find them compiled."""
    yield Row("all kernels ready (compiled or cached)", ours=warm_up())


BENCHMARKS: tuple[Callable[[int, bool], Iterator[Row]], ...] = (
    time_warm_up,
    walks.time_gaps,
    walks.time_compressibility,
    walks.time_flexibility,
    walks.time_episodes,
    walks.time_single_calls,
    walks.time_environments,
    learning.time_decisions,
    learning.time_training,
    ranking.time_pagerank,
    ranking.time_pagerank_batch,
    ranking.time_curious_pagerank,
    ranking.time_recommendation,
    ranking.time_preparation,
    ranking.time_catalogs,
    reading.time_edge_lists,
    reading.time_logs,
    reading.time_motives,
)
"""Functions of a seed, and of whether to use tiny sizes, that yield rows."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to check that everything runs")
    parser.add_argument("--only", default="", help="only the benchmarks whose function has this in its name")
    if any(row["note"].startswith(FAILED) for row in run_command(parser, arguments, run)["results"]):
        sys.exit(1)


def run(args: Namespace, progress: Progress) -> Iterator[tuple[dict[str, Any], dict[str, pd.DataFrame]]]:
    """Run the chosen benchmarks, and yield the results so far after each; one that fails is a row with a note."""
    machine, missing = describe_machine(), [name for name in PEERS if not find_spec(name)]
    rows: list[dict[str, Any]] = []
    chosen = [each for each in BENCHMARKS if args.only in each.__name__]
    if not chosen:
        raise SettingError(f"--only is {args.only!r}; the benchmarks are {[each.__name__ for each in BENCHMARKS]}.")
    for number, benchmark in enumerate(chosen):
        progress(benchmark.__name__, number / len(chosen))
        try:
            rows.extend(asdict(row) for row in benchmark(args.seed, args.quick))
        except Exception as error:
            traceback.print_exc()
            rows.append(asdict(Row(benchmark.__name__, note=f"{FAILED}: {shorten_text(error)}")))
        tables = {RATIOS + ", ".join(f"{name} {value}" for name, value in machine.items()): format_rows(rows)}
        yield {"machine": machine, "seed": args.seed, "missing_peers": missing, "results": rows}, tables


def describe_machine() -> dict[str, Any]:
    """Return the processor, the system and the versions of the packages."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in PACKAGES if find_spec(name)},
    }


if __name__ == "__main__":
    main()
