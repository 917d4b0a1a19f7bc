"""What a reward is: a name, and a tracker that values many growing walks at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.batch import GraphBatch


class Tracker(ABC):
    """The values of a batch of walks, kept while they grow.

    `nodes` (walks x capacity, stacked positions) and `lengths` say where the walks are; a walk of length 0 is empty,
    and the width of `nodes` is the most nodes a walk may reach.
    """

    def __init__(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> None:
        self.stack = stack
        self.nodes = np.array(nodes, np.int32, order="C")
        self.lengths = np.array(lengths, np.int64)

    @abstractmethod
    def values(self) -> Float64:
        """F(S) of every walk."""

    @abstractmethod
    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        """F(S + v) for every candidate v; those of walk i stand at `offsets[i]:offsets[i + 1]`."""

    def advance(self, new: Int32, parents: Int64 | None = None) -> None:
        """Let walk i become walk `parents[i]` (itself if None) plus the node `new[i]` (unchanged for -1)."""
        if parents is not None:
            self._gather(parents)
        moving = np.flatnonzero(new >= 0)
        self.nodes[moving, self.lengths[moving]] = new[moving]
        self.lengths[moving] += 1
        self._catch_up()

    def _gather(self, parents: Int64) -> None:
        self.nodes, self.lengths = self.nodes[parents], self.lengths[parents]

    def _catch_up(self) -> None:  # noqa: B027 - most rewards keep nothing
        """Take new nodes into whatever is kept beside them."""


@runtime_checkable
class Reward(Protocol):
    """F(S): igt, cpt, or a user's own. `as_reward` makes one from a name or from any callable of a subgraph."""

    @property
    def name(self) -> str:
        """What tables and files call it."""

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> Tracker:
        """Start valuing these walks."""
