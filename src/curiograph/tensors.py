"""Read and write safetensors: named arrays with text metadata. Nothing is ever unpickled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.errors import CuriographError, FileFormatError, shorten_text
from curiograph.files import PathLike, open_atomic

Array = NDArray[Any]

_DTYPES = {"U8": np.uint8, "I32": np.int32, "I64": np.int64, "F32": np.float32, "F64": np.float64}


@dataclass(frozen=True, eq=False)
class TensorFile:
    """An open safetensors file, whose arrays are read on demand."""

    metadata: Mapping[str, str]
    """Texts of the header."""
    names: frozenset[str]
    """Names of the arrays."""
    _file: Any = field(repr=False)

    def get_type(self, name: str) -> tuple[str, tuple[int, ...]]:
        """Return the data type of an array in safetensors notation, such as F32, and its shape."""
        view = self._file.get_slice(name)
        return view.get_dtype(), tuple(view.get_shape())

    def read(self, name: str) -> Array:
        """Read one array."""
        array: Array = self._file.get_tensor(name)
        return array

    def list_by_offset(self) -> list[str]:
        """Return the names in the order of the data, which have no gaps between them."""
        return list(self._file.offset_keys())

    def read_all(self) -> dict[str, Array]:
        """Read all arrays."""
        return {name: self.read(name) for name in self._file.keys()}  # noqa: SIM118 - not a dict


@contextmanager
def open_tensors(path: PathLike, kind: str, fix: str) -> Iterator[TensorFile]:
    """Open a safetensors file; errors in the block that malformed content causes become `FileFormatError`.

    `kind` (what the file is) and `fix` (what to do about a malformed one) complete the message.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tensors(f"{folder}/a.safetensors", {"x": np.arange(3)}, {"note": "small"})
    ...     with open_tensors(f"{folder}/a.safetensors", "example", "write it again") as file:
    ...         file.metadata, file.get_type("x"), file.read("x")
    ({'note': 'small'}, ('I64', (3,)), array([0, 1, 2]))
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            yield TensorFile(file.metadata() or {}, frozenset(file.keys()), file)
    except CuriographError:
        raise
    except (SafetensorError, OSError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path}: is not a usable {kind} ({shorten_text(error, 120)}); {fix}.") from None


def map_tensors(path: PathLike, kind: str, fix: str) -> tuple[Mapping[str, str], dict[str, Array]]:
    """Return the metadata and the arrays of a safetensors file, which are not read but memory-mapped.

    `kind` and `fix` complete the message as in `open_tensors`.
    """
    with open_tensors(path, kind, fix) as file:
        data = np.memmap(path, np.uint8, "r").view(np.ndarray)
        begin = 8 + int.from_bytes(data[:8].tobytes(), "little")  # the length of the header comes first
        arrays = {}
        for name in file.list_by_offset():
            dtype, shape = file.get_type(name)
            array = data[begin:][: math.prod(shape) * np.dtype(_DTYPES[dtype]).itemsize]
            arrays[name] = array.view(_DTYPES[dtype]).reshape(shape)
            begin += len(array)
        return file.metadata, arrays


def write_tensors(path: PathLike, arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write arrays and metadata to a safetensors file, atomically."""
    with open_atomic(path) as stream:
        stream.write(pack_tensors(arrays, metadata))


def pack_tensors(arrays: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return arrays and metadata as bytes in safetensors format; equal arrays have equal bytes.

    >>> unpack_tensors(pack_tensors({"x": np.arange(3)}))
    {'x': array([0, 1, 2])}
    """
    from safetensors.numpy import save

    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    return save(contiguous, metadata=None if metadata is None else dict(metadata))


def unpack_tensors(data: bytes) -> dict[str, Array]:
    """Return the arrays of `pack_tensors`."""
    from safetensors.numpy import load

    return load(data)
