"""Rank metrics of observed choices: percentile, reciprocal rank, hit@10 and NDCG@10."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import RankerError, WalkError
from curiograph.exploration.mdp import Candidates

MEASURES = ("percentile", "reciprocal", "hit10", "ndcg10")
"""Names of the measures, which are properties of `ChoiceRanks`."""
_CUTOFF = 10


@dataclass(frozen=True, eq=False)
class ChoiceRanks:
    """Ranks of chosen nodes among their candidates.

    Every measure lies between 0 and 1 (best) and is NaN for a choice with a single candidate. Candidates with equal
    scores are in random order: each measure is its exact mean over all orders.
    """

    above: Int64
    """Number of candidates with a higher score than the chosen one."""
    tied: Int64
    """Number of candidates with the score of the chosen one, itself included."""
    count: Int64
    """Number of candidates."""

    @classmethod
    def from_scores(cls, scores: Float64, candidates: Candidates, chosen: Int64) -> ChoiceRanks:
        """Rank the candidates at the indices `chosen`, one per choice, by the scores of all candidates."""
        if np.shape(scores) != np.shape(candidates.nodes) or np.any(np.isnan(scores)):
            raise RankerError(
                f"the scores have shape {np.shape(scores)} and {int(np.isnan(scores).sum())} of them are NaN; give one "
                f"number for each of the {len(candidates.nodes)} candidates."
            )
        walks, count = candidates.walks, candidates.counts
        reference = scores[chosen][walks]
        above = np.bincount(walks, scores > reference, len(count)).astype(np.int64)
        tied = np.bincount(walks, scores == reference, len(count)).astype(np.int64)
        return cls(above, tied, count)

    def __len__(self) -> int:
        return len(self.count)

    def rows(self, which: Any) -> ChoiceRanks:
        """Select choices by index, slice or mask."""
        return ChoiceRanks(self.above[which], self.tied[which], self.count[which])

    @property
    def mean_rank(self) -> Float64:
        """Number of candidates ranked before the chosen one, averaged over the orders of ties."""
        return np.asarray(self.above + (self.tied - 1) / 2)

    @property
    def percentile(self) -> Float64:
        """Share of the other candidates ranked after the chosen one; a tie counts one half."""
        others = self.count - 1
        percentile: Float64 = np.full(len(self), np.nan)
        np.divide(others - self.mean_rank, others, out=percentile, where=others > 0)
        return percentile

    @property
    def reciprocal(self) -> Float64:
        """Reciprocal rank."""
        return self._average(lambda rank: 1 / rank)

    @property
    def hit10(self) -> Float64:
        """1 if the rank is at most 10, else 0."""
        return self._average(lambda rank: (rank <= _CUTOFF).astype(np.float64))

    @property
    def ndcg10(self) -> Float64:
        """1 / log2(1 + rank) if the rank is at most 10, else 0."""
        return self._average(lambda rank: (rank <= _CUTOFF).astype(np.float64) / np.log2(1 + rank))

    def _average(self, gain: Callable[[Float64], Float64]) -> Float64:
        """Average a function of the rank over all ranks that the chosen candidate may have."""
        gains = gain(np.arange(1.0, self.count.max(initial=0) + 1))
        total = np.concatenate([[0.0], np.cumsum(gains)])
        return np.where(self.count > 1, (total[self.above + self.tied] - total[self.above]) / self.tied, np.nan)

    def mean(self) -> dict[str, float]:
        """Average each measure over the choices with two candidates or more."""
        if not np.any(self.count > 1):
            raise WalkError(
                f"there are {len(self)} choices, none with 2 candidates or more; give choices with several candidates."
            )
        return {measure: float(np.nanmean(getattr(self, measure))) for measure in MEASURES}


def choice_ranks(scores: Float64, candidates: Candidates, nexts: Int32) -> ChoiceRanks:
    """Rank the chosen node of every window among its candidates.

    Parameters
    ----------
    scores : array of floats
        One score per candidate, the higher the better, as returned by `Ranker.scores`.
    candidates : Candidates
        Candidates of every window.
    nexts : array of ints
        Position of the chosen node of every window, one of its candidates.

    Returns
    -------
    ChoiceRanks
        Arrays `percentile`, `reciprocal`, `hit10` and `ndcg10` with one entry per window, and their `mean()`.

    Examples
    --------
    >>> three = Candidates(np.array([0, 3]), np.array([1, 2, 3], np.int32))
    >>> ranks = choice_ranks(np.array([0.5, 0.7, 0.5]), three, np.array([3]))
    >>> ranks.percentile.tolist(), ranks.reciprocal.round(3).tolist()
    ([0.25], [0.417])
    """
    return ChoiceRanks.from_scores(scores, candidates, find_chosen(candidates, nexts))


def find_chosen(candidates: Candidates, nexts: Int32) -> Int64:
    """Find the index of the chosen node of every window among all candidates."""
    if len(nexts) != len(candidates.counts):
        raise WalkError(
            f"there are {len(nexts)} choices but candidates for {len(candidates.counts)}; give one set per choice."
        )
    found = np.flatnonzero(candidates.nodes == nexts[candidates.walks])
    times = np.bincount(candidates.walks[found], minlength=len(nexts))
    if np.any(times != 1):
        window = int(np.flatnonzero(times != 1)[0])
        raise WalkError(
            f"the node chosen in window {window}, {int(nexts[window])}, is {times[window]} times among its candidates "
            "and must be there once; leave out such windows, as `along_links` does."
        )
    return found
