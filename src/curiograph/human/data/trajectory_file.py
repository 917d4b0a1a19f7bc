"""`read_trajectories`: read walks from a table of events or a list of walks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from curiograph.errors import FileFormatError, SettingError
from curiograph.files import PathLike, as_path, check_file
from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader
from curiograph.human.data.columns import (
    ColumnNames,
    EventColumns,
    check_no_header,
    parse_header,
    split_fields,
    warn_doubtful_columns,
)
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.events import read_events, resolve_sessions
from curiograph.human.data.line_reader import STDIN, BadRows, describe_path, read_lines
from curiograph.human.data.times import parse_duration
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value

Lines = Iterator[tuple[int, str]]
"""Numbers and texts of lines."""


def read_trajectories(
    path: PathLike,
    *,
    user: str | None = None,
    item: str | None = None,
    time: str | None = None,
    session: str | None = None,
    keep: Sequence[str] = (),
    session_gap: Any = None,
    header: bool | None = None,
    graph: Graph | None = None,
    lenient: bool = False,
) -> Dataset:
    """Read a file of walks, plain or gzipped.

    A table has a header that names its columns. Any other text file has one walk per line, its labels separated by
    tabs, or else semicolons, or else commas. Lines that start with `#` before a table or between walks are comments. A
    `.npz` file is one that `Trajectories.save` wrote. The path `-` is the standard input.

    Parameters
    ----------
    path : str or path
        File to read.
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
    header : bool, optional
        False if the first line is a walk although it looks like a header; by default it is found out.
    graph : Graph, optional
        Graph of the walks. A first line of labels of the graph is a walk, not a header, and a line that is a label of
        the graph as a whole is not split. The walks are not changed: `Trajectories.on` drops visits of nodes that are
        not in the graph, and counts them.
    lenient : bool
        Skip bad rows and report them in `skipped` instead of raising FileFormatError.

    Returns
    -------
    Dataset
        The walks; `name` is the name of the file, and `graph` is None.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "visits.csv"
    ...     _ = file.write_text("Reader,Page,Date\\nann,b,2026-05-31T10:02\\nann,a,2026-05-31\\nann,c,2026-06-01\\n")
    ...     walks = read_trajectories(file, session_gap="12h").walks
    >>> [(walks.user(number), walks.session(number), walks.labels(number)) for number in range(len(walks))]
    [('ann', 1, ['a', 'b']), ('ann', 2, ['c'])]
    """
    names = ColumnNames(user=user, item=item, time=time, session=session, keep=keep)
    gap = None if session_gap is None else parse_duration("session_gap", session_gap)
    file, bad_rows = as_path(path), BadRows()
    if file.suffix.lower() == ".npz":
        _check_no_columns(file, names, gap)
        return Dataset(name=file.name, walks=Trajectories.load(file), source_path=file)
    reader = None if graph is None else LabelReader(graph)
    lines = read_lines(file if file == STDIN else check_file(file), bad_rows)
    shown = describe_path(file)
    head = next(((number, line) for number, line in lines if not line.startswith("#")), None)
    columns: EventColumns | None = None
    if header is None and head is not None and reader is not None and not names.chosen and not names.keep:
        header = False if _is_walk(head[1], reader) else None
    if head is not None and header is not False:
        columns = parse_header(shown, *head, names)
    if columns is not None:
        columns = resolve_sessions(columns, gap, names)
        events = read_events(shown, lines, columns, bad_rows)
        skipped = events.finish(lenient)
        warn_doubtful_columns(columns, shown, is_one_event_each=events.is_one_each)
        walks = events.to_trajectories(session_gap=gap)
    else:
        _check_no_columns(shown, names, gap)
        rows = chain([] if head is None else [head], lines)
        listed = _read_walks(shown, rows, bad_rows, reader, may_have_header=header is None)
        skipped = bad_rows.finish(lenient)
        if not listed:
            raise FileFormatError(f"{shown}: contains no walks; write one list of labels per line.")
        walks = Trajectories.from_walks(listed)
    return Dataset(name=file.name, walks=walks.add_skipped(skipped), source_path=file)


def _is_walk(line: str, reader: LabelReader) -> bool:
    """Return whether a line consists of labels of a graph."""
    separator = next((mark for mark in "\t;" if mark in line), ",")
    labels = [line, *(_split_walk(line, separator) or [""])]
    found = [reader.find(label.strip()) is not None for label in labels if label.strip()]
    return found[0] or (len(found) > 1 and all(found[1:]))


def _split_walk(line: str, separator: str) -> list[str] | None:
    """Split a line into labels, of which only those between commas may be in quotes."""
    return split_fields(line, ",") if separator == "," else line.split(separator)


def _read_walks(
    file: Path, lines: Lines, bad_rows: BadRows, reader: LabelReader | None, *, may_have_header: bool
) -> list[list[Hashable]]:
    """Read one walk per line."""
    rows = [(number, line) for number, line in lines if not line.startswith("#")]
    separator = next((mark for mark in "\t;" if any(mark in line for _, line in rows)), ",")
    split = [
        [line] if reader is not None and reader.find(line.strip()) is not None else _split_walk(line, separator)
        for _, line in rows
    ]
    if may_have_header and rows and split[0] is not None:
        check_no_header(file, rows[0][0], split[0], [fields for fields in split[1:] if fields is not None])
    walks = []
    for (number, _), fields in zip(rows, split, strict=True):
        walk: list[Hashable] = [field.strip() for field in fields or [] if field.strip()]
        if walk:
            walks.append(walk)
        elif fields is None:
            bad_rows.add(file, number, "unmatched quotes", "its quotes do not match")
        else:
            bad_rows.add(file, number, "no labels", "contains no labels")
    return walks


def find_line(path: Path, label: Hashable) -> int | None:
    """Return the number of the first line of a text file that has a label as a field, or None."""
    for number, line in read_lines(path, BadRows()):
        for separator in "\t;,":
            if label in [field.strip() for field in split_fields(line, separator) or []]:
                return number
    return None


def _check_no_columns(file: Path, names: ColumnNames, gap: float | None) -> None:
    """Raise SettingError if columns or a gap are given for a file that is not a table."""
    given: dict[str, object] = {**names.chosen, "keep": names.keep or None, "session_gap": gap}
    for option, value in given.items():
        if value is not None:
            raise SettingError(
                f"{file} is not a table of events, so that {option} = {quote_value(value)} has no meaning; leave it "
                "out, or give a table with a header."
            )
