"""Read MovieLens: ratings of films, in all layouts that GroupLens has published."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from curiograph.errors import FileFormatError
from curiograph.graph.labels import ListLabels
from curiograph.human.data.event_columns import EventColumns
from curiograph.human.data.log_reader import read_events, read_log
from curiograph.human.data.text_source import TextSource
from curiograph.human.trajectories import Trajectories

LAYOUTS = {
    "ratings.csv": ("movies.csv", ","),  # releases latest, latest-small, 20m, 25m, 32m
    "ratings.dat": ("movies.dat", "::"),  # releases 1m, 10m
    "u.data": ("u.item", "|"),  # release 100k
}
"""File of titles and its separator by the name of the file of ratings."""


def find_movielens(folder: Path) -> Path | None:
    """Return the file of ratings in a folder, or None."""
    return next((folder / name for name in LAYOUTS if (folder / name).is_file()), None)


def read_movielens(path: Path) -> Trajectories:
    """Read a folder of MovieLens or its file of ratings; titles come from the file next to it.

    Labels are titles; films that share a title get their id appended, as in `Emma (1996) [838]`. Without a file of
    titles, labels are ids.
    """
    file = path if path.name in LAYOUTS else find_movielens(path)
    if file is None:
        raise FileFormatError(f"{path}: contains no {' or '.join(LAYOUTS)}; give an unpacked folder of MovieLens.")
    if file.name == "ratings.csv":
        walks = read_log(file, user="userId", item="movieId", time="timestamp")
    elif file.name == "u.data":
        walks = read_events(TextSource(file), EventColumns({"user": 0, "item": 1, "time": 3}), 4, "\t")
    else:  # fields are separated by ::
        walks = read_events(TextSource(file), EventColumns({"user": 0, "item": 2, "time": 6}), 7, ":")
    titles_file = file.with_name(LAYOUTS[file.name][0])
    if not titles_file.is_file():
        return walks
    labels = make_unique_labels(_read_titles(titles_file, LAYOUTS[file.name][1]), map(str, walks.names))
    return replace(walks, names=ListLabels([labels.get(str(item), item) for item in walks.names]))


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


def _read_titles(path: Path, separator: str) -> dict[str, str]:
    """Read titles by item id; films without a title have none."""
    data = path.read_bytes()
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:  # releases 100k and 1m
        lines = data.decode("latin-1").splitlines()
    rows = csv.reader(lines[1:]) if separator == "," else (line.split(separator) for line in lines)
    titles: dict[str, str] = {}
    for item, title, *_ in (row for row in rows if len(row) > 1):
        if title.strip():
            titles.setdefault(item.strip(), title.strip())
    return titles
