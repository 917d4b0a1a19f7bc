"""Lines of data files, plain or gzipped, and the account of the rows that cannot be used."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from curiograph.errors import FileFormatError
from curiograph.files import check_file, check_text

_BLOCK = 2**20
_SHOWN = 3
_MOST_UNPACKED = 2**24
_MOST_GROWTH = 50  # tables grow less than twentyfold; a bomb grows a thousandfold
_BOM = "\ufeff"


@dataclass(frozen=True)
class Skipped:
    """Rows that were left out.

    >>> Skipped(2, ("a.csv, line 3: has no item", "a.csv, line 9: has no user"))
    Skipped(count=2, first=('a.csv, line 3: has no item', 'a.csv, line 9: has no user'))
    """

    count: int = 0
    """How many."""
    first: tuple[str, ...] = ()
    """File, line and fault of the first few."""


class BadRows:
    """Counts the rows that cannot be used and remembers the first few.

    >>> bad = BadRows()
    >>> bad.add(Path("a.csv"), 3, "has no item")
    >>> bad.finish(lenient=False)
    Traceback (most recent call last):
    curiograph.errors.FileFormatError: 1 bad row: a.csv, line 3: has no item; mend it, or skip it with ...
    """

    def __init__(self) -> None:
        self._count = 0
        self._first: list[str] = []

    def add(self, path: Path, line: int, fault: str) -> None:
        """Count a row."""
        self._count += 1
        if self._count <= _SHOWN:
            self._first.append(f"{path}, line {line}: {fault}")

    def finish(self, lenient: bool) -> Skipped:
        """What was skipped; raises FileFormatError if there is anything and `lenient` is not set."""
        if self._count and not lenient:
            what = "1 bad row" if self._count == 1 else f"{self._count:,} bad rows"
            more = "; ..." if self._count > _SHOWN else ""
            them = "it" if self._count == 1 else "them"
            raise FileFormatError(
                f"{what}: {'; '.join(self._first)}{more}; mend {them}, or skip {them} with lenient=True (--lenient)."
            )
        return Skipped(self._count, tuple(self._first))


def read_lines(path: Path, bad: BadRows, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Numbers and texts of the lines that are not blank; a line in another encoding is a bad row.

    The file is read by the block, never whole, and unpacked on the way if gzip made it.
    """
    number = 0
    for block in _blocks(path):
        try:
            text, broken = block.decode(encoding), False
        except UnicodeDecodeError:
            text, broken = block.decode(encoding, "surrogateescape"), True
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        if number == 0:
            text = text.removeprefix(_BOM)
        for line in text.removesuffix("\n").split("\n"):
            number += 1
            if broken and not is_encodable(line):
                bad.add(path, number, f"is not {encoding.upper()}")
            elif line and not line.isspace():
                yield number, line


def is_encodable(text: str) -> bool:
    """Whether UTF-8 can hold a text: not with half a character in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file in pieces of whole lines."""
    check_file(path)
    with _opened(path) as stream:
        rest, empty, size = b"", True, 0
        most = max(_MOST_UNPACKED, _MOST_GROWTH * path.stat().st_size)
        while data := stream.read(_BLOCK):
            size += len(data)
            if size > most:
                raise FileFormatError(
                    f"{path}: unpacks to more than {_MOST_GROWTH} times its size, as no table does; unpack it first if "
                    "you trust it."
                )
            if empty:
                _check_head(path, data[:4096])
                empty = False
            end = data.rfind(b"\n") + 1
            if not end and len(rest) + len(data) > 2 * _BLOCK:
                raise FileFormatError(f"{path}: has a line longer than 1 MiB; a data file has one row a line.")
            if end:
                yield rest + data[:end]
                rest = b""
            rest += data[end:]
        if rest:
            yield rest
        if empty:
            raise FileFormatError(f"{path}: unpacks to nothing; check that it was written to the end.")


def _check_head(path: Path, head: bytes) -> None:
    check_text(path, head)
    if b"\0" in head:
        raise FileFormatError(f"{path}: holds a NUL byte; this looks like a binary file, not a table.")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The content of a file, unpacked; a packed file that ends too soon is refused."""
    try:
        with open(path, "rb") as packed:
            if packed.read(2) != b"\x1f\x8b":
                packed.seek(0)
                yield packed
                return
            packed.seek(0)
            with gzip.GzipFile(fileobj=packed) as stream:
                yield stream  # type: ignore[misc]
    except EOFError:
        raise FileFormatError(f"{path}: ends in the middle of its packed data; copy or download it again.") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileFormatError(f"{path}: its packed data is damaged ({error}); copy or download it again.") from None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror}).") from None
