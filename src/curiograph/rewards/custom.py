"""Rewards defined by a user's callable."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import RewardError, quote_value, shorten_text
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.rewards.reward import Tracker


@dataclass(frozen=True)
class CallableReward:
    """Reward computed by a function of the visited subgraph.

    Parameters
    ----------
    function : callable
        Takes the visited subgraph, an undirected `Graph` with the labels of its nodes, and returns a finite number.
    name : str
        Name used in tables and files.

    Examples
    --------
    >>> density = CallableReward(lambda s: 2 * s.num_edges / (len(s) * (len(s) - 1)), name="density")
    >>> density.name
    'density'
    """

    function: Callable[[Graph], float]
    name: str = "custom"

    @property
    def fingerprint(self) -> Any:
        """Value that identifies the function in saved runs: its attribute `fingerprint`, or None."""
        return getattr(self.function, "fingerprint", None)

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> Tracker:
        return _CallableTracker(self, stack, nodes, lengths)

    def value(self, subgraph: Graph) -> float:
        """Call the function; raise `RewardError` with the subgraph's nodes if the result is not a finite number."""
        more = f" and {len(subgraph) - 5} more" if len(subgraph) > 5 else ""
        where = f"on the subgraph of {', '.join(map(repr, subgraph.labels[:5]))}{more}"
        try:
            value: Any = self.function(subgraph)
        except Exception as error:
            problem = f"raised {type(error).__name__} {where}: {shorten_text(error)}"
            raise RewardError(f"reward {self.name!r} {problem}") from error
        try:
            number = math.nan if isinstance(value, str | bytes) or np.ndim(value) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            problem = f"returned {quote_value(value)} {where}; a reward must be a finite number."
            raise RewardError(f"reward {self.name!r} {problem}")
        return number


class _CallableTracker(Tracker):
    def __init__(self, reward: CallableReward, stack: GraphBatch, nodes: Int32, lengths: Int64) -> None:
        super().__init__(stack, nodes, lengths)
        self._reward = reward

    def values(self) -> Float64:
        walks = [self.nodes[i, :length] for i, length in enumerate(self.lengths)]
        return np.asarray([self._evaluate(nodes) if len(nodes) else 0.0 for nodes in walks])

    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        walks = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        grown = (np.append(self.nodes[i, : self.lengths[i]], v) for i, v in zip(walks, candidates, strict=True))
        return np.asarray([self._evaluate(nodes) for nodes in grown], np.float64)

    def _evaluate(self, nodes: Int32) -> float:
        graph, position = self.stack.split(int(nodes[0]))
        shift = int(nodes[0]) - position
        return self._reward.value(graph.skeleton.induced(np.sort(nodes) - shift))
