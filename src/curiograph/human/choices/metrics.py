"""How high rankers place what people chose next."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import RankerError, WalkError
from curiograph.exploration.mdp import Candidates

_TOP = 10


@dataclass(frozen=True, eq=False)
class ChoiceRanks:
    """Four measures of each choice, 1 is best. NaN for a choice from a single candidate, which has no rank.

    Candidates with equal scores stand in random order; every measure is its exact mean over all orders.
    """

    percentile: Float64
    """Share of the other candidates that the chosen one beats; an equal one counts half."""
    reciprocal: Float64
    """1 / place."""
    hit10: Float64
    """Whether the place is 10 or better."""
    ndcg10: Float64
    """1 / log2(1 + place) if the place is 10 or better, else 0."""

    def __len__(self) -> int:
        return len(self.percentile)

    @property
    def single(self) -> int:
        """Choices from a single candidate, which count in no mean."""
        return int(np.isnan(self.percentile).sum())

    def mean(self) -> dict[str, float]:
        """The mean of each measure over the choices that have a rank.

        >>> four = Candidates(np.array([0, 3, 4]), np.array([1, 2, 3, 5], np.int32))
        >>> ranks = choice_ranks(np.array([0.5, 0.7, 0.5, 1.0]), four, np.array([3, 5]))
        >>> ranks.mean()["percentile"], ranks.single
        (0.25, 1)
        """
        if self.single == len(self):
            raise WalkError(
                f"there are {len(self)} choices, none of them from 2 candidates or more; give some that are."
            )
        return {each.name: float(np.nanmean(getattr(self, each.name))) for each in fields(self)}


def choice_ranks(scores: Float64, candidates: Candidates, nexts: Int32) -> ChoiceRanks:
    """How high the chosen node of every window stands among its candidates.

    Parameters
    ----------
    scores : a number per candidate, the higher the better, as `Ranker.scores` gives them.
    nexts : the chosen node per window, one of its candidates.

    >>> three = Candidates(np.array([0, 3]), np.array([1, 2, 3], np.int32))
    >>> ranks = choice_ranks(np.array([0.5, 0.7, 0.5]), three, np.array([3]))
    >>> ranks.percentile.tolist(), ranks.reciprocal.round(3).tolist()
    ([0.25], [0.417])
    """
    if np.shape(scores) != np.shape(candidates.nodes) or np.any(np.isnan(scores)):
        raise RankerError(
            f"the scores have shape {np.shape(scores)} and {int(np.isnan(scores).sum())} of them are NaN; give one "
            f"number for each of the {len(candidates.nodes)} candidates."
        )
    walks, counts = candidates.walks, candidates.counts
    own = scores[_chosen(candidates, nexts)]
    above = np.bincount(walks, scores > own[walks], len(counts)).astype(np.int64)
    equal = np.bincount(walks, scores == own[walks], len(counts)).astype(np.int64)
    places = np.arange(1.0, counts.max(initial=0) + 1)
    top = (places <= _TOP).astype(np.float64)
    ranked = counts > 1
    below = counts - above - (equal + 1) / 2  # half of the equal ones but the chosen one itself
    return ChoiceRanks(
        np.divide(below, counts - 1, out=np.full(len(counts), np.nan), where=ranked),
        *(_mean_gain(gains, above, equal, ranked) for gains in (1 / places, top, top / np.log2(1 + places))),
    )


def _chosen(candidates: Candidates, nexts: Int32) -> Int64:
    """Where the chosen node of every window stands among all candidates."""
    if len(nexts) != len(candidates.counts):
        raise WalkError(f"there are {len(nexts)} choices but candidates of {len(candidates.counts)}; give one of each.")
    found = np.flatnonzero(candidates.nodes == nexts[candidates.walks])
    times = np.bincount(candidates.walks[found], minlength=len(nexts))
    if np.any(times != 1):
        window = int(np.flatnonzero(times != 1)[0])
        raise WalkError(
            f"the node chosen in window {window}, {int(nexts[window])}, stands {times[window]} times among its "
            "candidates and must stand there once; leave out such windows, as `along_links` does."
        )
    return found


def _mean_gain(gains: Float64, above: Int64, equal: Int64, ranked: NDArray[np.bool_]) -> Float64:
    """The mean of what the places after those above are worth, over as many places as share the score.

    >>> _mean_gain(np.array([1.0, 0.5, 0.0]), np.array([0, 1]), np.array([2, 1]), np.array([True, True])).tolist()
    [0.75, 0.5]
    """
    total = np.concatenate([[0.0], np.cumsum(gains)])
    return np.where(ranked, (total[above + equal] - total[above]) / equal, np.nan)
