"""Find the columns of a table of events by name: user, item, time and session."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from curiograph.errors import FileFormatError, SettingError
from curiograph.human.data.times import TimeParser
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
_TIME_PARTS = ("timestamp", "datetime")
"""A name that contains one of these is that of a time too, such as `Timestamp (UTC)`."""
_ORDERS = _GUESSES["time"][1]
_SOURCES, _TARGETS = ("sourcename", "source"), ("targetname", "target")
_EXPECTED = (
    "user (or participant, subject, id, ...), item (or page, article, title, ...) and optionally time (or timestamp, "
    "date, ...) and session"
)
_TYPED = re.compile(r"(.+):(?:token|float|token_seq|float_seq)")  # of RecBole


@dataclass(frozen=True)
class ColumnNames:
    """Names of columns that the caller chose; the others are guessed."""

    user: str | None = None
    """Column of the user."""
    item: str | None = None
    """Column of the visited item."""
    time: str | None = None
    """Column of the time."""
    session: str | None = None
    """Column of the session."""
    keep: Sequence[str] = ()
    """Further columns to keep, with one value per user."""

    def __post_init__(self) -> None:
        if isinstance(self.keep, str):
            raise SettingError(f"keep is {self.keep!r}; give a list of columns, as in [{self.keep!r}].")
        for name in (*self.chosen.values(), *self.keep):
            if not isinstance(name, str):
                raise SettingError(f"a column is named {quote_value(name)}; give its name as text.")

    @property
    def chosen(self) -> dict[str, str]:
        """The chosen names by role, without `keep`."""
        names = {"user": self.user, "item": self.item, "time": self.time, "session": self.session}
        return {role: name for role, name in names.items() if name is not None}


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
    session: int | None = None
    """Position of the session, or None if the table has no sessions."""
    source: int | None = None
    """Position of the item that the user came from, in tables with one row per click; None in other tables."""
    keep: Mapping[str, int] = field(default_factory=dict)
    """Positions of further columns by name."""
    quoted: bool = False
    """Whether fields may be in double quotes."""
    is_order: bool = False
    """Whether the times are known to be an order, such as 1, 2, 3, and not times."""
    titles: Sequence[str] = ()
    """Names of all columns; empty for a table without a header."""
    is_guessed_id: bool = False
    """Whether the column of the user was guessed from the name `id`, which may be the number of a row."""

    @property
    def unused(self) -> list[str]:
        """Names of the columns that are not read."""
        used = {self.user, self.item, self.time, self.session, self.source, *self.keep.values()}
        return [title for place, title in enumerate(self.titles) if place not in used]


def parse_header(path: object, line: int, text: str, names: ColumnNames | None = None) -> EventColumns | None:
    """Return the columns that a header names, or None if the line is not a header.

    A line is a header if it names columns for two of user, item and time, or if the caller chose names.

    >>> columns = parse_header("a.csv", 1, "time,userId,stars,page")
    >>> columns.user, columns.item, columns.time, columns.session
    (1, 3, 0, None)
    >>> parse_header("a.csv", 1, "Zulu,Africa")
    """
    separator = next((mark for mark in "\t;" if mark in text), ",")
    raw = text.split(separator)
    quoted = separator != "\t" or all(title.strip().startswith('"') for title in raw)
    titles = split_fields(text, separator) if quoted else raw
    if titles is None:
        return None
    names = names or ColumnNames()
    if not names.chosen and not names.keep and sum(bool(_guess(role, titles)) for role in ("user", "item", "time")) < 2:
        return None
    where = f"{path}, line {line}: the header {quote_value(text)}"
    return find_columns(titles, names, where, separator=separator, quoted=quoted)


def find_columns(
    titles: Sequence[str], names: ColumnNames, where: str, *, separator: str = "", quoted: bool = False
) -> EventColumns:
    """Return the positions of the columns of a table; `where` begins the messages of errors."""
    found = {role: _find_title(name, titles, where) for role, name in names.chosen.items()}
    keep = {name: _find_title(name, titles, where) for name in names.keep}
    for role in _GUESSES:
        positions = [] if role in found else [place for place in _guess(role, titles) if place not in found.values()]
        if len(positions) > 1:
            listed = ", ".join(quote_value(titles[place]) for place in positions)
            count = "two" if len(positions) == 2 else len(positions)
            raise FileFormatError(
                f"{where} has {count} columns for the {role} ({listed}); choose one with {role}= (--{role})."
            )
        if positions:
            found[role] = positions[0]
    missing = [role for role in ("user", "item") if role not in found]
    if missing:
        options = " and ".join(f"{role}=" for role in missing)
        commands = " and ".join(f"--{role}" for role in missing)
        raise FileFormatError(
            f"{where} has no column for the {' and the '.join(missing)}; expected are {_EXPECTED}: rename the columns, "
            f"or name them with {options} ({commands})."
        )
    plain = [_normalize(title) for title in titles]
    is_knot = plain[found["item"]] in _TARGETS and "item" not in names.chosen
    return EventColumns(
        separator=separator,
        width=len(titles),
        user=found["user"],
        item=found["item"],
        time=found.get("time"),
        session=found.get("session"),
        source=next((place for place, title in enumerate(plain) if title in _SOURCES), None) if is_knot else None,
        keep=keep,
        quoted=quoted,
        is_order="time" in found and plain[found["time"]] in _ORDERS,
        titles=[str(title).strip() for title in titles],
        is_guessed_id=plain[found["user"]] == "id" and "user" not in names.chosen,
    )


def warn_doubtful_columns(columns: EventColumns, where: object, *, is_one_event_each: bool) -> None:
    """Warn if the column of the time may have been overlooked, or if that of the user may be the number of a row."""
    if columns.time is None and columns.unused:
        listed = shorten_text(", ".join(columns.unused), 200)
        warnings.warn(
            f"{where}: no time column was recognized, so events are taken in the order of the rows; unused columns: "
            f"{listed}; if one of them is the time, name it with time= (--time).",
            stacklevel=3,
        )
    if columns.is_guessed_id and is_one_event_each:
        warnings.warn(
            f"{where}: every user has one event; is {quote_value(columns.titles[columns.user])} a row number? Name the "
            "user column with user= (--user).",
            stacklevel=3,
        )


def _normalize(title: object) -> str:
    """Return a title without type, case and punctuation."""
    text = str(title).strip()
    typed = _TYPED.fullmatch(text)
    return re.sub(r"[\W_]", "", (typed[1] if typed else text).lower())


def _guess(role: str, titles: Sequence[str]) -> list[int]:
    """Return the positions of the titles that name a role; those of the best list of names only."""
    plain = [_normalize(title) for title in titles]
    lists = _GUESSES[role]
    if role == "item" and any(name in _SOURCES for name in plain):
        lists = (*lists, _TARGETS)
    found = [[place for place, title in enumerate(plain) if title in names] for names in lists]
    if role == "time":
        parts = {place for place, title in enumerate(plain) if any(part in title for part in _TIME_PARTS)}
        found[0] = sorted(parts.union(found[0]))
    return next((positions for positions in found if positions), [])


def _find_title(name: str, titles: Sequence[str], where: str) -> int:
    """Return the position of a column that the caller named."""
    stripped = [str(title).strip() for title in titles]
    for same in (str, str.lower, _normalize):
        positions = [place for place, title in enumerate(stripped) if same(title) == same(name.strip())]
        if len(positions) == 1:
            return positions[0]
        if positions:
            break
    listed = shorten_text(", ".join(stripped), 200)
    count = "several columns" if positions else "no column"
    raise FileFormatError(f"{where} has {count} {quote_value(name)}; the columns are {listed}.")


def check_no_header(path: object, line: int, first: Sequence[str], others: Sequence[Sequence[str]]) -> None:
    """Raise FileFormatError if the first line of a list of walks seems to be a header that was not understood.

    That is so if all lines have the same number of fields, and either some column has numbers or dates in all lines but
    the first, or the first line contains the name of a column and no label of any other line.
    """
    width = len(first)
    titles = [title.strip() for title in first]
    if not any(titles[1:]) or not others or any(len(fields) != width for fields in others):
        return
    is_header = any(
        not _is_value(titles[place]) and all(_is_value(fields[place]) for fields in others) for place in range(width)
    )
    if not is_header and any(_guess(role, titles) for role in _GUESSES):
        is_header = set(titles).isdisjoint(label.strip() for fields in others for label in fields)
    if is_header:
        raise FileFormatError(
            f"{path}, line {line}: looks like the header of a table, but its columns {quote_value(', '.join(titles))} "
            f"are not understood; expected are {_EXPECTED}: name the columns with user=, item= and time= (--user, "
            "--item, --time), or, if this line is a walk, give header=False (--no-header)."
        )


def _is_value(text: str) -> bool:
    """Return whether a text is a number or a date."""
    try:
        TimeParser().parse(text)
    except ValueError:
        return False
    return True


def split_fields(text: str, separator: str) -> list[str] | None:
    """Split a line into fields that may be in double quotes, or return None if its quotes do not match.

    Between semicolons, quotes that do not match are part of the fields.

    >>> split_fields('1,"Cry, the Beloved Country",Drama', ",")
    ['1', 'Cry, the Beloved Country', 'Drama']
    """
    if '"' not in text:
        return text.split(separator)
    try:
        return next(csv.reader([text], delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error:
        return text.split(separator) if separator == ";" else None


def split_chunk(texts: list[str], columns: EventColumns) -> list[Sequence[str]] | None:
    """Split many lines and return the columns, or None if any line is bad; the lines are then split one by one."""
    separator, width = columns.separator, columns.width
    if columns.quoted and any('"' in text for text in texts):
        try:
            rows = list(csv.reader(texts, delimiter=separator, skipinitialspace=True, strict=True))
        except csv.Error:
            return None
        if len(rows) != len(texts) or set(map(len, rows)) != {width}:
            return None
        return list(zip(*rows, strict=True))
    if {text.count(separator) for text in texts} != {width - 1}:
        return None
    fields = separator.join(texts).split(separator)  # at once: a list per line would take twice the time
    return [fields[place::width] for place in range(width)]
