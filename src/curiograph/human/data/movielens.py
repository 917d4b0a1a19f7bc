"""MovieLens: people who rate films, in all layouts that GroupLens has published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, as_path, read_bytes
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.events import EventColumns, parse_header, read_events, require_events, split_rows
from curiograph.human.data.line_reader import BadRows, read_lines
from curiograph.messages import shorten_text


@dataclass(frozen=True)
class _Layout:
    ratings: EventColumns | None
    """None where the file has a header that tells."""
    titles: str
    """File of the titles: id and title come first."""
    separator: str
    width: int


LAYOUTS = {
    "ratings.csv": _Layout(None, "movies.csv", ",", 3),  # latest, latest-small, 20m, 25m, 32m
    "ratings.dat": _Layout(EventColumns("::", 4, 0, 1, 3), "movies.dat", "::", 3),  # 1m, 10m
    "u.data": _Layout(EventColumns("\t", 4, 0, 1, 3), "u.item", "|", 24),  # 100k
}
FILES = (*LAYOUTS, *(layout.titles for layout in LAYOUTS.values()), "README", "README.txt", "README.html")


def find_movielens(folder: Path) -> Path | None:
    """The file of ratings in a folder."""
    return next((folder / name for name in LAYOUTS if (folder / name).is_file()), None)


def read_movielens(path: PathLike, *, lenient: bool = False) -> Dataset:
    """Read a folder of MovieLens or its file of ratings; titles come from the file beside it.

    Labels are titles; a title that several films share gets their ids, as in `Emma (1996) [838]`. Without a file of
    titles, labels are ids.
    """
    given, bad = as_path(path), BadRows()
    ratings = given if given.name in LAYOUTS else find_movielens(given)
    if ratings is None:
        raise FileFormatError(f"{given}: has no {' or '.join(LAYOUTS)}; give an unpacked folder of MovieLens.")
    layout = LAYOUTS[ratings.name]
    lines = read_lines(ratings, bad)
    columns = layout.ratings or _header(ratings, next(lines, (1, "")))
    events = read_events(ratings, lines, columns, bad)
    file = ratings.with_name(layout.titles)
    listed = _read_titles(file, layout, bad) if file.is_file() else {}
    skipped = bad.finish(lenient)
    require_events(ratings, events)
    titles = make_unique_labels(listed, events.items)
    return Dataset("movielens", events.walks(titles), given, titles=titles, skipped=skipped)


def make_unique_labels(titles: dict[str, str], items: Iterable[str]) -> dict[str, str]:
    """A label for every item with a title: no two alike, and none like an item without one.

    >>> make_unique_labels({"1": "Emma", "2": "Emma", "3": "Heat"}, ["4"])
    {'1': 'Emma [1]', '2': 'Emma [2]', '3': 'Heat'}
    """
    untitled = [item for item in items if item not in titles]
    uses = Counter([*titles.values(), *untitled])
    labels = {item: title if uses[title] == 1 else f"{title} [{item}]" for item, title in titles.items()}
    return labels if len({*labels.values(), *untitled}) == len(labels) + len(untitled) else {i: i for i in titles}


def _header(path: Path, head: tuple[int, str]) -> EventColumns:
    columns = parse_header(path, *head)
    if columns is None:
        raise FileFormatError(f"{path}, line {head[0]}: is no header; it should read userId,movieId,rating,timestamp.")
    return columns


def _read_titles(path: Path, layout: _Layout, bad: BadRows) -> dict[str, str]:
    titles: dict[str, str] = {}
    lines = read_lines(path, bad, "utf-8" if layout.ratings is None or _is_utf8(path) else "latin-1")
    if layout.ratings is None:
        next(lines, None)  # the header
    for number, fields in split_rows(path, lines, layout.separator, layout.width, bad):
        item, title = fields[0].strip(), fields[1].strip()
        if not item or not title or item in titles:
            fault = (
                f"the film {shorten_text(item)} is there already"
                if item and title
                else f"has no {'title' if item else 'id'}"
            )
            bad.add(path, number, fault)
        else:
            titles[item] = title
    return titles


def _is_utf8(path: Path) -> bool:
    """Whether a file without a header is UTF-8, as in release 10m, and not Latin-1, as in the older ones."""
    try:
        read_bytes(path).decode()
    except UnicodeDecodeError:
        return False
    return True
