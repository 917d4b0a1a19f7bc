"""A file of prompts and answers, one JSON object per line, to which every answer is appended as soon as it is known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from filelock import FileLock

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, as_path
from curiograph.results import JsonLabel, encode_label

_HEAD = b'{"key": "'  # of a row that was cut off by the end of its process


class AnswerFile:
    """Answers by the key of their prompt, in a file or, without a path, in memory.

    >>> answers = AnswerFile(None)
    >>> answers.append({"key": "p1", "answer": None})
    >>> answers.append({"key": "p1", "answer": "a"})
    >>> answers.by_key
    {'p1': ['a']}
    """

    def __init__(self, path: PathLike | None) -> None:
        self.path = None if path is None else as_path(path).absolute()
        self.by_key: dict[str, list[JsonLabel]] = {}
        """Answers to each prompt in order; an empty list if it waits for one."""
        self._state: tuple[int, int] | None = None  # size and time of the file when it was last read or written
        self._cut, self._gap = 0, b""  # bytes of a last row that was cut off; the missing end of a complete one
        with self._name_faults():
            self._read()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Wait until no other process, such as a worker of `evaluate`, asks; read what it wrote."""
        if self.path is None:
            yield
        else:
            with self._name_faults(), FileLock(f"{self.path}.lock"):
                self._read()
                yield

    def append(self, row: Mapping[str, Any]) -> None:
        """Keep a row; one with the answer None waits for it."""
        self.by_key.setdefault(row["key"], []).extend([] if row["answer"] is None else [row["answer"]])
        if self.path is not None:
            line = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
            with open(self.path, "ab") as stream:
                stream.truncate(stream.tell() - self._cut)
                stream.write(self._gap + line)
            self._state, self._cut, self._gap = self._get_state(), 0, b""

    def _read(self) -> None:
        state = self._get_state()
        if self.path is None or state == self._state:
            return
        lines = self.path.read_bytes().splitlines(keepends=True) if state else []
        is_ended = not lines or lines[-1].endswith(b"\n")
        by_key: dict[str, list[JsonLabel]] = {}
        cut = 0
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                answers, answer = by_key.setdefault(str(row["key"]), []), row.get("answer")
                if answer is not None and answer == answer:  # not NaN, which pandas has for null
                    answers.append(encode_label(answer))
            except (ValueError, TypeError, KeyError):
                if number < len(lines) or is_ended or not line.startswith(_HEAD[: len(line)]):
                    fix = 'a row is a JSON object with the "key" of a prompt and its "answer"'
                    raise FileFormatError(f"{self.path}, line {number}: is no row of prompts; {fix}.") from None
                cut = len(line)
        self.by_key, self._state, self._cut, self._gap = by_key, state, cut, b"" if is_ended or cut else b"\n"

    def _get_state(self) -> tuple[int, int] | None:
        if self.path is None or not self.path.exists():
            return None
        status = self.path.stat()
        return status.st_size, status.st_mtime_ns

    @contextmanager
    def _name_faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            fault = f"cannot be read and written ({error.strerror or error})"
            raise FileFormatError(f"{self.path}: {fault}; choose another file.") from None
