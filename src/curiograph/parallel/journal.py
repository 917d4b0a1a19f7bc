"""Journal of a job: one checksummed file per finished task, in a folder that only one job uses at a time."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from safetensors.numpy import load

from curiograph.errors import SettingError
from curiograph.files import hash_chunks, open_atomic
from curiograph.tensors import pack_tensors

_PLAIN = "plain values"
_CHECKSUM_DIGITS = 64
_PATIENCE = 3.0  # seconds in which the workers of a killed job notice that it has ended


class Journal(ExitStack):
    """The finished tasks of one job, in a folder named after the job and its key; `run` is locked until the exit.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Journal(Path(folder), "squares", "upto 3") as journal:
    ...     journal.write(2, {"square": 4, "roots": np.array([-2, 2])})
    ...     journal.read(2), journal.read(0)
    ({'square': 4, 'roots': array([-2,  2])}, None)
    """

    def __init__(self, run: Path, name: str, key: str) -> None:
        super().__init__()
        version = sys.modules["curiograph"].__version__  # other versions may give other results
        self._key = hash_chunks([f"{name} {key} {version}"])
        self.folder = run / f"{name}-{self._key[:12]}"
        try:
            run.mkdir(parents=True, exist_ok=True)
            lock = FileLock(os.path.realpath(run / "lock"), is_singleton=True)  # its thread may lock it again
            self.enter_context(lock.acquire(timeout=_PATIENCE))
            self.folder.mkdir(exist_ok=True)
        except Timeout:
            raise SettingError(f"{run}: another process works there; wait for it to end, or choose another.") from None
        except OSError as error:
            raise SettingError(f"cannot work in {run}: {error.strerror}; choose another folder.") from None
        for part in self.folder.glob(".*.part"):  # unfinished files of a killed process
            part.unlink(missing_ok=True)

    def write(self, index: int, result: Mapping[str, Any]) -> None:
        """Keep the result of a task."""
        arrays = {name: value for name, value in result.items() if isinstance(value, np.ndarray)}
        plain = {name: value for name, value in result.items() if name not in arrays}
        data = pack_tensors({**arrays, _PLAIN: np.frombuffer(json.dumps(plain).encode(), np.uint8)})
        with open_atomic(self._path(index)) as stream:
            stream.write(self._checksum(index, data) + data)

    def read(self, index: int) -> dict[str, Any] | None:
        """Return the result of a task, or None if there is none; warn and return None if the file is damaged."""
        path = self._path(index)
        if not path.exists():
            return None
        data = path.read_bytes()
        body = data[_CHECKSUM_DIGITS:]
        if data[:_CHECKSUM_DIGITS] != self._checksum(index, body):
            warnings.warn(f"{path}: is damaged; the task is computed again.", stacklevel=2)
            return None
        arrays = load(body)
        plain: dict[str, Any] = json.loads(arrays.pop(_PLAIN).tobytes())
        return plain | arrays

    def _path(self, index: int) -> Path:
        return self.folder / f"{index:06d}.task"

    def _checksum(self, index: int, data: bytes) -> bytes:
        """Return the checksum of the content, the job and the index, so that a misplaced file counts as damaged."""
        return hash_chunks([f"{self._key} {index} ", data]).encode()
