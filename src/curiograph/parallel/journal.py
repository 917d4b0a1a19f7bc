"""The journal of a job: a file for each finished task, written whole, checked when it is read."""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from curiograph.errors import GraphError
from curiograph.files import open_atomic
from curiograph.parallel.serialization import Result, pack_result, unpack_result

_FORMAT = b"curiograph task 1 "
_DIGITS = 64  # of a checksum


def _version() -> str:
    """Of curiograph: another may give other results."""
    return str(sys.modules["curiograph"].__version__)  # whose module imports all layers, this one too


class Journal:
    """The finished tasks of one job in a folder of its own; jobs with other inputs have other folders.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder), "squares", {"upto": 3}, tasks=3)
    ...     journal.write(2, {"square": 4})
    ...     journal.read(2), journal.read(0)
    ({'square': 4}, None)
    """

    def __init__(self, run: Path, name: str, about: Mapping[str, Any], tasks: int) -> None:
        facts = {"job": name, "about": about, "tasks": tasks, "curiograph": _version()}
        self._key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        self.folder = run / f"{name}-{self._key[:12]}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GraphError(f"cannot keep finished tasks in {self.folder}: {error.strerror}.") from None
        for part in self.folder.glob(".*.part"):  # what a killed process was writing
            part.unlink(missing_ok=True)
        if not (self.folder / "job.json").is_file():
            with open_atomic(self.folder / "job.json") as stream:
                stream.write(json.dumps(facts, indent=1).encode())

    def write(self, index: int, result: Result) -> None:
        """Keep the result of a task."""
        data = pack_result(result)
        try:
            with open_atomic(self._path(index)) as stream:
                stream.write(_FORMAT + self._checksum(index, data) + b"\n" + data)
        except GraphError as error:
            raise GraphError(f"{error} What was finished before is kept: mend this and run the same again.") from None

    def read(self, index: int) -> dict[str, Any] | None:
        """The result of a task; None where there is none. A damaged one is said, and as good as none."""
        path = self._path(index)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except (OSError, MemoryError) as error:
            warnings.warn(f"{path}: cannot be read ({error}); the task is computed again.", stacklevel=2)
            return None
        begin = len(_FORMAT) + _DIGITS + 1
        body = data[begin:]
        try:
            if data[:begin] == _FORMAT + self._checksum(index, body) + b"\n":
                return unpack_result(body)
        except Exception:  # whatever the libraries say of bytes that nobody wrote by accident
            pass
        warnings.warn(f"{path}: is damaged; the task is computed again.", stacklevel=2)
        return None

    def kept(self) -> list[int]:
        """Numbers of the tasks that it holds."""
        return [int(path.stem) for path in self.folder.glob("*.task") if path.stem.isdecimal()]

    def _path(self, index: int) -> Path:
        return self.folder / f"{index:06d}.task"

    def _checksum(self, index: int, data: bytes) -> bytes:
        """Of the content and its place: an entry of another job or task is damage, too."""
        return hashlib.sha256(f"{self._key} {index} ".encode() + data).hexdigest().encode()
