"""Find the nodes that text or JSON values denote."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int32
from curiograph.graph.graph import Graph
from curiograph.graph.labels import Labels, ListLabels, find_label


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
        return {str(label): place for place, label in enumerate(names)} if isinstance(names, ListLabels) else {}

    @cached_property
    def _positions_by_form(self) -> dict[str, int | None]:
        """Positions of labels by their loose form; None for a form that several labels have."""
        found: dict[str, int | None] = {}
        for place, label in enumerate(self.graph.names):
            form = loosen_label(label)
            found[form] = None if form in found else place
        return found

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
        return self._positions_by_text.get(str(value)) if found is None else found

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
        strict: bool,
        loose: bool = False,
        redirects: Mapping[Hashable, Hashable] | None = None,
    ) -> Int32:
        """Return the position in the graph of every name that `used` contains by its number, and -1 for the others.

        A name that is text or a float is found by `find`, any other by `find_exact`; then by `redirects`, and if
        `loose`, by its loose form, unless several labels have it. If `strict`, raise UnknownNodeError for the first
        used name that is not in the graph; otherwise its position is -1.

        >>> from curiograph.graph.toys import cycle
        >>> LabelReader(cycle(4)).match_names(ListLabels(["2", "x", 3]), np.array([0, 1, 2]), strict=False)
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
        distinct, first = np.unique(used, return_index=True)
        for number in distinct[np.argsort(first)].tolist():
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
            if found is not None:
                positions[number] = found
            elif strict:
                self.graph.position(label)  # raises with the nearest labels
        return positions


def loosen_label(label: Hashable) -> str:
    """Return a label without case, percent-encoding, underscores and differences of Unicode form.

    >>> loosen_label("S%C3%A3o_Paulo") == loosen_label("sa\u0303o  PAULO")
    True
    """
    text = unicodedata.normalize("NFKC", unquote(str(label))).replace("_", " ")
    return unicodedata.normalize("NFKC", " ".join(text.split()).casefold())
