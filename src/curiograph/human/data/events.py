"""Events: who took what and when, as rows of a table, and the walks that they make."""

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


class Events:
    """Events in the order of the file, packed: 16 bytes each, and every name once.

    >>> events = Events()
    >>> for user, item, time in [("ann", "b", 2), ("bob", "a", 1), ("ann", "a", 1), ("ann", "a", 3)]:
    ...     events.add(user, item, time)
    >>> walks = events.walks()
    >>> walks.labels(0), walks.labels(1)
    (['a', 'b', 'a'], ['a'])
    """

    def __init__(self) -> None:
        self._users, self._items = _numbering(), _numbering()
        self._by, self._what, self._when = array("i"), array("i"), array("d")

    def __len__(self) -> int:
        return len(self._by)

    @property
    def items(self) -> Iterable[str]:
        """Every item once, in order of first appearance."""
        return self._items.keys()

    def add(self, user: str, item: str, time: float) -> None:
        """One more event."""
        self._by.append(self._users[user])
        self._what.append(self._items[item])
        self._when.append(time)

    def walks(self, titles: Mapping[str, str] | None = None) -> Trajectories:
        """One walk a user: by time, at equal times as in the file, repeats merged; titles replace ids where known."""
        users, items = np.asarray(self._by), np.asarray(self._what)
        order = np.lexsort((np.asarray(self._when), users))  # stable
        offsets = np.concatenate([[0], np.cumsum(np.bincount(users, minlength=len(self._users)))]).astype(np.int64)
        names = ListLabels(self._items if titles is None else [titles.get(item, item) for item in self._items])
        people = np.arange(len(self._users), dtype=np.int64)
        return Trajectories.from_arrays(items[order], offsets, names, people, ListLabels(self._users))


def _numbering() -> defaultdict[str, int]:
    """A dictionary that gives every new key the next number, faster than `setdefault` does."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


@dataclass(frozen=True)
class EventColumns:
    """Where the parts of an event stand in a row."""

    separator: str
    width: int
    """Fields of a row."""
    user: int
    item: int
    time: int | None
    """None where there is none: events are then in the order of the file."""


_CALLED = {
    "user": ("user", "user_id", "userid"),
    "item": ("item", "item_id", "itemid", "movieid", "node", "page", "parent_asin"),
    "time": ("time", "timestamp"),
}


def parse_header(path: Path, line: int, text: str) -> EventColumns | None:
    """The columns that a header names, or None if the line is no header.

    >>> parse_header(Path("a.csv"), 1, "time,userId,stars,page")
    EventColumns(separator=',', width=4, user=1, item=3, time=0)
    >>> parse_header(Path("a.csv"), 1, "Zulu,Africa")
    """
    mark = next((mark for mark in "\t;" if mark in text), ",")
    titles = [title.strip().lower() for title in split_fields(text, mark) or []]
    found = {part: [place for place, title in enumerate(titles) if title in called] for part, called in _CALLED.items()}
    known = [part for part, places in found.items() if places]
    if len(known) < 2:
        return None
    for part in ("user", "item", "time"):
        if len(found[part]) > 1 or (not found[part] and part != "time"):
            state = f"two columns for the {part}" if found[part] else f"no column for the {part}"
            raise FileFormatError(
                f"{path}, line {line}: the header {quote_value(text)} has {state}; call one column {part}, "
                "of user, item and time."
            )
    return EventColumns(
        mark, len(titles), found["user"][0], found["item"][0], found["time"][0] if found["time"] else None
    )


def split_fields(text: str, mark: str) -> list[str] | None:
    """The fields of a line, or None if its quotes do not match; only between commas are quotes more than text.

    >>> split_fields('1,"Cry, the Beloved Country",Drama', ",")
    ['1', 'Cry, the Beloved Country', 'Drama']
    """
    if mark != "," or '"' not in text:
        return text.split(mark)
    try:
        return next(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        return None


def read_events(path: Path, lines: Iterable[tuple[int, str]], columns: EventColumns, bad: BadRows) -> Events:
    """The events of numbered lines."""
    events = Events()
    width, user, item, time = columns.width, columns.user, columns.item, columns.time
    for number, fields in split_rows(path, lines, columns.separator, width, bad):
        by, what = fields[user].strip(), fields[item].strip()
        when = 0.0 if time is None else parse_time(fields[time])
        if by and what and when is not None:
            events.add(by, what, when)
        else:
            bad.add(path, number, describe_event_fault(by, what, None if time is None else fields[time]))
    return events


def split_rows(
    path: Path, lines: Iterable[tuple[int, str]], mark: str, width: int, bad: BadRows
) -> Iterator[tuple[int, list[str]]]:
    """Numbers and fields of the lines that have as many fields as they should."""
    for number, line in lines:
        fields = split_fields(line, mark)
        if fields is None:
            bad.add(path, number, "its quotes do not match")
        elif len(fields) != width:
            bad.add(path, number, f"has {len(fields)} column{'' if len(fields) == 1 else 's'}, not {width}")
        else:
            yield number, fields


def parse_time(value: Any) -> float | None:
    """A finite number, from a number or from text; None for anything else.

    >>> parse_time("964982703"), parse_time("yesterday"), parse_time("nan")
    (964982703.0, None, None)
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and value is not True and value is not False else None


def describe_event_fault(user: str, item: str, time: object) -> str:
    """What is wrong with an event that cannot be used."""
    if not user or not item:
        return f"has no {'item' if user else 'user'}"
    return f"the time {quote_value(time)} is not a number"


def require_events(path: Path, events: Events) -> None:
    """Raise where a file has rows enough but none that can be used."""
    if not len(events):
        raise FileFormatError(f"{path}: holds no events; check that it was written to the end.")
