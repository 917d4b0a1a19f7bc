"""Find the columns of a table of events by name: user, item, time and session."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence

from curiograph.errors import FileFormatError, SettingError
from curiograph.messages import quote_value, shorten_text

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
EXPECTED = (
    "user (or participant, subject, id, ...), item (or page, article, title, ...) and optionally time (or timestamp, "
    "date, ...) and session"
)
"""Names that are recognized, for messages."""


def find_columns(
    titles: Sequence[Hashable], chosen: Mapping[str, str | None], keep: Sequence[str], where: str
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the positions of the columns by role, and those of the columns to keep by name.

    Roles are user, item and, if there are such columns, time, session, and source: the item that a user came from, in
    tables with one row per click.

    >>> find_columns(["time", "userId", "stars", "page"], {}, [], "the frame")
    ({'user': 1, 'item': 3, 'time': 0}, {})
    """
    if isinstance(keep, str):
        raise SettingError(f"keep is {keep!r}; give a list of columns, as in [{keep!r}].")
    found = {role: _find_title(name, titles, where) for role, name in chosen.items() if name is not None}
    for role in _GUESSES:
        places = [] if role in found else [place for place in guess(role, titles) if place not in found.values()]
        if len(places) > 1:
            listed = ", ".join(quote_value(titles[place]) for place in places)
            raise FileFormatError(
                f"{where} has {len(places)} columns for the {role} ({listed}); choose one with {role}= (--{role})."
            )
        if places:
            found[role] = places[0]
    missing = [role for role in ("user", "item") if role not in found]
    if missing:
        raise FileFormatError(
            f"{where} has no column for the {' and the '.join(missing)}; expected are {EXPECTED}: rename the columns, "
            f"or name them with {' and '.join(f'{role}= (--{role})' for role in missing)}."
        )
    plain = [normalize(title) for title in titles]
    if plain[found["item"]] in _TARGETS and chosen.get("item") is None:
        found["source"] = next(place for place, title in enumerate(plain) if title in _SOURCES)
    return found, {name: _find_title(name, titles, where) for name in keep}


def guess(role: str, titles: Sequence[Hashable]) -> list[int]:
    """Return the positions of the titles that name a role; those of the best list of names only."""
    plain = [normalize(title) for title in titles]
    lists = _GUESSES[role]
    if role == "item" and any(name in _SOURCES for name in plain):
        lists = (*lists, _TARGETS)
    found = [[place for place, title in enumerate(plain) if title in names] for names in lists]
    if role == "time":
        parts = {place for place, title in enumerate(plain) if any(part in title for part in _TIME_PARTS)}
        found[0] = sorted(parts.union(found[0]))
    return next((places for places in found if places), [])


def is_order(title: Hashable) -> bool:
    """Return whether the column of the time holds only the order of events, such as 1, 2, 3."""
    return normalize(title) in _GUESSES["time"][1]


def normalize(title: Hashable) -> str:
    """Return a title without type, case and punctuation."""
    text = str(title).strip()
    typed = _TYPED.fullmatch(text)
    return re.sub(r"[\W_]", "", (typed[1] if typed else text).lower())


def _find_title(name: str, titles: Sequence[Hashable], where: str) -> int:
    """Return the position of a column that the caller named."""
    if not isinstance(name, str):
        raise SettingError(f"a column is named {quote_value(name)}; give its name as text.")
    stripped = [str(title).strip() for title in titles]
    for same in (str, str.lower, normalize):
        places = [place for place, title in enumerate(stripped) if same(title) == same(name.strip())]
        if len(places) == 1:
            return places[0]
        if places:
            break
    listed = shorten_text(", ".join(stripped), 200)
    raise FileFormatError(
        f"{where} has {'several columns' if places else 'no column'} {quote_value(name)}; the columns are {listed}."
    )
