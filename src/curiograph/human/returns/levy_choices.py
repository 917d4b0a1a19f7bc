"""Edge-reinforced Levy walk as a model of choices among out-neighbors and the previous node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError
from curiograph.graph.csr import concatenate_ranges
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.choices.metrics import ChoiceRanks
from curiograph.human.returns.levy import DEFAULT_MAX_DISTANCE, START_LOGS

_PARAMETERS = ("reinforcement", "exponent")
_BOUNDS = np.array([[-10.0, 10.0], [-10.0, 4.0]])  # of the logarithms of the parameters
_PRIOR_SCALE = 2.0  # standard deviation of the normal prior of the logarithms, around `START_LOGS`
_STARTS = START_LOGS + np.array([[0.0, 0.0], [-3.0, 1.0], [3.0, -2.0]])
_AT_BOUND = 1e-3  # largest distance from a bound of a parameter that is at it


class LevyFit(NamedTuple):
    """Parameters fitted to some choices."""

    logs: Float64
    """Logarithms of reinforcement and exponent."""
    converged: bool
    """Whether the search for the most probable parameters ended at a maximum."""

    @property
    def remarks(self) -> list[str]:
        """Sentences about parameters at a bound, and about a search that has not converged."""
        at_bound = np.any(np.abs(self.logs[:, None] - _BOUNDS) < _AT_BOUND, axis=1)
        found = [
            f"The {name} of the levy motive is at a bound of its range, {np.exp(log):.3g}; do not interpret it."
            for name, log, is_there in zip(_PARAMETERS, self.logs.tolist(), at_bound.tolist(), strict=True)
            if is_there
        ]
        return found if self.converged else [*found, "The fit of the levy motive has not converged."]


class LevyScores(NamedTuple):
    """Scores of all candidates by a Levy walk that was not fitted to one fold."""

    scores: Float64
    """Logarithm of the weight of every candidate."""
    gains: Float64
    """Bits of every choice above the uniform choice."""
    ranks: ChoiceRanks
    """Ranks of the chosen candidates."""
    fit: LevyFit
    """The fitted parameters."""

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

    def fit(self, which: Int64) -> LevyFit:
        """Return the most probable reinforcement and exponent given some choices and a weak prior, from several starts.

        Without the prior, the exponent is infinite if no user chose a candidate that is farther than others.
        """
        candidates = self.choices.candidates
        counts = candidates.counts[which]
        rows = concatenate_ranges(candidates.offsets[which], counts)
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        chosen = self.choices.chosen[which] - candidates.offsets[which] + first
        crossings, log_distances = self.crossings[rows], self.log_distances[rows]

        def compute_loss(logs: Float64) -> tuple[float, Float64]:
            reinforcement, exponent = np.exp(logs)
            added = reinforcement * crossings
            scores = np.log1p(added) - exponent * log_distances
            weights = np.exp(scores)
            totals = np.add.reduceat(weights, first)
            value = np.sum(scores[chosen] - np.log(totals))
            slopes = [
                np.sum(slope[chosen] - np.add.reduceat(weights * slope, first) / totals)
                for slope in (added / (1 + added), -exponent * log_distances)  # of the scores, by the logarithms
            ]
            away = (logs - START_LOGS) / _PRIOR_SCALE
            return float(0.5 * away @ away - value), away / _PRIOR_SCALE - np.array(slopes)

        found = [minimize(compute_loss, start, jac=True, method="L-BFGS-B", bounds=_BOUNDS) for start in _STARTS]
        best = min(found, key=lambda each: float(each.fun))
        return LevyFit(logs=np.asarray(best.x), converged=bool(best.success))

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
            fit = self.fit(np.flatnonzero(fold_of != fold))
            scores = self.score(fit.logs)
            found[fold] = LevyScores(
                scores=scores, gains=self.compute_gains(scores), ranks=self.choices.rank(scores), fit=fit
            )
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
