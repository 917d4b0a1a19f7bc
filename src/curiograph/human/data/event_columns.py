"""Find the columns of a table of events by name: user, item, time and session."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from curiograph.errors import FileFormatError, SettingError, quote_value, shorten_text
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
}
"""Names of columns without case and punctuation; a list is used only if no column has a name in the lists before."""
_TIME_PARTS = ("timestamp", "datetime")  # a name that contains one is that of a time too, such as `Timestamp (UTC)`
_SOURCES, _TARGETS = ("sourcename", "source"), ("targetname", "target")  # of KNOT: one row per click
_TYPED = re.compile(r"(.+):(?:token|float|token_seq|float_seq)")  # of RecBole
_SECONDS = {"": 1, "s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+) *([a-z]*)")
EXPECTED = (
    "user (or participant, subject, id, ...), item (or page, article, title, ...) and optionally time (or timestamp, "
    "date, ...) and session"
)
"""Names that are recognized, for messages."""


@dataclass(frozen=True)
class EventColumns:
    """Positions of the columns of a table of events."""

    roles: Mapping[str, int]
    """Positions by role: user, item and, if there are such columns, time, session, and source: the item that a user
    came from, in tables with one row per click."""
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
    chosen: Mapping[str, str | None],
    keep: Sequence[str] = (),
    session_gap: Any = None,
    where: str = "the frame",
    decimal: str | None = None,
    dayfirst: bool | None = None,
) -> EventColumns:
    """Return the columns that the caller chose, and guess the others by their titles.

    >>> find_columns(["time", "userId", "stars", "page"], {}).roles
    {'user': 1, 'item': 3, 'time': 0}
    """
    if isinstance(keep, str):
        raise SettingError(f"keep is {keep!r}; give a list of columns, as in [{keep!r}].")
    if decimal not in (None, ".", ","):
        raise SettingError(f"decimal is {quote_value(decimal)}; give the decimal mark of numbers, '.' or ','.")
    if dayfirst not in (None, True, False):
        raise SettingError(f"dayfirst is {quote_value(dayfirst)}; give True if dates are as 31/05/2026, else False.")
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
    if plain[roles["item"]] in _TARGETS and chosen.get("item") is None:
        roles["source"] = next(place for place, title in enumerate(plain) if title in _SOURCES)
    has_times = "time" in roles and plain[roles["time"]] not in _GUESSES["time"][1]
    gap = None if session_gap is None else parse_duration("session_gap", session_gap)
    if gap is not None:
        if chosen.get("session") is not None:
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
