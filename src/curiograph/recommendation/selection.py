"""Which candidates are recommended: labels to exclude or to allow, diversity, and histories with unknown labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.history import History, list_labels
from curiograph.errors import SettingError
from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader
from curiograph.messages import quote_value
from curiograph.validation import check_choice, is_number

Unknown = Literal["error", "skip"]
"""What to do with labels of a history that the graph does not have."""
Filter: TypeAlias = Callable[[Any], bool] | Iterable[Hashable] | None
"""A function of a label that returns whether it may be recommended, or the labels that may be."""

_POOL = 10
"""The best candidates, so many times the number of recommendations, from which a diverse list is selected."""
_FIRST_CHECKED = 64  # candidates that a filter function checks first; then four times as many, and so on
_NOBODY = History(np.empty(0, np.int32), -1)
"""The history of a user who has visited nothing."""


@dataclass(frozen=True, eq=False)
class Selection:
    """How recommendations are selected from scored candidates."""

    excluded: Int32 = field(default_factory=lambda: np.empty(0, np.int32))
    """Positions that are never recommended."""
    allowed: Int32 | None = None
    """Positions that may be recommended; None for all."""
    accept: Callable[[Any], bool] | None = None
    """Function of a label that returns whether it may be recommended."""
    diversity: float = 0.0
    """From 0, the best scores, to 1, the least similar nodes."""

    @classmethod
    def create(cls, reader: LabelReader, exclude: Any = (), filter: Filter = None, diversity: Any = 0.0) -> Selection:
        """Return the selection that labels describe; labels that the graph does not have make no difference.

        >>> from curiograph.graph.toys import cycle
        >>> Selection.create(LabelReader(cycle(4)), exclude=["3", 9]).excluded.tolist()
        [3]
        """
        if not is_number(diversity) or not 0 <= diversity <= 1:
            raise SettingError(f"diversity is {quote_value(diversity)}; give a number from 0 to 1.")
        accept = filter if callable(filter) else None
        allowed = None if filter is None or accept else _find_labels(reader, "filter", filter, ", or a function of one")
        return cls(
            excluded=_find_labels(reader, "exclude", exclude),
            allowed=allowed,
            accept=accept,
            diversity=float(diversity),
        )

    def select(self, graph: Graph, nodes: Int32, scores: Float64, offered: NDArray[np.bool_], k: int) -> Int64:
        """Return the indices of the recommended ones of some candidates, best first.

        With `diversity`, they are selected one after the other from the 10 k best: each has the largest marginal
        relevance, (1 - diversity) times its score (scaled to 0 to 1 among these) minus diversity times its largest
        similarity to a node selected before. The similarity of two nodes is the Jaccard index of their closed
        neighborhoods.
        """
        if len(self.excluded):
            offered = offered & ~np.isin(nodes, self.excluded)
        if self.allowed is not None:
            offered = offered & np.isin(nodes, self.allowed)
        size = _POOL * k if self.diversity else k
        if self.accept is None:
            best = select_top(scores, offered, size)
        else:
            best = _select_accepted(graph, nodes, scores, offered, size, self.accept)
        if not self.diversity or len(best) < 2:
            return best[:k]
        relevance = scores[best] - scores[best].min()
        relevance /= max(relevance.max(), 1e-300)
        skeleton = graph.skeleton
        order: Int64 = kernels.diversity.select_diverse(
            skeleton.indptr, skeleton.indices, nodes[best], relevance, self.diversity, k
        )
        return np.asarray(best[order])


EVERYTHING = Selection()
"""The selection of the best scores."""


def _find_labels(reader: LabelReader, name: str, labels: Any, alternative: str = "") -> Int32:
    """Return the sorted positions of those labels that the graph has."""
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        raise SettingError(f"{name} is {quote_value(labels)}; give a list of labels{alternative}.")
    values = labels.tolist() if isinstance(labels, np.ndarray) else labels
    found = {reader.find(label) for label in values} - {None}
    return np.asarray(sorted(found), np.int32)  # type: ignore[type-var]


def _select_accepted(
    graph: Graph,
    nodes: Int32,
    scores: Float64,
    offered: NDArray[np.bool_],
    count: int,
    accept: Callable[[Any], bool],
) -> Int64:
    """Return the indices of the best candidates that a function accepts; it is called for the best ones first."""
    accepted: list[int] = []
    checked, size = 0, max(_FIRST_CHECKED, 4 * count)
    while True:
        best = select_top(scores, offered, size)
        for i in best[checked:].tolist():
            if accept(graph.label(int(nodes[i]))):
                accepted.append(i)
                if len(accepted) == count:
                    return np.asarray(accepted, np.int64)
        if len(best) < size:
            return np.asarray(accepted, np.int64)
        checked, size = size, 4 * size


def select_top(scores: Float64, offered: NDArray[np.bool_], k: int) -> Int64:
    """Return the indices of the k highest offered scores, best first, ties in order.

    >>> select_top(np.array([1.0, 3.0, 3.0, 9.0]), np.array([True, True, True, False]), 2).tolist()
    [1, 2]
    """
    indices = np.flatnonzero(offered)
    if len(indices) > k:
        least = np.partition(scores[indices], len(indices) - k)[len(indices) - k]
        indices = indices[scores[indices] >= least]
    return indices[np.argsort(-scores[indices], kind="stable")][:k]


# ---- histories ------------------------------------------------------------------------------------------------------


def check_unknown(unknown: Any) -> Unknown:
    """Return what to do with unknown labels; raise UnknownNameError for anything else."""
    choice: Unknown = check_choice("unknown", unknown, get_args(Unknown))
    return choice


def read_history(reader: LabelReader, history: Any, unknown: Unknown) -> tuple[History, list[Hashable]]:
    """Return the history that labels describe, and those labels that the graph does not have, if they are skipped.

    >>> from curiograph.graph.toys import cycle
    >>> history, skipped = read_history(LabelReader(cycle(4)), [1, "2", "moon"], "skip")
    >>> history.nodes.tolist(), skipped
    ([1, 2], ['moon'])
    """
    labels = getattr(history, "nodes", history)
    if not isinstance(labels, (str, bytes)) and hasattr(labels, "__len__") and len(labels) == 0:
        return _NOBODY, []
    values = list_labels("the history", labels)
    if unknown == "error":
        return History.from_visits([reader.position(value) for value in values]), []
    positions = [reader.find(value) for value in values]
    visits = [position for position in positions if position is not None]
    skipped = [value for value, position in zip(values, positions, strict=True) if position is None]
    return History.from_visits(visits) if visits else _NOBODY, skipped
