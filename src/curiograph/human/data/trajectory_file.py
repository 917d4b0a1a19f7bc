"""`read_trajectories`: read walks from a table of events or a list of walks."""

from __future__ import annotations

from itertools import chain

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, check_file
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.events import parse_header, read_events, split_fields
from curiograph.human.data.line_reader import BadRows, read_lines
from curiograph.human.trajectories import Trajectories

_UNMATCHED = ("unmatched quotes", "its quotes do not match")


def read_trajectories(path: PathLike, *, lenient: bool = False) -> Dataset:
    """Read a file of walks, plain or gzipped.

    A table has a header that names its columns: user, item and, optionally, time. Any other text file has one walk per
    line, its labels separated by tabs, or else semicolons, or else commas. Lines that start with `#` before a table or
    between walks are comments. A `.npz` file is one that `Trajectories.save` wrote.

    Parameters
    ----------
    path : str or path
        File to read.
    lenient : bool
        Skip bad rows and report them in `skipped` instead of raising FileFormatError.

    Returns
    -------
    Dataset
        The walks; `name` is the name of the file, and `graph` is None.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "visits.csv"
    ...     _ = file.write_text("user,page,time\\nann,b,2\\nann,a,1\\nbob,c,1\\n")
    ...     walks = read_trajectories(file).walks
    >>> walks.labels(0)
    ['a', 'b']
    """
    file, bad_rows = check_file(path), BadRows()
    if file.suffix.lower() == ".npz":
        return Dataset(name=file.name, walks=Trajectories.load(file), source_path=file)
    lines = read_lines(file, bad_rows)
    head = next(((number, line) for number, line in lines if not line.startswith("#")), None)
    columns = None if head is None else parse_header(file, *head)
    if columns is not None:
        events = read_events(file, lines, columns, bad_rows)
        skipped = events.finish(lenient)
        return Dataset(name=file.name, walks=events.to_trajectories().add_skipped(skipped), source_path=file)
    rows = [(number, line) for number, line in chain([] if head is None else [head], lines) if not line.startswith("#")]
    separator = next((mark for mark in "\t;" if any(mark in line for _, line in rows)), ",")
    walks = []
    for number, line in rows:
        fields = split_fields(line, separator)
        walk = [field.strip() for field in fields or [] if field.strip()]
        if walk:
            walks.append(walk)
        else:
            reason, problem = _UNMATCHED if fields is None else ("no labels", "contains no labels")
            bad_rows.add(file, number, reason, problem)
    skipped = bad_rows.finish(lenient)
    if not walks:
        raise FileFormatError(f"{file}: contains no walks; write one list of labels per line.")
    return Dataset(name=file.name, walks=Trajectories.from_walks(walks).add_skipped(skipped), source_path=file)
