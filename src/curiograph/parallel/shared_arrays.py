"""What all tasks of a job share, sent once: its arrays lie in one file that every process maps into its memory.

Arrays that are mapped already, as those of a graph opened from an .npz, are not copied: every process maps their file.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import secrets
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from curiograph.errors import GraphError, SettingError
from curiograph.messages import shorten_text

_ALIGNMENT = 64
_KEPT = 2  # things that a worker holds at a time

_opened: OrderedDict[str, Any] = OrderedDict()


def get_cached(token: str, make: Callable[[], Any]) -> Any:
    """What stands for a token in this process: made once, and let go of when newer things have come."""
    if token not in _opened:
        _opened[token] = make()
        while len(_opened) > _KEPT:
            _opened.popitem(last=False)
    _opened.move_to_end(token)
    return _opened[token]


class SharingError(SettingError):
    """Something that cannot be sent to another process."""


@dataclass(frozen=True)
class Shared:
    """A way to something that the driver holds. It travels with every task: a few hundred bytes, whatever it leads to.

    The file belongs to the driver's process alone, and nobody but its user can open it.
    """

    token: str
    """Tells it from everything else that was ever shared."""
    path: str
    """Of the file with everything."""
    bounds: tuple[tuple[int, int], ...]
    """Where each array begins in the file, and ends; then the same of all that is no array."""

    def value(self) -> Any:
        """What is shared; made once in every process."""
        return get_cached(self.token, self._made)

    def _made(self) -> Any:
        *arrays, head = self._parts()
        return pickle.loads(head, buffers=arrays)

    def _parts(self) -> list[memoryview]:
        with open(self.path, "rb") as stream:
            whole = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        return [whole[begin:end] for begin, end in self.bounds]


@contextmanager
def share(value: Any) -> Iterator[Shared]:
    """Share something for as long as the block lasts; raises SharingError for what stays in its process."""
    buffers: list[pickle.PickleBuffer] = []
    head = io.BytesIO()
    try:
        _pickler(head, buffers).dump(value)
    except Exception as error:  # whatever keeps an object from being sent: a lock, an open file, its own refusal
        raise SharingError(describe_sharing_error(error)) from None
    with ExitStack() as stack:
        try:
            path, stream = stack.enter_context(_file())
            bounds = _written(stream, [*(buffer.raw() for buffer in buffers), head.getbuffer()])
        except OSError as error:
            raise SharingError(
                f"cannot share the graph with workers through {tempfile.gettempdir()}: {error.strerror}; set TMPDIR to "
                "a larger disk, or use workers=1."
            ) from None
        yield Shared(secrets.token_hex(8), path, bounds)


def describe_sharing_error(error: Exception) -> str:
    """What to say where something cannot be sent to another process."""
    reason = f"{type(error).__name__}: {shorten_text(error, 160)}"
    return f"this job cannot be given to other processes ({reason}); use workers=1 with engine='local'."


@contextmanager
def _file() -> Iterator[tuple[str, IO[bytes]]]:
    """A file and the path by which other processes open it.

    Where the system has such paths, it is one without a name: however this process ends, nothing is left of it.
    """
    if Path("/proc/self/fd").is_dir():
        with tempfile.TemporaryFile(buffering=0) as nameless:
            yield f"/proc/{os.getpid()}/fd/{nameless.fileno()}", nameless
        return
    with tempfile.NamedTemporaryFile(prefix="curiograph-", buffering=0) as named:
        yield named.name, named


def _written(stream: IO[bytes], parts: list[memoryview]) -> tuple[tuple[int, int], ...]:
    """Where each part begins in the file, and ends."""
    bounds, end = [], 0
    for part in parts:
        begin = -(-end // _ALIGNMENT) * _ALIGNMENT
        stream.seek(begin)
        while part:
            part = part[stream.write(part) :]  # at most 2 GiB at a time
        end = stream.tell()
        bounds.append((begin, end))
    return tuple(bounds)


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
    if owner.mode != "r" or array.size == 0:  # a copy in memory may differ from the file
        return None
    while isinstance(owner.base, np.memmap):  # offsets are told from the outermost map
        owner = owner.base
    offset = array.ctypes.data - owner.ctypes.data + owner.offset
    try:
        identity = _identity(owner.filename)
    except OSError:  # deleted since
        return None
    if identity[1] != _number_of_file_at(array.ctypes.data):  # another file has taken its name
        return None
    return str(owner.filename), identity, offset, array.dtype.str, array.shape


def _number_of_file_at(address: int) -> int | None:
    """The inode of the file that is mapped at an address; None where the system does not say."""
    try:
        with open("/proc/self/maps") as lines:
            for line in lines:
                span, _, _, _, number, *_ = line.split()
                begin, end = (int(bound, 16) for bound in span.split("-"))
                if begin <= address < end:
                    return int(number)
    except OSError:
        pass
    return None


def _identity(path: Any) -> tuple[int, ...]:
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _mapped(path: str, identity: tuple[int, ...], offset: int, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    if _identity(path) != identity:
        raise GraphError(f"{path}: has changed since it was opened; open it again.")
    return np.memmap(path, dtype, "r", offset, shape).view(np.ndarray)
