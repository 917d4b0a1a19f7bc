"""Rankers whose scores are sums of parts, one for each node of a history, that are computed once.

Walkers forget their path at a teleport, so the expected visits from a history are the mean of those from its nodes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float32, Float64, Int32
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.parallel.fingerprint import hash_values
from curiograph.recommendation.ranker import Ranker
from curiograph.validation import resolve_workers

_MIN_VISITS = 1e-7  # smallest expected visits that are kept
_STEP = 2.0**-30  # visits are multiples of it, so that sums are exact and do not depend on the order


@dataclass(frozen=True, eq=False)
class Part:
    """Expected visits between teleports from one start node."""

    nodes: Int32
    """Positions, ascending."""
    visits: Float32
    """Expected visits of `nodes`."""
    total: float
    """Sum of the expected visits of all nodes, including those not kept."""

    @classmethod
    def of_most_visited(cls, graph: Graph, nodes: Int32, visits: Float64, total: float) -> Part:
        """Return the part of the most visited nodes: 1,024 of them, or 256 if the graph has more than 100,000."""
        most = 1_024 if graph.num_nodes <= 100_000 else 256
        rounded = (np.round(visits / _STEP) * _STEP).astype(np.float32)
        kept = np.flatnonzero(rounded > _MIN_VISITS)
        if len(kept) > most:
            least = np.partition(rounded[kept], -most)[-most]
            above, tied = kept[rounded[kept] > least], kept[rounded[kept] == least]
            kept = np.concatenate([above, tied[np.argsort(nodes[tied])][: most - len(above)]])
        kept = kept[np.argsort(nodes[kept])]
        return cls(nodes[kept], rounded[kept], round(float(total) / _STEP) * _STEP)

    def scale(self, factor: float) -> Part:
        """Return the part with all visits multiplied by a factor."""
        return Part(self.nodes, self.visits * np.float32(factor), self.total * factor)

    def look_up(self, nodes: Int32) -> Float32:
        """Return the expected visits of some nodes, zero if they are not kept."""
        places = self.nodes.searchsorted(nodes)
        return np.asarray(self.visits.take(places, mode="clip") * (self.nodes.take(places, mode="clip") == nodes))


class Parts(MutableMapping[int, Part]):
    """Parts by start node: those in arrays, which may be mapped from a file, and others that were added."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays, self._added = arrays, dict[int, Part]()

    def __getitem__(self, start: int) -> Part:
        if start in self._added:
            return self._added[start]
        row = self._find_row(start)
        if row is None:
            raise KeyError(start)
        own = slice(*self._arrays["offsets"][row : row + 2].tolist())
        return Part(self._arrays["nodes"][own], self._arrays["visits"][own], float(self._arrays["totals"][row]))

    def _find_row(self, start: int) -> int | None:
        starts = self._arrays["starts"]
        row = int(starts.searchsorted(start))
        return row if row < len(starts) and starts[row] == start else None

    def __contains__(self, start: object) -> bool:
        return start in self._added or (isinstance(start, int) and self._find_row(start) is not None)

    def __setitem__(self, start: int, part: Part) -> None:
        self._added[start] = part

    def __delitem__(self, start: int) -> None:
        del self._added[start]

    def __iter__(self) -> Iterator[int]:
        return iter(sorted({*self._arrays["starts"].tolist(), *self._added}))

    def __len__(self) -> int:
        return len(self._arrays["starts"]) + sum(self._find_row(start) is None for start in self._added)


class PartRanker(Ranker):
    """A ranker whose scores are sums over the parts of visited nodes."""

    zero_is_unreached = True
    alpha: float
    """Probability to continue instead of teleporting to the history."""
    kept: dict[Graph, MutableMapping[int, Part]]
    """Parts computed or loaded so far, by graph and position."""
    workers: int | None
    """Number of threads that compute parts. Default: one per processor."""

    def with_parts(self, kept: dict[Graph, MutableMapping[int, Part]], workers: int | None = None) -> PartRanker:
        """Return a ranker of the same settings that keeps other parts."""
        ranker: Any = self
        return cast(PartRanker, replace(ranker, kept=kept, workers=workers or self.workers))

    @abstractmethod
    def compute_parts(self, graph: Graph, nodes: Sequence[int]) -> list[Part]:
        """Return the part of each of some positions."""

    @abstractmethod
    def find_parts(self, graph: Graph, histories: Sequence[Int32]) -> list[dict[int, Part]]:
        """Return the parts of each history by node; compute missing ones."""

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        scores = np.zeros(len(candidates.nodes))
        users = zip(self.find_parts(graph, histories), pairwise(candidates.offsets.tolist()), strict=True)
        for parts, (first, end) in users:
            if parts:
                scores[first:end] = sum_parts(graph, list(parts.values()), candidates.nodes[first:end])
        return scores

    def contributions(self, graph: Graph, history: Int32, nodes: Int32) -> Float64:
        (parts,) = self.find_parts(graph, [history])
        rows = np.zeros((len(history), len(nodes)))
        for row, v in zip(rows, history.tolist(), strict=True):
            if v in parts:  # others are not prepared
                row[:] = parts[v].look_up(nodes)
        return rows / (sum(part.total for part in parts.values()) or 1.0)

    def find_reached(self, graph: Graph, histories: Sequence[Int32]) -> list[Int32] | None:
        parts = self.find_parts(graph, histories)
        return [np.concatenate([np.empty(0, np.int32), *(part.nodes for part in each.values())]) for each in parts]

    def describe(self, graph: Graph) -> dict[str, Any]:
        """Return everything that determines the parts of a graph, as JSON values."""
        shape = np.array([graph.num_nodes, graph.directed])
        return {"graph": hash_values(shape, graph.indptr, graph.indices, graph.weights, graph.loops)}


def compute_in_threads(
    compute: Callable[[Sequence[int]], list[Part]], nodes: Sequence[int], workers: int | None
) -> list[Part]:
    """Return the parts of some positions, computed by a function in threads; one per processor by default."""
    threads = min(resolve_workers(workers), len(nodes) - 1)
    if threads <= 1:
        return compute(nodes)
    # the first node in this thread: two threads that load kernels at once may wait for each other
    first, rest = compute(nodes[:1]), nodes[1:]
    with ThreadPoolExecutor(threads) as pool:
        computed = list(pool.map(compute, [rest[number::threads] for number in range(threads)]))
    return [*first, *(computed[number % threads][number // threads] for number in range(len(rest)))]


def sum_parts(graph: Graph, parts: Sequence[Part], wanted: Int32) -> Float64:
    """Return the shares of some nodes in the visits of all parts."""
    nodes = np.concatenate([part.nodes for part in parts])
    visits = np.concatenate([part.visits for part in parts])
    sums = np.bincount(nodes, visits, graph.num_nodes)[wanted]
    return np.asarray(sums / (sum(part.total for part in parts) or 1.0))
