"""Labels as JSON: what a client's text or number means in a graph, and how a graph's labels are shown."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property

from curiograph.centrality.history import Visited
from curiograph.graph.container import Graph

JsonLabel = str | int | float

_MOST = 2**53
"""Whole numbers up to this are the same in every JSON reader; larger ones are shown as text."""


def shown(label: Hashable) -> JsonLabel:
    """A label as JSON shows it: text and numbers as they are, anything else as its text.

    >>> shown("music"), shown(7), shown((0, 1)), shown(2**60)
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


class Labels:
    """What labels in JSON mean in one graph.

    >>> from curiograph.graph.toys import cycle
    >>> Labels(cycle(4)).walk([0, "1"])
    [0, 1]
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {label: position for position, label in enumerate(self.graph.names)}

    @cached_property
    def _by_text(self) -> dict[str, int]:
        return {str(shown(label)): position for position, label in enumerate(self.graph.names)}

    def position(self, given: JsonLabel) -> int:
        """The node that is meant: the one called so, or the one whose label looks like it; raises if there is none."""
        found = self._positions.get(given)
        if found is None:
            found = self._by_text.get(str(given))
        return self.graph.position(given) if found is None else found  # raises, with the nearest names

    def label(self, given: JsonLabel) -> Hashable:
        """The label of the node that is meant."""
        return self.graph.label(self.position(given))

    def walk(self, given: Iterable[JsonLabel]) -> list[Hashable]:
        """The labels of the nodes of a walk."""
        return [self.label(each) for each in given]

    def visited(self, given: Sequence[JsonLabel]) -> Visited:
        """What a history says that its user visited."""
        return Visited.of([self.position(each) for each in given])

    def search(self, text: str, limit: int) -> list[JsonLabel]:
        """Labels that contain a text, whatever the capitals: those that begin with it first, short ones first.

        >>> from curiograph.graph.toys import library
        >>> Labels(library()).search("m", 3)
        ['music', 'medicine', 'mathematics']
        """
        wanted = text.casefold()
        found = [(each.casefold(), each) for each in self._by_text if wanted in each.casefold()]
        found.sort(key=lambda pair: (not pair[0].startswith(wanted), len(pair[0]), pair[0]))
        return [shown(self.graph.label(self._by_text[each])) for _, each in found[:limit]]


def all_shown(labels: Sequence[Hashable]) -> list[JsonLabel]:
    """Several labels as JSON shows them."""
    return [shown(label) for label in labels]
