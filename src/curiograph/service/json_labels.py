"""Labels in JSON: find the nodes that JSON values denote, and encode several labels as JSON values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from curiograph.graph.graph import Graph
from curiograph.graph.labels import LabelReader
from curiograph.results import JsonLabel as JsonLabel
from curiograph.results import encode_label as encode_label


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
