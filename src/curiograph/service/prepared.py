"""Prepared nodes of a recommender: add missing ones, or recommend from those that are prepared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from curiograph.arrays import Float64, Int32
from curiograph.centrality.history import History
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.recommendation.prepared import CuriousRanker, Part
from curiograph.recommendation.ranker import Ranker
from curiograph.recommendation.rankers import MixtureRanker
from curiograph.recommendation.recommender import Recommender


def find_prepared_nodes(recommender: Recommender, nodes: Sequence[int]) -> list[int]:
    """Return those of some nodes that are prepared for all curious rankers."""
    missing = set(recommender.find_missing(nodes))
    return [node for node in nodes if node not in missing]


def add_parts(recommender: Recommender, nodes: Sequence[int], parts: Mapping[str, Sequence[Part]]) -> int:
    """Add the parts of those of some nodes that have none; return the number of values added."""
    num_added = 0
    for name, ranker in recommender.curious_rankers.items():
        kept = ranker.kept.setdefault(recommender.graph, {})
        for node, part in zip(nodes, parts[name], strict=True):
            if node not in kept:  # another request may have added it meanwhile
                kept[node] = part
                num_added += len(part.nodes)
    return num_added


def copy_recommender(recommender: Recommender, nodes: Iterable[int]) -> Recommender:
    """Copy a recommender with the parts of some nodes only; parts added to the copy are freed with it."""
    graph, nodes = recommender.graph, set(nodes)

    def copy_ranker(ranker: CuriousRanker) -> CuriousRanker:
        kept = ranker.kept.get(graph, {})
        return replace(ranker, kept={graph: {node: kept[node] for node in nodes & kept.keys()}})

    return Recommender(graph, _replace_curious(recommender, copy_ranker))


class PreparedRecommender(Recommender):
    """A recommender that runs no simulation: it uses the prepared nodes of a history, and PageRank alone if none is."""

    def __init__(self, recommender: Recommender) -> None:
        mixture = _replace_curious(recommender, lambda ranker: _PreparedRanker(recommender, ranker))
        super().__init__(recommender.graph, mixture)
        self._recommender = recommender

    def find_used_nodes(self, history: History) -> list[int]:
        """Return the prepared nodes of a history."""
        return find_prepared_nodes(self._recommender, history.nodes.tolist())


@dataclass(frozen=True, eq=False)
class _PreparedRanker(Ranker):
    """Scores of a curious ranker from the prepared nodes of each history; zero if none is prepared."""

    recommender: Recommender
    ranker: CuriousRanker
    zero_is_unreached = True

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.ranker.name

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return self._apply(self.ranker.scores, graph, histories, candidates)

    def errors(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return self._apply(self.ranker.errors, graph, histories, candidates)

    def _apply(
        self, function: Callable[..., Float64], graph: Graph, histories: Sequence[Int32], candidates: Candidates
    ) -> Float64:
        values = np.zeros(len(candidates.nodes))
        for history, (first, last) in zip(histories, pairwise(candidates.offsets.tolist()), strict=True):
            nodes = find_prepared_nodes(self.recommender, history.tolist())
            if nodes:
                own = Candidates(np.array([0, last - first]), candidates.nodes[first:last])
                values[first:last] = function(graph, [np.asarray(nodes, np.int32)], own)
        return values


def _replace_curious(recommender: Recommender, make_ranker: Callable[[CuriousRanker], Ranker]) -> MixtureRanker:
    """Return the mixture of a recommender with its curious rankers replaced."""
    parts = {
        name: make_ranker(part) if isinstance(part, CuriousRanker) else part
        for name, part in recommender.ranker.parts().items()
    }
    return MixtureRanker(parts, getattr(recommender.ranker, "weights", None))
