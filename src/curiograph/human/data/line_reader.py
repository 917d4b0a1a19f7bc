"""Read the lines of data files, plain or gzipped, and collect the rows that cannot be used."""

from __future__ import annotations

import gzip
import math
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from curiograph.errors import CuriographError, FileFormatError
from curiograph.files import check_file, check_text
from curiograph.skipped import MAX_SHOWN, Skipped

STDIN = Path("-")
"""Path of the standard input."""
_STDIN_NAME = Path("stdin")
_BLOCK = 2**20  # bytes
_MIN_UNPACKED_LIMIT = 2**24  # bytes
_MAX_GROWTH = 50  # tables grow less than twentyfold when unpacked; a decompression bomb grows a thousandfold


def describe_path(path: Path) -> Path:
    """Return a path as messages show it: `stdin` for the standard input.

    >>> print(describe_path(STDIN), describe_path(Path("a.csv")))
    stdin a.csv
    """
    return _STDIN_NAME if path == STDIN else path


class BadRows:
    """Count the rows that cannot be used by reason, and describe the first few."""

    def __init__(self) -> None:
        self._reasons: Counter[str] = Counter()
        self._first: list[str] = []

    def add(self, path: Path | None, line: int, reason: str, problem: str) -> None:
        """Count a row by its reason, and keep its problem if it is one of the first three; a frame has no path."""
        self._reasons[reason] += 1
        if len(self._first) < MAX_SHOWN:
            place = f"row {line}" if path is None else f"{describe_path(path)}, line {line}"
            self._first.append(f"{place}: {problem}")

    def finish(self, lenient: bool, error: type[CuriographError] = FileFormatError) -> Skipped:
        """Return the skipped rows, or raise an error if there are any and `lenient` is not set."""
        total = self._reasons.total()
        if total and not lenient:
            count, pronoun = ("1 bad row", "it") if total == 1 else (f"{total:,} bad rows", "them")
            more = "; ..." if total > MAX_SHOWN else ""
            raise error(
                f"{count}: {'; '.join(self._first)}{more}; fix {pronoun}, or skip {pronoun} with lenient=True "
                "(--lenient)."
            )
        return Skipped(count=total, first=tuple(self._first), reasons=dict(self._reasons))


def read_lines(path: Path, bad_rows: BadRows, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of the lines that are not blank; a line in another encoding is a bad row.

    The file is read in blocks, never as a whole, and unpacked on the way if it is gzipped.
    """
    number = 0
    for block in _read_blocks(path):
        try:
            text, broken = block.decode(encoding), False
        except UnicodeDecodeError:
            text, broken = block.decode(encoding, "surrogateescape"), True
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        if number == 0:
            text = text.removeprefix("\ufeff")
        for line in text.removesuffix("\n").split("\n"):
            number += 1
            if broken and not is_encodable(line):
                bad_rows.add(path, number, "wrong encoding", f"is not {encoding.upper()}")
            elif line and not line.isspace():
                yield number, line


def is_encodable(text: str) -> bool:
    """Return whether UTF-8 can encode a text; it cannot encode lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def _open_stream(path: Path) -> Iterator[tuple[IO[bytes], float]]:
    """Open a file or the standard input; yield the stream and the maximum number of bytes to read."""
    if path == STDIN:
        yield sys.stdin.buffer, math.inf
        return
    limit = max(_MIN_UNPACKED_LIMIT, _MAX_GROWTH * check_file(path).stat().st_size)
    with open(path, "rb") as packed:
        is_gzipped = packed.read(2) == b"\x1f\x8b"
        packed.seek(0)
        yield gzip.GzipFile(fileobj=packed) if is_gzipped else packed, limit  # type: ignore[misc]


def _read_blocks(path: Path) -> Iterator[bytes]:
    """Yield the unpacked bytes of a plain or gzipped file, or of the standard input, in blocks of whole lines."""
    rest, size = b"", 0
    source, path = path, describe_path(path)
    try:
        with _open_stream(source) as (stream, limit):
            while data := stream.read(_BLOCK):
                if size == 0:
                    check_text(path, data[:4096])
                    if b"\0" in data[:4096]:
                        raise FileFormatError(
                            f"{path}: contains a NUL byte; this looks like a binary file, not a table."
                        )
                size += len(data)
                if size > limit:
                    raise FileFormatError(
                        f"{path}: unpacks to more than {_MAX_GROWTH} times its size, which no table does; unpack it "
                        "first if you trust it."
                    )
                end = data.rfind(b"\n") + 1
                if not end and len(rest) + len(data) > 2 * _BLOCK:
                    raise FileFormatError(f"{path}: has a line longer than 1 MiB; a data file has one row per line.")
                if end:
                    yield rest + data[:end]
                    rest = b""
                rest += data[end:]
    except EOFError:
        raise FileFormatError(f"{path}: its gzip data is truncated; copy or download it again.") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileFormatError(f"{path}: its gzip data is damaged ({error}); copy or download it again.") from None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror}).") from None
    if rest:
        yield rest
    if size == 0 and source == STDIN:
        raise FileFormatError(f"{path}: is empty; check the command that writes to it.")
    if size == 0:
        raise FileFormatError(f"{path}: unpacks to nothing; check that it is complete.")
