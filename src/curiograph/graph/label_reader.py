"""Find the nodes that text or JSON values denote."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from functools import cached_property

from curiograph.graph.graph import Graph
from curiograph.graph.labels import IntegerLabels, RangeLabels, TextLabels, find_label


class LabelReader:
    """Find the nodes of one graph that values from a command line, a file or a JSON document denote.

    A value denotes the node with this label or, if there is none, the node whose label prints like it.

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
        if isinstance(names, TextLabels | RangeLabels | IntegerLabels):
            return {}
        return {str(label).encode("utf-8", "replace").decode(): position for position, label in enumerate(names)}

    def find_exact(self, label: Hashable) -> int | None:
        """Return the position of the node with this label, or None."""
        return find_label(self.graph.names, label)

    def find(self, value: Hashable) -> int | None:
        """Return the position of the node that a value denotes, or None."""
        found = self.find_exact(value)
        if found is None and isinstance(value, str) and re.fullmatch(r"-?\d{1,19}", value):
            found = self.find_exact(int(value))
        if found is None and not isinstance(value, str):
            found = self.find_exact(str(value))
        return self._positions_by_text.get(str(value)) if found is None else found

    def position(self, value: Hashable) -> int:
        """Return the position of the node that a value denotes.

        Raise UnknownNodeError with the nearest labels if there is none, which takes seconds on a large graph.
        """
        found = self.find(value)
        return self.graph.position(value) if found is None else found

    def label(self, value: Hashable) -> Hashable:
        """Return the label of the node that a value denotes."""
        return self.graph.label(self.position(value))

    def walk(self, values: Iterable[Hashable]) -> list[Hashable]:
        """Return the labels of the nodes that values denote, in order."""
        return [self.label(value) for value in values]
