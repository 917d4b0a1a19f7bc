"""Labels in JSON: find the nodes that JSON values denote, and encode labels as JSON values."""

from __future__ import annotations

import heapq
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


def search_nodes(graph: Graph, text: str, limit: int) -> list[int]:
    """Search nodes whose title contains a text: those that begin with it first, then the shortest first.

    Case is ignored, and underscores are read as spaces.
    """
    pattern = _fold_case(text)
    folded = enumerate(map(_fold_case, graph.titles or graph.names))
    matches = ((not name.startswith(pattern), len(name), name, node) for node, name in folded if pattern in name)
    return [node for *_, node in heapq.nsmallest(limit, matches)]


def _fold_case(label: Hashable) -> str:
    return str(encode_label(label)).casefold().replace("_", " ")
