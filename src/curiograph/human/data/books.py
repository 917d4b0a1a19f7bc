"""Read Amazon Books: ratings of books, in the layouts that the McAuley lab has published."""

from __future__ import annotations

from pathlib import Path

from curiograph.errors import FileFormatError
from curiograph.human.data.event_columns import EventColumns, guess
from curiograph.human.data.log_reader import read_events, read_log
from curiograph.human.data.text_source import TextSource
from curiograph.human.trajectories import Trajectories

FILES = ("ratings_Books.csv", "ratings_Books.csv.gz", "Books.csv", "Books.csv.gz")
"""Names of the files that are read."""


def find_books(folder: Path) -> Path | None:
    """Return the file of ratings in a folder, or None."""
    return next((folder / name for name in FILES if (folder / name).is_file()), None)


def read_books(path: Path) -> Trajectories:
    """Read a file of ratings, or the folder that contains it.

    The layouts are `ratings_Books.csv` (user, item, rating, time, no header) and `Books.csv` with a header.
    """
    file = path if path.name in FILES else find_books(path)
    if file is None:
        raise FileFormatError(f"{path}: contains no {', '.join(FILES)}; give the folder of one of these files.")
    source = TextSource(file)
    if guess("user", next(source.lines(), (0, ""))[1].split(",")):
        return read_log(file)
    return read_events(source, EventColumns({"user": 0, "item": 1, "time": 3}), 4)
