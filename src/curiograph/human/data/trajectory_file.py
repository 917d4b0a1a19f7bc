"""`read_trajectories`: walks of one's own, from a table of events or from a list of walks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, check_file
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.events import parse_header, read_events, require_events, split_fields
from curiograph.human.data.line_reader import BadRows, read_lines
from curiograph.human.trajectories import Trajectories


def read_trajectories(path: PathLike, *, lenient: bool = False) -> Dataset:
    """Read a file of walks, plain or gzipped.

    A table has a header that names its columns: user, item and, if there is one, time. Any other file has one walk a
    line, its labels separated by tabs, or else semicolons, or else commas. Lines before the table and between the
    walks that start with `#` are remarks.

    Parameters
    ----------
    lenient : skip bad rows and say so in `skipped`, instead of raising FileFormatError.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "visits.csv"
    ...     _ = file.write_text("user,page,time\\nann,b,2\\nann,a,1\\nbob,c,1\\n")
    ...     walks = read_trajectories(file).walks
    >>> walks.labels(0)
    ['a', 'b']
    """
    found, bad = check_file(path), BadRows()
    if found.suffix.lower() == ".npz":
        return Dataset(found.name, Trajectories.load(found), found)
    lines = read_lines(found, bad)
    head = next(((number, line) for number, line in lines if not line.startswith("#")), None)
    columns = None if head is None else parse_header(found, *head)
    if columns is None:
        walks = _read_walks(found, chain([] if head is None else [head], lines), bad)
        skipped = bad.finish(lenient)
        if not len(walks):
            raise FileFormatError(f"{found}: holds no walks; write one list of labels per line.")
    else:
        events = read_events(found, lines, columns, bad)
        skipped = bad.finish(lenient)
        require_events(found, events)
        walks = events.walks()
    return Dataset(found.name, walks, found, skipped=skipped)


def _read_walks(path: Path, lines: Iterable[tuple[int, str]], bad: BadRows) -> Trajectories:
    kept = [(number, line) for number, line in lines if not line.startswith("#")]
    mark = next((mark for mark in "\t;" if any(mark in line for _, line in kept)), ",")
    walks = []
    for number, line in kept:
        fields = split_fields(line, mark)
        walk = [field.strip() for field in fields or [] if field.strip()]
        if walk:
            walks.append(walk)
        else:
            bad.add(path, number, "its quotes do not match" if fields is None else "is a list without labels")
    return Trajectories.from_walks(walks)
