"""Read Amazon Books: reviews of books, in the layouts that the McAuley lab has published."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path
from typing import Any

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, as_path
from curiograph.human.data.columns import EventColumns, parse_header
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.events import CHUNK, Events, read_events
from curiograph.human.data.line_reader import BadRows, is_encodable, read_lines

FILES = tuple(f"{name}{suffix}" for name in ("ratings_Books.csv", "Books.csv", "Books.jsonl") for suffix in ("", ".gz"))
"""Names of the files that are read, each plain or gzipped."""
_WITHOUT_HEADER = EventColumns(separator=",", width=4, user=0, item=1, time=3, quoted=True)


def find_books(folder: Path) -> Path | None:
    """Return the file of reviews in a folder, or None."""
    return next((folder / name for name in FILES if (folder / name).is_file()), None)


def read_books(path: PathLike, *, lenient: bool = False) -> Dataset:
    """Read a file of ratings or reviews, or the folder that contains it.

    The layouts are `ratings_Books.csv` (user, item, rating, time, no header), `Books.csv` with a header and
    `Books.jsonl` with one review per line; each may be gzipped. Ratings are not read.
    """
    source, bad_rows = as_path(path), BadRows()
    file = source if source.name in FILES else find_books(source)
    if file is None:
        raise FileFormatError(
            f"{source}: contains no {', '.join(FILES[::2])}, plain or with .gz; give the folder of one of these files."
        )
    lines = read_lines(file, bad_rows)
    if ".jsonl" in file.suffixes:
        events = _read_reviews(file, lines, bad_rows)
    else:
        head = next(lines, (1, ""))
        columns = parse_header(file, *head)
        rows = chain([head], lines) if columns is None else lines
        events = read_events(file, rows, columns or _WITHOUT_HEADER, bad_rows)
    skipped = events.finish(lenient)
    return Dataset(name="books", walks=events.to_trajectories().add_skipped(skipped), source_path=source)


def _read_reviews(path: Path, lines: Iterable[tuple[int, str]], bad_rows: BadRows) -> Events:
    """Read events from lines of JSON."""
    events = Events(path, bad_rows)
    events.has_times = True
    numbered = iter(lines)
    while chunk := list(islice(numbered, CHUNK)):
        rows: list[tuple[int, str, str, Any]] = []
        problems = {}
        for number, line in chunk:
            try:
                review = json.loads(line)
            except (ValueError, RecursionError):
                review = None
            if not isinstance(review, dict):
                problems[number] = ("not JSON", "is not a JSON object")
                continue
            user, item = (
                value.strip() if isinstance(value, str) and is_encodable(value) else ""
                for value in (review.get("user_id"), review.get("parent_asin") or review.get("asin"))
            )
            rows.append((number, user, item, review.get("timestamp")))
        columns: Any = ([row[place] for row in rows] for place in range(4))
        numbers, users, items, times = columns
        events.extend(numbers, users, items, times, problems=problems)
    return events
