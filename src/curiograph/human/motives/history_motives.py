"""Motives that score candidates by what the person has seen before, by meaning, or by the target of a game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError
from curiograph.graph.similarity import Similarity
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.choices.target_distances import target_distances
from curiograph.human.motives.graph_motives import Motive

_LEAKS = (1.0, 0.98, 0.9, 0.7)
_ETAS = (0.2, 0.5, 0.8, 0.95)
_DISCOUNTS = (0.0, 0.5, 0.8, 0.95)
_LEAST_TERMS, _MOST_TERMS = 6, 64
_SERIES_COST = 3e9  # products of terms, nodes and links: a few seconds
_TINY = 1e-12  # of a remembered transition probability
_DIGITS = 9  # of scores; beyond, they differ by rounding


@dataclass(frozen=True)
class VisitMotive(Motive):
    """Novelty, surprise, information gain or recency of the candidate, from counts of earlier visits of the person."""

    name: str
    kind: int
    """Code of the motive in `kernels.visit_counts`."""

    @property
    def parameters(self) -> tuple[float, ...]:  # type: ignore[override]
        """Factors of counts per visit; recency has none."""
        return (np.nan,) if self.name == "recency" else _LEAKS

    def score_candidates(self, choices: ChoiceSet, parameter: float = 1.0) -> Float64:
        walks, visits, candidates = choices.walks, choices.windows.visits, choices.candidates
        if walks is None or visits is None:
            raise SettingError(f"the motive {self.name} needs whole walks; use find_choices.")
        scores: Float64 = kernels.visit_counts.score_candidates(
            walks.nodes, walks.offsets, walks.users, visits, np.argsort(visits), candidates.offsets, candidates.nodes,
            choices.graph.degrees, self.kind, parameter,
        )  # fmt: skip
        return scores


@dataclass(frozen=True)
class OptionMotive(Motive):
    """Novelty, surprise, information gain, recency or empowerment of an option, from outcomes that the person saw.

    The first three are rewards, of which an option has the expected discounted sum.
    """

    name: str
    kind: int
    """Code of the motive in `kernels.learned_values`."""

    @property
    def parameters(self) -> tuple[float, ...]:  # type: ignore[override]
        """Discounts; recency and empowerment do not plan ahead."""
        return (np.nan,) if self.name in ("recency", "empowerment") else _DISCOUNTS

    def score_candidates(self, choices: ChoiceSet, parameter: float = 0.0) -> Float64:
        table, rows, candidates = choices.table, choices.windows.visits, choices.candidates
        if table is None or rows is None:
            raise SettingError(f"the motive {self.name} of options needs a ChoiceTable.")
        scores: Float64 = kernels.learned_values.score_options(
            table.users, table.is_first, table.states, table.chosen, table.outcomes, rows, candidates.offsets,
            candidates.nodes - len(table.owned_bounds) + 1, table.owned, table.owned_bounds, self.kind, parameter,
        )  # fmt: skip
        return scores.round(_DIGITS)


@dataclass(frozen=True)
class LearnedGraphMotive(Motive):
    """Transition probability from the last node to the candidate in a graph as remembered with errors.

    It is (1 - eta) P (1 - eta P)^-1, P being the probabilities of a random step (Lynn et al. 2020): a series in eta, of
    which the terms after the last one are taken to be equal to it.
    """

    name: str = "learned-graph"

    @property
    def parameters(self) -> tuple[float, ...]:  # type: ignore[override]
        """Values of eta."""
        return _ETAS

    def score_all(self, choices: ChoiceSet, parameters: Iterable[float]) -> Iterator[Float64]:
        terms, pair_of = self._compute_terms(choices)
        for eta in parameters:
            yield self._sum_terms(terms, eta)[pair_of]

    def score_candidates(self, choices: ChoiceSet, parameter: float = 0.5) -> Float64:
        return next(self.score_all(choices, [parameter]))

    def _compute_terms(self, choices: ChoiceSet) -> tuple[Float64, Int64]:
        """Return the terms of the series for pairs of a last node and a candidate, and the pair of each candidate."""
        graph, candidates = choices.graph, choices.candidates
        size, transition = graph.num_nodes, graph.transition
        last = choices.windows.histories[:, -1].astype(np.int64)
        pairs, pair_of = np.unique(last[candidates.walks] * size + candidates.nodes, return_inverse=True)
        sources, starts = np.unique(pairs // size, return_index=True)
        indptr, indices, weights = transition.out_rows
        rows = np.repeat(np.arange(size), np.diff(indptr))
        chances = transition.share[rows] * (1.0 if weights is None else weights)
        count = int(np.clip(_SERIES_COST / max(1, len(sources) * len(indices)), _LEAST_TERMS, _MOST_TERMS))
        bounds = np.append(starts, len(pairs)).astype(np.int64)
        terms = kernels.memory_steps.compute_powers(indptr, indices, chances, sources, bounds, pairs % size, count)
        return terms, pair_of

    @staticmethod
    def _sum_terms(terms: Float64, eta: float) -> Float64:
        """Return the logarithm of the sum of the series of every pair."""
        shares = (1 - eta) * eta ** np.arange(len(terms))
        shares[-1] = eta ** (len(terms) - 1)
        return np.asarray(np.log(np.maximum(shares @ terms, _TINY)).round(_DIGITS))


@dataclass(frozen=True, eq=False)
class SimilarityMotive(Motive):
    """Similarity in meaning of the candidate to the last node, to all visited nodes on average, or to the target."""

    similarity: Similarity
    """Similarity of the nodes of the graph."""
    name: str = "similarity"

    def score_candidates(self, choices: ChoiceSet, parameter: float = np.nan) -> Float64:
        histories, candidates = choices.windows.histories, choices.candidates
        compared = {"similarity": histories[:, -1:], "target-similarity": choices.targets[:, None]}
        totals, columns = np.zeros(len(candidates.nodes)), compared.get(self.name, histories)
        for column in columns.T:
            nodes = column[candidates.walks]
            inside = nodes >= 0
            totals[inside] += self.similarity.compute_pairs(nodes[inside], candidates.nodes[inside])
        means: Float64 = totals / np.maximum(np.count_nonzero(columns >= 0, axis=1), 1)[candidates.walks]
        return means


@dataclass(frozen=True)
class TargetDistanceMotive(Motive):
    """Minus the number of links from the candidate to the target; one more than the longest path if there is none."""

    name: str = "target-distance"

    def score_candidates(self, choices: ChoiceSet, parameter: float = np.nan) -> Float64:
        candidates = choices.candidates
        targets = choices.targets[candidates.walks]
        known = targets >= 0
        distances = np.zeros(len(targets))
        distances[known] = target_distances(choices.graph, candidates.nodes[known], targets[known])
        distances[distances < 0] = distances.max(initial=0) + 1
        return -distances
