"""Read MovieLens: ratings of films, in all layouts that GroupLens has published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, as_path, read_bytes
from curiograph.human.data.columns import EventColumns, parse_header
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.events import read_events, split_rows
from curiograph.human.data.line_reader import BadRows, read_lines
from curiograph.messages import shorten_text


@dataclass(frozen=True)
class _Layout:
    """Files of a release and their columns."""

    ratings: EventColumns | None
    """Columns of the ratings, or None if the files have headers."""
    titles: str
    """Name of the file of titles; its first two fields are id and title."""
    separator: str
    """Separator in the file of titles."""
    width: int
    """Number of fields in a row of the file of titles."""


LAYOUTS = {
    # releases latest, latest-small, 20m, 25m, 32m
    "ratings.csv": _Layout(ratings=None, titles="movies.csv", separator=",", width=3),
    # releases 1m, 10m
    "ratings.dat": _Layout(
        ratings=EventColumns(separator="::", width=4, user=0, item=1, time=3),
        titles="movies.dat",
        separator="::",
        width=3,
    ),
    # release 100k
    "u.data": _Layout(
        ratings=EventColumns(separator="\t", width=4, user=0, item=1, time=3),
        titles="u.item",
        separator="|",
        width=24,
    ),
}
"""Layouts by the name of the file of ratings."""
FILES = (*LAYOUTS, *(layout.titles for layout in LAYOUTS.values()), "README", "README.txt", "README.html")
"""Names of all files that are kept."""


def find_movielens(folder: Path) -> Path | None:
    """Return the file of ratings in a folder, or None."""
    return next((folder / name for name in LAYOUTS if (folder / name).is_file()), None)


def read_movielens(path: PathLike, *, lenient: bool = False) -> Dataset:
    """Read a folder of MovieLens or its file of ratings; titles come from the file next to it.

    Labels are titles; films that share a title get their id appended, as in `Emma (1996) [838]`. Without a file of
    titles, labels are ids.
    """
    source, bad_rows = as_path(path), BadRows()
    file = source if source.name in LAYOUTS else find_movielens(source)
    if file is None:
        raise FileFormatError(f"{source}: contains no {' or '.join(LAYOUTS)}; give an unpacked folder of MovieLens.")
    layout = LAYOUTS[file.name]
    lines = read_lines(file, bad_rows)
    columns = layout.ratings
    if columns is None:
        number, head = next(lines, (1, ""))
        columns = parse_header(file, number, head)
        if columns is None:
            raise FileFormatError(
                f"{file}, line {number}: is not a header; it should read userId,movieId,rating,timestamp."
            )
    events = read_events(file, lines, columns, bad_rows)
    titles_file = file.with_name(layout.titles)
    titles = _read_titles(titles_file, layout, bad_rows) if titles_file.is_file() else {}
    skipped = events.finish(lenient)
    labels = make_unique_labels(titles, events.items)
    walks = events.to_trajectories(labels).add_skipped(skipped)
    return Dataset(name="movielens", walks=walks, source_path=source, titles=labels)


def make_unique_labels(titles: dict[str, str], items: Iterable[str]) -> dict[str, str]:
    """Return a label for every item with a title, different from each other and from the ids of the other items.

    >>> make_unique_labels({"1": "Emma", "2": "Emma", "3": "Heat"}, ["4"])
    {'1': 'Emma [1]', '2': 'Emma [2]', '3': 'Heat'}
    """
    untitled = [item for item in items if item not in titles]
    uses = Counter([*titles.values(), *untitled])
    labels = {item: title if uses[title] == 1 else f"{title} [{item}]" for item, title in titles.items()}
    unique = len({*labels.values(), *untitled}) == len(labels) + len(untitled)
    return labels if unique else {item: item for item in titles}


def _read_titles(path: Path, layout: _Layout, bad_rows: BadRows) -> dict[str, str]:
    """Read titles by item id."""
    encoding = "utf-8"
    if layout.ratings is not None:  # release 10m is in UTF-8, the others without headers in Latin-1
        try:
            read_bytes(path).decode()
        except UnicodeDecodeError:
            encoding = "latin-1"
    lines = read_lines(path, bad_rows, encoding)
    if layout.ratings is None:
        next(lines, None)  # the header
    titles: dict[str, str] = {}
    for number, fields in split_rows(
        path, lines, layout.separator, layout.width, bad_rows, quoted=layout.separator == ","
    ):
        item, title = fields[0].strip(), fields[1].strip()
        if not item or not title:
            missing = "title" if item else "id"
            bad_rows.add(path, number, f"no {missing}", f"has no {missing}")
        elif item in titles:
            bad_rows.add(path, number, "listed twice", f"the film {shorten_text(item)} is listed twice")
        else:
            titles[item] = title
    return titles
