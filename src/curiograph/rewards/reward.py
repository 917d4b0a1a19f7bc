"""The reward contract: a name, and a tracker that computes the values of many growing walks at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.batch import GraphBatch


class Tracker(ABC):
    """Compute the values of a batch of walks incrementally while they grow.

    Parameters
    ----------
    stack : GraphBatch
        The graphs that the walks are on.
    nodes : array of shape (walks, capacity)
        Visited nodes in order of visit, as batch positions. The capacity is the maximum length of a walk.
    lengths : array of shape (walks,)
        Number of nodes visited so far; a walk of length 0 is empty.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> from curiograph.rewards.igt import GapTracker
    >>> tracker = GapTracker(GraphBatch.of([cycle(4)]), np.array([[0, 1, 2, -1]]), np.array([3]))
    >>> tracker.values(), tracker.candidate_values(np.array([0, 1]), np.array([3], np.int32))
    (array([0.]), array([1.]))
    """

    depends_on_order: bool = False
    """Whether F depends on the order of visit, and not on the set of visited nodes alone."""
    state: tuple[str, ...] = ()
    """Names of attributes with further arrays that have an entry per walk."""

    def __init__(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> None:
        self.stack = stack
        self.nodes = np.array(nodes, np.int32, order="C")
        self.lengths = np.array(lengths, np.int64)

    @abstractmethod
    def values(self) -> Float64:
        """Return F(S) of every walk."""

    @abstractmethod
    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        """Return F(S + v) of every candidate v; walk i has the candidates `offsets[i]:offsets[i + 1]`."""

    def advance(self, new: Int32, parents: Int64 | None = None) -> None:
        """Replace walk i by walk `parents[i]` (itself if None) followed by the node `new[i]` (unchanged for -1)."""
        if parents is not None:
            self.gather(parents)
        moving = np.flatnonzero(new >= 0)
        self.nodes[moving, self.lengths[moving]] = new[moving]
        self.lengths[moving] += 1
        self.update()

    def hash_order(self) -> NDArray[np.uint64]:
        """Return, for every walk, a hash of what its later values depend on besides the set of visited nodes.

        Beam search keeps only the better of two walks with the same set of nodes, last node and hash. If F depends on
        the order of visit, the hash is that of the order; override this method if less of the order matters.
        """
        if not self.depends_on_order:
            return np.zeros(len(self.lengths), np.uint64)
        return np.asarray(kernels.pruning.hash_node_orders(self.nodes, self.lengths))

    def gather(self, parents: Int64) -> None:
        """Replace walk i by a copy of walk `parents[i]`."""
        for name in ("nodes", "lengths", *self.state):
            setattr(self, name, getattr(self, name)[parents])

    def update(self) -> None:  # noqa: B027 - most rewards keep no state
        """Add new nodes to the internal state of the reward."""


@runtime_checkable
class Reward(Protocol):
    """A reward F(S): igt, cpt, or a custom one. `as_reward` creates one from a name or a callable of a subgraph.

    Examples
    --------
    >>> from curiograph.rewards.reward_names import as_reward
    >>> isinstance(as_reward("igt"), Reward)
    True
    """

    @property
    def name(self) -> str:
        """Name used in tables and files."""

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> Tracker:
        """Create a tracker for these walks; the parameters are those of `Tracker`."""
