"""A file of prompts and answers, one JSON object per line, to which every answer is appended as soon as it is known."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from curiograph.errors import FileFormatError, quote_value
from curiograph.files import PathLike, as_path, check_text
from curiograph.graph.labels import as_plain
from curiograph.validation import is_number

_HEAD = b'{"key": "'  # of a row that was cut off by the end of its process


def encode_label(label: Any) -> str | int | float:
    """Return a label or an answer as a JSON value: text and finite numbers unchanged, anything else as text.

    >>> encode_label("a"), encode_label(3), encode_label((0, 1))
    ('a', 3, '(0, 1)')
    """
    label = as_plain(label)
    is_plain = isinstance(label, str) or (is_number(label) and math.isfinite(label))
    return label if is_plain else str(label)


class AnswerFile:
    """Answers by the key of their prompt: in a file that several processes may use, or without a path in memory.

    A row holds a `key` and an `answer`, which is null while the prompt waits for one; its other fields describe the
    prompt and are not read. Rows of one key may be several answers, in order.

    >>> answers = AnswerFile(None)
    >>> answers.append({"key": "p1", "answer": "a"})
    >>> answers.by_key
    {'p1': ['a']}
    """

    def __init__(self, path: PathLike | None) -> None:
        self.path: Path | None = None if path is None else as_path(path).absolute()
        self.by_key: dict[str, list[Hashable]] = {}
        """Answers to each prompt, the first one first."""
        self.waiting: set[str] = set()
        """Keys of the prompts in the file that have no answer."""
        self._state: tuple[int, int] | None = None  # size and time of the file when it was last read or written
        self._size = 0  # bytes up to the end of the last complete row
        self.read()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Wait until no other process asks for answers, and read those that it wrote."""
        if self.path is None:
            yield
            return
        with self._name_faults():
            lock = FileLock(f"{self.path}.lock")
            lock.acquire()
        try:
            self.read()
            yield
        finally:
            lock.release()

    def read(self) -> None:
        """Read the file if it has changed; a last row that was cut off is left out."""
        if self.path is None or not self.path.exists():
            self._size = 0
            return
        with self._name_faults():
            status = self.path.stat()
            if self._state == (status.st_size, status.st_mtime_ns):
                return
            lines = self.path.read_bytes().splitlines(keepends=True)
        if lines:
            check_text(self.path, lines[0])
        by_key: dict[str, list[Hashable]] = {}
        waiting, size = set(), 0
        for number, line in enumerate(lines, 1):
            is_cut = number == len(lines) and not line.endswith(b"\n") and line.startswith(_HEAD[: len(line)])
            try:
                row = json.loads(line) if line.strip() else None
                key, answer = (None, None) if row is None else (row["key"], row.get("answer"))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                if is_cut:
                    break
                fix = 'a row is a JSON object with the "key" of a prompt and its "answer"'
                raise FileFormatError(f"{self.path}, line {number}: is no row of prompts and answers; {fix}.") from None
            size += len(line)
            if key is None:
                continue
            if answer is None or answer != answer:  # NaN, as pandas writes it
                waiting.add(str(key))
            else:
                by_key.setdefault(str(key), []).append(encode_label(answer))
        self.by_key, self.waiting, self._size = by_key, waiting - by_key.keys(), size
        self._state = status.st_size, status.st_mtime_ns

    def append(self, row: Mapping[str, Any]) -> None:
        """Keep a row; one with the answer None waits for it."""
        self.read()  # someone may have written answers meanwhile
        if row["answer"] is None:
            self.waiting.add(row["key"])
        else:
            self.by_key.setdefault(row["key"], []).append(row["answer"])
        if self.path is None:
            return
        line = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        with self._name_faults(), open(self.path, "a+b") as stream:
            stream.truncate(self._size)  # removes a row that was cut off
            stream.seek(max(self._size - 1, 0))
            if stream.read(1) not in (b"\n", b""):  # the last row has no end of line
                line = b"\n" + line
            stream.write(line)
            stream.flush()
            status = os.fstat(stream.fileno())
            self._state, self._size = (status.st_size, status.st_mtime_ns), status.st_size

    @contextmanager
    def _name_faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            fault = f"cannot be read and written ({error.strerror or error})"
            raise FileFormatError(f"{quote_value(str(self.path))}: {fault}; choose another file.") from None
