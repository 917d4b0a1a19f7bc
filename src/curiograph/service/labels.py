"""Labels as JSON: what a client's text or number means in a graph, and how a graph's labels are shown."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from operator import itemgetter

import numpy as np

from curiograph.centrality.history import History
from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader

JsonLabel = str | int | float

_MOST = 2**53
"""Whole numbers up to this are the same in every JSON reader; larger ones are shown as text."""


def encode_label(label: Hashable) -> JsonLabel:
    """A label as JSON shows it: text and numbers as they are, anything else as its text.

    >>> encode_label("music"), encode_label(7), encode_label((0, 1)), encode_label(2**60)
    ('music', 7, '(0, 1)', '1152921504606846976')
    """
    if isinstance(label, str):
        return label if label.isascii() else label.encode("utf-8", "replace").decode()
    if isinstance(label, bool):
        return str(label)
    if isinstance(label, int):
        return label if abs(label) <= _MOST else str(label)
    if isinstance(label, float):
        return label if math.isfinite(label) else str(label)
    return str(label)


class Labels(LabelReader):
    """Find and search the nodes of one graph that JSON values denote.

    Create it in a thread: the index of a large graph takes a second or two.

    >>> from curiograph.graph.toys import cycle
    >>> Labels(cycle(4)).walk([0, "1"])
    [0, 1]
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._positions = {label: position for position, label in enumerate(graph.names)}
        self.find("")  # build the index of printed labels

    def find_exact(self, label: Hashable) -> int | None:
        """Return the position of the node with this label, or None."""
        return self._positions.get(label)

    def knows(self, given: Iterable[JsonLabel]) -> bool:
        """Return whether all values denote nodes, so that looking them up is fast."""
        return all(self.find(each) is not None for each in given)

    def visited(self, given: Sequence[JsonLabel]) -> History:
        """What a history says that its user visited."""
        return History.from_visits([self.position(each) for each in given])

    @cached_property
    def _by_length(self) -> list[Hashable]:
        """All labels, short ones first."""
        labels = list(self._positions)
        lengths = np.fromiter((len(_folded(label)) for label in labels), np.int64, len(labels))
        return [labels[position] for position in np.argsort(lengths, kind="stable").tolist()]

    def search(self, text: str, limit: int) -> list[JsonLabel]:
        """Labels that contain a text, whatever the capitals: those that begin with it first, short ones first.

        >>> from curiograph.graph.toys import library
        >>> Labels(library()).search("m", 3)
        ['music', 'medicine', 'mathematics']
        """
        wanted = text.casefold()
        begin: list[tuple[int, str, Hashable]] = []
        contain: list[tuple[int, str, Hashable]] = []
        for label in self._by_length:
            folded = _folded(label)
            if wanted in folded:
                kept = begin if folded.startswith(wanted) else contain
                if len(kept) < limit or len(folded) == kept[-1][0]:
                    kept.append((len(folded), folded, label))
                elif kept is begin:
                    break  # all that follow are longer
        best = [*sorted(begin, key=itemgetter(0, 1)), *sorted(contain, key=itemgetter(0, 1))]
        return [encode_label(label) for _, _, label in best[:limit]]


def _folded(label: Hashable) -> str:
    return str(encode_label(label)).casefold()


def encode_labels(labels: Sequence[Hashable]) -> list[JsonLabel]:
    """Several labels as JSON shows them."""
    return [encode_label(label) for label in labels]
