"""Arrange the events of a table (user, item, time, session) as walks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import FileFormatError, WalkError, quote_value
from curiograph.graph.labels import ListLabels
from curiograph.human.data.event_columns import EventColumns
from curiograph.human.data.event_times import convert_serial_dates, parse_numbers, parse_times, scale_to_seconds
from curiograph.human.trajectories import Trajectories
from curiograph.results import Problem, Skipped

_MISSING = frozenset(["", "NaN", "nan", "<NA>", "null"])  # numpy, pandas and JSON write them for a missing label
_NO_LABEL, _NOT_DECODED = -1, -2  # in place of the number of a label
_MANY = 0.05  # share of dropped rows above which there is a warning
_FIXES = {
    "bad time": "write times as 2026-05-31 14:30 or as numbers, or give time=, dayfirst= or decimal=",
    "bad encoding": "give encoding=, such as utf-8, utf-16 or cp1252",
    "duplicate": "rows with the same user, item and time count once, so give more precise times if they are visits",
}
_DAY = 86_400


def arrange_events(
    table: pd.DataFrame,
    columns: EventColumns,
    where: str = "the frame",
    locate: Callable[[int], str] = "row {}".format,
    problems: Sequence[Problem] = (),
) -> Trajectories:
    """Return the walks of a table with one row per event.

    `where` and `locate` name the table and a row in messages; `problems` are those of rows that are not in the table.
    A column with the role "extra" has the fields beyond the last title of a file.
    """
    series = {role: table.iloc[:, place] for role, place in columns.roles.items()}
    labels = {role: _number_labels(series[role]) for role in ("user", "item", "session", "source") if role in series}
    times, is_date = np.zeros(len(table)), True
    if "time" in series:
        times, is_date = parse_times(series["time"], columns.decimal, columns.dayfirst, where)
        if columns.has_times and not is_date:
            times, is_date = convert_serial_dates(times, where)

    reason = np.full(len(table), "", object)
    reason[~np.isfinite(times)] = "bad time"
    for role in ("session", "item", "user"):
        if role in labels:
            reason[labels[role][0] == _NO_LABEL] = f"no {role}"
            reason[labels[role][0] == _NOT_DECODED] = "bad encoding"
    if "extra" in series:
        reason[(series["extra"] != "").to_numpy()] = "wrong number of columns"
    rows = np.flatnonzero(reason == "")
    if "time" in series and not (is_date and np.all(times[rows] % _DAY == 0)):  # days do not tell visits apart
        events = pd.DataFrame({role: numbers[rows] for role, (numbers, _) in labels.items()} | {"time": times[rows]})
        reason[rows[events.duplicated()]] = "duplicate"
    bad = np.flatnonzero(reason != "")
    number, reasons = pd.factorize(reason[bad])
    examples = []
    for text, row in zip(reasons, bad[np.unique(number, return_index=True)[1]].tolist(), strict=True):
        value = f" {quote_value(str(series['time'].iloc[row]))}" if text == "bad time" else ""
        examples.append(f"{locate(row)}: {text}{value}")
    counts = dict(zip(reasons, np.bincount(number).tolist(), strict=True))
    skipped = Skipped.count_problems(problems) + Skipped(len(bad), tuple(examples), counts)
    warn_skipped(skipped, len(table) + len(problems), where)

    rows = np.flatnonzero(reason == "")
    users, user_names = _renumber(*labels["user"], rows)
    if 1 < len(rows) == len(user_names):
        warnings.warn(
            f"{where}: every user has one event; does the column of the user hold row numbers? Name it with user= "
            "(--user).",
            stacklevel=3,
        )
    user_columns = {}
    for name, place in columns.keep.items():
        numbers, values = _renumber(*_number_labels(table.iloc[:, place]), rows)
        known = pd.DataFrame({"user": users, "value": [values[number] for number in numbers]}, rows).dropna()
        user_columns[name] = list_by_user(name, known.drop_duplicates(), user_names, locate, columns.decimal)
    sessions, session_names = _renumber(*labels["session"], rows) if "session" in labels else (np.zeros_like(users), [])
    times, is_source = times[rows], np.zeros(len(rows), bool)
    if "source" in labels:  # the source of a click is a visit too, right before that of the target
        items, item_names, event, is_source = insert_sources(labels["item"], labels["source"], rows)
        users, sessions, times = users[event], sessions[event], times[event]
    else:
        items, item_names = _renumber(*labels["item"], rows)

    if columns.session_gap is not None:
        order = np.lexsort((times, users))  # stable
        seconds = (times if is_date else scale_to_seconds(times))[order]
        starts = (np.diff(users[order], prepend=-1) != 0) | (np.diff(seconds, prepend=0) > columns.session_gap)
    else:
        order, starts = sort_sessions(users, sessions, times)
    # a source that continues from the visit before is that visit
    kept = starts | (np.diff(items[order], prepend=-1) != 0) | ~is_source[order]
    order, starts = order[kept], starts[kept]
    first = np.flatnonzero(starts)
    return Trajectories.from_arrays(
        nodes=items[order],
        offsets=np.append(first, len(order)).astype(np.int64),
        names=ListLabels(item_names),
        users=users[order[first]],
        user_names=ListLabels(user_names),
        sessions=sessions[order[first]] if session_names else None,
        session_names=ListLabels(session_names) if session_names else None,
        user_columns=user_columns,
        skipped=skipped,
        times=times[order] if columns.has_times else None,
    )


def warn_skipped(skipped: Skipped, total: int, where: str) -> None:
    """Warn if many of the rows of a table were dropped; raise FileFormatError if none is left."""
    if not total:
        raise FileFormatError(f"{where}: contains no rows; check that it is complete.")
    if skipped.count <= _MANY * total:
        return
    main = max(skipped.reasons, key=lambda reason: skipped.reasons[reason])
    fix = _FIXES.get(main, "correct these rows, or check which columns are read")
    found = f"rows were left out: {skipped}; the first: {'; '.join(skipped.first)}; {fix}."
    if skipped.count == total:
        raise FileFormatError(f"{where}: all {total:,} {found}")
    warnings.warn(f"{where}: {skipped.count:,} of {total:,} {found}", stacklevel=4)


def _number_labels(column: pd.Series) -> tuple[Int64, list[Hashable]]:
    """Return the numbers of the labels of a column, negative for those that are missing, and the labels.

    Whole numbers become integers, and texts are stripped.
    """
    try:
        codes, values = pd.factorize(column)
    except TypeError:
        raise WalkError(f"the column {column.name!r} contains values that are no labels, such as lists.") from None
    found: list[Any] = values.tolist()
    if pd.api.types.is_float_dtype(column.dtype) and all(value.is_integer() for value in found):  # integers with gaps
        found = list(map(int, found))
    labels: dict[Hashable, int] = {}
    numbers = np.full(len(found) + 1, _NO_LABEL)
    for place, value in enumerate(found):
        label = value.strip() if isinstance(value, str) else value
        if isinstance(label, str) and "\ufffd" in label:
            numbers[place] = _NOT_DECODED
        elif label not in _MISSING:
            numbers[place] = labels.setdefault(label, len(labels))
    return numbers[codes], list(labels)


def _renumber(numbers: Int64, labels: list[Hashable], rows: Int64) -> tuple[Int64, list[Hashable]]:
    """Return the numbers of some rows and the labels that occur in them, in order of first appearance."""
    found, used = pd.factorize(numbers[rows])
    return np.asarray(found, np.int64), [labels[number] if number >= 0 else None for number in used.tolist()]


def insert_sources(
    items: tuple[Int64, list[Hashable]], sources: tuple[Int64, list[Hashable]], rows: Int64
) -> tuple[Int64, list[Hashable], Int64, NDArray[np.bool_]]:
    """Return the numbers of sources and items in turns, their labels, their events, and which are sources."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys([*items[1], *sources[1]]))}
    of_source = np.array([numbers[label] if label != "NA" else _NO_LABEL for label in sources[1]] + [_NO_LABEL])
    both = np.column_stack([of_source[np.maximum(sources[0][rows], -1)], items[0][rows]]).ravel()
    event, is_source = np.repeat(np.arange(len(rows)), 2), np.tile([True, False], len(rows))
    given = both != _NO_LABEL
    return *_renumber(both, list(numbers), np.flatnonzero(given)), event[given], is_source[given]


def sort_sessions(users: Int64, sessions: Int64, times: Float64) -> tuple[Int64, NDArray[np.bool_]]:
    """Return the order of events by user, session and time, and which of them are the first of a session.

    The sessions of a user are ordered by their first event.
    """
    groups, group = np.unique(users * (int(sessions.max(initial=0)) + 1) + sessions, return_inverse=True)
    in_group = np.lexsort((times, group))  # stable: events of a session by time and then by row
    first = in_group[np.searchsorted(group[in_group], np.arange(len(groups)))]
    rank = np.empty(len(groups), np.int64)
    rank[np.lexsort((first, times[first], users[first]))] = np.arange(len(groups))
    order = np.lexsort((times, rank[group]))
    return order, np.diff(group[order], prepend=-1) != 0


def list_by_user(
    name: str, known: pd.DataFrame, user_names: list[Hashable], locate: Callable[[int], str], decimal: str | None
) -> list[Any]:
    """Return the value of every user, None without one; texts become numbers if all of them are.

    `known` has the distinct pairs of user and value, by row. Raise FileFormatError if a user has several values.
    """
    again = known[known["user"].duplicated()]
    if len(again):
        user, value = again.iloc[0]
        before = known["value"][known["user"] == user].iloc[0]
        raise FileFormatError(
            f"{locate(int(again.index[0]))}: the column {quote_value(name)} has the value {quote_value(value)} for the "
            f"user {quote_value(user_names[user])} and {quote_value(before)} in an earlier row; a column to keep has "
            "one value per user, so correct it or do not keep it."
        )
    values = known["value"].tolist()
    if all(isinstance(value, str) for value in values):
        parsed = parse_numbers(pd.Series(values, dtype=object), decimal)
        values = parsed.tolist() if np.isfinite(parsed.to_numpy(float)).all() else values
    by_user = dict(zip(known["user"].tolist(), values, strict=True))
    return [by_user.get(user) for user in range(len(user_names))]
