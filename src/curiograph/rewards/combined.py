"""Weighted sums of rewards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import SettingError, quote_value
from curiograph.graph.batch import GraphBatch
from curiograph.rewards.reward import Reward, Tracker
from curiograph.validation import is_number

Term = tuple[float, Reward]
"""A weight and the reward that it multiplies."""


class CombinedTracker(Tracker):
    """Weighted sum of the values of several trackers."""

    def __init__(self, terms: tuple[Term, ...], stack: GraphBatch, nodes: Int32, lengths: Int64) -> None:
        super().__init__(stack, nodes, lengths)
        self.weights = [weight for weight, _ in terms]
        self.trackers = [reward.track(stack, nodes, lengths) for _, reward in terms]
        self.depends_on_order = any(tracker.depends_on_order for tracker in self.trackers)

    def values(self) -> Float64:
        return self._add([tracker.values() for tracker in self.trackers])

    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        return self._add([tracker.candidate_values(offsets, candidates) for tracker in self.trackers])

    def advance(self, new: Int32, parents: Int64 | None = None) -> None:
        super().advance(new, parents)
        for tracker in self.trackers:
            tracker.advance(new, parents)

    def hash_order(self) -> NDArray[np.uint64]:
        hashes = np.zeros(len(self.lengths), np.uint64)
        for tracker in self.trackers:
            hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + tracker.hash_order()
        return hashes

    def _add(self, values: list[Float64]) -> Float64:
        total = self.weights[0] * values[0]
        for weight, each in zip(self.weights[1:], values[1:], strict=True):
            total += weight * each
        return total


@dataclass(frozen=True)
class CombinedReward:
    """A weighted sum of rewards; `combine_rewards` and `as_reward` create one.

    >>> from curiograph.rewards.reward_names import as_reward
    >>> as_reward({"igt": 1.0, "cpt": 0.5}).name
    'igt+0.5*cpt'
    """

    terms: tuple[Term, ...]
    """Weights and rewards, in the order in which they are added."""

    @property
    def name(self) -> str:
        """The sum as text, which `as_reward` reads."""
        text = ""
        for weight, reward in self.terms:
            factor = "" if abs(weight) == 1 else f"{abs(weight)!r}*".replace(".0*", "*")
            text += f"{'-' if weight < 0 else '+'}{factor}{reward.name}"
        return text.removeprefix("+")

    @property
    def fingerprint(self) -> Any:
        """Value that identifies the user's own terms in saved runs; None if there are none, or one has none."""
        own = [reward.fingerprint for _, reward in self.terms if hasattr(reward, "fingerprint")]
        return None if not own or None in own else repr(own)

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> CombinedTracker:
        return CombinedTracker(self.terms, stack, nodes, lengths)


def list_terms(reward: Reward) -> list[Term]:
    """Return the weights and rewards of a sum; any other reward is a sum of one term."""
    terms = getattr(reward, "terms", None)
    return list(terms) if isinstance(terms, tuple) else [(1.0, reward)]


def combine_rewards(terms: Iterable[tuple[Any, Reward]]) -> Reward:
    """Return the weighted sum of rewards.

    Equal sums are the same reward: terms of the same reward are added up, terms of weight 0 are left out; igt, cpt
    and cct come first and the other terms follow by name.

    >>> from curiograph.rewards.reward_names import as_reward
    >>> igt, cpt = as_reward("igt"), as_reward("cpt")
    >>> combine_rewards([(2, cpt), (0.5, igt), (0.5, igt)]).name
    'igt+2*cpt'
    """
    weights: dict[str, float] = {}
    rewards: dict[str, Reward] = {}
    for weight, reward in terms:
        if not is_number(weight) or not abs(weight) <= 1e9:
            given = f"the weight of reward {reward.name!r} is {quote_value(weight)}"
            raise SettingError(f"{given}; give a number from -1e9 to 1e9.")
        for factor, term in list_terms(reward):
            if rewards.setdefault(term.name, term) != term:
                raise SettingError(f"two different rewards of a sum have the name {term.name!r}; rename one.")
            weights[term.name] = weights.get(term.name, 0.0) + float(weight) * factor
    first = {"igt": 0, "cpt": 1, "cct": 2}
    names = sorted((name for name, weight in weights.items() if weight), key=lambda name: (first.get(name, 3), name))
    if not names:
        raise SettingError("a sum of rewards has no terms; give at least one reward with a weight that is not 0.")
    total = tuple((weights[name], rewards[name]) for name in names)
    return total[0][1] if len(total) == 1 and total[0][0] == 1 else CombinedReward(total)
