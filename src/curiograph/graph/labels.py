"""Containers of node labels, the nodes that text or JSON values denote, and the error that suggests similar labels."""

from __future__ import annotations

import difflib
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int32, Int64
from curiograph.errors import UnknownNodeError, quote_value
from curiograph.validation import is_integer

if TYPE_CHECKING:
    from curiograph.graph.graph import Graph

_CHUNK = 65_536
_MAX_COMPARED = 5_000  # labels that difflib compares, which takes a few tenths of a second


class Labels:
    """Labels by position. `index` and `indices` raise KeyError for an unknown label."""

    titles: tuple[str, ...] | None = None
    """Names that are shown in place of the labels, by position; None if the labels are shown."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, position: int) -> Hashable:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Hashable]:
        return (self[position] for position in range(len(self)))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {label: position for position, label in enumerate(self)}

    def index(self, label: Hashable) -> int:
        """Return the position of a label."""
        return self._positions[label]

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        """Return the positions of several labels."""
        return np.asarray([self.index(label) for label in labels], np.int32)


class RangeLabels(Labels):
    """The labels 0, 1, ..., n - 1."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, position: int) -> int:
        return range(self.size)[position]

    def index(self, label: Hashable) -> int:
        if is_integer(label) and 0 <= label < self.size:
            return int(label)
        raise KeyError(label)

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        numbers = _as_integers(labels)
        if numbers is None or not 0 <= numbers.min() <= numbers.max() < self.size:
            return super().indices(labels)
        return numbers.astype(np.int32)


class ListLabels(Labels):
    """Labels of any hashable type."""

    def __init__(self, labels: Iterable[Hashable]) -> None:
        self.labels = list(labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, position: int) -> Hashable:
        return self.labels[position]


class IntegerLabels(Labels):
    """64-bit integer labels, stored as one array."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.values: Int64 = np.ascontiguousarray(values, np.int64)

    @cached_property
    def _order(self) -> Int64:
        return np.argsort(self.values, kind="stable")

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, position: int) -> int:
        return int(self.values[position])

    def __iter__(self) -> Iterator[int]:
        for first in range(0, len(self.values), _CHUNK):
            yield from self.values[first : first + _CHUNK].tolist()

    def index(self, label: Hashable) -> int:
        if is_integer(label) and -(2**63) <= label < 2**63:
            place = int(np.searchsorted(self.values, np.int64(label), sorter=self._order))
            if place < len(self.values) and self.values[self._order[place]] == label:
                return int(self._order[place])
        raise KeyError(label)

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        numbers = _as_integers(labels)
        if numbers is None or len(self.values) == 0:
            return super().indices(labels)
        places = self._order[np.minimum(self.values.searchsorted(numbers, sorter=self._order), len(self.values) - 1)]
        if not np.array_equal(self.values[places], numbers):
            return super().indices(labels)
        return places.astype(np.int32)


class TextLabels(Labels):
    """Text labels, stored as one UTF-8 blob and decoded on demand, so that a file of them can be memory-mapped.

    Parameters
    ----------
    blob : the labels, concatenated, in UTF-8.
    offsets : offset of each label in the blob and, last, the length of the blob.
    order : positions of the labels in the order of their bytes, if known: a single label is then found by bisection.

    >>> names = TextLabels.from_labels(["apple", "pear", "fig"])
    >>> names[1], names.index("fig")
    ('pear', 2)
    """

    def __init__(self, blob: NDArray[np.uint8], offsets: Int64, order: NDArray[Any] | None = None) -> None:
        self.blob, self.offsets, self.order = blob, offsets, order

    @classmethod
    def from_labels(cls, labels: Iterable[str]) -> TextLabels:
        """Build from strings that UTF-8 can encode."""
        encoded = [label.encode() for label in labels]
        offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    def sort(self) -> Int32:
        """Return the positions of the labels in the order of their bytes."""
        encoded = [label.encode() for label in self]
        return np.array(sorted(range(len(self)), key=encoded.__getitem__), np.int32)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, position: int) -> str:
        return self._get_bytes(range(len(self))[position]).decode()

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _CHUNK):
            offsets = self.offsets[first : first + _CHUNK + 1].tolist()
            data = self.blob[offsets[0] : offsets[-1]].tobytes()
            for begin, end in pairwise(offsets):
                yield data[begin - offsets[0] : end - offsets[0]].decode()

    def index(self, label: Hashable) -> int:
        if self.order is None or not isinstance(label, str):
            return super().index(label)
        wanted = label.encode(errors="replace")
        place = bisect_left(self.order, wanted, key=self._get_bytes)
        if place < len(self) and self[int(self.order[place])] == label:
            return int(self.order[place])
        raise KeyError(label)

    def indices(self, labels: Sequence[Hashable]) -> Int32:
        find = self.index if len(labels) < _CHUNK else self._positions.__getitem__
        return np.asarray([find(label) for label in labels], np.int32)

    def _get_bytes(self, position: int) -> bytes:
        return self.blob[self.offsets[position] : self.offsets[position + 1]].tobytes()


def as_labels(labels: Sequence[Hashable], titles: Iterable[str] | None = None) -> Labels:
    """Return a container for `labels`, a range if they are 0, 1, ..., n - 1 in order, with titles that differ."""
    is_range = all(type(label) is int and label == position for position, label in enumerate(labels))
    names = RangeLabels(len(labels)) if is_range else ListLabels(labels)
    shown = None if titles is None else tuple(titles)
    if shown and any(title != label for title, label in zip(shown, map(str, labels), strict=True)):
        names.titles = shown
    return names


def name_nodes(names: Labels) -> list[str]:
    """Return the names by which nodes are shown: their titles, or the labels of those that share a title."""
    titles = names.titles or list(map(str, names))
    uses = Counter(titles)
    return [title if uses[title] == 1 else str(label) for title, label in zip(titles, names, strict=True)]


def as_plain(label: Any) -> Any:
    """Return the value of a scalar of numpy or a tensor without dimensions; any other label as it is.

    >>> as_plain(np.array(3)), as_plain("3")
    (3, '3')
    """
    if isinstance(label, np.generic):
        return label.item()
    return np.asarray(label).item() if hasattr(label, "__array__") and np.ndim(label) == 0 else label


def is_array(values: Any) -> bool:
    """Return whether this is an array or a tensor, but no scalar, and no frame or series of pandas."""
    return hasattr(values, "__array__") and np.ndim(values) > 0 and not hasattr(values, "iloc")


def find_label(names: Labels, label: Any) -> int | None:
    """Return the position of a label, or None if there is none."""
    try:
        return names.index(as_plain(label))
    except (KeyError, TypeError):  # TypeError: not hashable
        return None


def make_unknown_node_error(label: object, names: Labels) -> UnknownNodeError:
    """Return the error for a label that is not in `names`, with similar labels if there are any."""
    missing = f"the graph has no node {quote_value(label)}"
    if len(names) == 0:
        return UnknownNodeError(f"{missing}; it is empty.")
    if isinstance(label, str) and label.isdecimal() and len(label) < 20 and find_label(names, int(label)) is not None:
        return UnknownNodeError(f"{missing}, but it has the number {int(label)}; give it without quotes.")
    titled = [quote_value(names[position]) for position, title in enumerate(names.titles or ()) if title == label]
    if titled:
        return UnknownNodeError(
            f"{len(titled)} nodes are called {quote_value(label)}; give one of {', '.join(titled[:5])}."
        )
    near = [quote_value(name) for name in suggest_labels(label, names)]
    if near:
        return UnknownNodeError(f"{missing}; the nearest names are {', '.join(near)}.")
    first = ", ".join(quote_value(names[position]) for position in range(min(3, len(names))))
    return UnknownNodeError(f"{missing}; its {len(names)} nodes start with {first}.")


def suggest_labels(label: object, names: Labels, count: int = 3) -> list[Hashable]:
    """Return up to `count` labels that differ little from `label`, the most similar first, ignoring case.

    In a large graph, only labels that begin or end like the wanted one are compared.

    >>> suggest_labels("aple", TextLabels.from_labels(["pear", "Apple", "maple"]))
    ['maple', 'Apple']
    """
    if not isinstance(label, str) or not 0 < len(label) <= 200 or isinstance(names, RangeLabels | IntegerLabels):
        return []
    wanted = label.lower()
    texts: dict[str, Hashable] = {}
    for name, shown in chain(zip(names, names, strict=True), zip(names, names.titles or (), strict=False)):
        text = str(shown).lower()
        if len(names) <= _MAX_COMPARED or text[:3] == wanted[:3] or text[-3:] == wanted[-3:]:
            texts[text] = name
            if len(texts) == _MAX_COMPARED:
                break
    return list(dict.fromkeys(texts[text] for text in difflib.get_close_matches(wanted, texts, n=count)))


def _as_integers(labels: Sequence[Hashable]) -> Int64 | None:
    """Return the labels as an array, or None unless there are some and all are Python integers of 64 bits."""
    if set(map(type, labels)) != {int}:
        return None
    try:
        return np.fromiter(labels, np.int64, len(labels))
    except OverflowError:
        return None


def _index_texts(texts: Iterable[str]) -> dict[str, int | None]:
    """Return the position of every text; None if it occurs several times."""
    found: dict[str, int | None] = {}
    for position, text in enumerate(texts):
        found[text] = None if text in found else position
    return found


class LabelReader:
    """Find the nodes of one graph that values from a command line, a file or a JSON document denote.

    A value denotes the node with this label or, if there is none, the node whose label prints like it; then the only
    node with this title.

    >>> from curiograph.graph.toys import cycle, grid
    >>> LabelReader(cycle(4)).walk([0, "1"])
    [0, 1]
    >>> LabelReader(grid(2, 2)).find("(1, 0)")
    2
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @cached_property
    def _positions_by_text(self) -> dict[str, int]:
        """Positions of labels of any type by how they print; empty where the label types make it unnecessary."""
        names = self.graph.names
        return {str(label): place for place, label in enumerate(names)} if isinstance(names, ListLabels) else {}

    @cached_property
    def _positions_by_title(self) -> dict[str, int | None]:
        return _index_texts(self.graph.titles or ())

    @cached_property
    def _positions_by_form(self) -> dict[str, int | None]:
        return _index_texts(map(loosen_label, self.graph.names))

    def find_exact(self, label: Hashable) -> int | None:
        """Return the position of the node with this label, or None."""
        return find_label(self.graph.names, label)

    def find(self, value: Hashable) -> int | None:
        """Return the position of the node that a value denotes, or None."""
        if isinstance(value, float) and value.is_integer():  # pandas makes floats of a column of integers with gaps
            value = int(value)
        found = self.find_exact(value)
        if found is None and isinstance(value, str) and re.fullmatch(r"-?\d{1,19}", value):
            found = self.find_exact(int(value))
        if found is None and not isinstance(value, str):
            found = self.find_exact(str(value))
        if found is None:
            found = self._positions_by_text.get(str(value), self._positions_by_title.get(str(value)))
        return found

    def position(self, value: Hashable) -> int:
        """Return the position of the node that a value denotes; raise UnknownNodeError with similar labels if none."""
        found = self.find(value)
        return self.graph.position(value) if found is None else found

    def label(self, value: Hashable) -> Hashable:
        """Return the label of the node that a value denotes."""
        return self.graph.label(self.position(value))

    def walk(self, values: Iterable[Hashable]) -> list[Hashable]:
        """Return the labels of the nodes that values denote, in order."""
        return [self.label(value) for value in values]

    def match_names(
        self,
        names: Labels,
        used: NDArray[Any],
        *,
        loose: bool = False,
        redirects: Mapping[Hashable, Hashable] | None = None,
    ) -> Int32:
        """Return the position in the graph of every name that `used` contains by its number, and -1 for the others.

        A name that is text or a float is found by `find`, any other by `find_exact`; then by `redirects`, and if
        `loose`, by its loose form, unless several labels have it.

        >>> from curiograph.graph.toys import cycle
        >>> LabelReader(cycle(4)).match_names(ListLabels(["2", "x", 3]), np.array([0, 1, 2]))
        array([ 2, -1,  3], dtype=int32)
        """
        if names is self.graph.names:
            return np.arange(len(names), dtype=np.int32)
        positions = np.full(len(names), -1, np.int32)
        targets = dict(redirects or {})
        forms: dict[str, Hashable] = {}
        for label, target in targets.items() if loose else ():
            form = loosen_label(label)
            forms[form] = target if forms.get(form, target) == target else None  # None: several targets
        for number in np.unique(used).tolist():
            label = names[number]
            found = self.find(label) if isinstance(label, str | float) else self.find_exact(label)
            if found is None and label in targets:
                found = self.find(targets[label])
            if found is None and loose:
                form = loosen_label(label)
                found = self._positions_by_form.get(form)
                if found is None and (target := forms.get(form)) is not None:
                    found = self.find(target)
                    found = self._positions_by_form.get(loosen_label(target)) if found is None else found
            positions[number] = -1 if found is None else found
        return positions


def loosen_label(label: Hashable) -> str:
    """Return a label without case, percent-encoding, underscores and differences of Unicode form.

    >>> loosen_label("S%C3%A3o_Paulo") == loosen_label("sa\u0303o  PAULO")
    True
    """
    text = unicodedata.normalize("NFKC", unquote(str(label))).replace("_", " ")
    return unicodedata.normalize("NFKC", " ".join(text.split()).casefold())
