"""Which candidates are recommended: labels to exclude or to allow, diversity, and histories with unknown labels."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.history import History, list_labels
from curiograph.errors import SettingError, quote_value
from curiograph.exploration.mdp import Candidates
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.graph.labels import LabelReader
from curiograph.validation import is_number

Unknown = Literal["error", "skip"]
"""What to do with labels of a history that the graph does not have."""
Filter: TypeAlias = Callable[[Any], bool] | Iterable[Hashable] | None
"""A function of a label that returns whether it may be recommended, or the labels that may be."""

_POOL = 10  # a diverse list is selected from so many times as many of the best candidates


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
        """Return the selection that labels describe; labels that the graph does not have make no difference."""
        if not is_number(diversity) or not 0 <= diversity <= 1:
            raise SettingError(f"diversity is {quote_value(diversity)}; give a number from 0 to 1.")

        def find_labels(name: str, labels: Any) -> Int32:
            if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
                raise SettingError(f"{name} is {quote_value(labels)}; give a list of labels.")
            values = labels.tolist() if isinstance(labels, np.ndarray) else labels
            return np.asarray(sorted({reader.find(label) for label in values} - {None}), np.int32)  # type: ignore

        excluded = find_labels("exclude", exclude)
        if filter is None or callable(filter):
            return cls(excluded, None, filter, float(diversity))
        return cls(excluded, find_labels("filter", filter), None, float(diversity))

    def choose(self, graph: Graph, nodes: Int32, scores: Float64, k: int) -> Int64:
        """Return the places of the recommended ones of the best candidates, which are ordered.

        With `diversity`, they are selected one after the other from the 10 k best: each has the largest marginal
        relevance, (1 - diversity) times its score (scaled to 0 to 1 among these) minus diversity times its largest
        similarity to a node selected before. The similarity of two nodes is the Jaccard index of their closed
        neighborhoods.
        """
        accept = self.accept
        places = (place for place, v in enumerate(nodes.tolist()) if accept is None or accept(graph.label(v)))
        best = np.fromiter(islice(places, _POOL * k if self.diversity else k), np.int64)
        if not self.diversity or len(best) < 2:
            return best
        relevance = scores[best] - scores[best].min()
        relevance /= max(relevance.max(), 1e-300)
        similarity, chosen = compute_jaccard(graph, nodes[best]), [0]
        while len(chosen) < min(k, len(best)):
            value = (1.0 - self.diversity) * relevance - self.diversity * similarity[chosen].max(axis=0)
            value[chosen] = -np.inf
            chosen.append(int(value.argmax()))  # of equal ones, the first
        return best[chosen]


def compute_jaccard(graph: Graph, nodes: Int32) -> Float64:
    """Return the Jaccard index of the closed neighborhoods, a node with all its neighbors, of every pair of nodes.

    >>> from curiograph.graph.toys import cycle
    >>> compute_jaccard(cycle(5), np.array([0, 1, 3], np.int32)).tolist()
    [[1.0, 0.5, 0.2], [0.5, 1.0, 0.2], [0.2, 0.2, 1.0]]
    """
    import scipy.sparse

    rows = graph.skeleton
    counts = rows.degrees[nodes]
    neighbors = rows.indices[concatenate_ranges(rows.indptr[nodes], counts)]
    places = np.append(np.repeat(np.arange(len(nodes)), counts), np.arange(len(nodes)))
    around = np.append(neighbors, nodes)
    matrix = scipy.sparse.csr_array((np.ones(len(around)), (places, around)), (len(nodes), graph.num_nodes))
    common = (matrix @ matrix.T).toarray()
    return np.asarray(common / (np.add.outer(counts + 1, counts + 1) - common))


def select_best(
    graph: Graph,
    candidates: Candidates,
    scores: Float64,
    offered: NDArray[np.bool_],
    selections: Sequence[Selection],
    k: int,
) -> list[Int64]:
    """Return the indices of the recommended candidates of each user, best first; ties are in order of position.

    The candidates that a selection excludes are removed from `offered`.
    """
    nodes, sizes = candidates.nodes, []
    for selection, (a, b) in zip(selections, pairwise(candidates.offsets.tolist()), strict=True):
        if len(selection.excluded):
            offered[a:b] &= ~np.isin(nodes[a:b], selection.excluded)
        if selection.allowed is not None:
            offered[a:b] &= np.isin(nodes[a:b], selection.allowed)
        sizes.append(sys.maxsize if selection.accept is not None else _POOL * k if selection.diversity else k)
    bounds, counts, found = kernels.top_scores.find_largest(candidates.offsets, scores, offered, np.array(sizes))
    chosen = []
    for selection, first, count in zip(selections, bounds.tolist(), counts.tolist(), strict=False):
        best = found[first : first + count]
        best = best[np.lexsort((best, -scores[best]))]
        chosen.append(best[selection.choose(graph, nodes[best], scores[best], k)])
    return chosen


def read_history(reader: LabelReader, history: Any, unknown: Unknown) -> tuple[History, list[Hashable]]:
    """Return the history that labels describe, and those labels that the graph does not have, if they are skipped."""
    values = list_labels("the history", getattr(history, "nodes", history), least=0)
    find = reader.position if unknown == "error" else reader.find
    positions = [find(value) for value in values]
    visits = [position for position in positions if position is not None]
    skipped = [value for value, position in zip(values, positions, strict=True) if position is None]
    return History.from_visits(visits), skipped
