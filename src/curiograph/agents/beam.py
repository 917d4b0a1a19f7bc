"""Beam search over whole walks with exact rewards, optionally guided by a trained agent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.base import Agent, score_candidates
from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Exploration, Streams
from curiograph.messages import quote_value
from curiograph.validation import check_integer

_BATCH_WALKS = 4096  # walks in memory at once, over all beams; does not change the result


@dataclass(frozen=True)
class BeamAgent(Agent):
    """Keeps the `width` best partial walks at every step and follows the best complete walk.

    Partial walks are ranked by the rewards so far plus the last reward repeated for the remaining steps. Walks with the
    same set of nodes and the same last node have the same continuations, so only the better one is kept. For a reward
    that depends on the order of visit, this holds if `Tracker.hash_order` is the same too.
    """

    width: int = 256
    """Number of partial walks kept."""
    discount: float = 1.0
    """Weight of each reward relative to the one before it."""

    def __post_init__(self) -> None:
        check_integer("beam width", self.width, 1, "keep a whole number of walks, 1 or more")
        if not isinstance(self.discount, (int, float)) or not 0 < self.discount <= 1:
            raise SettingError(f"discount is {self.discount!r}; it must lie above 0 and not above 1.")

    @property
    def name(self) -> str:  # type: ignore[override]
        name = "beam" if self.width == 256 else f"beam:{self.width}"
        return name if self.discount == 1 else f"{name} (discount {self.discount:g})"

    def scores(self, exploration: Exploration) -> Float64:
        """Return the best discounted return found through each candidate."""
        values = exploration.candidate_values
        children = exploration.branch(exploration.candidates.walks, np.arange(len(values)))
        scores: Float64 = values + self.discount * self.measure_returns(children)
        return exploration.round_scores(scores)

    def run(self, exploration: Exploration) -> Exploration:
        """Plan every walk once, to its end."""
        return self._search_all(exploration)[0]

    def measure_returns(self, exploration: Exploration) -> Float64:
        """Return the best discounted return found from each walk on."""
        return self._search_all(exploration)[1]

    def _search_all(self, origin: Exploration) -> tuple[Exploration, Float64]:
        """Return the best continuation of each walk of `origin`, and its discounted return from there on."""
        size = max(1, _BATCH_WALKS // self.width)
        parts = [
            self._search(origin.rows(np.arange(i, min(i + size, len(origin.lengths)))))
            for i in range(0, max(1, len(origin.lengths)), size)
        ]
        best = replace(
            origin,
            nodes=np.concatenate([part.nodes for part, _ in parts]),
            lengths=np.concatenate([part.lengths for part, _ in parts]),
            rewards=np.concatenate([part.rewards for part, _ in parts]),
        )
        return best, np.concatenate([gained for _, gained in parts])

    def _search(self, origin: Exploration) -> tuple[Exploration, Float64]:
        """Search from all walks of `origin` together; walks from the same origin form a group (a beam)."""
        count = len(origin.lengths)
        best = origin.rows(np.arange(count))
        best_gain = np.full(count, -np.inf)
        current, groups, gained, weight = origin, np.arange(count + 1), np.zeros(count), 1.0
        while True:
            _record_finished(best, best_gain, current, groups, gained)
            if current.finished:
                return best, best_gain
            walks = current.candidates.walks
            earned = gained[walks] + weight * current.candidate_values
            priorities = self._rank_extensions(current, groups, gained, weight)
            groups, chosen = self._select_extensions(current, groups, priorities, origin.streams)
            current, gained, weight = current.branch(walks[chosen], chosen), earned[chosen], weight * self.discount

    def _select_extensions(
        self, current: Exploration, groups: Int64, priorities: Float64, streams: Streams
    ) -> tuple[Int64, Int64]:
        """Return the bounds of the groups after the step, and the candidates to keep."""
        offsets = current.candidates.offsets
        order, keys = compute_sort_keys(current, groups, priorities, streams)
        parts = [first + np.argsort(order[first:last]) for first, last in pairwise(offsets[groups])]
        bounds, chosen = kernels.beam.select_extensions(groups, offsets, np.concatenate(parts), keys, self.width)
        return bounds, chosen

    def _rank_extensions(self, current: Exploration, groups: Int64, gained: Float64, weight: float) -> Float64:
        """Estimate the return of each extension of the walks: rewards so far, and those still to come."""
        priorities: Float64 = gained[current.candidates.walks] + weight * self._estimate_returns(current)
        return priorities

    def _estimate_returns(self, current: Exploration) -> Float64:
        """Estimate the return from each candidate on: its reward, repeated at all later steps and discounted."""
        remaining = (current.steps - 1 - current.lengths[current.candidates.walks]).astype(np.float64)
        if self.discount != 1:
            remaining = self.discount * (1 - self.discount**remaining) / (1 - self.discount)
        estimates: Float64 = current.candidate_values * (1 + remaining)
        return estimates


def compute_sort_keys(
    current: Exploration, groups: Int64, priorities: Float64, streams: Streams
) -> tuple[Float64, NDArray[np.uint64]]:
    """Return the sort key (descending priority, ties at random) and the state of every extension."""
    hashes = kernels.beam.hash_node_sets(current.nodes, current.lengths)
    if current.tracker.depends_on_order:
        hashes ^= current.tracker.hash_order() * np.uint64(0xD1342543DE82EF95)  # spreads small numbers over all bits
    candidates = current.candidates
    order, keys = kernels.beam.compute_sort_keys(
        groups, candidates.offsets, candidates.nodes, priorities, hashes, streams, current.lengths
    )
    return order, keys


@dataclass(frozen=True)
class GuidedBeamAgent(BeamAgent):
    """Narrow beam search; partial walks are ranked by the rewards so far plus the return a trained agent predicts."""

    width: int = 8
    guide: Any = None
    """Agent whose scores are predicted returns, such as `horizon`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.discount != 1:
            raise SettingError(
                f"discount is {self.discount!r}; a guide predicts undiscounted returns, so it must be 1."
            )
        if isinstance(self.guide, type) or not getattr(self.guide, "predicts_returns", False):
            name = getattr(self.guide, "name", quote_value(self.guide))
            raise SettingError(
                f"{name} cannot guide a beam: its scores are not predicted returns; use a horizon agent."
            )

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{getattr(self.guide, 'name', type(self.guide).__name__)}+beam:{self.width}"

    def _estimate_returns(self, current: Exploration) -> Float64:
        return score_candidates(self.guide, current)


def _record_finished(
    best: Exploration, best_gain: Float64, current: Exploration, groups: Int64, gained: Float64
) -> None:
    """Replace walks of `best`, a private copy, by finished walks of the same group that have a higher return."""
    ended = np.flatnonzero(current.candidates.counts == 0)
    group_of = np.searchsorted(groups, ended, side="right") - 1
    for row, group in zip(ended, group_of, strict=True):
        if gained[row] > best_gain[group]:
            best_gain[group] = gained[row]
            best.nodes[group] = current.nodes[row]
            best.lengths[group] = current.lengths[row]
            best.rewards[group] = current.rewards[row]
