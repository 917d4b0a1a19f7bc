"""Text files, plain or gzipped, and the standard input; texts about nodes; and warnings of what was dropped."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import sys
import warnings
import zlib
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from curiograph.errors import FileFormatError, SettingError, quote_value
from curiograph.files import PathLike, check_file, check_text
from curiograph.graph.graph import Graph
from curiograph.graph.labels import LabelReader
from curiograph.results import Problem, Skipped

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_CHUNK = 2**24  # bytes that are decoded at a time
_MANY = 0.05  # share of dropped rows above which there is a warning
_FIXES = {
    "bad time": "write times as 2026-05-31 14:30 or as numbers, or give time=, dayfirst= or decimal=",
    "bad encoding": "give encoding=, such as utf-8, utf-16 or cp1252",
    "duplicate": "rows with the same user, item and time count once, so give more precise times if they are visits",
}
_NODE_TITLES = ("node", "label", "item", "page", "article", "title", "name", "id")


class TextSource:
    """A text file or, for the path `-`, the standard input, which is kept in memory so that it can be opened again."""

    def __init__(self, path: PathLike, encoding: str | None = None) -> None:
        is_stdin = str(path) == "-"
        self.name = "stdin" if is_stdin else str(path)
        """Name of the file for messages."""
        self._data: bytes = sys.stdin.buffer.read() if is_stdin else b""
        self._path = None if is_stdin else check_file(path)
        try:
            known = None if encoding is None else codecs.lookup(encoding).name
        except (LookupError, TypeError):
            fix = "give one such as utf-8, utf-16 or cp1252"
            raise SettingError(f"encoding is {quote_value(encoding)}; {fix}.") from None
        with self.open() as stream:
            head = stream.read(4096)
        marked = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
        if known is None and marked is None:
            check_text(Path(self.name), head)
            if not head or b"\0" in head:
                fault = "is a binary file, not text; give encoding= if it is UTF-16" if head else "contains no text"
                raise FileFormatError(f"{self.name}: {fault}.")
        self.encoding: str = ("utf-8-sig" if known == "utf-8" else known) or marked or self._guess_encoding()
        """Encoding: as given, of the byte order mark, or UTF-8 unless that is clearly wrong."""

    def _guess_encoding(self) -> str:
        """Return UTF-8, or with a warning cp1252 if most of the letters beyond ASCII are not UTF-8."""
        wrong = others = 0
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        with self.open() as stream:
            while data := stream.read(_CHUNK):
                text = decoder.decode(data)
                wrong += text.count("\ufffd")
                others += len(text) - len(text.encode("ascii", "ignore"))
        if 2 * wrong <= others:
            return "utf-8-sig"
        warnings.warn(
            f"{self.name}: is not UTF-8 and is read as cp1252 (Western European); if letters such as ä are wrong, give "
            "encoding=.",
            stacklevel=4,
        )
        return "cp1252"

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the unpacked bytes."""
        try:
            with io.BytesIO(self._data) if self._path is None else open(self._path, "rb") as packed:
                is_gzipped = packed.read(2) == b"\x1f\x8b"
                packed.seek(0)
                yield gzip.GzipFile(fileobj=packed) if is_gzipped else packed  # type: ignore[misc]
        except (EOFError, zlib.error, OSError) as error:
            raise FileFormatError(f"{self.name}: cannot be read ({error}); copy or download it again.") from None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the numbers and texts of the lines that are not blank and do not start with `#`.

        Bytes that are not of the encoding become U+FFFD.
        """
        with self.open() as stream, io.TextIOWrapper(stream, self.encoding, errors="replace") as text:
            for number, line in enumerate(text, 1):
                if line.strip() and not line.startswith("#"):
                    yield number, line.removesuffix("\n")


def warn_skipped(skipped: Skipped, total: int, where: str) -> None:
    """Warn if many of the rows of a table were dropped; raise FileFormatError if none is left."""
    if not total:
        raise FileFormatError(f"{where}: contains no rows; check that it is complete.")
    if skipped.count <= _MANY * total:
        return
    main = max(skipped.reasons, key=lambda reason: skipped.reasons[reason])
    fix = _FIXES.get(main, "correct these rows, or check which columns are read")
    found = f"rows were left out: {skipped}; the first: {'; '.join(skipped.first)}; {fix}."
    if skipped.count == total:
        raise FileFormatError(f"{where}: all {total:,} {found}")
    warnings.warn(f"{where}: {skipped.count:,} of {total:,} {found}", stacklevel=4)


def read_texts(path: PathLike, graph: Graph) -> dict[Hashable, str]:
    """Read texts about the nodes of a graph from a file with a node and its text in each line, plain or gzipped.

    Node and text are separated by the first tab or, in a file whose first row has no tab, by a comma. Texts of a node
    in several lines are joined. Lines that start with `#` and a header are skipped. Rows without a text and rows of
    unknown nodes are dropped; if they are more than 5 %, there is a warning. `Similarity.from_texts` takes it.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w+", suffix=".tsv") as file:
    ...     _ = file.write("node\\ttext\\na\\tred apple\\nb%20c\\tpear\\na\\tfruit\\n")
    ...     file.flush()
    ...     read_texts(file.name, Graph.from_edges([("a", "b c")]))
    {'a': 'red apple fruit', 'b c': 'pear'}
    """
    source, reader = TextSource(path), LabelReader(graph)
    texts: dict[Hashable, str] = {}
    problems: list[Problem] = []
    has_tabs = False
    for row, (number, line) in enumerate(source.lines()):
        has_tabs = "\t" in line if row == 0 else has_tabs
        fields = line.split("\t", 1) if has_tabs else next(csv.reader([line], skipinitialspace=True))
        node, *others = [field.strip() for field in fields]
        text = " ".join(other for other in others if other)
        position = reader.find(node)
        position = reader.find(unquote(node)) if position is None else position
        if position is not None and text:
            label = graph.label(position)
            texts[label] = f"{texts[label]} {text}" if label in texts else text
        elif row > 0 or not others or node.lower() not in _NODE_TITLES:  # else a header
            reason = "unknown node" if position is None else "no text"
            problems.append((reason, f"{source.name}, line {number}: {reason} {quote_value(node)}"))
    warn_skipped(Skipped.count_problems(problems), len(problems) + len(texts), source.name)
    return texts
