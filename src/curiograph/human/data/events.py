"""Tables of events (user, item, time, session): find their columns by name, and arrange the events as walks."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from curiograph.arrays import Int64
from curiograph.errors import FileFormatError, SettingError, WalkError, quote_value, shorten_text
from curiograph.graph.labels import ListLabels
from curiograph.human.data.event_times import convert_serial_dates, parse_numbers, parse_times, scale_to_seconds
from curiograph.human.data.text_source import warn_skipped
from curiograph.human.trajectories import Trajectories
from curiograph.results import Skipped
from curiograph.validation import is_number

_PEOPLE = ("user", "participant", "subject", "person", "reader", "player", "visitor", "respondent")
_ITEMS = ("item", "page", "article", "node", "movie", "product", "concept")
_GUESSES: dict[str, tuple[Sequence[str], ...]] = {
    "user": (
        [*_PEOPLE, *(f"{name}{end}" for name in _PEOPLE for end in ("id", "name", "number", "no")), "pid", "uid"],
        ["id"],
    ),
    "item": (
        [*_ITEMS, *(f"{name}{end}" for name in _ITEMS for end in ("id", "name", "title")), "parentasin"],
        ["title", "url"],
    ),
    "time": (
        ["time", "date", "unixtime", "starttime", "eventtime", "visittime", "when", "ts", "createdat"],
        ["timeorder", "order", "step", "sequence"],
    ),
    "session": (["session", "sessionid", "sessionname", "sessionnumber"],),
    "target": (["target", "goal", "targetname", "targetpage", "targetarticle"],),
}
"""Names of columns without case and punctuation; a list is used only if no column has a name in the lists before."""
_TIME_PARTS = ("timestamp", "datetime")  # a name that contains one is that of a time too, such as `Timestamp (UTC)`
_SOURCES, _TARGETS = ("sourcename", "source"), ("targetname", "target")  # of KNOT: one row per click
_TYPED = re.compile(r"(.+):(?:token|float|token_seq|float_seq)")  # of RecBole
_SECONDS = {"": 1, "s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+) *([a-z]*)")
EXPECTED = (
    "user (or participant, subject, id, ...), item (or page, article, title, ...) and optionally time (or timestamp, "
    "date, ...), session and target"
)
"""Names that are recognized, for messages."""
_LABELED = ("user", "item", "session", "source", "target")  # roles of columns of labels
_MISSING = frozenset(["", "NaN", "nan", "<NA>", "null"])  # numpy, pandas and JSON write them for a missing label
_NO_VALUE = frozenset(["NA", "N/A", "#N/A", "NULL", "None", "none"])  # of R and spreadsheets; may be titles of items
_MAX_LINES = 10  # of a label; beyond, a quotation mark is not closed
_NO_LABEL, _NOT_DECODED = -1, -2  # in place of the number of a label
_DAY = 86_400


@dataclass(frozen=True)
class EventColumns:
    """Positions of the columns of a table of events."""

    roles: Mapping[str, int]
    """Positions by role: user, item and, if there are such columns, time, session, target (the item that the walk is to
    reach), and source: the item that a user came from, in tables with one row per click."""
    keep: Mapping[str, int] = field(default_factory=dict)
    """Positions of further columns by name."""
    has_times: bool = True
    """Whether there is a column of times, and they are not only the order of events, such as 1, 2, 3."""
    session_gap: float | None = None
    """Number of seconds between two events after which a new session starts."""
    decimal: str | None = None
    """Decimal mark of numbers; None to decide by the values of a column."""
    dayfirst: bool | None = None
    """Whether the day precedes the month in dates such as 31/05/2026; None to decide by the values."""


def find_columns(
    titles: Sequence[Hashable],
    where: str = "the frame",
    *,
    user: str | None = None,
    item: str | None = None,
    time: str | None = None,
    session: str | None = None,
    target: str | None = None,
    keep: Sequence[str] = (),
    session_gap: Any = None,
    decimal: str | None = None,
    dayfirst: bool | None = None,
) -> EventColumns:
    """Return the columns that the caller chose by role, and guess the others by their titles.

    >>> find_columns(["time", "userId", "stars", "page"], user=None).roles
    {'user': 1, 'item': 3, 'time': 0}
    """
    if isinstance(keep, str):
        raise SettingError(f"keep is {keep!r}; give a list of columns, as in [{keep!r}].")
    if decimal not in (None, ".", ","):
        raise SettingError(f"decimal is {quote_value(decimal)}; give the decimal mark of numbers, '.' or ','.")
    if dayfirst not in (None, True, False):
        raise SettingError(f"dayfirst is {quote_value(dayfirst)}; give True if dates are as 31/05/2026, else False.")
    chosen = {"user": user, "item": item, "time": time, "session": session, "target": target}
    roles = {role: _find_title(name, titles, where) for role, name in chosen.items() if name is not None}
    kept = {name: _find_title(name, titles, where) for name in keep}
    for role in _GUESSES:
        places = [] if role in roles else [place for place in guess(role, titles) if place not in roles.values()]
        if len(places) > 1:
            listed = ", ".join(quote_value(titles[place]) for place in places)
            raise FileFormatError(
                f"{where} has {len(places)} columns for the {role} ({listed}); choose one with {role}= (--{role})."
            )
        if places:
            roles[role] = places[0]
    missing = [role for role in ("user", "item") if role not in roles]
    if missing:
        raise FileFormatError(
            f"{where} has no column for the {' and the '.join(missing)}; expected are {EXPECTED}: rename the columns, "
            f"or name them with {' and '.join(f'{role}= (--{role})' for role in missing)}."
        )
    plain = [_normalize(title) for title in titles]
    if plain[roles["item"]] in _TARGETS and item is None:
        roles["source"] = next(place for place, title in enumerate(plain) if title in _SOURCES)
    has_times = "time" in roles and plain[roles["time"]] not in _GUESSES["time"][1]
    gap = None if session_gap is None else parse_duration("session_gap", session_gap)
    if gap is not None:
        if session is not None:
            raise SettingError("session and session_gap are both given; give the column of the session, or the gap.")
        if not has_times:
            listed = shorten_text(", ".join(map(str, titles)), 200)
            raise SettingError(
                f"session_gap needs a column of times; none of {listed} was recognized. Name it with time= (--time)."
            )
        roles.pop("session", None)
    used = {*roles.values(), *kept.values()}
    unused = [str(title).strip() for place, title in enumerate(titles) if place not in used]
    if "time" not in roles and unused:
        warnings.warn(
            f"{where} has no time column that was recognized, so events are taken in the order of the rows; unused "
            f"columns: {shorten_text(', '.join(unused), 200)}; if one is the time, name it with time= (--time).",
            stacklevel=4,
        )
    return EventColumns(roles, kept, has_times, gap, decimal, dayfirst)


def guess(role: str, titles: Sequence[Hashable]) -> list[int]:
    """Return the positions of the titles that name a role; those of the best list of names only."""
    plain = [_normalize(title) for title in titles]
    lists = _GUESSES[role]
    if role == "item" and any(name in _SOURCES for name in plain):
        lists = (*lists, _TARGETS)
    found = [[place for place, title in enumerate(plain) if title in names] for names in lists]
    if role == "time":
        parts = {place for place, title in enumerate(plain) if any(part in title for part in _TIME_PARTS)}
        found[0] = sorted(parts.union(found[0]))
    return next((places for places in found if places), [])


def _normalize(title: Hashable) -> str:
    """Return a title without type, case and punctuation."""
    text = str(title).strip()
    typed = _TYPED.fullmatch(text)
    return re.sub(r"[\W_]", "", (typed[1] if typed else text).lower())


def _find_title(name: str, titles: Sequence[Hashable], where: str) -> int:
    """Return the position of a column that the caller named."""
    if not isinstance(name, str):
        raise SettingError(f"a column is named {quote_value(name)}; give its name as text.")
    stripped = [str(title).strip() for title in titles]
    for same in (str, str.lower, _normalize):
        places = [place for place, title in enumerate(stripped) if same(title) == same(name.strip())]
        if len(places) == 1:
            return places[0]
        if places:
            break
    listed = shorten_text(", ".join(stripped), 200)
    raise FileFormatError(
        f"{where} has {'several columns' if places else 'no column'} {quote_value(name)}; the columns are {listed}."
    )


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


# ---- walks ---------------------------------------------------------------------------------------------------------


def arrange_events(
    table: pd.DataFrame,
    columns: EventColumns,
    where: str = "the frame",
    locate: Callable[[int], str] = "row {}".format,
    skipped: Skipped | None = None,
) -> Trajectories:
    """Return the walks of a table with one row per event.

    `where` and `locate` name the table and a row in messages; `skipped` counts rows that are not in the table. A column
    with the role "extra" has the fields beyond the last title of a file.
    """
    series = {role: table.iloc[:, place] for role, place in columns.roles.items()}
    labels = {role: _number_labels(series[role], role) for role in _LABELED if role in series}
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
    skipped = skipped or Skipped()
    total = len(table) + skipped.count
    skipped += Skipped(len(bad), tuple(examples), counts)
    warn_skipped(skipped, total, where)

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
        numbers, values = _renumber(*_number_labels(table.iloc[:, place], name), rows)
        known = pd.DataFrame({"user": users, "value": [values[number] for number in numbers]}, rows).dropna()
        user_columns[name] = list_by_user(name, known.drop_duplicates(), user_names, locate, columns.decimal)
    sessions, session_names = _renumber(*labels["session"], rows) if "session" in labels else (np.zeros_like(users), [])
    times, is_source = times[rows], np.zeros(len(rows), bool)
    if "source" in labels:  # the source of a click is a visit too, right before that of the target
        items, item_names, event, is_source = insert_sources(labels["item"], labels["source"], rows)
        users, sessions, times = users[event], sessions[event], times[event]
    else:
        items, item_names = _renumber(*labels["item"], rows)
        event = np.arange(len(rows))
    goals = None
    if "target" in labels:
        numbers, goal_names = _renumber(*labels["target"], rows)
        item_names = list(dict.fromkeys([*item_names, *(name for name in goal_names if name is not None)]))
        places = {name: place for place, name in enumerate(item_names)}
        goals = np.array([places.get(name, -1) for name in goal_names], np.int64)[numbers][event]

    order = np.argsort(times, kind="stable")  # by time and then by row
    session = pd.factorize(users[order] * (sessions.max(initial=0) + 1) + sessions[order])[0]
    in_user = np.lexsort((session, users[order]))  # the sessions of a user by their first event
    order, session = order[in_user], session[in_user]
    starts = np.diff(session, prepend=-1) != 0
    if columns.session_gap is not None:
        seconds = (times if is_date else scale_to_seconds(times))[order]
        starts |= np.diff(seconds, prepend=0) > columns.session_gap
    if goals is not None:
        # a row without a target belongs to the game before it, and a new target is a new game
        last = np.maximum.accumulate(np.where(starts | (goals[order] >= 0), np.arange(len(order)), 0))
        goals[order] = goals[order[last]]
        starts |= np.diff(goals[order], prepend=-2) != 0
    # a source that continues from the visit before is that visit
    kept = starts | (np.diff(items[order], prepend=-1) != 0) | ~is_source[order]
    order, starts = order[kept], starts[kept]
    first = np.flatnonzero(starts)
    alone = np.count_nonzero(np.diff(np.append(first, len(order))) == 1)
    if columns.session_gap is not None and len(order) > len(user_names) and alone > 0.8 * len(first):
        warnings.warn(
            f"{where}: with session_gap, {alone:,} of {len(first):,} sessions have one visit; are the times in another "
            "unit than seconds?",
            stacklevel=3,
        )
    return Trajectories.from_arrays(
        nodes=items[order],
        offsets=np.append(first, len(order)).astype(np.int64),
        names=ListLabels(item_names),
        users=users[order[first]],
        user_names=ListLabels(user_names),
        sessions=sessions[order[first]] if session_names else None,
        session_names=ListLabels(session_names) if session_names else None,
        targets=None if goals is None else goals[order[first]],
        user_columns=user_columns,
        skipped=skipped,
        times=times[order] if columns.has_times else None,
    )


def _number_labels(column: pd.Series, role: str) -> tuple[Int64, list[Hashable]]:
    """Return the numbers of the labels of a column, negative for those that are missing, and the labels.

    Whole numbers become integers, and texts are stripped. NA is the label of an item, but no user, group or score.
    """
    missing = _MISSING if role in ("item", "source") else _MISSING | _NO_VALUE
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
        elif isinstance(label, str) and label.count("\n") > _MAX_LINES:
            start = quote_value(label[: label.index("\n")])
            raise FileFormatError(
                f"the {role} {start} spans {label.count(chr(10)) + 1} lines: a quotation mark before it is not closed; "
                "correct that row."
            )
        elif label not in missing:
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
