"""Events (user, item, time, session): read them from table rows and arrange them as walks."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import CuriographError, FileFormatError, SettingError
from curiograph.graph.labels import ListLabels
from curiograph.human.data.columns import ColumnNames, EventColumns, split_chunk, split_fields
from curiograph.human.data.line_reader import BadRows
from curiograph.human.data.times import NUMBERS, TimeParser, parse_number, scale_to_seconds
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value, shorten_text
from curiograph.skipped import Skipped

CHUNK = 65_536
"""Number of rows that are read together."""
MISSING = frozenset(["", "NaN", "nan", "<NA>", "null"])
"""Texts that stand for a missing user, item or session; numpy, pandas and JSON write them."""
Problem = tuple[str, str]
"""The reason why a row is bad, by which it is counted, and a description of its problem."""


class Events:
    """Events of a table in order, stored compactly: 20 bytes per event, and each name once.

    >>> events = Events(Path("a.csv"), BadRows())
    >>> events.extend([2, 3, 4, 5], ["ann", "bob", "ann", "ann"], ["b", "a", "a", "a"], [2, 1, "1", 3])
    >>> walks = events.to_trajectories()
    >>> walks.labels(0), walks.labels(1)
    (['a', 'b', 'a'], ['a'])
    """

    def __init__(self, path: Path | None, bad_rows: BadRows, columns: Sequence[str] = ()) -> None:
        self._path, self._bad_rows = path, bad_rows
        self._user_ids, self._item_ids, self._session_ids = _make_numbering(), _make_numbering(), _make_numbering()
        self._users, self._items, self._sessions = array("i"), array("i"), array("i")
        self._times = array("d")
        self._is_source = array("b")
        self._columns: dict[str, dict[int, Any]] = {name: {} for name in columns}
        self.time_parser = TimeParser()
        """Parser of the times, which fixes their kind."""
        self.has_times = False
        """Whether the times are times that can be compared between users, not only the order of events."""

    @property
    def items(self) -> Iterable[Any]:
        """Every item once, in order of first appearance."""
        return self._item_ids.keys()

    @property
    def is_one_each(self) -> bool:
        """Whether there are several users, and each has one event."""
        return 1 < len(self._users) == len(self._user_ids)

    def extend(
        self,
        lines: Sequence[int],
        users: Sequence[Hashable],
        items: Sequence[Hashable],
        times: Sequence[Any] | Float64 | None,
        sessions: Sequence[Hashable] | None = None,
        sources: Sequence[Hashable] | None = None,
        values: Sequence[Sequence[Any]] = (),
        problems: Mapping[int, Problem] | None = None,
    ) -> None:
        """Append events; those without user, item or session, or with a bad time, are bad rows.

        Parameters
        ----------
        lines : numbers of the lines or rows, for messages.
        users, items : names; those in `MISSING` are missing.
        times : times as `TimeParser` reads them, or seconds with NaN for missing ones; None if events are in order.
        sessions : names of the sessions, if there are any.
        sources : items that the users came from, in tables with one row per click.
        values : values of the columns to keep.
        problems : problems of further lines that were found before.
        """
        seconds, found = self._parse_times(times, len(users))
        for role, names in (("session", sessions), ("item", items), ("user", users)):
            if names is not None and not MISSING.isdisjoint(names):
                found |= {
                    place: (f"no {role}", f"has no {role}" + (f" ({name})" if name else ""))
                    for place, name in enumerate(names)
                    if name in MISSING
                }
        by_line = dict(problems or {}) | {lines[place]: problem for place, problem in found.items()}
        for line in sorted(by_line):
            self._bad_rows.add(self._path, line, *by_line[line])
        if found:
            kept = [place for place in range(len(users)) if place not in found]
            lines, users, items, *values = ([column[i] for i in kept] for column in (lines, users, items, *values))
            sessions, sources = (None if each is None else [each[i] for i in kept] for each in (sessions, sources))
            seconds = seconds[kept]
        user_ids, item_ids, session_ids = self._user_ids, self._item_ids, self._session_ids
        user_numbers = array("i", [user_ids[user] for user in users])
        session_numbers = array("i", bytes(4 * len(users)))
        if sessions is not None:
            session_numbers = array("i", [session_ids[name] for name in sessions])
        visited = array("i", [item_ids[item] for item in items])
        for name, column in zip(self._columns, values, strict=True):
            self._keep(name, lines, user_numbers, column)
        if sources is None:
            self._users += user_numbers
            self._sessions += session_numbers
            self._items += visited
            self._times.frombytes(seconds.tobytes())
            return
        for place, source in enumerate(sources):  # the source is a visit too, right before that of the target
            for item, is_source in ((item_ids[source], 1), (visited[place], 0)) if source else ((visited[place], 0),):
                self._users.append(user_numbers[place])
                self._sessions.append(session_numbers[place])
                self._items.append(item)
                self._times.append(seconds[place])
                self._is_source.append(is_source)

    def _parse_times(self, times: Sequence[Any] | Float64 | None, count: int) -> tuple[Float64, dict[int, Problem]]:
        """Return times in seconds, and the problems of bad ones by their place."""
        if times is None:
            return np.zeros(count), {}
        if isinstance(times, np.ndarray):
            missing = np.flatnonzero(~np.isfinite(times)).tolist()
            return times, dict.fromkeys(missing, ("bad time", "has no time"))
        if all(isinstance(time, str) for time in times):
            parsed = self.time_parser.parse_texts(times)
            if parsed is not None:
                return parsed, {}
        seconds, problems = np.zeros(count), {}
        for place, time in enumerate(times):
            try:
                seconds[place] = self.time_parser.parse(time)
            except ValueError as error:
                problems[place] = ("bad time", str(error))
        return seconds, problems

    def _keep(self, name: str, lines: Sequence[int], users: Sequence[int], values: Sequence[Any]) -> None:
        """Keep the value of each user in a column; empty values are ignored."""
        known = self._columns[name]
        for user, value in dict.fromkeys(zip(users, values, strict=True)):
            if value == "" or value is None or known.setdefault(user, value) == value:
                continue
            line = next(line for line, *row in zip(lines, users, values, strict=True) if row == [user, value])
            place = f"row {line}" if self._path is None else f"{self._path}, line {line}"
            raise FileFormatError(
                f"{place}: the column {quote_value(name)} has the value {quote_value(value)} for the user "
                f"{quote_value(list(self._user_ids)[user])} and {quote_value(known[user])} in an earlier row; a column "
                "to keep has one value per user, so correct it or do not keep it."
            )

    def finish(self, lenient: bool, error: type[CuriographError] = FileFormatError) -> Skipped:
        """Return the bad rows as by `BadRows.finish`; raise an error if there are no events."""
        skipped = self._bad_rows.finish(lenient, error)
        if not self._users and skipped.count:
            rows = "the only row was" if skipped.count == 1 else f"all {skipped.count:,} rows were"
            reasons = ", ".join(f"{reason}: {count:,}" for reason, count in skipped.reasons.items())
            raise error(f"{rows} left out: {reasons}; the first: {skipped.first[0]}.")
        if not self._users:
            where = "the frame" if self._path is None else f"{self._path}:"
            raise error(f"{where} contains no events; check that it is complete.")
        return skipped

    def to_trajectories(
        self,
        titles: Mapping[Any, Hashable] | None = None,
        session_gap: float | None = None,
    ) -> Trajectories:
        """Return the walks, ordered by time and then by position in the table, without immediate repeats.

        Each session of a user is a walk. Without sessions, each user has one walk, or several if there are more than
        `session_gap` seconds between two events. Titles, if given, replace the item ids that they contain.
        """
        users, items, times = np.asarray(self._users), np.asarray(self._items), np.asarray(self._times)
        sessions = np.asarray(self._sessions)
        if session_gap is not None:
            order = np.lexsort((times, users))  # stable
            seconds = scale_to_seconds(times) if self.time_parser.kind == NUMBERS else times
            starts = (np.diff(users[order], prepend=-1) != 0) | (np.diff(seconds[order], prepend=0) > session_gap)
        else:
            order, starts = _sort_sessions(users, sessions, times)
        if self._is_source:  # a source that continues from the visit before is that visit
            is_same = np.diff(items[order], prepend=-1) == 0
            kept = starts | ~is_same | (np.asarray(self._is_source)[order] == 0)
            order, starts = order[kept], starts[kept]
        first = np.flatnonzero(starts)
        named = session_gap is None and bool(self._session_ids) and list(self._session_ids) != [None]
        return Trajectories.from_arrays(
            nodes=items[order],
            offsets=np.append(first, len(order)).astype(np.int64),
            names=ListLabels(self._item_ids if titles is None else [titles.get(item, item) for item in self._item_ids]),
            users=users[order[first]],
            user_names=ListLabels(self._user_ids),
            sessions=sessions[order[first]] if named else None,
            session_names=ListLabels(self._session_ids) if named else None,
            user_columns={
                name: convert_values([values.get(user) for user in range(len(self._user_ids))])
                for name, values in self._columns.items()
            },
            times=times[order] if self.has_times else None,
        )


def _sort_sessions(users: NDArray[Any], sessions: NDArray[Any], times: Float64) -> tuple[Int64, NDArray[np.bool_]]:
    """Return the order of events by user, session and time, and which of them are the first of a session.

    The sessions of a user are ordered by their first event.
    """
    groups, group = np.unique(users.astype(np.int64) * (sessions.max(initial=0) + 1) + sessions, return_inverse=True)
    if len(groups) == len(np.unique(users)):
        order = np.lexsort((times, users))
        return order, np.diff(users[order], prepend=-1) != 0
    in_group = np.lexsort((times, group))  # stable: events of a session by time and then by row
    first = in_group[np.searchsorted(group[in_group], np.arange(len(groups)))]
    rank = np.empty(len(groups), np.int64)
    rank[np.lexsort((first, times[first], users[first]))] = np.arange(len(groups))
    order = np.lexsort((times, rank[group]))
    return order, np.diff(group[order], prepend=-1) != 0


def convert_values(values: list[Any]) -> list[Any]:
    """Return integers if all texts are integers, numbers if all are numbers, and texts otherwise; None stays None.

    >>> convert_values(["1", None, "2"]), convert_values(["1", "2.5"]), convert_values(["1", "a"])
    ([1, None, 2], [1.0, 2.5], ['1', 'a'])
    """
    texts = [value for value in values if value is not None]
    if not all(isinstance(value, str) for value in texts):
        return values
    if all(text.removeprefix("-").isdecimal() and len(text) < 19 for text in texts):
        return [None if value is None else int(value) for value in values]
    if all(parse_number(text) is not None for text in texts):
        return [None if value is None else float(value) for value in values]
    return values


def _make_numbering() -> defaultdict[Any, int]:
    """Return a dictionary that assigns every new key the next number, which is faster than `setdefault`."""
    numbers: defaultdict[Any, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def _find_fault(fields: Sequence[str] | None, width: int) -> Problem | None:
    """Return what is wrong with the fields of a line, or None."""
    if fields is None:
        return "unmatched quotes", "its quotes do not match"
    if len(fields) != width:
        return "wrong number of columns", f"has {len(fields)} column{'' if len(fields) == 1 else 's'}, not {width}"
    return None


def split_rows(
    path: Path, lines: Iterable[tuple[int, str]], separator: str, width: int, bad_rows: BadRows, *, quoted: bool
) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and fields of the lines that have `width` fields; the others are bad rows."""
    for number, line in lines:
        fields = split_fields(line, separator) if quoted else line.split(separator)
        fault = _find_fault(fields, width)
        if fault is not None:
            bad_rows.add(path, number, *fault)
        elif fields is not None:
            yield number, fields


def read_events(path: Path, lines: Iterator[tuple[int, str]], columns: EventColumns, bad_rows: BadRows) -> Events:
    """Read events from numbered lines.

    Lines are read in chunks, column by column; those of a chunk are split one by one if any of them is malformed.
    """
    events = Events(path, bad_rows, list(columns.keep))
    events.has_times = columns.time is not None and not columns.is_order
    while chunk := list(islice(lines, CHUNK)):
        numbers, problems = [number for number, _ in chunk], {}
        fields = split_chunk([text for _, text in chunk], columns)
        if fields is None:
            rows = []
            numbers = []
            for number, text in chunk:
                row = split_fields(text, columns.separator) if columns.quoted else text.split(columns.separator)
                fault = _find_fault(row, columns.width)
                if fault is not None:
                    problems[number] = fault
                elif row is not None:
                    rows.append(row)
                    numbers.append(number)
            fields = list(zip(*rows, strict=True)) if rows else [()] * columns.width
        get = partial(_strip_column, fields)
        events.extend(
            numbers,
            users=get(columns.user) or [],
            items=get(columns.item) or [],
            times=get(columns.time),
            sessions=get(columns.session),
            sources=clean_sources(get(columns.source)),
            values=[get(place) or [] for place in columns.keep.values()],
            problems=problems,
        )
    return events


def _strip_column(fields: Sequence[Sequence[str]], place: int | None) -> list[str] | None:
    return None if place is None else list(map(str.strip, fields[place]))


def clean_sources(sources: list[str] | None) -> list[str] | None:
    """Return the sources of clicks, with an empty text for the missing ones, which R writes as NA."""
    return None if sources is None else ["" if source == "NA" else source for source in sources]


def resolve_sessions(columns: EventColumns, session_gap: float | None, names: ColumnNames) -> EventColumns:
    """Return the columns without a column of sessions that was not asked for if there is a gap to find sessions.

    Raise SettingError if the table cannot be split into sessions by a gap.
    """
    if session_gap is None:
        return columns
    if names.session is not None:
        raise SettingError("session and session_gap are both given; give the column of the session, or the gap.")
    if columns.time is None:
        listed = shorten_text(", ".join(columns.titles), 200)
        raise SettingError(
            f"session_gap needs a time column; none of {listed} was recognized. Name it with time= (--time)."
        )
    if columns.is_order:
        raise SettingError("session_gap needs times, but the table has only the order of events; leave it out.")
    return replace(columns, session=None)
