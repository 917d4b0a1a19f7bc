"""Exact search: the best of all walks, with a proof."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from curiograph import kernels
from curiograph.agents.agent import replay_walks
from curiograph.agents.beam import BeamAgent
from curiograph.agents.planner import PlannerAgent
from curiograph.arrays import Float64, Int32, Int64
from curiograph.exploration.mdp import Candidates, Exploration
from curiograph.rewards.reward_names import REWARDS

DEFAULT_STATES = 200_000
_CHUNK = 20_000  # states extended at once
_FIRST_WIDTH = 32  # of the planner whose walk is to be beaten


class ExactAgent(BeamAgent):
    """Extends all partial walks, step by step, and follows the best complete one.

    Of the walks with the same set of nodes and the same last node only the best is kept. For igt, a walk is given up
    when an upper bound on its return is not above the return of a walk already found. If more than `width` walks are
    left at a step, the most promising ones are kept, and the result is not proven to be the best. Nor is it for a
    reward that depends on the order of visit, such as cpt.

    Examples
    --------
    >>> from curiograph.exploration.mdp import begin
    >>> from curiograph.graph.toys import grid
    >>> walks, bounds = ExactAgent().prove(begin([grid(3, 3)], [[4]], "igt", 9))
    >>> walks.returns, bounds
    (array([13.]), array([13.]))
    """

    def __init__(self, width: int = DEFAULT_STATES) -> None:
        super().__init__(width)
        self.name = "exact" if width == DEFAULT_STATES else f"exact:{width}"

    def search(self, origin: Exploration) -> tuple[Exploration, Float64]:
        found, bounds = self.prove(origin)
        before, after = origin.returns, found.returns
        open_walks = int((bounds > after + 1e-9).sum())
        if open_walks:
            fix = f"shorter walks, or more states than {self.width:,} (exact:STATES), may be proven"
            if origin.tracker.depends_on_order:
                fix = f"{origin.reward.name} depends on the order of visit, for which there is no proof"
            warnings.warn(
                f"exact: {open_walks:,} of {len(bounds):,} walks are the best found but not proven to be the best; "
                f"{fix}.",
                stacklevel=2,
            )
        return found, after - before

    def prove(self, origin: Exploration) -> tuple[Exploration, Float64]:
        """Return the best continuation found of each walk, and a proven upper bound of its return."""
        count = len(origin.lengths)
        nodes, bounds = origin.nodes.copy(), np.empty(count)
        for i in range(count):
            nodes[i], bounds[i] = self._search_walk(origin.rows(np.array([i])))
        lengths = (nodes >= 0).sum(axis=1)
        found = replay_walks(self.name, origin, replace(origin, nodes=nodes, lengths=lengths))
        return found, np.maximum(bounds + origin.returns, found.returns)

    def _search_walk(self, walk: Exploration) -> tuple[Int32, float]:
        """Return the nodes of the best continuation of a walk, and an upper bound on what any continuation gains."""
        ahead, gain = PlannerAgent(width=_FIRST_WIDTH).search(walk.rows(np.array([0])))
        best, most, dropped = ahead.nodes[0], float(gain[0]), -np.inf
        states, gained = walk.nodes, np.zeros(1)
        for length in range(int(walk.lengths[0]), walk.steps):
            parts = []
            for first in range(0, len(states), _CHUNK):
                part, sums = states[first : first + _CHUNK], gained[first : first + _CHUNK]
                here = walk.rows(np.zeros(len(part), np.int64))
                current = replace(here, nodes=part, lengths=np.full(len(part), length))
                c, left = current.candidates, walk.steps - 1 - length
                earned = sums[c.walks] + current.candidate_values
                ends = np.where(c.counts == 0, sums, -np.inf)
                if ends.max() > most:
                    best, most = part[ends.argmax()], float(ends.max())
                if left == 0 and len(earned) and earned.max() > most:
                    best, most = _append(part, c, np.array([earned.argmax()]))[0], float(earned.max())
                if left > 0:
                    bounds = earned + _bound_rewards(current)
                    order, keys = kernels.pruning.compute_sort_keys(
                        np.array([0, len(part)]), current.nodes, current.lengths, current.tracker.hash_order(),
                        c.offsets, c.nodes, earned + left * current.candidate_values, walk.streams,
                    )  # fmt: skip
                    kept = np.flatnonzero(bounds > most + 1e-9)
                    parts.append((_append(part, c, kept), earned[kept], bounds[kept], order[kept], keys[kept]))
            if not parts:
                break
            states, gained, bounds, order, keys = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            ranking = np.lexsort((order, keys))
            ranking = ranking[np.diff(keys[ranking], prepend=~keys[ranking][:1]) != 0]  # the best of each state
            if len(ranking) > self.width:
                ranking = ranking[np.argsort(order[ranking], kind="stable")]
                dropped = max(dropped, float(bounds[ranking[self.width :]].max()))
                ranking = ranking[: self.width]
            states, gained = states[ranking], gained[ranking]
        if walk.tracker.depends_on_order:
            dropped = np.inf
        return best, max(most, dropped)


def _append(nodes: Int32, candidates: Candidates, chosen: Int64) -> Int32:
    """Return the walks `nodes` followed by the chosen candidates."""
    extended = nodes[candidates.walks[chosen]]
    extended[np.arange(len(chosen)), (extended >= 0).sum(axis=1)] = candidates.nodes[chosen]
    return extended


def _bound_rewards(current: Exploration) -> Float64 | float:
    """Return upper bounds on the rewards after that of each candidate; infinity if none is known."""
    if REWARDS["igt"] != current.reward or current.steps > kernels.gap_bounds.LONGEST:
        return np.inf
    stack, c = current.stack, current.candidates
    bounds: Float64 = kernels.gap_bounds.bound_returns(
        stack.out.indptr, stack.out.indices, stack.skeleton.indptr, stack.skeleton.indices, current.nodes,
        current.lengths, c.offsets, c.nodes, current.candidate_values, current.steps,
        np.zeros(stack.starts[-1], np.uint64),
    )  # fmt: skip
    return bounds
