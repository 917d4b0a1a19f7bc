"""What the nodes of a graph are called: position to label and back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels

Bytes = NDArray[np.uint8]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_NAMES_AT_A_TIME = 65_536
_FEW = 32  # labels up to which looking up one by one is faster


class Labels(Protocol):
    """Labels by position. `index` and `indices` raise KeyError for a label that is not there."""

    def __len__(self) -> int: ...
    def __getitem__(self, position: int) -> Hashable: ...
    def __iter__(self) -> Iterator[Hashable]: ...
    def index(self, label: Hashable) -> int: ...
    def indices(self, labels: Sequence[Hashable]) -> Int32: ...


class RangeLabels:
    """Nodes called 0, 1, ..., n - 1.

    >>> RangeLabels(3).index(2)
    2
    """

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, position: int) -> int:
        return _checked(position, self._size)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._size))

    def index(self, label: Hashable) -> int:
        if isinstance(label, (int, np.integer)) and not isinstance(label, bool) and 0 <= label < self._size:
            return int(label)
        raise KeyError(label)

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        numbers = _whole_numbers(labels)
        if numbers is None or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < self._size):
            return _one_by_one(self, labels)
        return numbers.astype(np.int32)


class ListLabels:
    """Nodes called by any hashable label.

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
        return self._labels[_checked(position, len(self._labels))]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._labels)

    def index(self, label: Hashable) -> int:
        return self._positions[label]

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        return np.asarray([self._positions[label] for label in labels], np.int32)


class IntegerLabels:
    """Nodes called by whole numbers of 64 bits, held as one array.

    >>> IntegerLabels(np.array([70, -3, 12])).index(12)
    2
    """

    def __init__(self, values: NDArray[Any]) -> None:
        self.values: Int64 = _frozen(values, np.int64)

    @cached_property
    def _order(self) -> Int64:
        return np.argsort(self.values, kind="stable")

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, position: int) -> int:
        return int(self.values[_checked(position, len(self.values))])

    def __iter__(self) -> Iterator[int]:
        for first in range(0, len(self.values), _NAMES_AT_A_TIME):
            yield from self.values[first : first + _NAMES_AT_A_TIME].tolist()

    def __reduce__(self) -> tuple[Any, ...]:
        return IntegerLabels, (np.asarray(self.values),)

    def index(self, label: Hashable) -> int:
        if isinstance(label, (int, np.integer)) and not isinstance(label, bool) and -(2**63) <= label < 2**63:
            place = int(np.searchsorted(self.values, np.int64(label), sorter=self._order))
            if place < len(self.values) and self.values[self._order[place]] == label:
                return int(self._order[place])
        raise KeyError(label)

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        numbers = _whole_numbers(labels)
        if numbers is None or len(self.values) == 0:
            return _one_by_one(self, labels)
        places = self._order[np.minimum(self.values.searchsorted(numbers, sorter=self._order), len(self.values) - 1)]
        if not np.array_equal(self.values[places], numbers):
            return _one_by_one(self, labels)
        return places.astype(np.int32)


class TextLabels:
    """Nodes called by text, held as one UTF-8 blob and decoded on demand.

    A label is found by bisection in the sorted hashes of the names, so neither opening nor looking up builds a
    dictionary. The hashes are made on the first look-up unless they are given.

    Parameters
    ----------
    blob : the names, one after another, in UTF-8.
    offsets : where each name begins and, last, the length of the blob.
    hashes : the 64-bit hashes of the names, sorted.
    order : the position of the name that each hash belongs to.

    >>> names = TextLabels.from_labels(["apple", "pear", "fig"])
    >>> names[1], names.index("fig")
    ('pear', 2)
    """

    def __init__(
        self, blob: Bytes, offsets: Int64, hashes: Hashes | None = None, order: NDArray[Any] | None = None
    ) -> None:
        self.blob: Bytes = _frozen(blob, np.uint8)
        self.offsets: Int64 = _frozen(offsets, np.int64)
        if hashes is not None and order is not None:
            self.sorted_hashes = _frozen(hashes, np.uint64), _frozen(order, np.int32)

    @classmethod
    def from_labels(cls, labels: Sequence[str]) -> TextLabels:
        """Hold `labels`, which must be text that UTF-8 can encode."""
        encoded = [label.encode() for label in labels]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.array([len(name) for name in encoded], np.int64), out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    @cached_property
    def sorted_hashes(self) -> tuple[Hashes, Int32]:
        """The sorted hashes of the names, and the position that each belongs to."""
        hashes = kernels.text.hash_names(self.blob, self.offsets)
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        return hashes[order], order

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, position: int) -> str:
        position = _checked(position, len(self))
        return self._encoded(position).decode()

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _NAMES_AT_A_TIME):
            offsets = self.offsets[first : first + _NAMES_AT_A_TIME + 1].tolist()
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
            if self._encoded(position) == wanted:
                return position
            place += 1
        raise KeyError(label)

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        if len(labels) < _FEW or len(self) == 0 or set(map(type, labels)) != {str}:
            return _one_by_one(self, labels)
        try:
            wanted = TextLabels.from_labels(labels)  # type: ignore[arg-type]
        except UnicodeEncodeError:
            return _one_by_one(self, labels)
        hashes, order = self.sorted_hashes
        keys = kernels.text.hash_names(wanted.blob, wanted.offsets)
        found: Int32 = order[np.minimum(hashes.searchsorted(keys), len(hashes) - 1)]
        # another name of the same hash may stand there instead: these are looked up one by one
        for place in np.flatnonzero(~_same_text(self, found, wanted)).tolist():
            found[place] = self.index(labels[place])
        return found

    def _encoded(self, position: int) -> bytes:
        return self.blob[self.offsets[position] : self.offsets[position + 1]].tobytes()


def _same_text(names: TextLabels, positions: Int32, wanted: TextLabels) -> NDArray[np.bool_]:
    """Whether the name at each of some positions is the one that is wanted there."""
    lengths = np.diff(wanted.offsets)
    begins = names.offsets[positions]
    same: NDArray[np.bool_] = names.offsets[positions + 1] - begins == lengths
    some = np.flatnonzero(same & (lengths > 0))
    counts = lengths[some]
    ends = np.cumsum(counts)
    letter = np.arange(ends[-1] if len(some) else 0) - np.repeat(ends - counts, counts)
    ours = names.blob[np.repeat(begins[some], counts) + letter]
    theirs = wanted.blob[np.repeat(wanted.offsets[some], counts) + letter]
    if len(some):
        same[some] = np.logical_and.reduceat(ours == theirs, ends - counts)
    return same


def _whole_numbers(labels: Sequence[Hashable]) -> Int64 | None:
    """Labels as an array where there are many and all are Python's whole numbers of 64 bits."""
    if len(labels) < _FEW or set(map(type, labels)) != {int}:
        return None
    try:
        return np.fromiter(labels, np.int64, len(labels))
    except OverflowError:
        return None


def _one_by_one(names: Labels, labels: Sequence[Hashable]) -> Int32:
    return np.asarray([names.index(label) for label in labels], np.int32)


def hash_text(encoded: bytes) -> int:
    """The hash of `kernels.text.hash_name`, without loading numba for one look-up.

    >>> hex(hash_text(b"a"))
    '0xaf63dc4c296230c0'
    """
    key = 0xCBF29CE484222325
    for byte in encoded:
        key = ((key ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return key ^ (key >> 32)


def as_labels(labels: list[Hashable]) -> Labels:
    """The lightest container for `labels`: a range where they are 0, 1, ..., n - 1 in order."""
    plain = all(type(label) is int and label == position for position, label in enumerate(labels))
    return RangeLabels(len(labels)) if plain else ListLabels(labels)


def _checked(position: int, size: int) -> int:
    if not 0 <= position < size:
        raise IndexError(f"position {position} is outside a graph of {size} nodes.")
    return int(position)


def _frozen(array: NDArray[Any], dtype: Any) -> Any:
    """A read-only view: numba compiles once for read-only arrays and once more for others."""
    view = np.ascontiguousarray(array, dtype).view(np.ndarray)
    view.flags.writeable = False
    return view
