"""Journal of a job: one checksummed file per finished task."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from curiograph.errors import GraphError
from curiograph.files import open_atomic
from curiograph.hashing import hash_chunks
from curiograph.parallel.serialization import Result, pack_result, unpack_result

_FORMAT = b"curiograph task 1 "
_CHECKSUM_DIGITS = 64


class Journal:
    """The finished tasks of one job, in a folder named after the job and its key.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder), "squares", {"upto": 3}, num_tasks=3)
    ...     journal.write(2, {"square": 4})
    ...     journal.read(2), journal.read(0)
    ({'square': 4}, None)
    """

    def __init__(self, run_folder: Path, name: str, key: Mapping[str, Any], num_tasks: int) -> None:
        version = sys.modules["curiograph"].__version__  # other versions may give other results
        facts = {"job": name, "about": key, "tasks": num_tasks, "curiograph": version}
        self._key = hash_chunks([json.dumps(facts, sort_keys=True)])
        self.folder = run_folder / f"{name}-{self._key[:12]}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GraphError(f"cannot keep finished tasks in {self.folder}: {error.strerror}.") from None
        for part in self.folder.glob(".*.part"):  # unfinished files of a killed process
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
            raise GraphError(f"{error} Finished tasks are kept: fix this and rerun the command.") from None

    def read(self, index: int) -> dict[str, Any] | None:
        """Return the result of a task, or None if there is none; warn and return None if the file is corrupt."""
        path = self._path(index)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except (OSError, MemoryError) as error:
            warnings.warn(f"{path}: cannot be read ({error}); the task is computed again.", stacklevel=2)
            return None
        start = len(_FORMAT) + _CHECKSUM_DIGITS + 1
        body = data[start:]
        try:
            if data[:start] == _FORMAT + self._checksum(index, body) + b"\n":
                return unpack_result(body)
        except Exception:  # safetensors and json raise many kinds of errors for bytes that match the checksum
            pass
        warnings.warn(f"{path}: is damaged; the task is computed again.", stacklevel=2)
        return None

    def list_kept(self) -> list[int]:
        """Return the indices of the tasks that have a file."""
        return [int(path.stem) for path in self.folder.glob("*.task") if path.stem.isdecimal()]

    def _path(self, index: int) -> Path:
        return self.folder / f"{index:06d}.task"

    def _checksum(self, index: int, data: bytes) -> bytes:
        """Return the checksum of the content, the job and the index, so that a misplaced file counts as damaged."""
        return hash_chunks([f"{self._key} {index} ", data]).encode()
