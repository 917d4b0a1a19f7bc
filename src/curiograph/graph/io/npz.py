"""The `.npz` format of curiograph: an uncompressed zip of arrays, opened as a memory map, without pickles.

Members: `meta` (JSON), `indptr`, `indices`, `weights` and `loops` (weight of the self-loop of every node) if there are
any, and for the labels nothing (a range), `values` (integers), `blob`, `offsets`, `hashes` and `order` (text), or
`json` (any other labels that JSON can encode). The file of a directed graph also contains its skeleton,
`skeleton_indptr` and `skeleton_indices`, which takes seconds to build.
"""

from __future__ import annotations

import codecs
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Hashable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.errors import FileFormatError, GraphError
from curiograph.files import PathLike, as_path, check_file, open_atomic
from curiograph.graph.graph import Cleaning, Graph
from curiograph.graph.labels import IntegerLabels, Labels, ListLabels, RangeLabels, TextLabels
from curiograph.messages import quote_value, shorten_text

FORMAT = "curiograph graph"
VERSION = 1

_ALIGNMENT = 64
_PADDING = 0xD935  # header id of padding bytes, as in zipalign of Android
_LOCAL_HEADER = 30
_ZIP64_EXTRA = 20
_MAX_HEADER = 10_000
_CHUNK = 2**22  # entries checked together: bounds the memory
_MAX_COMPARED = 100_000  # number of labels up to which duplicates are searched: beyond, that takes seconds


# ---- writing ------------------------------------------------------------------------------------------------------


def write_npz(graph: Graph, path: PathLike) -> None:
    """Write a graph atomically, so that `read_graph` opens it as a memory map.

    >>> import tempfile, curiograph.graph.io.npz as npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_npz(Graph.from_edges([("a", "b")]), folder + "/g.npz")
    ...     npz.read_npz(Path(folder) / "g.npz").labels
    ['a', 'b']
    """
    if as_path(path).suffix.lower() != ".npz":
        raise GraphError(f"cannot save to {path}: the name must end in .npz.")
    kind, labels = _encode_labels(graph.names)
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "directed": graph.directed,
        "weighted": graph.weights is not None,
        "loops": graph.loops is not None,
        "names": kind,
        "cleaning": [graph.cleaning.self_loops, graph.cleaning.parallel_edges],
    }
    members: dict[str, NDArray[Any]] = {
        "meta": _json_array(meta),
        "indptr": graph.indptr,
        "indices": graph.indices,
        **labels,
    }
    if graph.weights is not None:
        members["weights"] = graph.weights
    if graph.loops is not None:
        members["loops"] = graph.loops
    if graph.directed:
        members["skeleton_indptr"] = graph.skeleton.indptr
        members["skeleton_indices"] = graph.skeleton.indices
    with open_atomic(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in members.items():
            _write_member(archive, stream, f"{name}.npy", array)


def _encode_labels(names: Labels) -> tuple[str, dict[str, NDArray[Any]]]:
    """Return the kind of the labels and the arrays that store them."""
    if isinstance(names, RangeLabels):
        return "range", {}
    if isinstance(names, IntegerLabels):
        return "integers", {"values": names.values}
    if not isinstance(names, TextLabels):
        labels = list(names)
        if all(type(label) is int and -(2**63) <= label < 2**63 for label in labels):
            return "integers", {"values": np.asarray(labels, np.int64)}
        with suppress(UnicodeEncodeError):  # half of a surrogate pair, which JSON can escape
            if all(type(label) is str for label in labels):
                names = TextLabels.from_labels(labels)  # type: ignore[arg-type]
    if not isinstance(names, TextLabels):
        return "json", {"json": _json_array([_to_json(label) for label in names])}
    hashes, order = names.sorted_hashes
    return "text", {"blob": names.blob, "offsets": names.offsets, "hashes": hashes, "order": order}


def _to_json(label: Hashable) -> Any:
    """Encode a label with its exact type: a tuple as an object with one key, others as JSON values."""
    kind = type(label)
    try:
        if kind is tuple:
            return {"tuple": [_to_json(part) for part in label]}  # type: ignore[attr-defined]
        if kind is int:
            json.dumps(label)  # raises for too many digits
        if label is None or kind in (str, int, float, bool):
            return label
    except (ValueError, RecursionError):
        pass
    raise GraphError(
        f"the label {quote_value(label)} is a {kind.__name__}, which cannot be stored in an .npz; use text, "
        "numbers or tuples of them."
    )


def _from_json(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple(_from_json(part) for part in value["tuple"])
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise ValueError(f"{value!r} is not a label")


def _json_array(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def _write_member(archive: zipfile.ZipFile, stream: BinaryIO, name: str, array: NDArray[Any]) -> None:
    """Add an array whose data begin at a multiple of 64 bytes: kernels need aligned arrays."""
    info = zipfile.ZipInfo(name)  # with a constant date, so that equal graphs give equal files
    info.file_size = array.nbytes + _MAX_HEADER
    zip64 = array.nbytes > 2**30
    begin = stream.tell() + _LOCAL_HEADER + len(name) + _ZIP64_EXTRA * zip64
    fill = -begin % _ALIGNMENT
    if 0 < fill < 4:  # the header of the padding takes 4 bytes
        fill += _ALIGNMENT
    if fill:
        info.extra = struct.pack("<HH", _PADDING, fill - 4) + bytes(fill - 4)
    with archive.open(info, "w", force_zip64=zip64) as member:
        npy.write_array(member, array, version=(1, 0), allow_pickle=False)


# ---- reading ------------------------------------------------------------------------------------------------------


def read_npz(path: Path, directed: bool | None = None) -> Graph:
    """Open a graph written by `write_npz` as a memory map."""
    check_file(path)
    try:
        with open(path, "rb") as stream:
            return _build_graph(_Members(stream))
    except _UnusableError as error:
        raise FileFormatError(f"{path}: {error}.") from None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror or error}).") from None


class _UnusableError(Exception):
    """The file is not valid; `read_npz` adds its name to the message."""


class _Members:
    """The arrays of an uncompressed zip, as views of one memory map."""

    def __init__(self, stream: BinaryIO) -> None:
        if stream.read(4) != b"PK\x03\x04":
            raise _UnusableError("is not a zip archive, so not an .npz")
        try:
            with zipfile.ZipFile(stream) as archive:
                self._infos = {info.filename: info for info in archive.infolist()}
        # exceptions of zipfile for a corrupt or hostile directory
        except (zipfile.BadZipFile, NotImplementedError, struct.error, ValueError, OverflowError, EOFError) as error:
            raise _UnusableError(f"is a broken .npz ({shorten_text(error)}); it may be truncated") from None
        self._bytes = np.memmap(stream, np.uint8, "r").view(np.ndarray)

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._infos

    def get(self, name: str, dtype: Any) -> NDArray[Any]:
        """Return the one-dimensional array `name` after checks of its position, size, type and checksum."""
        info = self._infos.get(f"{name}.npy")
        if info is None:
            found = ", ".join(sorted(self._infos)) or "nothing"
            raise _UnusableError(
                f"lacks the member {name!r}, so curiograph did not write it (it holds {shorten_text(found)}); "
                "load it with numpy or scipy and use Graph.from_scipy or Graph.from_edges"
            )
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.compress_size != info.file_size:
            raise _UnusableError(f"holds the member {name!r} compressed or encrypted, which curiograph never does")
        member = self._get_bytes(info)
        if zlib.crc32(memoryview(member)) != info.CRC:  # type: ignore[arg-type]
            raise _UnusableError(f"is damaged: the checksum of {name!r} does not match")
        shape, stated, length = _read_npy_header(member, name)
        expected = np.dtype(dtype)
        if stated != expected or len(shape) != 1:
            raise _UnusableError(f"holds {name!r} as {stated} of shape {shape}; expected one dimension of {expected}")
        if type(shape[0]) is not int or shape[0] < 0 or shape[0] * expected.itemsize != len(member) - length:
            raise _UnusableError(
                f"states that {name!r} has shape {quote_value(shape)}, but it has {len(member) - length} bytes"
            )
        array: NDArray[Any] = member[length:].view(expected)
        return array if array.flags.aligned else array.copy()  # rewritten by another zip tool

    def _get_bytes(self, info: zipfile.ZipInfo) -> NDArray[np.uint8]:
        header = self._bytes[info.header_offset : info.header_offset + _LOCAL_HEADER].tobytes()
        if len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
            raise _UnusableError("is a broken .npz (a member is not at the position in the directory)")
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        begin = info.header_offset + _LOCAL_HEADER + name_length + extra_length
        if begin + info.file_size > len(self._bytes):
            raise _UnusableError("is a broken .npz (a member extends beyond the end); it may be truncated")
        return self._bytes[begin : begin + info.file_size]


def _read_npy_header(member: NDArray[np.uint8], name: str) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    stream = io.BytesIO(member[: _MAX_HEADER + 16].tobytes())
    try:
        if npy.read_magic(stream) != (1, 0):
            raise ValueError("not version 1.0 of the format")
        shape, fortran, dtype = npy.read_array_header_1_0(stream, max_header_size=_MAX_HEADER)
    except Exception as error:  # the header is a Python literal: a hostile one can raise anything
        raise _UnusableError(f"holds {name!r} with a malformed header ({shorten_text(error)})") from None
    if fortran and len(shape) > 1:
        raise _UnusableError(f"holds {name!r} in column order, which curiograph never does")
    return shape, dtype, stream.tell()


def _build_graph(members: _Members) -> Graph:
    meta = _read_meta(members)
    indptr = members.get("indptr", np.int64)
    indices = members.get("indices", np.int32)
    weights = members.get("weights", np.float64) if meta["weighted"] else None
    _check_rows(indptr, indices, directed=meta["directed"])
    if weights is not None and len(weights) != len(indices):
        raise _UnusableError(f"holds {len(weights)} weights for {len(indices)} edge ends")
    loops = members.get("loops", np.float64) if meta.get("loops", False) else None  # not in older files
    for array in (weights, loops):
        if array is not None and len(array) and not (array.min() >= 0 and array.max() < np.inf):  # NaN fails both
            raise _UnusableError("has a weight that is not a finite number, zero or above")
    if loops is not None and weights is None and np.any((loops != 0) & (loops != 1)):
        raise _UnusableError("is unweighted but has a self-loop of a weight other than 1 ('loops')")
    names = _read_labels(members, meta["names"], len(indptr) - 1)
    if len(names) != len(indptr) - 1:
        raise _UnusableError(f"holds {len(names)} names for {len(indptr) - 1} nodes")
    if loops is not None and len(loops) != len(indptr) - 1:
        raise _UnusableError(f"holds {len(loops)} weights of self-loops for {len(indptr) - 1} nodes")
    skeleton = None
    if meta["directed"] and ("skeleton_indptr" in members or "skeleton_indices" in members):  # not in older files
        rows = members.get("skeleton_indptr", np.int64), members.get("skeleton_indices", np.int32)
        _check_rows(*rows, directed=False)
        if len(rows[0]) != len(indptr) or not len(indices) <= len(rows[1]) <= 2 * len(indices):
            raise _UnusableError("has a skeleton that does not fit its edges ('skeleton_indptr', 'skeleton_indices')")
        skeleton = Graph(*rows, names=names)
    return Graph(
        indptr,
        indices,
        weights,
        directed=meta["directed"],
        names=names,
        cleaning=Cleaning(*meta["cleaning"]),
        skeleton=skeleton,
        loops=loops,
    )


def _read_meta(members: _Members) -> dict[str, Any]:
    meta = _read_json(members, "meta")
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise _UnusableError("was not written by curiograph")
    if meta.get("version") != VERSION:
        raise _UnusableError(
            f"has version {shorten_text(meta.get('version'))} of the format, and this curiograph reads {VERSION}"
        )
    cleaning = meta.get("cleaning")
    sound = (
        isinstance(meta.get("directed"), bool)
        and isinstance(meta.get("weighted"), bool)
        and isinstance(meta.get("loops", False), bool)
        and meta.get("names") in ("range", "integers", "text", "json")
        and isinstance(cleaning, list)
        and len(cleaning) == 2
        and all(type(count) is int and count >= 0 for count in cleaning)
    )
    if not sound:
        raise _UnusableError("has a malformed description ('meta')")
    return meta


def _read_json(members: _Members, name: str) -> Any:
    try:
        return json.loads(members.get(name, np.uint8).tobytes())
    except (ValueError, RecursionError) as error:
        raise _UnusableError(f"holds {name!r} that is not JSON ({shorten_text(error)})") from None


def _check_rows(indptr: NDArray[np.int64], indices: NDArray[np.int32], *, directed: bool) -> None:
    """Check that every index is a node and every row is sorted without repeats: kernels rely on it."""
    size, entries = len(indptr) - 1, len(indices)
    if size < 0 or size > 2**31 - 1 or indptr[0] != 0 or indptr[-1] != entries or np.any(indptr[1:] < indptr[:-1]):
        raise _UnusableError("has rows that do not fit together ('indptr')")
    if not directed and entries % 2:
        raise _UnusableError("is undirected but holds an odd number of edge ends")
    if entries == 0:
        return
    for first in range(0, entries, _CHUNK):
        part = indices[first : first + _CHUNK + 1]  # with the first entry of the next chunk
        if part.min() < 0 or part.max() >= size:
            raise _UnusableError(f"has an edge to a node that does not exist; nodes are 0 to {size - 1}")
        rising = part[1:] > part[:-1]
        low, high = np.searchsorted(indptr, [first + 1, first + len(part)])
        rising[indptr[low:high] - first - 1] = True  # the first entry of a row may be lower than the one before
        if not rising.all():
            raise _UnusableError("has rows that are not sorted ('indices')")
    if kernels.csr.has_loops(indptr, indices):
        raise _UnusableError("has an edge from a node to itself outside of 'loops'")
    if not directed and not kernels.csr.is_symmetric(indptr, indices):
        raise _UnusableError("is undirected but has an edge in one direction only")


def _read_labels(members: _Members, kind: str, size: int) -> Labels:
    labels: Labels = RangeLabels(size)
    distinct = size
    if kind == "integers":
        labels = IntegerLabels(members.get("values", np.int64))
        distinct = len(np.unique(labels.values))
    elif kind == "json":
        values = _read_json(members, "json")
        try:
            labels = ListLabels(_from_json(value) for value in values)
            distinct = len(set(labels))
        except (TypeError, ValueError, KeyError, RecursionError) as error:
            raise _UnusableError(f"holds a malformed label ({shorten_text(error)})") from None
    elif kind == "text":
        labels = _read_text_labels(members)
        distinct = len(set(labels)) if len(labels) <= _MAX_COMPARED else len(labels)
    if distinct < len(labels):
        raise _UnusableError("holds a label twice")
    return labels


def _read_text_labels(members: _Members) -> TextLabels:
    blob = members.get("blob", np.uint8)
    offsets = members.get("offsets", np.int64)
    hashes = members.get("hashes", np.uint64)
    order = members.get("order", np.int32)
    count = len(offsets) - 1
    if count < 0 or offsets[0] != 0 or offsets[-1] != len(blob) or np.any(offsets[1:] < offsets[:-1]):
        raise _UnusableError("has names that do not fit together ('offsets')")
    if len(hashes) != count or len(order) != count or np.any(hashes[1:] < hashes[:-1]):
        raise _UnusableError("has names that do not fit their index ('hashes', 'order')")
    if count and (order.min() < 0 or order.max() >= count):
        raise _UnusableError("has an index to a name that does not exist ('order')")
    if len(blob) and blob.max() > 127:
        _check_utf8(blob, offsets)
    return TextLabels(blob, offsets, hashes, order)


def _check_utf8(blob: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
    """Check that the blob is UTF-8 and that no label begins within a character."""
    begins = offsets[:-1][offsets[:-1] < len(blob)]
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for first in range(0, len(blob), _CHUNK):
            decoder.decode(blob[first : first + _CHUNK].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise _UnusableError("has names that are not UTF-8") from None
    if np.any((blob[begins] & 0xC0) == 0x80):
        raise _UnusableError("has names that are not UTF-8")
