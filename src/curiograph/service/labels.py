"""Labels as JSON: what a client's text or number means in a graph, and how a graph's labels are shown."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property

from curiograph.errors import WalkError
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
    def _by_text(self) -> dict[str, Hashable]:
        return {str(shown(label)): label for label in self.graph.names}

    def label(self, given: JsonLabel) -> Hashable:
        """The label of the graph that is meant: itself, or the one that looks like it; raises if there is none."""
        if given in self.graph:
            return given
        found = self._by_text.get(str(given))
        if found is None:
            self.graph.position(given)  # raises, with the nearest names
        return found

    def walk(self, given: Iterable[JsonLabel]) -> list[Hashable]:
        """The labels of a walk or a history, at least one."""
        labels = [self.label(each) for each in given]
        if not labels:
            raise WalkError("the list of nodes is empty; give at least one label.")
        return labels

    def search(self, text: str, limit: int) -> list[JsonLabel]:
        """Labels that contain a text, whatever the capitals: those that begin with it first, short ones first.

        >>> from curiograph.graph.toys import library
        >>> Labels(library()).search("m", 3)
        ['music', 'medicine', 'mathematics']
        """
        wanted = text.casefold()
        found = [(each.casefold(), each) for each in self._by_text if wanted in each.casefold()]
        found.sort(key=lambda pair: (not pair[0].startswith(wanted), len(pair[0]), pair[0]))
        return [shown(self._by_text[each]) for _, each in found[:limit]]


def all_shown(labels: Sequence[Hashable]) -> list[JsonLabel]:
    """Several labels as JSON shows them."""
    return [shown(label) for label in labels]
