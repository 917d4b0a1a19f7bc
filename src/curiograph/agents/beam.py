"""Beam search over whole walks with exact rewards."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.agents.agent import Agent
from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import Exploration, Streams
from curiograph.validation import check_integer

_RECORDS = ("nodes", "lengths", "rewards")  # of an exploration: what a walk has visited and earned


class BeamAgent(Agent):
    """Beam search over whole walks with exact rewards.

    Keeps the `width` best partial walks at every step, and follows the best complete walk. Partial walks are ranked by
    the rewards so far plus the last reward repeated for the remaining steps. Walks with the same set of nodes and the
    same last node have the same continuations, so only the better one is kept. For a reward that depends on the order
    of visit, this holds if `Tracker.hash_order` is the same too.
    """

    max_walks = 4096
    """Partial walks in memory at once, over all beams; does not change the result."""

    def __init__(self, width: int = 256) -> None:
        self.width = check_integer("beam width", width, 1, "keep a whole number of walks, 1 or more")
        self.name = "beam" if width == 256 else f"beam:{width}"

    def with_width(self, width: int) -> BeamAgent:
        """Return the agent with another width."""
        return type(self)(width)

    def scores(self, exploration: Exploration) -> Float64:
        """Return the best return found through each candidate."""
        values = exploration.candidate_values
        children = exploration.branch(exploration.candidates.walks, np.arange(len(values)))
        return exploration.round_scores(values + self.search(children)[1])

    def run(self, exploration: Exploration) -> Exploration:
        """Plan every walk once, to its end."""
        return self.search(exploration)[0]

    def search(self, origin: Exploration) -> tuple[Exploration, Float64]:
        """Return the best continuation found of each walk, and its return from there on.

        All beams advance together: the partial walks `groups[g]:groups[g + 1]` of `current` continue walk g of `origin`
        and compete with each other.
        """
        count, size = len(origin.lengths), max(1, self.max_walks // self.width)
        if count > size:
            parts = [self.search(origin.rows(np.arange(i, min(i + size, count)))) for i in range(0, count, size)]
            found: dict[str, Any] = {
                name: np.concatenate([getattr(part, name) for part, _ in parts]) for name in _RECORDS
            }
            return replace(origin, **found), np.concatenate([gain for _, gain in parts])
        best, best_gain = origin.rows(np.arange(count)), np.full(count, -np.inf)
        current, groups, gained = origin, np.arange(count + 1), np.zeros(count)
        while True:
            ended = np.flatnonzero(current.candidates.counts == 0)
            for row, group in zip(ended, np.searchsorted(groups, ended, side="right") - 1, strict=True):
                if gained[row] > best_gain[group]:
                    best_gain[group] = gained[row]
                    for name in _RECORDS:
                        getattr(best, name)[group] = getattr(current, name)[row]
            if current.finished:
                return best, best_gain
            walks = current.candidates.walks
            earned = gained[walks] + current.candidate_values
            groups, chosen = self.choose_extensions(current, groups, gained, origin.streams)
            current, gained = current.branch(walks[chosen], chosen), earned[chosen]

    def choose_extensions(
        self, current: Exploration, groups: Int64, gained: Float64, streams: Streams
    ) -> tuple[Int64, Int64]:
        """Return the bounds of the groups after the step, and the candidates that extend the walks kept."""
        walks = current.candidates.walks
        priorities = gained[walks] + current.candidate_values * (current.steps - current.lengths[walks])
        return select_extensions(current, groups, priorities, streams, self.width)


def select_extensions(
    current: Exploration, groups: Int64, priorities: Float64, streams: Streams, width: int
) -> tuple[Int64, Int64]:
    """Return the bounds of the groups after the step, and the `width` candidates of highest priority of each group."""
    c, hashes = current.candidates, current.tracker.hash_order()
    order, keys = kernels.pruning.compute_sort_keys(
        groups, current.nodes, current.lengths, hashes, c.offsets, c.nodes, priorities, streams
    )
    parts = [first + np.argsort(order[first:last], kind="stable") for first, last in pairwise(c.offsets[groups])]
    bounds, chosen = kernels.pruning.select_extensions(groups, c.offsets, np.concatenate(parts), keys, width)
    return bounds, chosen
