"""Values shared by all tasks of a job: their arrays are written to one file that every process memory-maps.

Arrays that are memory-mapped already, as those of a graph opened from .npz, are not copied: every process maps their
file, even after it was replaced or deleted.
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
_CACHE_SIZE = 2  # shared values that a worker keeps

_cache: OrderedDict[str, Any] = OrderedDict()


def get_cached(token: str, make: Callable[[], Any]) -> Any:
    """Return the value of a token, made once per process and dropped when newer values have been loaded."""
    if token not in _cache:
        _cache[token] = make()
        while len(_cache) > _CACHE_SIZE:
            _cache.popitem(last=False)
    _cache.move_to_end(token)
    return _cache[token]


class SharingError(SettingError):
    """A value that cannot be sent to another process."""


@dataclass(frozen=True)
class Shared:
    """Handle of a shared value: a few hundred bytes that are sent with every task.

    The file belongs to the driver process and is readable by its user only.
    """

    token: str
    """Unique identifier of the value."""
    path: str
    """Path of the file."""
    bounds: tuple[tuple[int, int], ...]
    """Start and end of each array in the file, then of the pickled rest."""

    def load(self) -> Any:
        """Return the shared value, loaded once per process."""
        return get_cached(self.token, self.map_file)

    def map_file(self) -> Any:
        """Load the shared value."""
        with open(self.path, "rb") as stream:
            whole = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        *arrays, head = (whole[start:end] for start, end in self.bounds)
        return pickle.loads(head, buffers=arrays)


@contextmanager
def share(value: Any) -> Iterator[Shared]:
    """Share a value with other processes while the block runs; raise SharingError if it cannot be pickled."""
    buffers: list[pickle.PickleBuffer] = []
    head = io.BytesIO()
    with ExitStack() as stack:
        try:
            _make_pickler(head, buffers, stack).dump(value)
        except Exception as error:  # locks, open files and objects that refuse it raise various errors
            raise SharingError(describe_sharing_error(error)) from None
        try:
            path, stream = stack.enter_context(_open_shared_file())
            bounds = _write_parts(stream, [*(buffer.raw() for buffer in buffers), head.getbuffer()])
        except OSError as error:
            raise SharingError(
                f"cannot share the graph with workers through {tempfile.gettempdir()}: {error.strerror}; set TMPDIR to "
                "a larger disk, or use workers=1."
            ) from None
        yield Shared(secrets.token_hex(8), path, bounds)


def measure_shared(value: Any) -> int:
    """Return the bytes of the arrays in a value, without copying them.

    >>> measure_shared([np.zeros(3), "text"])
    24
    """
    buffers: list[pickle.PickleBuffer] = []
    with ExitStack() as stack:
        _make_pickler(io.BytesIO(), buffers, stack).dump(value)
    return sum(buffer.raw().nbytes for buffer in buffers)


def describe_sharing_error(error: Exception) -> str:
    """Return the message for a value that cannot be sent to another process."""
    reason = f"{type(error).__name__}: {shorten_text(error, 160)}"
    return f"this job cannot be given to other processes ({reason}); use workers=1 with engine='local'."


@contextmanager
def _open_shared_file() -> Iterator[tuple[str, IO[bytes]]]:
    """Yield a path for other processes and the file.

    On Linux the file has no name, so that nothing is left of it however this process ends.
    """
    if Path("/proc/self/fd").is_dir():
        with tempfile.TemporaryFile(buffering=0) as nameless:
            yield _format_descriptor_path(nameless.fileno()), nameless
        return
    with (
        tempfile.TemporaryDirectory(prefix="curiograph-", ignore_cleanup_errors=True) as folder,
        open(os.path.join(folder, "arrays"), "w+b", buffering=0) as named,  # Windows opens no NamedTemporaryFile twice
    ):
        yield named.name, named


def _format_descriptor_path(descriptor: int) -> str:
    """Return a path with which other processes open a file of this one, even if it was renamed or deleted (Linux)."""
    return f"/proc/{os.getpid()}/fd/{descriptor}"


def _write_parts(stream: IO[bytes], parts: list[memoryview]) -> tuple[tuple[int, int], ...]:
    """Write the parts at aligned positions; return the start and end of each."""
    bounds, end = [], 0
    for part in parts:
        start = -(-end // _ALIGNMENT) * _ALIGNMENT
        stream.seek(start)
        while part:
            part = part[stream.write(part) :]  # the system writes at most 2 GiB at a time
        end = stream.tell()
        bounds.append((start, end))
    return tuple(bounds)


def _make_pickler(stream: io.BytesIO, buffers: list[pickle.PickleBuffer], stack: ExitStack) -> Any:
    import cloudpickle

    descriptors: dict[str, int] = {}  # of mapped files, open while the value is shared

    def open_mapped(path: str) -> int:
        if path not in descriptors:
            descriptors[path] = os.open(path, os.O_RDONLY)
            stack.callback(os.close, descriptors[path])
        return descriptors[path]

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """Pickle classes and functions of scripts by value, and memory-mapped arrays by their place in the file."""

        def reducer_override(self, item: Any) -> Any:
            place = _locate_mapped(item, open_mapped) if isinstance(item, np.ndarray) else None
            return super().reducer_override(item) if place is None else (_map_array, place)

    return Pickler(stream, protocol=5, buffer_callback=buffers.append)


def _locate_mapped(array: NDArray[Any], open_mapped: Callable[[str], int]) -> tuple[Any, ...] | None:
    """Return the arguments of `_map_array` for a memory-mapped array; None for any other array."""
    owner: Any = array
    while owner is not None and not isinstance(owner, np.memmap):
        owner = getattr(owner, "base", None)
    if owner is None or owner.filename is None or not array.flags.c_contiguous or array.dtype.hasobject:
        return None
    if owner.mode != "r" or array.size == 0:  # a copy in memory may differ from the file
        return None
    while isinstance(owner.base, np.memmap):  # offsets refer to the outermost map
        owner = owner.base
    offset = array.ctypes.data - owner.ctypes.data + owner.offset
    name = str(owner.filename)
    try:
        descriptor = open_mapped(name)
    except OSError:  # deleted
        return None
    identity = _identify_file(descriptor)
    if identity[1] != _find_inode(array.ctypes.data):  # the file was replaced, or there is no /proc
        return None
    return name, _format_descriptor_path(descriptor), identity, offset, array.dtype.str, array.shape


def _find_inode(address: int) -> int | None:
    """Return the inode of the file that is mapped at an address; None if the system does not provide it."""
    try:
        with open("/proc/self/maps") as lines:
            for line in lines:
                span, _, _, _, number, *_ = line.split()
                start, end = (int(bound, 16) for bound in span.split("-"))
                if start <= address < end:
                    return int(number)
    except OSError:
        pass
    return None


def _identify_file(file: str | int) -> tuple[int, ...]:
    status = os.stat(file)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _map_array(
    name: str, path: str, identity: tuple[int, ...], offset: int, dtype: str, shape: tuple[int, ...]
) -> NDArray[Any]:
    if _identify_file(path) != identity:
        raise GraphError(f"{name}: has changed since it was opened; open it again.")
    return np.memmap(path, dtype, "r", offset, shape).view(np.ndarray)
