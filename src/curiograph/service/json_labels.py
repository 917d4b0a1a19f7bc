"""Labels in JSON: find the nodes that JSON values denote, and encode labels as JSON values."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from curiograph.graph.graph import Graph
from curiograph.graph.labels import LabelReader

JsonLabel = str | int | float

_MAX_INTEGER = 2**53
"""Largest integer that every JSON reader represents exactly; larger ones are encoded as text."""


def encode_label(label: Hashable) -> JsonLabel:
    """Encode a label as a JSON value: text and numbers unchanged, other labels as text."""
    if isinstance(label, str):
        return label if label.isascii() else label.encode("utf-8", "replace").decode()
    if isinstance(label, float) and math.isfinite(label):
        return label
    if isinstance(label, int) and not isinstance(label, bool) and abs(label) <= _MAX_INTEGER:
        return label
    return str(label)


def encode_labels(labels: Sequence[Hashable]) -> list[JsonLabel]:
    """Encode several labels as JSON values."""
    return [encode_label(label) for label in labels]


class LabelIndex(LabelReader):
    """Find the nodes of one graph that JSON values denote, fast.

    Create it in a thread: the index of a large graph takes a second or two.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._positions = {label: position for position, label in enumerate(graph.names)}
        self.find("")  # build the index of printed labels now

    def find_exact(self, label: Hashable) -> int | None:
        """Return the position of the node with this label, or None."""
        return self._positions.get(label)
