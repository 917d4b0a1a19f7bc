"""Read Amazon Books: reviews of books, in the layouts that the McAuley lab has published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from curiograph.errors import FileFormatError
from curiograph.files import wrap_parse_errors
from curiograph.human.data.event_columns import guess
from curiograph.human.data.log_reader import read_events, read_log
from curiograph.human.data.text_source import TextSource
from curiograph.human.trajectories import Trajectories

FILES = tuple(f"{name}{suffix}" for name in ("ratings_Books.csv", "Books.csv", "Books.jsonl") for suffix in ("", ".gz"))
"""Names of the files that are read, each plain or gzipped."""


def find_books(folder: Path) -> Path | None:
    """Return the file of reviews in a folder, or None."""
    return next((folder / name for name in FILES if (folder / name).is_file()), None)


def read_books(path: Path) -> Trajectories:
    """Read a file of ratings or reviews, or the folder that contains it.

    The layouts are `ratings_Books.csv` (user, item, rating, time, no header), `Books.csv` with a header and
    `Books.jsonl` with one review per line; each may be gzipped. Ratings are not read.
    """
    file = path if path.name in FILES else find_books(path)
    if file is None:
        raise FileFormatError(
            f"{path}: contains no {', '.join(FILES[::2])}, plain or with .gz; give the folder of one of these files."
        )
    source = TextSource(file)
    if ".jsonl" in file.suffixes:
        with wrap_parse_errors(file, "JSON lines"):
            reviews = [json.loads(line, object_hook=_get_event) for _, line in source.lines()]
            frame = pd.DataFrame(reviews, columns=["user", "item", "time"])
        return Trajectories.from_frame(frame)
    if guess("user", next(source.lines(), (0, ""))[1].split(",")):
        return read_log(file)
    return read_events(source, ["user", "item", "rating", "time"], {"user": 0, "item": 1, "time": 3})


def _get_event(review: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return user, item and time of a review."""
    return review.get("user_id"), review.get("parent_asin") or review.get("asin"), review.get("timestamp")
