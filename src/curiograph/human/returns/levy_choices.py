"""Edge-reinforced Levy walk as a model of choices among out-neighbors and the previous node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.choices.metrics import ChoiceRanks
from curiograph.human.returns.levy import DEFAULT_MAX_DISTANCE

_BOUNDS = [(-10.0, 10.0), (-10.0, 4.0)]  # of the logarithms of reinforcement and exponent


class LevyScores(NamedTuple):
    """Scores of all candidates by a Levy walk that was not fitted to one fold."""

    scores: Float64
    """Logarithm of the weight of every candidate."""
    gains: Float64
    """Bits of every choice above the uniform choice."""
    ranks: ChoiceRanks
    """Ranks of the chosen candidates."""

    @staticmethod
    def combine(by_fold: Mapping[int | None, LevyScores], fold_of: Int64) -> tuple[Float64, Float64]:
        """Return gains and percentile ranks of all choices, each by the walk that was not fitted to its fold."""
        gains, percentiles = np.empty((2, len(fold_of)))
        for fold, each in by_fold.items():
            gains[fold_of == fold] = each.gains[fold_of == fold]
            percentiles[fold_of == fold] = each.ranks.percentile[fold_of == fold]
        return gains, percentiles


class LevyChoices:
    """Choices with the crossings and distances of their candidates."""

    def __init__(self, choices: ChoiceSet) -> None:
        if choices.crossings is None:
            raise SettingError("these choices leave out returns; find them with returns=True.")
        self.choices = choices
        self.crossings = choices.crossings.astype(np.float64)
        self.log_distances = np.log(_measure_distances(choices))

    def fit(self, which: Int64) -> Float64:
        """Return the logarithms of reinforcement and exponent with the largest likelihood of some choices."""
        selected = np.zeros(len(self.choices), bool)
        selected[which] = True

        def loss(logs: Float64) -> float:
            return -float(self.compute_gains(self.score(logs))[selected].sum())

        return np.asarray(minimize(loss, np.zeros(2), method="L-BFGS-B", bounds=_BOUNDS).x)

    def score(self, logs: Float64) -> Float64:
        """Return the logarithm of the weight of every candidate, d^-exponent (1 + reinforcement n)."""
        reinforcement, exponent = np.exp(logs)
        scores: Float64 = np.log1p(reinforcement * self.crossings) - exponent * self.log_distances
        return scores

    def compute_gains(self, scores: Float64) -> Float64:
        """Return the bits of every choice above the uniform choice; scores are logarithms of weights."""
        candidates = self.choices.candidates
        totals = np.add.reduceat(np.exp(scores), candidates.offsets[:-1])
        bits: Float64 = (scores[self.choices.chosen] - np.log(totals / candidates.counts)) / np.log(2)
        return bits

    def score_folds(self, fold_of: Int64) -> dict[int | None, LevyScores]:
        """Return the scores by a walk fitted to all folds but one, by fold; None: fitted to all choices."""
        found: dict[int | None, LevyScores] = {}
        for fold in (*range(int(fold_of.max()) + 1), None):
            scores = self.score(self.fit(np.flatnonzero(fold_of != fold)))
            found[fold] = LevyScores(scores=scores, gains=self.compute_gains(scores), ranks=self.choices.rank(scores))
        return found


def _measure_distances(choices: ChoiceSet) -> Int64:
    """Return the distance of every candidate from the last node: 1 along a link, and more to a node before."""
    graph, rows = choices.graph, choices.candidates.walks
    sources, nodes = choices.windows.histories[:, -1][rows].astype(np.int64), choices.candidates.nodes.astype(np.int64)
    order = np.argsort(sources, kind="stable")
    distinct, starts = np.unique(sources[order], return_index=True)
    _, sorted_distances = kernels.shortest_paths.compute_bounded_distances(
        graph.indptr,
        graph.indices,
        distinct,
        np.append(starts, len(order)),
        nodes[order],
        DEFAULT_MAX_DISTANCE,
    )
    distances = np.empty(len(order), np.int64)
    distances[order] = sorted_distances
    return distances
