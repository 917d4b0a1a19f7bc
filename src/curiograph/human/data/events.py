"""Events (user, item, time): parse them from table rows and convert them to walks."""

from __future__ import annotations

import csv
import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.errors import FileFormatError
from curiograph.graph.labels import ListLabels
from curiograph.human.data.line_reader import BadRows
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.skipped import Skipped

_COLUMN_NAMES = {
    "user": ("user", "user_id", "userid"),
    "item": ("item", "item_id", "itemid", "movieid", "node", "page", "parent_asin"),
    "time": ("time", "timestamp"),
}


class Events:
    """Events of a file in order, stored compactly: 16 bytes per event, and each name once.

    >>> events = Events(Path("a.csv"), BadRows())
    >>> for line, event in enumerate([("ann", "b", 2), ("bob", "a", 1), ("ann", "a", "1"), ("ann", "a", 3)]):
    ...     events.add(line, *event)
    >>> walks = events.to_trajectories()
    >>> walks.labels(0), walks.labels(1)
    (['a', 'b', 'a'], ['a'])
    """

    def __init__(self, path: Path, bad_rows: BadRows) -> None:
        self._path, self._bad_rows = path, bad_rows
        self._user_ids, self._item_ids = _make_numbering(), _make_numbering()
        self._users, self._items, self._times = array("i"), array("i"), array("d")

    @property
    def items(self) -> Iterable[str]:
        """Every item once, in order of first appearance."""
        return self._item_ids.keys()

    def add(self, line: int, user: str, item: str, time: Any) -> None:
        """Append an event; it is a bad row if the user or the item is empty, or the time is not a number."""
        seconds = parse_time(time)
        if user and item and seconds is not None:
            self._users.append(self._user_ids[user])
            self._items.append(self._item_ids[item])
            self._times.append(seconds)
        elif user and item:
            self._bad_rows.add(self._path, line, "bad time", f"the time {quote_value(time)} is not a number")
        else:
            missing = "item" if user else "user"
            self._bad_rows.add(self._path, line, f"no {missing}", f"has no {missing}")

    def finish(self, lenient: bool) -> Skipped:
        """Return the bad rows as by `BadRows.finish`; raise FileFormatError if the file has no events."""
        skipped = self._bad_rows.finish(lenient)
        if not self._users:
            raise FileFormatError(f"{self._path}: contains no events; check that it is complete.")
        return skipped

    def to_trajectories(self, titles: Mapping[str, str] | None = None) -> Trajectories:
        """Return one walk per user, ordered by time and then by position in the file, without immediate repeats.

        Titles, if given, replace the item ids that they contain.
        """
        users, items = np.asarray(self._users), np.asarray(self._items)
        order = np.lexsort((np.asarray(self._times), users))  # stable
        counts = np.bincount(users, minlength=len(self._user_ids))
        return Trajectories.from_arrays(
            nodes=items[order],
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            names=ListLabels(self._item_ids if titles is None else [titles.get(item, item) for item in self._item_ids]),
            users=np.arange(len(self._user_ids), dtype=np.int64),
            user_names=ListLabels(self._user_ids),
        )


def _make_numbering() -> defaultdict[str, int]:
    """Return a dictionary that assigns every new key the next number, which is faster than `setdefault`."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


@dataclass(frozen=True)
class EventColumns:
    """Positions of the fields of an event in a row."""

    separator: str
    """Text between two fields."""
    width: int
    """Number of fields in a row."""
    user: int
    """Position of the user."""
    item: int
    """Position of the item."""
    time: int | None
    """Position of the time, or None if the table has no times and its events are in order."""


def parse_header(path: Path, line: int, text: str) -> EventColumns | None:
    """Return the columns that a header names, or None if the line is not a header.

    >>> parse_header(Path("a.csv"), 1, "time,userId,stars,page")
    EventColumns(separator=',', width=4, user=1, item=3, time=0)
    >>> parse_header(Path("a.csv"), 1, "Zulu,Africa")
    """
    separator = next((mark for mark in "\t;" if mark in text), ",")
    titles = [title.strip().lower() for title in split_fields(text, separator) or []]
    found = {
        field: [position for position, title in enumerate(titles) if title in names]
        for field, names in _COLUMN_NAMES.items()
    }
    if sum(map(bool, found.values())) < 2:
        return None
    for field, positions in found.items():
        if len(positions) > 1 or (not positions and field != "time"):
            count = "two columns" if positions else "no column"
            raise FileFormatError(
                f"{path}, line {line}: the header {quote_value(text)} has {count} for the {field}; name one column "
                f"{field}, of user, item and time."
            )
    time = found["time"][0] if found["time"] else None
    return EventColumns(separator=separator, width=len(titles), user=found["user"][0], item=found["item"][0], time=time)


def split_fields(text: str, separator: str) -> list[str] | None:
    """Split a line into fields, or return None if its quotes do not match; only commas can be quoted.

    >>> split_fields('1,"Cry, the Beloved Country",Drama', ",")
    ['1', 'Cry, the Beloved Country', 'Drama']
    """
    if separator != "," or '"' not in text:
        return text.split(separator)
    try:
        return next(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        return None


def split_rows(
    path: Path, lines: Iterable[tuple[int, str]], separator: str, width: int, bad_rows: BadRows
) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and fields of the lines that have `width` fields; the others are bad rows."""
    for number, line in lines:
        fields = split_fields(line, separator)
        if fields is None:
            bad_rows.add(path, number, "unmatched quotes", "its quotes do not match")
        elif len(fields) != width:
            problem = f"has {len(fields)} column{'' if len(fields) == 1 else 's'}, not {width}"
            bad_rows.add(path, number, "wrong number of columns", problem)
        else:
            yield number, fields


def read_events(path: Path, lines: Iterable[tuple[int, str]], columns: EventColumns, bad_rows: BadRows) -> Events:
    """Read events from numbered lines."""
    events = Events(path, bad_rows)
    user_at, item_at, time_at = columns.user, columns.item, columns.time
    for number, fields in split_rows(path, lines, columns.separator, columns.width, bad_rows):
        time = 0 if time_at is None else fields[time_at]
        events.add(number, fields[user_at].strip(), fields[item_at].strip(), time)
    return events


def parse_time(value: Any) -> float | None:
    """Return a finite number from a number or a text, or None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and value is not True and value is not False else None
