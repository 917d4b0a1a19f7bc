"""Containers of node labels: position to label and back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Int32, Int64
from curiograph.graph.csr import concatenate_ranges, freeze_array

Bytes = NDArray[np.uint8]
Hashes = NDArray[np.uint64]

_CHUNK = 65_536
_FEW = 32  # below this number of labels, single lookups are faster


class Labels(Protocol):
    """Labels by position. `index` and `indices` raise KeyError for an unknown label."""

    def __len__(self) -> int: ...
    def __getitem__(self, position: int) -> Hashable: ...
    def __iter__(self) -> Iterator[Hashable]: ...
    def index(self, label: Hashable) -> int: ...
    def indices(self, labels: Sequence[Hashable]) -> Int32: ...


class RangeLabels:
    """The labels 0, 1, ..., n - 1.

    >>> RangeLabels(3).index(2)
    2
    """

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, position: int) -> int:
        return _check_position(position, self._size)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._size))

    def index(self, label: Hashable) -> int:
        if isinstance(label, (int, np.integer)) and not isinstance(label, bool) and 0 <= label < self._size:
            return int(label)
        raise KeyError(label)

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        numbers = _as_integers(labels)
        if numbers is None or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < self._size):
            return _look_up_each(self, labels)
        return numbers.astype(np.int32)


class ListLabels:
    """Labels of any hashable type.

    >>> ListLabels(["a", ("b", 1)]).index(("b", 1))
    1
    """

    def __init__(self, labels: Iterable[Hashable]) -> None:
        self._labels = list(labels)

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {label: position for position, label in enumerate(self._labels)}

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, position: int) -> Hashable:
        return self._labels[_check_position(position, len(self._labels))]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._labels)

    def index(self, label: Hashable) -> int:
        return self._positions[label]

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        return np.asarray([self._positions[label] for label in labels], np.int32)


class IntegerLabels:
    """64-bit integer labels, stored as one array.

    >>> IntegerLabels(np.array([70, -3, 12])).index(12)
    2
    """

    def __init__(self, values: NDArray[Any]) -> None:
        self.values: Int64 = _freeze(values, np.int64)

    @cached_property
    def _order(self) -> Int64:
        return np.argsort(self.values, kind="stable")

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, position: int) -> int:
        return int(self.values[_check_position(position, len(self.values))])

    def __iter__(self) -> Iterator[int]:
        for first in range(0, len(self.values), _CHUNK):
            yield from self.values[first : first + _CHUNK].tolist()

    def __reduce__(self) -> tuple[Any, ...]:
        return IntegerLabels, (np.asarray(self.values),)

    def index(self, label: Hashable) -> int:
        if isinstance(label, (int, np.integer)) and not isinstance(label, bool) and -(2**63) <= label < 2**63:
            place = int(np.searchsorted(self.values, np.int64(label), sorter=self._order))
            if place < len(self.values) and self.values[self._order[place]] == label:
                return int(self._order[place])
        raise KeyError(label)

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        numbers = _as_integers(labels)
        if numbers is None or len(self.values) == 0:
            return _look_up_each(self, labels)
        places = self._order[np.minimum(self.values.searchsorted(numbers, sorter=self._order), len(self.values) - 1)]
        if not np.array_equal(self.values[places], numbers):
            return _look_up_each(self, labels)
        return places.astype(np.int32)


class TextLabels:
    """Text labels, stored as one UTF-8 blob and decoded on demand.

    A label is found by bisection in the sorted hashes of the labels, so that no dictionary is built. The hashes are
    computed on the first lookup unless they are given.

    Parameters
    ----------
    blob : the labels, concatenated, in UTF-8.
    offsets : offset of each label in the blob and, last, the length of the blob.
    hashes : the 64-bit hashes of the labels, sorted.
    order : position of the label of each hash.

    >>> names = TextLabels.from_labels(["apple", "pear", "fig"])
    >>> names[1], names.index("fig")
    ('pear', 2)
    """

    def __init__(
        self, blob: Bytes, offsets: Int64, hashes: Hashes | None = None, order: NDArray[Any] | None = None
    ) -> None:
        self.blob: Bytes = _freeze(blob, np.uint8)
        self.offsets: Int64 = _freeze(offsets, np.int64)
        if hashes is not None and order is not None:
            self.sorted_hashes = _freeze(hashes, np.uint64), _freeze(order, np.int32)

    @classmethod
    def from_labels(cls, labels: Sequence[str]) -> TextLabels:
        """Build from strings that UTF-8 can encode."""
        encoded = [label.encode() for label in labels]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.array([len(name) for name in encoded], np.int64), out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    @cached_property
    def sorted_hashes(self) -> tuple[Hashes, Int32]:
        """The sorted hashes of the labels, and the position of the label of each."""
        hashes = kernels.text.hash_names(self.blob, self.offsets)
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        return hashes[order], order

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, position: int) -> str:
        return self._get_bytes(_check_position(position, len(self))).decode()

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _CHUNK):
            offsets = self.offsets[first : first + _CHUNK + 1].tolist()
            data = self.blob[offsets[0] : offsets[-1]].tobytes()
            for begin, end in pairwise(offsets):
                yield data[begin - offsets[0] : end - offsets[0]].decode()

    def __reduce__(self) -> tuple[Any, ...]:
        known: tuple[Any, Any] = self.__dict__.get("sorted_hashes", (None, None))
        return TextLabels, (self.blob, self.offsets, *known)

    def index(self, label: Hashable) -> int:
        if not isinstance(label, str):
            raise KeyError(label)
        try:
            wanted = label.encode()
        except UnicodeEncodeError:
            raise KeyError(label) from None
        hashes, order = self.sorted_hashes
        key = hash_text(wanted)
        place = int(np.searchsorted(hashes, np.uint64(key)))
        while place < len(hashes) and hashes[place] == key:
            position = int(order[place])
            if self._get_bytes(position) == wanted:
                return position
            place += 1
        raise KeyError(label)

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        if len(labels) < _FEW or len(self) == 0 or set(map(type, labels)) != {str}:
            return _look_up_each(self, labels)
        try:
            wanted = TextLabels.from_labels(labels)  # type: ignore[arg-type]
        except UnicodeEncodeError:
            return _look_up_each(self, labels)
        hashes, order = self.sorted_hashes
        keys = kernels.text.hash_names(wanted.blob, wanted.offsets)
        found: Int32 = order[np.minimum(hashes.searchsorted(keys), len(hashes) - 1)]
        # labels may have the same hash: those with a mismatch are looked up one by one
        for place in np.flatnonzero(~self._match(found, wanted)).tolist():
            found[place] = self.index(labels[place])
        return found

    def _match(self, positions: Int32, wanted: TextLabels) -> NDArray[np.bool_]:
        """Return for each position whether its label equals the label of `wanted` at the same index."""
        lengths = np.diff(wanted.offsets)
        begins = self.offsets[positions]
        same: NDArray[np.bool_] = self.offsets[positions + 1] - begins == lengths
        some = np.flatnonzero(same & (lengths > 0))
        if len(some):
            counts = lengths[some]
            ours = self.blob[concatenate_ranges(begins[some], counts)]
            theirs = wanted.blob[concatenate_ranges(wanted.offsets[some], counts)]
            same[some] = np.logical_and.reduceat(ours == theirs, np.cumsum(counts) - counts)
        return same

    def _get_bytes(self, position: int) -> bytes:
        return self.blob[self.offsets[position] : self.offsets[position + 1]].tobytes()


def _as_integers(labels: Sequence[Hashable]) -> Int64 | None:
    """Return the labels as an array if there are many and all are Python integers of 64 bits."""
    if len(labels) < _FEW or set(map(type, labels)) != {int}:
        return None
    try:
        return np.fromiter(labels, np.int64, len(labels))
    except OverflowError:
        return None


def _look_up_each(names: Labels, labels: Sequence[Hashable]) -> Int32:
    return np.asarray([names.index(label) for label in labels], np.int32)


def hash_text(encoded: bytes) -> int:
    """Return the hash of `kernels.text.hash_name` without importing numba for a single lookup.

    >>> hex(hash_text(b"a"))
    '0xaf63dc4c296230c0'
    """
    key = 0xCBF29CE484222325
    for byte in encoded:
        key = ((key ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return key ^ (key >> 32)


def as_labels(labels: list[Hashable]) -> Labels:
    """Return a container for `labels`: a range if they are 0, 1, ..., n - 1 in order."""
    is_range = all(type(label) is int and label == position for position, label in enumerate(labels))
    return RangeLabels(len(labels)) if is_range else ListLabels(labels)


def _check_position(position: int, size: int) -> int:
    if not 0 <= position < size:
        raise IndexError(f"position {position} is outside a graph of {size} nodes.")
    return int(position)


def _freeze(array: NDArray[Any], dtype: Any) -> Any:
    """Return a read-only array: numba compiles separately for read-only and for writable arrays."""
    return freeze_array(np.ascontiguousarray(array, dtype))
