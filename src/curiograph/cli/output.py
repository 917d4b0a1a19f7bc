"""Output of commands: tables and JSON on stdout, remarks and progress on stderr, results in files."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curiograph.cli.options import Output
from curiograph.errors import SettingError
from curiograph.files import open_atomic
from curiograph.progress import Progress, no_progress
from curiograph.results import to_plain

if TYPE_CHECKING:
    import pandas as pd

    from curiograph.graph.graph import Graph

PICTURES = (".png", ".svg", ".pdf")
_MAX_ROWS = 200  # rows of a table in the terminal
_ROUNDING_ERROR = 1e-12  # shown as 0
_MAX_WORD = 12  # longer words may be folded to make room for another column
_FIRST_LINE_DELAY, _LINE_INTERVAL = 10.0, 60.0  # seconds until the first progress line of a log, and between lines


def emit(
    output: Output,
    document: Any,
    table: pd.DataFrame | list[dict[str, Any]],
    *,
    title: str = "",
    draw: Callable[[], Any] | None = None,
    columns: Sequence[str] = (),
    graph: Graph | None = None,
) -> None:
    """Write a result to --out in the format of its extension; print it as JSON, or as a table of some columns.

    `check_out` must have accepted the file. The printed table shows nodes of `graph` by their titles. A document with
    an answer in words ends with it; what was skipped when data was read is a remark.
    """
    import pandas as pd

    document, frame = to_plain(document), pd.DataFrame(table)
    ending = "" if output.out is None else output.out.suffix.lower()
    if output.out is not None and ending in PICTURES and draw is not None:
        from curiograph.plotting import save_figure

        save_figure(draw(), output.out)
    elif output.out is not None and ending != ".gif":  # which the command has written
        text = frame.to_csv(index=False) if ending == ".csv" else json.dumps(document, ensure_ascii=False, indent=2)
        with open_atomic(output.out) as stream:
            stream.write(text.encode() + (b"" if ending == ".csv" else b"\n"))
    skipped = document.get("skipped") if isinstance(document, dict) else None
    if skipped and any(skipped["reasons"].values()):
        reasons = ", ".join(f"{reason}: {count:,}" for reason, count in skipped["reasons"].items())
        print_remark(f"left out: {reasons}", output.quiet)
    if output.json:
        print(json.dumps(document, ensure_ascii=False, indent=2))
        return
    shown = show_table(title, frame[list(columns)] if columns else frame, graph)
    hidden = {"rows": len(frame) - _MAX_ROWS, "columns": len(frame.columns) - shown}
    parts = [f"{count:,} {kind}" for kind, count in hidden.items() if count > 0]
    if parts:
        print_remark(f"{' and '.join(parts)} are not shown; --out FILE.csv writes all", output.quiet)
    if isinstance(document, dict) and document.get("answer"):
        print(document["answer"])


def show_table(title: str, table: pd.DataFrame | list[dict[str, Any]], graph: Graph | None = None) -> int:
    """Print the first rows of a table on stdout, and return for how many of its columns the terminal has room.

    Nodes of `graph` are shown by their titles, except those that share one.
    """
    import pandas as pd
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from curiograph.graph.labels import name_nodes

    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    grid = Table(
        title=title or None,
        title_justify="left",
        header_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    titles: dict[Any, str] = {}
    if graph is not None and graph.titles is not None:
        shown = zip(graph.names, name_nodes(graph.names), strict=True)
        titles = {label: name for label, name in shown if name != str(label)}
    room = console.width
    cells: list[Any] = []
    for name, column in pd.DataFrame(table).head(_MAX_ROWS).items():
        is_node = name in ("node", "opened_by", "closed_by")
        texts = [_format_cell(titles.get(value, value) if is_node else value) for value in column]
        longest = max((len(word) for text in texts for word in text.split()), default=0)
        width = max(len(str(name)), min(longest, _MAX_WORD))
        room -= width + 2
        if room < 0 and cells:
            break
        kind: Any = "right" if column.dtype.kind in "iuf" else "left"
        grid.add_column(str(name), justify=kind, min_width=width, overflow="fold")
        cells.append(map(Text, texts))
    for row in zip(*cells, strict=True):
        grid.add_row(*row)
    console.print(grid)
    return len(cells)


def _format_cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if not math.isfinite(value) else f"{value:.4g}" if abs(value) > _ROUNDING_ERROR else "0"
    return "" if value is None else str(value)


def print_remark(message: str, quiet: bool) -> None:
    """Print a line on stderr, unless `quiet`."""
    if not quiet:
        print(f"curiograph: {message}", file=sys.stderr)


def check_out(path: Path | None, extensions: Sequence[str] = (".json", ".csv"), option: str = "--out") -> None:
    """Check that a result can be written to `path`, before it is computed; raise SettingError or MissingExtraError."""
    if path is None:
        return
    if path.suffix.lower() not in extensions:
        raise SettingError(
            f"{option} {path}: cannot write {path.suffix or 'a file without extension'}; use {', '.join(extensions)}."
        )
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise SettingError(f"{option} {path}: cannot write to the folder {path.parent}; create it, or choose another.")
    if path.suffix.lower() in (*PICTURES, ".gif"):
        from curiograph.errors import import_optional

        import_optional("matplotlib.figure", "plot", "Pictures")


@contextmanager
def show_progress(quiet: bool) -> Iterator[Progress]:
    """Yield a progress callback that draws a bar on stderr; if that is no terminal, it writes a line once a minute."""
    if quiet:
        yield no_progress
    elif not sys.stderr.isatty():
        next_line = time.monotonic() + _FIRST_LINE_DELAY

        def write_line(message: str, share: float | None = None) -> None:
            nonlocal next_line
            if time.monotonic() >= next_line:
                next_line = time.monotonic() + _LINE_INTERVAL
                print_remark(message if share is None else f"{message} ({share:.0%})", quiet=False)

        yield write_line
    else:
        from rich import progress as bars
        from rich.console import Console

        columns = (
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(bar_width=20),
            bars.TimeElapsedColumn(),
            bars.TimeRemainingColumn(),
        )
        with bars.Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as display:
            task = display.add_task("starting", total=None)

            def draw_bar(message: str, share: float | None = None) -> None:
                display.update(task, description=message, completed=share or 0, total=None if share is None else 1)

            yield draw_bar
