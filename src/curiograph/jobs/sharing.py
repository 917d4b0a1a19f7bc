"""What all tasks of a job share, sent once: its arrays lie in one file that every process maps into its memory.

Arrays that are mapped already, as those of a graph opened from an .npz, are not copied: every process maps their file.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.errors import GraphError

_ALIGNMENT = 64
_KEPT = 2  # things that a worker holds at a time

_opened: OrderedDict[str, Any] = OrderedDict()


@dataclass(frozen=True)
class Shared:
    """A way to something that the driver holds. It travels with every task: a few hundred bytes, not the arrays.

    Its bytes come from the driver's own process through a pipe, never from a file.
    """

    token: str
    """The path of the file with the arrays."""
    head: bytes
    bounds: tuple[tuple[int, int], ...]
    """Where each array begins in the file, and ends."""

    def value(self) -> Any:
        """What is shared; made once in every process."""
        if self.token not in _opened:
            _opened[self.token] = pickle.loads(self.head, buffers=self._arrays())
            while len(_opened) > _KEPT:
                _opened.popitem(last=False)
        _opened.move_to_end(self.token)
        return _opened[self.token]

    def _arrays(self) -> list[memoryview]:
        if not self.bounds:
            return []
        with open(self.token, "rb") as stream:
            whole = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        return [whole[begin:end] for begin, end in self.bounds]


@contextmanager
def shared(value: Any) -> Iterator[Shared]:
    """Share something for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="curiograph-") as folder:
        path = Path(folder) / "arrays"
        buffers: list[pickle.PickleBuffer] = []
        head = io.BytesIO()
        _pickler(head, buffers).dump(value)
        bounds: list[tuple[int, int]] = []
        try:
            with open(path, "wb") as stream:
                for buffer in buffers:
                    stream.write(bytes(-stream.tell() % _ALIGNMENT))
                    begin = stream.tell()
                    stream.write(buffer.raw())
                    bounds.append((begin, stream.tell()))
                stream.write(b"\0")  # an empty file cannot be mapped
        except OSError as error:
            raise GraphError(
                f"cannot share the graph with workers through {folder}: {error.strerror}; set TMPDIR to a larger disk."
            ) from None
        yield Shared(str(path), head.getvalue(), tuple(bounds))


def _pickler(stream: io.BytesIO, buffers: list[pickle.PickleBuffer]) -> Any:
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """Sends classes and functions of a user's script, and where mapped arrays lie instead of their content."""

        def reducer_override(self, item: Any) -> Any:
            place = _place(item) if isinstance(item, np.ndarray) else None
            return super().reducer_override(item) if place is None else (_mapped, place)

    return Pickler(stream, protocol=5, buffer_callback=buffers.append)


def _place(array: NDArray[Any]) -> tuple[Any, ...] | None:
    """Where the bytes of a mapped array lie: file, its identity, offset, type and shape; None for any other."""
    owner: Any = array
    while owner is not None and not isinstance(owner, np.memmap):
        owner = getattr(owner, "base", None)
    if owner is None or owner.filename is None or not array.flags.c_contiguous or array.dtype.hasobject:
        return None
    while isinstance(owner.base, np.memmap):  # offsets are told from the outermost map
        owner = owner.base
    offset = array.ctypes.data - owner.ctypes.data + owner.offset
    try:
        return str(owner.filename), _identity(owner.filename), offset, array.dtype.str, array.shape
    except OSError:  # deleted since
        return None


def _identity(path: Any) -> tuple[int, ...]:
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _mapped(path: str, identity: tuple[int, ...], offset: int, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    if _identity(path) != identity:
        raise GraphError(f"{path}: has changed since it was opened; open it again.")
    return np.memmap(path, dtype, "r", offset, shape).view(np.ndarray)
