"""Read ratings: MovieLens in all layouts that GroupLens has published, and Amazon Books in those of the McAuley lab."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from curiograph.graph.labels import ListLabels
from curiograph.human.data.events import EventColumns, guess
from curiograph.human.data.log_reader import read_events, read_log
from curiograph.human.data.text_source import TextSource
from curiograph.human.trajectories import Trajectories

MOVIELENS_FILES = {
    "ratings.csv": ("movies.csv", ","),  # releases latest, latest-small, 20m, 25m, 32m
    "ratings.dat": ("movies.dat", "::"),  # releases 1m, 10m
    "u.data": ("u.item", "|"),  # release 100k
}
"""File of titles and its separator by the name of the file of ratings."""
BOOKS_FILES = ("ratings_Books.csv", "ratings_Books.csv.gz", "Books.csv", "Books.csv.gz")
"""Names of the files of Amazon Books."""


def read_movielens(file: Path) -> Trajectories:
    """Read a file of ratings of MovieLens; titles come from the file next to it.

    Labels are titles; films that share a title get their id appended, as in `Emma (1996) [838]`. Without a file of
    titles, labels are ids.
    """
    if file.name == "ratings.csv":
        walks = read_log(file, user="userId", item="movieId", time="timestamp")
    elif file.name == "u.data":
        walks = read_events(TextSource(file), EventColumns({"user": 0, "item": 1, "time": 3}), 4, "\t")
    else:  # fields are separated by ::
        walks = read_events(TextSource(file), EventColumns({"user": 0, "item": 2, "time": 6}), 7, ":")
    titles_file = file.with_name(MOVIELENS_FILES[file.name][0])
    if not titles_file.is_file():
        return walks
    data, separator = titles_file.read_bytes(), MOVIELENS_FILES[file.name][1]
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:  # releases 100k and 1m
        lines = data.decode("latin-1").splitlines()
    rows = csv.reader(lines[1:]) if separator == "," else (line.split(separator) for line in lines)
    titles: dict[str, str] = {}
    for item, title, *_ in (row for row in rows if len(row) > 1):
        if title.strip():
            titles.setdefault(item.strip(), title.strip())
    labels = make_unique_labels(titles, map(str, walks.names))
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


def read_books(file: Path) -> Trajectories:
    """Read a file of ratings of Amazon Books: without a header (user, item, rating, time), or with one."""
    source = TextSource(file)
    if guess("user", next(source.lines(), (0, ""))[1].split(",")):
        return read_log(file)
    return read_events(source, EventColumns({"user": 0, "item": 1, "time": 3}), 4)
