"""What a command shows and writes: a table for people, JSON for programs, a file if asked."""

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
from typing import TYPE_CHECKING, Any, Literal

from curiograph.errors import SettingError
from curiograph.files import open_atomic
from curiograph.progress import Progress, format_seconds, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.console import Console
    from rich.progress import Progress as RichProgress

PICTURES = (".png", ".svg", ".pdf")
ANIMATIONS = (".gif",)
_WORD = 12  # letters of a word that a table does not break
_FIRST_LINE, _BETWEEN_LINES = 10.0, 60.0  # seconds
_DAY = 24 * 3600  # the time left is told from all that was done so far


def show_json(document: Any) -> None:
    """One JSON document on stdout."""
    print(format_json(document))


def format_json(document: Any) -> str:
    """JSON that any parser reads: NaN becomes null, labels of other types their text."""
    return json.dumps(_plain(document), ensure_ascii=False, indent=2, default=str)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table on stdout, numbers at the right; on a terminal too narrow for it, a paragraph for each row."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    cells = [[_cell(value) for value in row] for row in rows]
    least = [_least_width(column, [row[place] for row in cells]) for place, column in enumerate(columns)]
    if sum(least) + 3 * len(columns) + 1 > console.width:
        _show_paragraphs(console, title, columns, cells)
        return
    table = Table(title=title or None, title_justify="left", header_style="bold")
    for place, column in enumerate(columns):
        numbers = all(row[place] is None or isinstance(row[place], (int, float)) for row in rows)
        side: Literal["right", "left"] = "right" if numbers else "left"
        table.add_column(column, justify=side, overflow="fold", min_width=least[place])
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


def _least_width(column: str, cells: Sequence[str]) -> int:
    """Width at which a column folds between words, but for words that are longer than `_WORD`."""
    words = [len(word) for text in (column, *cells) for word in text.split()]
    return min(max(words, default=0), _WORD)


def _show_paragraphs(console: Console, title: str, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    from rich.text import Text

    if title:
        console.print(Text(title, style="italic"))
    for row in cells:
        parts = [Text.assemble((column, "bold"), " ", text) for column, text in zip(columns, row, strict=True) if text]
        console.print(Text("  ").join(parts), end="\n\n", overflow="fold")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "-"
    return "" if value is None else str(value)


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with open_atomic(path) as stream:
        stream.write(text.encode())


def check_out(path: Path | None, endings: Sequence[str], option: str = "--out") -> None:
    """Raise before the work is done if its result could not be written."""
    if path is None:
        return
    if path.suffix.lower() not in endings:
        raise SettingError(
            f"{option} {path}: cannot write {path.suffix or 'a file without ending'}; use {', '.join(endings)}."
        )
    if not path.parent.is_dir():
        raise SettingError(f"{option} {path}: the folder {path.parent} does not exist; create it first.")
    if not os.access(path.parent, os.W_OK):
        raise SettingError(f"{option} {path}: cannot write to the folder {path.parent}; choose another.")
    if path.suffix.lower() in (*PICTURES, *ANIMATIONS):
        from curiograph.optional import import_optional

        import_optional("matplotlib.figure", "plot", "Pictures")


def check_folder(folder: Path, option: str = "--out") -> None:
    """Raise before the work is done if a folder could not be made or written to."""
    present = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not present.is_dir() or not os.access(present, os.W_OK):
        raise SettingError(f"{option} {folder}: cannot write to {present}; choose another folder.")


def write_result(
    path: Path | None,
    document: Any,
    table: Callable[[], tuple[Sequence[str], Sequence[Sequence[Any]]]] | None = None,
    plot: Callable[[], Axes] | None = None,
) -> None:
    """Write a result in the format that the ending asks for."""
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


def print_remark(message: str, quiet: bool) -> None:
    """A line on stderr."""
    if not quiet:
        print(f"curiograph: {message}", file=sys.stderr)


@contextmanager
def show_progress(quiet: bool) -> Iterator[Progress]:
    """What is being done, on stderr, with a bar and the time left where the share done is known.

    The line is gone when the work ends, by whatever way. Where stderr is no terminal, as under nohup, a line is written
    after ten seconds and then once a minute.
    """
    if quiet:
        yield no_progress
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich import progress as bars
    from rich.console import Console
    from rich.table import Column

    columns = (
        bars.TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
        bars.BarColumn(bar_width=20),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with bars.Progress(
        *columns, console=console, transient=True, redirect_stdout=False, speed_estimate_period=_DAY
    ) as shown:
        yield _Bar(shown)


class _Lines:
    """A line now and then, for a file that somebody looks into; soon after the start one with the time it will take."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._next = self._begun + _FIRST_LINE
        self._first: float | None = None

    def __call__(self, message: str, share: float | None = None) -> None:
        now = time.monotonic()
        if share is not None and (self._first is None or share < self._first):  # another piece of work
            self._begun, self._first = now, share
        if now >= self._next:
            self._next = now + _BETWEEN_LINES
            print_remark(message + self._left(now, share), quiet=False)

    def _left(self, now: float, share: float | None) -> str:
        if share is None or self._first is None or share <= self._first:
            return ""
        return f", about {format_seconds((now - self._begun) / (share - self._first) * (1 - share))} left"


class _Bar:
    """A line of a rich progress. A share that falls, or is no longer known, begins another piece of work."""

    def __init__(self, shown: RichProgress) -> None:
        self._shown = shown
        self._share: float | None = None
        self._task = self._shown.add_task("starting", total=None)

    def __call__(self, message: str, share: float | None = None) -> None:
        if (share is None) != (self._share is None) or (share or 0) < (self._share or 0):
            self._shown.remove_task(self._task)
            self._task = self._shown.add_task(message, total=None if share is None else 1.0)
        self._shown.update(self._task, description=message, completed=share or 0)
        self._share = share
