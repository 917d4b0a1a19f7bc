"""What a ranker is: something that scores candidates for users, given what they have visited."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.centrality.history import Teleport, discount
from curiograph.centrality.mixture import unit_weights
from curiograph.centrality.pagerank import pagerank
from curiograph.centrality.push import push
from curiograph.errors import RankerError
from curiograph.exploration.batch import Candidates
from curiograph.graph.container import Graph
from curiograph.graph.rows import Float64, Int32

_TOLERANCE = 1e-10
_SOLVED_WHOLE = 100_000  # nodes up to which PageRank is solved on the whole graph; beyond, around the history alone
_PUSHED = 64  # nodes whose scores are made as good as they get there
_AT_ONCE = 64  # histories solved together: bounds the memory


class Ranker(ABC):
    """Scores candidates for many users at once: the higher, the sooner it is offered.

    Your own ranker needs a `name` and `scores`; inherit from this class or not. `check_ranker` tells whether it keeps
    the contract.

    >>> class Popular(Ranker):
    ...     name = "popular"
    ...     def scores(self, graph, histories, candidates):
    ...         return graph.degrees[candidates.nodes].astype(float)
    """

    name: str = "ranker"

    @abstractmethod
    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        """A finite number for each of `candidates`: those of user i stand at `offsets[i]:offsets[i + 1]`.

        `histories[i]` are the positions that user i visited, each once, the last one last.
        """

    def parts(self) -> Mapping[str, Ranker]:
        """The rankers that this one is made of, by name."""
        return {self.name: self}

    def joined(self, scores: Mapping[str, Float64]) -> Float64:
        """The scores of this ranker, given those of its parts."""
        return scores[self.name]


def checked_ranks(ranker: Ranker, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
    """The ranker's scores, or a `RankerError` that says what is wrong with them."""
    given = ranker.scores(graph, histories, candidates)
    wanted = (len(candidates.nodes),)
    try:
        scores = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise RankerError(f"ranker {ranker.name!r} gave {given!r}; it must give one number per candidate.") from None
    if scores.shape != wanted:
        raise RankerError(f"ranker {ranker.name!r} gave scores of shape {scores.shape}; it must give {wanted}.")
    if not np.all(np.isfinite(scores)):
        bad = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise RankerError(f"ranker {ranker.name!r} gave {scores[bad]} for candidate {bad}; scores are finite numbers.")
    return scores


@dataclass(frozen=True)
class PageRankRanker(Ranker):
    """Personalised PageRank: exact on graphs of up to 100,000 nodes, by local push with small errors beyond."""

    alpha: float = 0.85
    name: str = "pagerank"

    def __post_init__(self) -> None:
        discount(self.alpha)

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        wanted = [candidates.nodes[a:b] for a, b in pairwise(candidates.offsets)]
        if graph.num_nodes > _SOLVED_WHOLE:
            return _joined([self._around(graph, *each) for each in zip(histories, wanted, strict=True)])
        scores = []
        for first in range(0, len(histories), _AT_ONCE):
            last = first + _AT_ONCE
            labels = [[graph.label(int(v)) for v in history] for history in histories[first:last]]
            rows = pagerank(graph, self.alpha, labels, tolerance=_TOLERANCE).scores
            scores += [row[nodes] for row, nodes in zip(rows, wanted[first:last], strict=True)]
        return _joined(scores)

    def _around(self, graph: Graph, history: Int32, wanted: Int32) -> Float64:
        q = Teleport(history, np.full(len(history), 1 / len(history)))
        found = push(graph, q, self.alpha, _PUSHED)
        order = np.argsort(found.nodes)
        return looked_up(found.nodes[order], found.scores[order], wanted)


def looked_up(nodes: Int32, values: NDArray[Any], wanted: Int32) -> Float64:
    """The values of some nodes, given those of others in ascending order: zero where there is none.

    >>> looked_up(np.array([2, 5]), np.array([0.2, 0.5]), np.array([5, 3]))
    array([0.5, 0. ])
    """
    if len(nodes) == 0:
        return np.zeros(len(wanted))
    place = np.minimum(np.searchsorted(nodes, wanted), len(nodes) - 1)
    return np.where(nodes[place] == wanted, values[place], 0.0).astype(np.float64)


def _joined(scores: list[Float64]) -> Float64:
    return np.concatenate(scores) if scores else np.zeros(0)


@dataclass(frozen=True, eq=False)
class MixtureRanker(Ranker):
    """A weighted sum of rankers, the weights scaled to the unit sphere; each has its own alpha."""

    components: Mapping[str, Ranker]
    weights: Mapping[str, float] | None = None
    name: str = "mixture"
    _unit: Mapping[str, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_unit", unit_weights(self.components, self.weights))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        parts = self.components.items()
        return self.joined({name: checked_ranks(part, graph, histories, candidates) for name, part in parts})

    def parts(self) -> Mapping[str, Ranker]:
        return self.components

    def joined(self, scores: Mapping[str, Float64]) -> Float64:
        return np.asarray(sum(weight * scores[name] for name, weight in self._unit.items()))


class AdaptedRanker(Ranker):
    """A user's object that scores candidates without being a `Ranker`."""

    def __init__(self, scorer: Any) -> None:
        self._scorer = scorer
        self.name = str(getattr(scorer, "name", type(scorer).__name__))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        scores: Float64 = self._scorer.scores(graph, histories, candidates)
        return scores
