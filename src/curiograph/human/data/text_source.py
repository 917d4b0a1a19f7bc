"""Text files, plain or gzipped, and the standard input."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from curiograph.errors import FileFormatError, SettingError, quote_value
from curiograph.files import PathLike, check_file, check_text

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_CHUNK = 2**24  # bytes that are decoded at a time


class TextSource:
    """A text file or, for the path `-`, the standard input, which is kept in memory so that it can be opened again.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w+", suffix=".csv") as file:
    ...     _ = file.write("# a comment\\n\\na,b\\n")
    ...     file.flush()
    ...     list(TextSource(file.name).lines())
    [(3, 'a,b')]
    """

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
