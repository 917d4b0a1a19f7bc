"""Labels in JSON: find the nodes that JSON values denote, and encode labels as JSON values."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cached_property
from operator import itemgetter

import numpy as np

from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader

JsonLabel = str | int | float

_MAX_INTEGER = 2**53
"""Largest integer that every JSON reader represents exactly; larger ones are encoded as text."""


def encode_label(label: Hashable) -> JsonLabel:
    """Encode a label as a JSON value: text and numbers unchanged, other labels as text.

    >>> encode_label("music"), encode_label(7), encode_label((0, 1)), encode_label(2**60)
    ('music', 7, '(0, 1)', '1152921504606846976')
    """
    if isinstance(label, str):
        return label if label.isascii() else label.encode("utf-8", "replace").decode()
    if isinstance(label, float) and math.isfinite(label):
        return label
    if isinstance(label, int) and not isinstance(label, bool) and abs(label) <= _MAX_INTEGER:
        return label
    return str(label)


class LabelIndex(LabelReader):
    """Find and search the nodes of one graph that JSON values denote.

    Create it in a thread: the index of a large graph takes a second or two.

    >>> from curiograph.graph.toys import cycle
    >>> LabelIndex(cycle(4)).walk([0, "1"])
    [0, 1]
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._positions = {label: position for position, label in enumerate(graph.names)}
        self.find("")  # build the index of printed labels now

    def find_exact(self, label: Hashable) -> int | None:
        """Return the position of the node with this label, or None."""
        return self._positions.get(label)

    @cached_property
    def _by_length(self) -> list[Hashable]:
        """All labels, the shortest first."""
        labels = list(self._positions)
        lengths = np.fromiter((len(_fold_case(label)) for label in labels), np.int64, len(labels))
        return [labels[position] for position in np.argsort(lengths, kind="stable").tolist()]

    def search(self, text: str, limit: int) -> list[JsonLabel]:
        """Search labels that contain a text: those that begin with it first, then the shortest first.

        Case is ignored, and underscores are read as spaces.

        >>> from curiograph.graph.toys import library
        >>> LabelIndex(library()).search("m", 3)
        ['music', 'medicine', 'mathematics']
        """
        pattern = _fold_case(text)
        beginning: list[tuple[int, str, Hashable]] = []
        containing: list[tuple[int, str, Hashable]] = []
        for label in self._by_length:
            folded = _fold_case(label)
            if pattern in folded:
                matches = beginning if folded.startswith(pattern) else containing
                if len(matches) < limit or len(folded) == matches[-1][0]:
                    matches.append((len(folded), folded, label))
                elif matches is beginning:
                    break  # all following labels are longer
        best = [*sorted(beginning, key=itemgetter(0, 1)), *sorted(containing, key=itemgetter(0, 1))]
        return [encode_label(label) for _, _, label in best[:limit]]


def _fold_case(label: Hashable) -> str:
    return str(encode_label(label)).casefold().replace("_", " ")


def encode_labels(labels: Sequence[Hashable]) -> list[JsonLabel]:
    """Encode several labels as JSON values."""
    return [encode_label(label) for label in labels]
