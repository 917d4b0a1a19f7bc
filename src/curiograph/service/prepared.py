"""What a recommender knows: learn what is missing one node at a time, or answer from what there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from curiograph.arrays import Float64, Int32
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.recommendation.prepared import CuriousRanker
from curiograph.recommendation.ranker import Ranker
from curiograph.recommendation.rankers import MixtureRanker
from curiograph.recommendation.recommender import Recommender
from curiograph.service.time_limits import StopCheck


def prepare_nodes(recommender: Recommender, nodes: Iterable[int], check: StopCheck) -> None:
    """Find out what recommendations for these nodes (positions) need; `check` raises where that is to stop."""
    graph = recommender.graph
    for node in dict.fromkeys(nodes):
        for part in _curious(recommender):
            if node not in part.kept.get(graph, {}):
                check()
                part.prepare(graph, [graph.label(node)])


def find_prepared_nodes(recommender: Recommender, nodes: Iterable[int]) -> list[int]:
    """Those of some nodes about which all walkers are known."""
    kept = [part.kept.get(recommender.graph, {}) for part in _curious(recommender)]
    return [node for node in nodes if all(node in parts for parts in kept)]


def copy_if_full(recommender: Recommender, most: int) -> Recommender:
    """The recommender itself while there is room to keep what it learns, `most` numbers in all; otherwise one that
    knows the same, learns for itself and is thrown away."""
    graph = recommender.graph
    kept = [each for part in _curious(recommender) for each in part.kept.get(graph, {}).copy().values()]
    if sum(len(part.nodes) for part in kept) < most:
        return recommender
    copies = {
        name: replace(part, kept={graph: part.kept.get(graph, {}).copy()}) if isinstance(part, CuriousRanker) else part
        for name, part in recommender.ranker.parts().items()
    }
    return _mixed(recommender, copies)


def restrict_to_prepared(recommender: Recommender) -> Recommender:
    """A recommender that never lets walkers walk: it takes those nodes of a history about which all is known, and
    PageRank alone where there are none."""
    parts = {
        name: _KnownRanker(recommender, part) if isinstance(part, CuriousRanker) else part
        for name, part in recommender.ranker.parts().items()
    }
    return _mixed(recommender, parts)


def _mixed(recommender: Recommender, parts: Mapping[str, Ranker]) -> Recommender:
    """A recommender with other parts, of the same weights."""
    return Recommender(recommender.graph, MixtureRanker(parts, getattr(recommender.ranker, "weights", None)))


def _curious(recommender: Recommender) -> list[CuriousRanker]:
    return [part for part in recommender.ranker.parts().values() if isinstance(part, CuriousRanker)]


@dataclass(frozen=True, eq=False)
class _KnownRanker(Ranker):
    """Zero for a history about which nothing is known."""

    recommender: Recommender
    ranker: CuriousRanker
    zero_is_unreached = True

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.ranker.name

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return self._each(self.ranker.scores, graph, histories, candidates)

    def errors(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return self._each(self.ranker.errors, graph, histories, candidates)

    def _each(
        self, ask: Callable[..., Float64], graph: Graph, histories: Sequence[Int32], candidates: Candidates
    ) -> Float64:
        found = np.zeros(len(candidates.nodes))
        for history, (a, b) in zip(histories, pairwise(candidates.offsets.tolist()), strict=True):
            known = find_prepared_nodes(self.recommender, history.tolist())
            if known:
                alone = Candidates(np.array([0, b - a]), candidates.nodes[a:b])
                found[a:b] = ask(graph, [np.asarray(known, np.int32)], alone)
        return found
