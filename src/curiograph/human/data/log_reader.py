"""`read_log`: read the walks of people from a table of events or a list of walks."""

from __future__ import annotations

import csv
import io
import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from curiograph.errors import FileFormatError, SettingError, import_optional, quote_value, shorten_text
from curiograph.files import PathLike, check_file, wrap_parse_errors
from curiograph.human.data.event_times import parse_times
from curiograph.human.data.events import EXPECTED, EventColumns, arrange_events, find_columns, guess
from curiograph.human.data.text_source import TextSource
from curiograph.human.trajectories import Trajectories
from curiograph.results import Skipped

_TOO_LONG = re.compile(r"expected (\d+) fields, saw (\d+)")  # in a warning of pandas
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)  # as Excel writes it
_FIRST_EPOCH = 1e8  # seconds: 1973


def read_log(
    path: PathLike,
    *,
    user: str | None = None,
    item: str | None = None,
    time: str | None = None,
    session: str | None = None,
    target: str | None = None,
    keep: Sequence[str] = (),
    session_gap: Any = None,
    encoding: str | None = None,
    decimal: str | None = None,
    dayfirst: bool | None = None,
) -> Trajectories:
    """Read a file of walks: text, plain or gzipped, or the first sheet of an Excel file (`.xlsx`).

    A table has a header that names its columns, which tabs, semicolons or commas separate; a line `sep=;` before it, as
    Excel writes it, names another separator. Any other text file has one walk per line, its labels separated by tabs,
    or else semicolons, or else commas. Lines that start with `#` before a table or between walks are comments.

    Rows without a user, an item or a valid time, and rows that repeat the user, the item and the time of another, are
    dropped and counted by reason in `Trajectories.skipped`; if they are more than 5 %, there is a warning with the fix.
    Every row is a visit, a repeat that is merged, or counted there.

    Parameters
    ----------
    path : str or path
        File to read; `-` is the standard input. Excel files need `pip install 'curiograph[xlsx]'`.
    user, item, time, session : str, optional
        Names of columns of the table. Default: a column called user, participant, subject, id, ...; item, page,
        article, title, ...; time, timestamp, date, ..., if there is one; and session, if there is one. Times are
        numbers, such as epoch seconds, or dates such as 2026-05-31T14:30+02:00, 31.05.2026 14:30 or 5/31/2026 2:30 PM,
        in UTC if they have no time zone; without times, events are in order, and a warning lists the columns that are
        not used. Numbers such as 45123.52 are taken as the dates of a spreadsheet, with a warning.
    target : str, optional
        Column of the item that the user was to reach, in games; a new target starts a new walk, and an event without
        one belongs to the walk before it. Default: a column called target or goal, unless it has the items.
    keep : sequence of str
        Further columns to keep in `Trajectories.user_columns`, such as a group; they have one value per user.
    session_gap : str, number or timedelta, optional
        Start a new session, and so a new walk, after a gap between two events of a user that is longer than this
        duration, such as "30min", "2h", "45s", "1d" or a number of seconds.
    encoding : str, optional
        Encoding of a text file. Default: that of its byte order mark, or UTF-8, or with a warning cp1252.
    decimal : {".", ","}, optional
        Decimal mark of times and of kept columns. Default: commas are decimal marks unless they may separate thousands.
    dayfirst : bool, optional
        Whether dates such as 05/06/2026 begin with the day. Default: as a day above 12 or dots show, or else an error.

    Returns
    -------
    Trajectories
        One walk per session of a user, in order of time and then of rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w+", suffix=".csv") as file:
    ...     _ = file.write("Reader,Page,Date\\nann,b,2026-05-31T10:02\\nann,a,2026-05-31\\nann,c,2026-06-01\\n")
    ...     file.flush()
    ...     walks = read_log(file.name, session_gap="12h")
    >>> list(walks), walks.session(1)
    ([['a', 'b'], ['c']], 2)
    """
    settings: Any = {"user": user, "item": item, "time": time, "session": session, "target": target, "keep": keep}
    settings |= {"session_gap": session_gap, "decimal": decimal, "dayfirst": dayfirst}
    if str(path).lower().endswith(".xlsx"):
        import_optional("openpyxl", "xlsx", "Excel files")
        with wrap_parse_errors(check_file(path), "Excel"):
            table = pd.read_excel(path, dtype=str, keep_default_na=False, engine="openpyxl")
        table = table[(table != "").any(axis=1)]
        columns = find_columns(list(table.columns), str(path), **settings)
        return arrange_events(table, columns, str(path), lambda row: f"{path}, row {table.index[row] + 2}")
    source = TextSource(path, encoding)
    lines = source.lines()
    line, head = next(lines, (0, ""))
    named = _SEPARATOR_LINE.fullmatch(head)
    if named:
        line, head = next(lines, (0, ""))
    separator = named[1] if named else next((mark for mark in "\t;" if mark in head), ",")
    is_quoted = separator != "\t" or all(title.strip().startswith('"') for title in head.split("\t"))
    titles = next(csv.reader([head], delimiter=separator, skipinitialspace=True)) if is_quoted else head.split("\t")
    if (
        any((user, item, time, session, target, keep))
        or sum(bool(guess(role, titles)) for role in ("user", "item", "time")) > 1
    ):
        columns = find_columns(titles, f"{source.name}, line {line}: the header {quote_value(head)}", **settings)
        return read_events(source, columns, len(titles), separator, line, is_quoted)
    if session_gap is not None:
        given = f"session_gap is {quote_value(session_gap)}, but {source.name} is not a table of events"
        raise SettingError(f"{given}; leave it out, or give a table with a header.")
    return _read_walks(source, named)


def read_events(
    source: TextSource, columns: EventColumns, width: int, separator: str = ",", start: int = 0, is_quoted: bool = True
) -> Trajectories:
    """Return the walks of the table of `width` columns below the first `start` lines."""
    quoting: Any = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
    names = range(width + 1)  # one more, for fields beyond the last title
    types: Any = dict.fromkeys(names, str)
    types.pop(columns.roles.get("time"), None)  # numbers are parsed at once
    try:
        with source.open() as stream, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            table = pd.read_csv(
                stream, sep=separator, header=None, names=names, index_col=False, dtype=types, skiprows=start,
                skipinitialspace=True, na_filter=False, quoting=quoting, on_bad_lines="warn",
                encoding=source.encoding, encoding_errors="replace", float_precision="round_trip",
            )  # fmt: skip
    except pd.errors.EmptyDataError:
        table = pd.DataFrame(columns=names, dtype=str)
    except pd.errors.ParserError as error:
        raise FileFormatError(f"{source.name}: cannot be read as a table ({shorten_text(error, 200)}).") from None
    too_long = [found.groups() for warning in caught for found in _TOO_LONG.finditer(str(warning.message))]
    most = int(too_long[0][0]) if too_long else math.inf

    def locate(row: int, *, is_too_long: bool = False) -> str:
        """Return the place of a row, which may span several lines, among those that pandas read or did not."""
        with source.open() as stream:
            lines = islice(io.TextIOWrapper(stream, source.encoding, errors="replace", newline=""), start, None)
            reader = csv.reader(lines, delimiter=separator, quoting=quoting, skipinitialspace=True)
            begin = end = 0
            for fields in reader:
                begin, end = end + 1, reader.line_num
                row -= ",".join(fields).strip() != "" and (len(fields) > most) == is_too_long
                if row < 0:
                    break
        return f"{source.name}, line {start + begin}"

    skipped, reason = Skipped(), "wrong number of columns"
    if too_long:
        first = f"{locate(0, is_too_long=True)}: {reason} ({too_long[0][1]}, not {width})"
        skipped = Skipped(len(too_long), (first,), {reason: len(too_long)})
    columns = replace(columns, roles={**columns.roles, "extra": width})
    return arrange_events(table, columns, source.name, locate, skipped)


def _read_walks(source: TextSource, named: re.Match[str] | None) -> Trajectories:
    """Read one walk per line, below the line that names the separator if there is one."""
    numbered = list(source.lines())[named is not None :]
    marks = named[1] if named else "\t;"
    separator = next((mark for mark in marks if any(mark in line for _, line in numbered)), ",")
    rows = [
        next(csv.reader([line], skipinitialspace=True)) if separator == "," else line.split(separator)
        for _, line in numbered
    ]
    rows = [[label.strip() for label in row] for row in rows]
    walks = [walk for row in rows if (walk := [label for label in row if label])]
    if not walks:
        raise FileFormatError(f"{source.name}: contains no walks; write one list of labels per line.")
    if fault := _find_table(rows):
        fix = "name the columns with user=, item= and time= (--user, --item, --time)"
        remark = "lists of walks can be given to Trajectories.from_walks"
        raise FileFormatError(
            f"{source.name}, line {numbered[0][0]}: {fault}; expected is a header with {EXPECTED}: {fix}; {remark}."
        )
    return Trajectories.from_walks(walks)


def _find_table(rows: list[list[str]]) -> str:
    """Describe why the lines of a file seem to be the rows of a table and not walks; empty if they do not.

    They have the same number of fields. The first is a header if a column has numbers or dates in all others, or if it
    contains the name of a column and no label of the others. There is no header if some columns, but not all, have
    dates, epoch times or, of three or more columns, other numbers.
    """
    first, others = rows[0], rows[1:]
    if len(first) < 2 or not others or any(len(row) != len(first) for row in others):
        return ""
    parsed = [parse_times(pd.Series(list(values), dtype=object), dayfirst=True) for values in zip(*rows, strict=True)]
    times = np.array([values for values, _ in parsed])
    is_known = any(guess(role, first) for role in ("user", "item", "time", "session"))
    is_header = np.any(np.isnan(times[:, 0]) & ~np.isnan(times[:, 1:]).any(axis=1))
    if is_header or (is_known and set(first).isdisjoint(label for row in others for label in row)):
        return f"looks like the header of a table, but its columns {quote_value(', '.join(first))} are not understood"
    is_number = np.mean(np.isfinite(times), axis=1) > 0.9
    is_epoch = np.mean(times > _FIRST_EPOCH, axis=1) > 0.9
    is_time = is_number & (is_epoch | [is_date for _, is_date in parsed])
    if (is_time.any() and not is_time.all()) or (len(first) > 2 and is_number.any() and not is_number.all()):
        return f"looks like a row of a table without a header ({quote_value(', '.join(first))}), not like a walk"
    return ""
