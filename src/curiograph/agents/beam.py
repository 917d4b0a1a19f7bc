"""beam: a planner with exact rewards over whole walks, our near-optimal reference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.agents.base import Agent, score_candidates
from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Exploration, Streams
from curiograph.messages import quote_value
from curiograph.validation import check_integer

_WALKS_AT_ONCE = 4096  # beams times width held in memory together; does not change the result


@dataclass(frozen=True)
class BeamAgent(Agent):
    """Keeps the `width` most promising walks at every step and follows the best one found.

    A walk is ranked by what it has earned plus what it would earn if its reward stayed as it is. Walks that have
    visited the same set and stand at the same node have the same future: only the better one is kept.
    """

    width: int = 256
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
        """The best discounted return found through each candidate."""
        values = exploration.candidate_values
        every = np.arange(len(values))
        ahead = exploration.branch(exploration.candidates.walks, every)
        scores: Float64 = values + self.discount * self._search_all(ahead)[1]
        return exploration.round_scores(scores)

    def run(self, exploration: Exploration) -> Exploration:
        """Plan every walk once, to the end, and follow the plan."""
        return self._search_all(exploration)[0]

    def _search_all(self, origin: Exploration) -> tuple[Exploration, Float64]:
        """The best walk found from each walk of `origin`, and its discounted return from there on."""
        size = max(1, _WALKS_AT_ONCE // self.width)
        found = [
            self._search(origin.rows(np.arange(i, min(i + size, len(origin.lengths)))))
            for i in range(0, max(1, len(origin.lengths)), size)
        ]
        best = replace(
            origin,
            nodes=np.concatenate([part.nodes for part, _ in found]),
            lengths=np.concatenate([part.lengths for part, _ in found]),
            rewards=np.concatenate([part.rewards for part, _ in found]),
            _kept=[],
        )
        return best, np.concatenate([gained for _, gained in found])

    def _search(self, origin: Exploration) -> tuple[Exploration, Float64]:
        count = len(origin.lengths)
        best = origin.rows(np.arange(count))
        best_gain = np.full(count, -np.inf)
        current, groups, gained, weight = origin, np.arange(count + 1), np.zeros(count), 1.0
        while True:
            _keep_ended(best, best_gain, current, groups, gained)
            if current.finished:
                return best, best_gain
            walks = current.candidates.walks
            earned = gained[walks] + weight * current.candidate_values
            priorities = gained[walks] + weight * self._promise(current)
            groups, chosen = self._select(current, groups, priorities, origin.streams)
            current, gained, weight = current.branch(walks[chosen], chosen), earned[chosen], weight * self.discount

    def _select(
        self, current: Exploration, groups: Int64, priorities: Float64, streams: Streams
    ) -> tuple[Int64, Int64]:
        """The extensions to keep, and the bounds of their groups."""
        offsets, nodes = current.candidates.offsets, current.candidates.nodes
        hashes = kernels.beam.hash_node_sets(current.nodes, current.lengths)
        order, keys = kernels.beam.compute_sort_keys(
            groups, offsets, nodes, priorities, hashes, streams, current.lengths
        )
        parts = [first + np.argsort(order[first:last]) for first, last in pairwise(offsets[groups])]
        bounds, chosen = kernels.beam.select_extensions(groups, offsets, np.concatenate(parts), keys, self.width)
        return bounds, chosen

    def _promise(self, current: Exploration) -> Float64:
        """What each candidate seems to be worth from here on: its reward, now and at all later steps."""
        promise: Float64 = current.candidate_values * (1 + self._left(current))
        return promise

    def _left(self, current: Exploration) -> Float64:
        """Discounted number of rewards that can follow the next step, for each candidate."""
        steps = current.steps - 1 - current.lengths[current.candidates.walks]
        if self.discount == 1:
            return steps.astype(np.float64)
        left: Float64 = self.discount * (1 - self.discount ** steps.astype(np.float64)) / (1 - self.discount)
        return left


@dataclass(frozen=True)
class GuidedBeamAgent(BeamAgent):
    """A narrow beam whose walks are ranked by what they have earned plus what a trained agent sees ahead."""

    width: int = 8
    guide: Any = None
    """An agent whose scores are predicted returns: `horizon`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.discount != 1:
            raise SettingError(f"discount is {self.discount!r}; what guides a beam is not discounted, so it must be 1.")
        if isinstance(self.guide, type) or not getattr(self.guide, "foresees", False):
            name = getattr(self.guide, "name", quote_value(self.guide))
            raise SettingError(f"{name} cannot guide a beam: its scores are not returns ahead; take a horizon agent.")

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{getattr(self.guide, 'name', type(self.guide).__name__)}+beam:{self.width}"

    def _promise(self, current: Exploration) -> Float64:
        return score_candidates(self.guide, current)


def _keep_ended(best: Exploration, best_gain: Float64, current: Exploration, groups: Int64, gained: Float64) -> None:
    """Write the best walk of each group that has come to its end into `best`, a private copy, if it beats it."""
    ended = np.flatnonzero(current.candidates.counts == 0)
    group_of = np.searchsorted(groups, ended, side="right") - 1
    for row, group in zip(ended, group_of, strict=True):
        if gained[row] > best_gain[group]:
            best_gain[group] = gained[row]
            best.nodes[group] = current.nodes[row]
            best.lengths[group] = current.lengths[row]
            best.rewards[group] = current.rewards[row]
