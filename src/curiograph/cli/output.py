"""What a command shows and writes: a table for people, JSON for programs, a file if asked."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curiograph.errors import SettingError
from curiograph.graph.storage import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = (".png", ".svg", ".pdf")
ANIMATIONS = (".gif",)


def show_json(document: Any) -> None:
    """One JSON document on stdout."""
    print(to_json(document))


def to_json(document: Any) -> str:
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
    """A table on stdout; numbers stand at the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", header_style="bold")
    for place, column in enumerate(columns):
        numbers = all(row[place] is None or isinstance(row[place], (int, float)) for row in rows)
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    width = None if sys.stdout.isatty() else 200
    Console(width=width, highlight=False).print(table)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "-"
    return "" if value is None else str(value)


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path) as stream:
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
        from curiograph.extras import require

        require("matplotlib.figure", "plot", "Pictures")


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
        write_text(path, to_json(document) + "\n")


def remark(message: str, quiet: bool) -> None:
    """A line on stderr."""
    if not quiet:
        print(f"curiograph: {message}", file=sys.stderr)


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A status line on stderr that says what is being done; nothing where stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda message: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda message: status.update(message)
