"""Read and write safetensors: named arrays with text metadata. Nothing is ever unpickled."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curiograph.errors import CuriographError, FileFormatError, shorten_text
from curiograph.files import PathLike, hash_chunks, open_atomic

Array = NDArray[Any]
MakeMetadata: TypeAlias = Callable[[str], Mapping[str, str]]

_DTYPES = {"U8": np.uint8, "I32": np.int32, "I64": np.int64, "F32": np.float32, "F64": np.float64}


@contextmanager
def open_tensors(path: PathLike, kind: str, fix: str) -> Iterator[Any]:
    """Open a safetensors file, see `safetensors.safe_open`; errors that malformed content causes in the block become
    `FileFormatError`.

    `kind` (what the file is) and `fix` (what to do about a malformed one) complete the message.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tensors(f"{folder}/a.safetensors", {"x": np.arange(3)}, {"note": "small"})
    ...     with open_tensors(f"{folder}/a.safetensors", "example", "write it again") as file:
    ...         file.metadata(), file.get_tensor("x")
    ({'note': 'small'}, array([0, 1, 2]))
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            yield file
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
        for name in file.offset_keys():  # in the order of the data, which have no gaps between them
            dtype, shape = _DTYPES[file.get_slice(name).get_dtype()], file.get_slice(name).get_shape()
            array = data[begin:][: math.prod(shape) * np.dtype(dtype).itemsize]
            arrays[name] = array.view(dtype).reshape(shape)
            begin += len(array)
        return file.metadata() or {}, arrays


class ArrayChunks(NamedTuple):
    """A one-dimensional array that is written in chunks, so that it need not be in memory."""

    dtype: Any
    length: int
    chunks: Iterable[Array]


def stream_tensors(stream: BinaryIO, arrays: Mapping[str, ArrayChunks], make_metadata: MakeMetadata) -> None:
    """Write arrays to a safetensors file, chunk by chunk.

    `make_metadata` returns the metadata, given the SHA-256 of the arrays; its length must not depend on the hash.

    >>> import io
    >>> stream, chunks = io.BytesIO(), ArrayChunks(np.int32, 3, [np.arange(2), np.array([2])])
    >>> stream_tensors(stream, {"x": chunks}, lambda checksum: {"checksum": checksum})
    >>> from safetensors.numpy import load
    >>> load(stream.getvalue())
    {'x': array([0, 1, 2], dtype=int32)}
    """
    codes = {np.dtype(dtype): code for code, dtype in _DTYPES.items()}
    ordered = sorted(arrays, key=lambda name: (-np.dtype(arrays[name].dtype).itemsize, name))  # keeps them aligned
    entries, end = {}, 0
    for name in ordered:
        dtype, length = np.dtype(arrays[name].dtype), arrays[name].length
        begin, end = end, end + length * dtype.itemsize
        entries[name] = {"dtype": codes[dtype], "shape": [length], "data_offsets": [begin, end]}

    def write_header(checksum: str) -> None:
        text = json.dumps({"__metadata__": make_metadata(checksum), **entries}, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        stream.seek(0)
        stream.write(len(text).to_bytes(8, "little") + text)

    digest = hashlib.sha256()
    write_header(digest.hexdigest())  # of the right length
    for name in ordered:
        for chunk in arrays[name].chunks:
            data = np.ascontiguousarray(chunk, arrays[name].dtype).data
            digest.update(data)
            stream.write(data)
    write_header(digest.hexdigest())


def hash_data(path: PathLike) -> str:
    """Return the SHA-256 of the arrays of a safetensors file, which are read and not mapped."""
    with open(path, "rb") as stream:
        stream.seek(8 + int.from_bytes(stream.read(8), "little"))
        return hash_chunks(iter(lambda: stream.read(2**20), b""))


def write_tensors(path: PathLike, arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write arrays and metadata to a safetensors file, atomically."""
    with open_atomic(path) as stream:
        stream.write(pack_tensors(arrays, metadata))


def pack_tensors(arrays: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return arrays and metadata as bytes in safetensors format; equal arrays have equal bytes.

    >>> from safetensors.numpy import load
    >>> load(pack_tensors({"x": np.arange(3)}))
    {'x': array([0, 1, 2])}
    """
    from safetensors.numpy import save

    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    return save(contiguous, metadata=None if metadata is None else dict(metadata))
