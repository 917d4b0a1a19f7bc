"""Text files, plain or gzipped, and the standard input."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, check_file, check_text


class TextSource:
    """A text file or, for the path `-`, the standard input, which is kept in memory so that it can be opened again.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w+", suffix=".csv") as file:
    ...     _ = file.write("# a comment\\n\\na,b\\n")
    ...     file.flush()
    ...     list(TextSource(file.name).lines())
    [(3, 'a,b')]
    """

    def __init__(self, path: PathLike) -> None:
        is_stdin = str(path) == "-"
        self.name = "stdin" if is_stdin else str(path)
        """Name of the file for messages."""
        self._data: bytes = sys.stdin.buffer.read() if is_stdin else b""
        self._path = None if is_stdin else check_file(path)
        with self.open() as stream:
            head = stream.read(4096)
        check_text(Path(self.name), head)
        if not head or b"\0" in head:
            fault = "is a binary file, not text" if head else "contains no text; check that it is complete"
            raise FileFormatError(f"{self.name}: {fault}.")

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

    def lines(self, encoding: str = "utf-8-sig") -> Iterator[tuple[int, str]]:
        """Yield the numbers and texts of the lines that are not blank and do not start with `#`.

        Bytes that are not of the encoding become U+FFFD.
        """
        with self.open() as stream, io.TextIOWrapper(stream, encoding, errors="replace") as text:
            for number, line in enumerate(text, 1):
                if line.strip() and not line.startswith("#"):
                    yield number, line.removesuffix("\n")
