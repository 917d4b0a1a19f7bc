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

from curiograph.errors import FileFormatError, SettingError, quote_value, shorten_text
from curiograph.files import PathLike
from curiograph.human.data.event_columns import EXPECTED, EventColumns, find_columns, guess
from curiograph.human.data.events import arrange_events, parse_times
from curiograph.human.data.text_source import TextSource
from curiograph.human.trajectories import Trajectories
from curiograph.results import MAX_SHOWN, Problem

_TOO_LONG = re.compile(r"expected (\d+) fields, saw (\d+)")  # in a warning of pandas


def read_log(
    path: PathLike,
    *,
    user: str | None = None,
    item: str | None = None,
    time: str | None = None,
    session: str | None = None,
    keep: Sequence[str] = (),
    session_gap: Any = None,
) -> Trajectories:
    """Read a file of walks, plain or gzipped.

    A table has a header that names its columns, which tabs, semicolons or commas separate. Any other text file has one
    walk per line, its labels separated by tabs, or else semicolons, or else commas. Lines that start with `#` before a
    table or between walks are comments. Rows without a user, an item or a valid time are dropped and counted by reason
    in `Trajectories.skipped`; if they are more than 5 %, there is a warning.

    Parameters
    ----------
    path : str or path
        File to read; `-` is the standard input.
    user, item, time, session : str, optional
        Names of columns of the table. Default: a column called user, participant, subject, id, ...; item, page,
        article, title, ...; time, timestamp, date, ..., if there is one; and session, if there is one. Times are
        numbers, such as epoch seconds, or ISO dates; without times, events are in order, and a warning lists the
        columns that are not used.
    keep : sequence of str
        Further columns to keep in `Trajectories.user_columns`, such as a group; they have one value per user.
    session_gap : str, number or timedelta, optional
        Start a new session, and so a new walk, after a gap between two events of a user that is longer than this
        duration, such as "30min", "2h", "45s", "1d" or a number of seconds.

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
    source = TextSource(path)
    chosen = {"user": user, "item": item, "time": time, "session": session}
    line, head = next(source.lines(), (0, ""))
    separator = next((mark for mark in "\t;" if mark in head), ",")
    is_quoted = separator != "\t" or all(title.strip().startswith('"') for title in head.split("\t"))
    titles = next(csv.reader([head], delimiter=separator, skipinitialspace=True)) if is_quoted else head.split("\t")
    if any(chosen.values()) or keep or sum(bool(guess(role, titles)) for role in ("user", "item", "time")) > 1:
        where = f"{source.name}, line {line}: the header {quote_value(head)}"
        columns = find_columns(titles, chosen, keep, session_gap, where)
        return read_events(source, columns, len(titles), separator, line, is_quoted)
    if session_gap is not None:
        given = f"session_gap is {quote_value(session_gap)}, but {source.name} is not a table of events"
        raise SettingError(f"{given}; leave it out, or give a table with a header.")
    return _read_walks(source)


def read_events(
    source: TextSource, columns: EventColumns, width: int, separator: str = ",", start: int = 0, is_quoted: bool = True
) -> Trajectories:
    """Return the walks of the table of `width` columns below the first `start` lines."""
    quoting: Any = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
    types: Any = dict.fromkeys(range(width + 1), str)
    types.pop(columns.roles.get("time"), None)  # numbers are parsed at once
    names = range(width + 1)  # one more, for fields beyond the last title
    try:
        with source.open() as stream, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            table = pd.read_csv(
                stream, sep=separator, header=None, names=names, index_col=False, dtype=types, skiprows=start,
                skipinitialspace=True, na_filter=False, quoting=quoting, on_bad_lines="warn",
                encoding_errors="replace", float_precision="round_trip",
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
            lines = islice(io.TextIOWrapper(stream, "utf-8", errors="replace", newline=""), start, None)
            reader = csv.reader(lines, delimiter=separator, quoting=quoting, skipinitialspace=True)
            begin = end = 0
            for fields in reader:
                begin, end = end + 1, reader.line_num
                row -= ",".join(fields).strip() != "" and (len(fields) > most) == is_too_long
                if row < 0:
                    break
        return f"{source.name}, line {start + begin}"

    reason = "wrong number of columns"
    problems: list[Problem] = [(reason, "")] * len(too_long)
    for row, (_, fields) in enumerate(too_long[:MAX_SHOWN]):
        problems[row] = reason, f"{locate(row, is_too_long=True)}: {reason} ({fields}, not {width})"
    columns = replace(columns, roles={**columns.roles, "extra": width})
    return arrange_events(table, columns, source.name, locate, problems)


def _read_walks(source: TextSource) -> Trajectories:
    """Read one walk per line."""
    numbered = list(source.lines())
    separator = next((mark for mark in "\t;" if any(mark in line for _, line in numbered)), ",")
    rows = [
        next(csv.reader([line], skipinitialspace=True)) if separator == "," else line.split(separator)
        for _, line in numbered
    ]
    walks = [walk for row in rows if (walk := [label.strip() for label in row if label.strip()])]
    if not walks:
        raise FileFormatError(f"{source.name}: contains no walks; write one list of labels per line.")
    if _has_header(walks):
        raise FileFormatError(
            f"{source.name}, line {numbered[0][0]}: looks like the header of a table, but its columns "
            f"{quote_value(', '.join(walks[0]))} are not understood; expected are {EXPECTED}: name the columns with "
            "user=, item= and time= (--user, --item, --time); lists of walks can be given to Trajectories.from_walks."
        )
    return Trajectories.from_walks(walks)


def _has_header(walks: list[list[str]]) -> bool:
    """Return whether the first of several walks of equal length seems to be a header that was not understood.

    Either some column has numbers or dates in all lines but the first, or the first line contains the name of a column
    and no label of any other line.
    """
    first, others = walks[0], walks[1:]
    if len(first) < 2 or not others or any(len(walk) != len(first) for walk in others):
        return False
    for place, title in enumerate(first):
        times = parse_times(pd.Series([title, *(walk[place] for walk in others)], dtype=object))[0]
        if np.isnan(times[0]) and not np.isnan(times[1:]).any():
            return True
    is_known = any(guess(role, first) for role in ("user", "item", "time", "session"))
    return is_known and set(first).isdisjoint(label for walk in others for label in walk)
