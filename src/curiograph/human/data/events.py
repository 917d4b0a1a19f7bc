"""Arrange the events of a table (user, item, time, session) as walks."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import FileFormatError, SettingError, WalkError
from curiograph.graph.labels import ListLabels
from curiograph.human.data.event_columns import find_columns, is_order, normalize
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value, shorten_text
from curiograph.skipped import Problem, Skipped
from curiograph.validation import is_number

_MISSING = frozenset(["", "NaN", "nan", "<NA>", "null"])  # numpy, pandas and JSON write them for a missing label
_NO_LABEL, _NOT_UTF8 = -1, -2  # in place of the number of a label
_MANY = 0.05  # share of dropped rows above which there is a warning
_SECONDS = {"": 1, "s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+) *([a-z]*)")
_EPOCH_UNITS = {1e3: (1e11, 5e12), 1e6: (1e14, 5e15), 1e9: (1e17, 5e18)}  # 1973 to 2128 in ms, us and ns


def arrange_frame(
    frame: Any, chosen: Mapping[str, str | None], keep: Sequence[str] = (), session_gap: Any = None
) -> Trajectories:
    """Return the walks of a data frame with one row per event; `Trajectories.from_frame` explains the arguments."""
    frame = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    if not isinstance(frame, pd.DataFrame):
        raise WalkError(
            f"the frame is {quote_value(frame)}; give a data frame of pandas or polars, and lists of walks to "
            "Trajectories.from_walks."
        )
    columns, kept = find_columns(list(frame.columns), chosen, keep, "the frame")
    return arrange_events(frame, list(frame.columns), columns, kept, chosen, session_gap, "the frame")


def arrange_events(
    table: pd.DataFrame,
    titles: Sequence[Hashable],
    columns: Mapping[str, int],
    keep: Mapping[str, int],
    chosen: Mapping[str, str | None],
    session_gap: Any,
    where: str,
    locate: Callable[[int], str] = "row {}".format,
    problems: Sequence[Problem] = (),
) -> Trajectories:
    """Return the walks of a table of events.

    Parameters
    ----------
    table : DataFrame
        One row per event.
    titles : sequence of hashables
        Names of the columns.
    columns, keep : mapping to int
        Positions of the columns by role, and of those to keep by name, as `find_columns` returns them.
    chosen : mapping
        Names that the caller chose by role.
    session_gap : str, number or timedelta, optional
        Gap after which a new session starts.
    where : str
        Name of the table in messages.
    locate : callable
        Return the name of a row, such as "log.csv, line 3", given its number.
    problems : sequence of (reason, description)
        Problems of rows that are not in the table.
    """
    gap = None if session_gap is None else parse_duration("session_gap", session_gap)
    has_times = "time" in columns and not is_order(titles[columns["time"]])
    if gap is not None:
        _check_gap(titles, columns, chosen)
        columns = {role: place for role, place in columns.items() if role != "session"}
    labels = {role: _number_labels(table.iloc[:, place]) for role, place in columns.items() if role != "time"}
    times, is_date = parse_times(table.iloc[:, columns["time"]]) if "time" in columns else (np.zeros(len(table)), True)

    reason = np.zeros(len(table), object)
    reason[~np.isfinite(times)] = "bad time"
    for role in ("session", "item", "user"):
        if role in labels:
            reason[labels[role][0] == _NO_LABEL] = f"no {role}"
            reason[labels[role][0] == _NOT_UTF8] = "not UTF-8"
    if len(titles) < table.shape[1]:  # fields beyond the last title
        reason[(table.iloc[:, len(titles)] != "").to_numpy()] = "wrong number of columns"
    bad = np.flatnonzero(reason)
    shown = [
        f"{locate(row)}: the time {quote_value(table.iloc[row, columns['time']])} is neither a number nor a date such "
        "as 2026-05-31 14:30"
        if reason[row] == "bad time"
        else f"{locate(row)}: {reason[row]}"
        for row in bad[:3].tolist()
    ]
    skipped = Skipped.count_problems(
        [*problems, *zip(reason[bad], [*shown, *[""] * (len(bad) - len(shown))], strict=True)]
    )
    warn_skipped(skipped, len(table) + len(problems), where)

    rows = np.flatnonzero(reason == 0)
    times = times[rows]
    users, user_names = _renumber(*labels["user"], rows)
    sessions, session_names = np.zeros(len(rows), np.int64), []
    if "session" in labels:
        sessions, session_names = _renumber(*labels["session"], rows)
    user_columns = {}
    for name, place in keep.items():
        values = _renumber(*_number_labels(table.iloc[:, place]), rows)
        user_columns[name] = _list_by_user(name, users, user_names, *values, lambda event: locate(int(rows[event])))
    _warn_doubtful_columns(titles, columns, keep, chosen, where, is_one_each=1 < len(rows) == len(user_names))

    is_source = np.zeros(len(rows), bool)
    if "source" in labels:  # the source of a click is a visit too, right before that of the target
        items, item_names, event, is_source = _insert_sources(labels["item"], labels["source"], rows)
        users, sessions, times = users[event], sessions[event], times[event]
    else:
        items, item_names = _renumber(*labels["item"], rows)
    if gap is not None:
        order = np.lexsort((times, users))  # stable
        seconds = (times if is_date else scale_to_seconds(times))[order]
        starts = (np.diff(users[order], prepend=-1) != 0) | (np.diff(seconds, prepend=0) > gap)
    else:
        order, starts = _sort_sessions(users, sessions, times)
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
        times=times[order] if has_times else None,
    )


def warn_skipped(skipped: Skipped, total: int, where: str) -> None:
    """Warn if many of the rows of a table were dropped; raise FileFormatError if none is left."""
    if skipped.count == total:
        if not total:
            raise FileFormatError(f"{where}: contains no rows; check that it is complete.")
        raise FileFormatError(f"{where}: all {total:,} rows were left out: {skipped}; the first: {skipped.first[0]}.")
    if skipped.count > _MANY * total:
        warnings.warn(
            f"{where}: {skipped.count:,} of {total:,} rows were left out: {skipped}; the first: {skipped.first[0]}; "
            "correct these rows, or check which columns are read.",
            stacklevel=4,
        )


def _check_gap(titles: Sequence[Hashable], columns: Mapping[str, int], chosen: Mapping[str, str | None]) -> None:
    """Raise SettingError if a table cannot be split into sessions by a gap."""
    if chosen.get("session") is not None:
        raise SettingError("session and session_gap are both given; give the column of the session, or the gap.")
    if "time" not in columns:
        listed = shorten_text(", ".join(map(str, titles)), 200)
        raise SettingError(
            f"session_gap needs a time column; none of {listed} was recognized. Name it with time= (--time)."
        )
    if is_order(titles[columns["time"]]):
        raise SettingError("session_gap needs times, but the table has only the order of events; leave it out.")


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
            numbers[place] = _NOT_UTF8
        elif label not in _MISSING:
            numbers[place] = labels.setdefault(label, len(labels))
    return numbers[codes], list(labels)


def _renumber(numbers: Int64, labels: list[Hashable], rows: Int64) -> tuple[Int64, list[Hashable]]:
    """Return the numbers of some rows and the labels that occur in them, in order of first appearance."""
    found, used = pd.factorize(numbers[rows])
    return np.asarray(found, np.int64), [labels[number] if number >= 0 else None for number in used.tolist()]


def _insert_sources(
    items: tuple[Int64, list[Hashable]], sources: tuple[Int64, list[Hashable]], rows: Int64
) -> tuple[Int64, list[Hashable], Int64, NDArray[np.bool_]]:
    """Return the numbers of sources and items in turns, their labels, their events, and which are sources."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys([*items[1], *sources[1]]))}
    of_source = np.array([numbers[label] if label != "NA" else _NO_LABEL for label in sources[1]] + [_NO_LABEL])
    both = np.column_stack([of_source[np.maximum(sources[0][rows], -1)], items[0][rows]]).ravel()
    event, is_source = np.repeat(np.arange(len(rows)), 2), np.tile([True, False], len(rows))
    given = both != _NO_LABEL
    return *_renumber(both, list(numbers), np.flatnonzero(given)), event[given], is_source[given]


def _sort_sessions(users: Int64, sessions: Int64, times: Float64) -> tuple[Int64, NDArray[np.bool_]]:
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


def _list_by_user(
    name: str,
    users: Int64,
    user_names: list[Hashable],
    numbers: Int64,
    values: list[Any],
    locate: Callable[[int], str],
) -> list[Any]:
    """Return the value of every user, None without one; texts become numbers if all of them are.

    Raise FileFormatError if a user has several values.
    """
    table = pd.DataFrame({"user": users, "value": [values[number] for number in numbers]}).dropna().drop_duplicates()
    again = table[table["user"].duplicated()]
    if len(again):
        user, value = again.iloc[0]
        before = table["value"][table["user"] == user].iloc[0]
        raise FileFormatError(
            f"{locate(int(again.index[0]))}: the column {quote_value(name)} has the value {quote_value(value)} for the "
            f"user {quote_value(user_names[user])} and {quote_value(before)} in an earlier row; a column to keep has "
            "one value per user, so correct it or do not keep it."
        )
    known = dict(zip(table["user"].tolist(), table["value"].tolist(), strict=True))
    if all(isinstance(value, str) for value in known.values()):
        parsed = pd.to_numeric(pd.Series(known.values(), dtype=object), errors="coerce")
        if np.isfinite(parsed.to_numpy(float)).all():
            known = dict(zip(known, parsed.tolist(), strict=True))
    return [known.get(user) for user in range(len(user_names))]


def _warn_doubtful_columns(
    titles: Sequence[Hashable],
    columns: Mapping[str, int],
    keep: Mapping[str, int],
    chosen: Mapping[str, str | None],
    where: str,
    *,
    is_one_each: bool,
) -> None:
    """Warn if the column of the time may have been overlooked, or if that of the user may be the number of a row."""
    used = {*columns.values(), *keep.values()}
    unused = [str(title).strip() for place, title in enumerate(titles) if place not in used]
    if "time" not in columns and unused:
        warnings.warn(
            f"{where}: no time column was recognized, so events are taken in the order of the rows; unused columns: "
            f"{shorten_text(', '.join(unused), 200)}; if one of them is the time, name it with time= (--time).",
            stacklevel=4,
        )
    user = titles[columns["user"]]
    if is_one_each and normalize(user) == "id" and chosen.get("user") is None:
        warnings.warn(
            f"{where}: every user has one event; is {quote_value(user)} a row number? Name the user column with user= "
            "(--user).",
            stacklevel=4,
        )


# ---- times ----------------------------------------------------------------------------------------------------------


def parse_times(column: pd.Series) -> tuple[Float64, bool]:
    """Return dates in seconds since 1970 or numbers as they are, NaN for bad ones, and whether they are dates.

    Dates are in ISO format; those without a time zone count as UTC.

    >>> parse_times(pd.Series(["1970-01-02", "1970-01-01 00:01:30", "soon"]))
    (array([86400.,    90.,    nan]), True)
    """
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(np.float64, na_value=np.nan), False
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        dates = pd.to_datetime(column, utc=True)
    else:
        texts = column.astype(str).str.strip()
        numbers = pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)
        if np.isfinite(numbers).all():
            return numbers, False
        dates = pd.to_datetime(texts, errors="coerce", format="ISO8601", utc=True)
        if dates.count() <= np.isfinite(numbers).sum():
            return numbers, False
    moments = dates.dt.tz_localize(None).to_numpy("datetime64[us]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 1e6), True


def parse_duration(name: str, value: Any) -> float:
    """Return a duration in seconds.

    >>> parse_duration("session_gap", "30min"), parse_duration("session_gap", "1.5h"), parse_duration("session_gap", 45)
    (1800.0, 5400.0, 45.0)
    """
    seconds = math.nan
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
    elif is_number(value):
        seconds = float(value)
    elif isinstance(value, str) and (match := _DURATION.fullmatch(value.strip().lower())):
        seconds = float(match[1]) * _SECONDS.get(match[2], math.nan)
    if not 0 < seconds < math.inf:
        raise SettingError(f"{name} is {quote_value(value)}; give a duration such as 30min, 2h, 45s or 1d, above 0.")
    return seconds


def scale_to_seconds(times: Float64) -> Float64:
    """Return numbers as seconds: as they are below 1e11, and divided if all are epoch times in ms, us or ns.

    Raise WalkError for numbers whose unit is not clear, such as dates written as 20260531.

    >>> scale_to_seconds(np.array([1.7e12, 1.8e12])).tolist()
    [1700000000.0, 1800000000.0]
    """
    low, high = float(times.min(initial=math.inf)), float(times.max(initial=-math.inf))
    month, day = times // 100 % 100, times % 100
    is_date = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31) & (times >= 1900_01_01) & (times <= 2100_12_31)
    if low > -1e11 and high < 1e11 and not (is_date & (times % 1 == 0)).all():
        return times
    for unit, (first, last) in _EPOCH_UNITS.items():
        if first <= low and high <= last:
            return times / unit
    raise WalkError(
        f"the times range from {low:.15g} to {high:.15g}, which are not seconds; to split sessions by a gap, write "
        "times as epoch seconds or as dates such as 2026-05-31 14:30."
    )
