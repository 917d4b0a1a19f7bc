"""Rows of benchmark tables, timing, and the command line that the benchmarks share."""

from __future__ import annotations

import json
import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import psutil

from curiograph.cli.output import check_out, show_progress, show_table
from curiograph.errors import CuriographError
from curiograph.files import open_atomic
from curiograph.progress import Progress


@dataclass(frozen=True)
class Row:
    """A measurement; times in seconds.

    >>> Row("sort", "9 numbers", 0.5, "numpy", 1.0).ratio
    2.0
    """

    what: str
    size: str = ""
    ours: float | None = None
    """Our time."""
    peer: str = ""
    """Name of the library or limit that is compared with."""
    peers: float | None = None
    """Time of the peer."""
    target: float | None = None
    """Value that the ratio should reach; None if there is no target."""
    ratio: float | None = None
    """By default, the time of the peer divided by ours."""
    note: str = ""
    """Text shown instead of our time."""

    def __post_init__(self) -> None:
        if self.ratio is None and self.ours is not None and self.peers is not None:
            object.__setattr__(self, "ratio", self.peers / self.ours)


def allow(what: str, size: str, ours: float, limit: float) -> Row:
    """Create the row of a comparison with the seconds that are allowed."""
    return Row(what, size, ours, "allowed", limit, target=1.0)


def format_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the table of stored rows, as text.

    >>> format_rows([vars(Row("sort", "9 numbers", 0.5, "numpy", 0.00125))]).iloc[0].tolist()
    ['sort', '9 numbers', '500 ms', 'numpy', '1.25 ms', '0.0025', '']
    """
    cells = [
        {
            "what": row["what"],
            "size": row["size"],
            "ours": format_seconds(row["ours"]) or row["note"],
            "peer": row["peer"],
            "peer's": format_seconds(row["peers"]),
            "ratio": "" if row["ratio"] is None else format_number(row["ratio"]),
            "target": "" if row["target"] is None else format_number(row["target"]),
        }
        for row in rows
    ]
    return pd.DataFrame(cells)


def format_number(value: float) -> str:
    """Format a number with three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def format_seconds(value: float | None) -> str:
    """Format a time with its unit; an empty text if there is none.

    >>> format_seconds(2.5), format_seconds(0.00125), format_seconds(None)
    ('2.5 s', '1.25 ms', '')
    """
    if value is None:
        return ""
    unit, scale = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)) if value >= s), ("ns", 1e-9))
    return f"{value / scale:.3g} {unit}"


# ---- time and memory ------------------------------------------------------------------------------------------------


def time_call(function: Callable[[], Any], calls: int = 1) -> float:
    """Return the mean seconds of a call."""
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls


def time_medians(*functions: Callable[[], Any], repeats: int = 7) -> list[float]:
    """Return the median seconds of a call of each function.

    The functions take turns, so that a temporary slowdown of the machine affects all of them; short calls are repeated
    until a measurement lasts 20 ms.

    >>> len(time_medians(lambda: None, lambda: sum(range(10)), repeats=1))
    2
    """
    counts = []
    for function in functions:
        function()
        counts.append(max(1, int(0.02 / max(time_call(function), 1e-7))))
    turns = [[time_call(f, n) for f, n in zip(functions, counts, strict=True)] for _ in range(repeats)]
    return [statistics.median(times) for times in zip(*turns, strict=True)]


def measure_memory(pid: int) -> int:
    """Return the bytes of a process and its children; what several of them share is counted once."""
    total, process = 0, psutil.Process(pid)
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # a child may end at any time
            memory = each.memory_full_info()
            total += getattr(memory, "pss", memory.uss)  # Linux has pss
    return total


# ---- command line ---------------------------------------------------------------------------------------------------


def run_command(
    parser: ArgumentParser,
    arguments: Sequence[str] | None,
    run: Callable[[Namespace, Progress], Iterator[tuple[Any, Mapping[str, pd.DataFrame]]]],
) -> Any:
    """Run a benchmark that yields a document for --out and tables by title, and return the last document.

    Each document replaces the one before, so that what was measured before an interruption is kept. Wrong input exits
    with code 2.
    """
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument("--out", type=Path, help="write the results to this .json file, and tables beside it")
    parser.add_argument("--quiet", action="store_true", help="print no progress")
    args = parser.parse_args(arguments)
    try:
        check_out(args.out, (".json",))
        with show_progress(args.quiet) as progress:
            for document, tables in run(args, progress):
                if args.out is not None:
                    with open_atomic(args.out) as stream:
                        stream.write(json.dumps(document, indent=2).encode() + b"\n")
                    texts = [f"{title}\n\n{table.to_markdown(index=False)}\n" for title, table in tables.items()]
                    args.out.with_suffix(".md").write_text("\n".join(texts))
    except CuriographError as error:
        parser.exit(2, f"benchmarks: {error}\n")
    for title, table in tables.items():
        show_table(title, table)
    return document
