"""Rewards standardized per walk length, so that rewards of different units can be added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import SettingError
from curiograph.graph.batch import GraphBatch
from curiograph.rewards.base import Reward, Tracker


class StandardizedTracker(Tracker):
    """Values of another tracker, minus a mean and times a scale that depend on the length of the walk."""

    def __init__(self, reward: StandardizedReward, stack: GraphBatch, nodes: Int32, lengths: Int64) -> None:
        super().__init__(stack, nodes, lengths)
        self.inner = reward.reward.track(stack, nodes, lengths)
        """Tracker of the reward that is standardized."""
        self.depends_on_order = self.inner.depends_on_order
        self._reward = reward
        self._means = np.array([0.0, *reward.means])
        self._scales = np.array([0.0, *reward.scales])

    def values(self) -> Float64:
        return self._standardize(self.inner.values(), self.lengths)

    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        lengths = np.repeat(self.lengths + 1, np.diff(offsets))
        return self._standardize(self.inner.candidate_values(offsets, candidates), lengths)

    def advance(self, new: Int32, parents: Int64 | None = None) -> None:
        super().advance(new, parents)
        self.inner.advance(new, parents)

    def hash_order(self) -> NDArray[np.uint64]:
        return self.inner.hash_order()

    def _standardize(self, values: Float64, lengths: Int64) -> Float64:
        if len(lengths) and lengths.max() >= len(self._means):
            raise SettingError(
                f"reward {self._reward.name!r} is standardized for walks of up to {len(self._means) - 1} nodes, but a "
                f"walk has {lengths.max()}; call standardize_reward with larger steps."
            )
        standardized: Float64 = (values - self._means[lengths]) * self._scales[lengths]
        return standardized


@dataclass(frozen=True)
class StandardizedReward:
    """A reward minus its mean and divided by its standard deviation at each walk length; see `standardize_reward`."""

    reward: Reward
    """Reward that is standardized."""
    means: tuple[float, ...]
    """Mean at each walk length, from 1 node on."""
    scales: tuple[float, ...]
    """Reciprocal of the standard deviation at each walk length; 0 where the reward does not vary."""

    @property
    def name(self) -> str:
        """Name used in tables and files."""
        return f"standardized {self.reward.name}"

    @property
    def fingerprint(self) -> Any:
        """Value that identifies the reward in saved runs; None if the reward that is standardized has none."""
        inner = getattr(self.reward, "fingerprint", self.reward.name)
        return None if inner is None else repr((inner, self.means, self.scales))

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> StandardizedTracker:
        return StandardizedTracker(self, stack, nodes, lengths)
