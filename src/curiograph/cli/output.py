"""Output of commands: tables and JSON on stdout, remarks and progress on stderr, results in files."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curiograph.errors import SettingError
from curiograph.files import open_atomic
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.progress import Progress as RichProgress

PICTURES = (".png", ".svg", ".pdf")
"""File extensions of pictures."""
ANIMATIONS = (".gif",)
"""File extensions of animations."""

_MAX_MIN_WIDTH = 12  # a column is as wide as its longest word, up to this minimum width
_FIRST_LINE_DELAY, _LINE_INTERVAL = 10.0, 60.0  # seconds until the first progress line of a log, and between lines


def format_json(document: Any) -> str:
    """Format a document as standard JSON: NaN and infinity become null, values of unknown types become text."""
    return json.dumps(_replace_nonfinite(document), ensure_ascii=False, indent=2, default=str)


def _replace_nonfinite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _replace_nonfinite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replace_nonfinite(item) for item in value]
    return value


def show_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    print(format_json(document))


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table on stdout, or one paragraph per row if the terminal is too narrow for the table."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    cells = [[_format_cell(value) for value in row] for row in rows]
    widths = []
    for column, name in enumerate(columns):
        words = [len(word) for text in (name, *(row[column] for row in cells)) for word in text.split()]
        widths.append(min(max(words, default=0), _MAX_MIN_WIDTH))
    if sum(widths) + 3 * len(columns) + 1 > console.width:
        if title:
            console.print(Text(title, style="italic"))
        for row in cells:
            pairs = [Text.assemble((name, "bold"), " ", text) for name, text in zip(columns, row, strict=True) if text]
            console.print(Text("  ").join(pairs), end="\n\n", overflow="fold")
        return
    table = Table(title=title or None, title_justify="left", header_style="bold")
    for column, name in enumerate(columns):
        numeric = all(row[column] is None or isinstance(row[column], (int, float)) for row in rows)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold", min_width=widths[column])
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


def _format_cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "-"
    return "" if value is None else str(value)


def list_rows(columns: dict[str, Any]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Turn a table given by columns into its column names and rows."""
    return list(columns), list(zip(*columns.values(), strict=True))


def print_remark(message: str, quiet: bool) -> None:
    """Print a line on stderr, unless `quiet`."""
    if not quiet:
        print(f"curiograph: {message}", file=sys.stderr)


# ---- files ----------------------------------------------------------------------------------------------------------


def check_out(path: Path | None, extensions: Sequence[str], option: str = "--out") -> None:
    """Check that a result can be written to `path`, before it is computed; raise SettingError or MissingExtraError."""
    if path is None:
        return
    if path.suffix.lower() not in extensions:
        raise SettingError(
            f"{option} {path}: cannot write {path.suffix or 'a file without extension'}; use {', '.join(extensions)}."
        )
    if not path.parent.is_dir():
        raise SettingError(f"{option} {path}: the folder {path.parent} does not exist; create it first.")
    if not os.access(path.parent, os.W_OK):
        raise SettingError(f"{option} {path}: cannot write to the folder {path.parent}; choose another.")
    if path.suffix.lower() in (*PICTURES, *ANIMATIONS):
        from curiograph.optional import import_optional

        import_optional("matplotlib.figure", "plot", "Pictures")


def check_folder(folder: Path | None, option: str = "--out") -> None:
    """Raise SettingError if a folder could not be created or written to."""
    if folder is None:
        return
    present = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not present.is_dir() or not os.access(present, os.W_OK):
        raise SettingError(f"{option} {folder}: cannot write to {present}; choose another folder.")


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with open_atomic(path) as stream:
        stream.write(text.encode())


def write_result(
    path: Path | None,
    document: Any,
    table: Callable[[], tuple[Sequence[str], Sequence[Sequence[Any]]]] | None = None,
    plot: Callable[[], Axes] | None = None,
) -> None:
    """Write a result in the format of the file extension; `check_out` must have accepted the path.

    Parameters
    ----------
    path : Path or None
        File to write; None writes nothing.
    document : Any
        Content of a JSON file.
    table : callable, optional
        Return the column names and rows of a CSV file.
    plot : callable, optional
        Return the axes of a picture.
    """
    if path is None:
        return
    if path.suffix.lower() in PICTURES and plot is not None:
        from curiograph.plotting import save_figure

        save_figure(plot(), path)
    elif path.suffix.lower() == ".csv" and table is not None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns, rows = table()
        writer.writerow(columns)
        writer.writerows(rows)
        write_text(path, text.getvalue())
    else:
        write_text(path, format_json(document) + "\n")


# ---- progress -------------------------------------------------------------------------------------------------------


@contextmanager
def show_progress(quiet: bool) -> Iterator[Progress]:
    """Yield a progress callback that draws a bar on stderr, with the remaining time once it can be estimated.

    The bar is removed when the block ends. If stderr is not a terminal, as under nohup, a line is written after ten
    seconds and then once a minute.
    """
    if quiet:
        yield no_progress
        return
    if not sys.stderr.isatty():
        yield _ProgressLog()
        return
    from rich import progress as bars
    from rich.console import Console
    from rich.table import Column

    cut = Column(ratio=1, no_wrap=True, overflow="ellipsis")  # all columns together are as wide as the terminal
    columns = (
        bars.TextColumn("{task.description}", markup=False, table_column=cut),
        bars.BarColumn(bar_width=20),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, expand=True
    ) as display:
        yield _ProgressBar(display)


class _ProgressLog:
    """Write a progress line to stderr after ten seconds and then once a minute."""

    def __init__(self) -> None:
        self._next_line = time.monotonic() + _FIRST_LINE_DELAY

    def __call__(self, message: str, share: float | None = None) -> None:
        now = time.monotonic()
        if now >= self._next_line:
            self._next_line = now + _LINE_INTERVAL
            print_remark(message if share is None else f"{message}, {share:.0%}", quiet=False)


class _ProgressBar:
    """Draw a rich progress bar; an unknown share is drawn as a moving bar."""

    def __init__(self, display: RichProgress) -> None:
        self._display = display
        self._is_known = False
        self._task = display.add_task("starting", total=None)

    def __call__(self, message: str, share: float | None = None) -> None:
        if self._is_known != (share is not None):  # rich cannot make the total of a task unknown
            self._is_known = share is not None
            self._display.remove_task(self._task)
            self._task = self._display.add_task(message, total=1.0 if self._is_known else None)
        self._display.update(self._task, description=message, completed=share or 0)
