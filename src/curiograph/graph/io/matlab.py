"""Read the adjacency matrix in a MATLAB file of version 5 to 7.

The file is parsed here, not by `scipy.io.loadmat`, which unpacks a variable without a limit of its size.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curiograph.errors import FileFormatError, GraphError
from curiograph.files import MAX_FILE_BYTES, check_file, wrap_parse_errors
from curiograph.graph.convert import from_scipy
from curiograph.graph.graph import Graph
from curiograph.messages import format_bytes, shorten_text

_HEADER_BYTES = 128
_MAX_UNPACKED = 2**29  # bytes of a variable
_MAX_NODES = 8192  # of a full matrix; sparse ones are limited by the size of the file
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_SPARSE, _NUMERIC = 5, range(6, 16)  # classes of arrays; a dense logical array is one of uint8
_COMPLEX = 0x0800
_HEAD = 1024  # unpacked bytes that contain flags, dimensions and name; MATLAB limits names to 63 letters


class _Variable(NamedTuple):
    """A square numeric matrix in a file."""

    name: str
    """Name of the variable."""
    size: int
    """Number of rows."""
    is_sparse: bool
    """Whether it is stored as a sparse matrix."""
    element: bytes
    """Its data element, compressed if the file is."""
    is_packed: bool
    """Whether the element is compressed."""


def read_matlab(path: Path, directed: bool | None = None) -> Graph:
    """Read the only square matrix of a file; nodes are labeled 1 to n, as MATLAB counts them.

    The graph is directed if the matrix is not symmetric, and weighted if it has values other than 0 and 1.
    """
    size = check_file(path).stat().st_size
    if size > MAX_FILE_BYTES:
        raise FileFormatError(
            f"{path}: is {format_bytes(size)}; .mat files are read whole, at most {format_bytes(MAX_FILE_BYTES)}: use "
            "an edge list or .npz."
        )
    with wrap_parse_errors(path, "MATLAB"):
        data = path.read_bytes()
        if b"HDF" in data[:4] or data.startswith(b"MATLAB 7.3"):
            raise GraphError("it is of version 7.3; save it in MATLAB with save(file, variable, '-v7')")
        order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
        if order is None:
            raise GraphError("it does not begin like a MATLAB file of version 5 to 7")
        found = list(_find_square_matrices(data, order))
        if len(found) != 1:
            names = shorten_text(", ".join(f"{each.name} ({each.size} x {each.size})" for each in found), 150)
            counted = f"{len(found)} square matrices: {names}" if found else "no square numeric matrix"
            raise GraphError(f"it contains {counted}; save the adjacency matrix alone")
        return from_scipy(_load_matrix(found[0], order), directed=directed, nodes=range(1, found[0].size + 1))


def _find_square_matrices(data: bytes, order: str) -> Iterator[_Variable]:
    """Yield the square numeric variables of a file, which are not unpacked."""
    place = _HEADER_BYTES
    while place < len(data):
        kind, begin, end, _ = _read_tag(data, place, order)
        element, place = data[begin:end], end
        head = zlib.decompressobj().decompress(element, _HEAD) if kind == _COMPRESSED else data[begin - 8 : end][:_HEAD]
        if len(head) < 8 or _read_tag(head, 0, order, whole=False)[0] != _MATRIX:
            continue
        flags, after = _read_array(head, 8, order)
        shape, after = _read_array(head, after, order)
        kind_of_array = int(flags[0]) & 0xFF
        if kind_of_array != _SPARSE and kind_of_array not in _NUMERIC:
            continue
        name, _ = _read_array(head, after, order)
        is_complex = bool(int(flags[0]) & _COMPLEX)
        if len(shape) == 2 and shape[0] == shape[1] > 1 and not is_complex:
            yield _Variable(
                name=name.tobytes().decode("ascii", "replace"),
                size=int(shape[0]),
                is_sparse=kind_of_array == _SPARSE,
                element=element,
                is_packed=kind == _COMPRESSED,
            )


def _load_matrix(variable: _Variable, order: str) -> Any:
    """Return a variable as a dense or sparse matrix."""
    import scipy.sparse

    size = variable.size
    if not variable.is_sparse and size > _MAX_NODES:
        raise GraphError(
            f"its full matrix {variable.name} has {size:,} rows, at most {_MAX_NODES:,} are read; save it as a sparse "
            "matrix, with sparse() in MATLAB"
        )
    body, place = variable.element, 0
    if variable.is_packed:
        stream = zlib.decompressobj()
        body, place = stream.decompress(body, _MAX_UNPACKED), 8
        if stream.unconsumed_tail:
            raise GraphError(f"its variable {variable.name} unpacks to more than {format_bytes(_MAX_UNPACKED)}")
    for _ in range(3):  # flags, dimensions and name
        _, place = _read_array(body, place, order)
    if not variable.is_sparse:
        values, _ = _read_array(body, place, order)
        if len(values) != size * size:
            raise GraphError(f"its variable {variable.name} has {len(values)} values instead of {size} x {size}")
        return values.reshape(size, size, order="F")
    rows, place = _read_array(body, place, order)
    offsets, place = _read_array(body, place, order)
    values, _ = _read_array(body, place, order)
    if not (
        len(offsets) == size + 1
        and offsets[0] == 0
        and np.all(np.diff(offsets) >= 0)
        and offsets[-1] <= min(len(rows), len(values))
        and (len(rows) == 0 or (rows.min() >= 0 and rows.max() < size))
    ):
        raise GraphError(f"the arrays of its sparse variable {variable.name} do not fit together")
    count = int(offsets[-1])
    columns = np.repeat(np.arange(size), np.diff(offsets))
    return scipy.sparse.coo_array((values[:count], (rows[:count], columns)), shape=(size, size)).tocsr()


def _read_tag(data: bytes, place: int, order: str, *, whole: bool = True) -> tuple[int, int, int, int]:
    """Return type, begin and end of a data element, and the place of the next one."""
    first, length = struct.unpack_from(f"{order}II", data, place)
    if first >> 16:  # a small element, with its data in the tag
        kind, length, begin = first & 0xFFFF, first >> 16, place + 4
        following = place + 8
        if length > 4:
            raise GraphError("it is damaged")
    else:
        kind, begin = first, place + 8
        following = begin + length + (-length % 8)
    if whole and begin + length > len(data):
        raise GraphError("it is truncated")
    return kind, begin, begin + length, following


def _read_array(data: bytes, place: int, order: str) -> tuple[NDArray[Any], int]:
    """Return the numbers of a data element, and the place of the next one."""
    kind, begin, end, following = _read_tag(data, place, order)
    if kind not in _TYPES:
        raise GraphError("it is damaged")
    dtype = np.dtype(order + _TYPES[kind])
    if (end - begin) % dtype.itemsize:
        raise GraphError("it is damaged")
    values = np.frombuffer(data, dtype, (end - begin) // dtype.itemsize, begin)
    return values.astype(dtype.newbyteorder("="), copy=False), following
