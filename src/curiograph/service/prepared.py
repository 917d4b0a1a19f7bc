"""Prepared nodes of a recommender: add missing ones, or recommend from those that are prepared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from curiograph.centrality.history import History
from curiograph.recommendation.curious_ranker import CuriousRanker, Part
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

    return recommender.replace_curious(copy_ranker)


class PreparedRecommender(Recommender):
    """A recommender that runs no simulation: it uses the prepared nodes of a history, and PageRank alone if none is."""

    def __init__(self, recommender: Recommender) -> None:
        prepared = recommender.replace_curious(lambda ranker: replace(ranker, simulates=False))
        super().__init__(recommender.graph, prepared.ranker)
        self._recommender = recommender

    def find_missing(self, nodes: Iterable[int]) -> list[int]:
        """Return no nodes: whatever is not prepared is left out."""
        return []

    def find_used_nodes(self, history: History) -> list[int]:
        """Return the prepared nodes of a history."""
        return find_prepared_nodes(self._recommender, history.nodes.tolist())
