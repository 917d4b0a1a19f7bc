"""Rankers whose scores are sums of parts, one for each node of a history, that are computed once.

Walkers forget their path at a teleport, so the expected visits from a history are a mean, which may be weighted, of
those from its nodes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, field
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float32, Float64, Int32
from curiograph.centrality.history import check_alpha
from curiograph.errors import SettingError, quote_value
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.parallel.fingerprint import hash_values
from curiograph.recommendation.ranker import Ranker
from curiograph.validation import is_number, resolve_workers

_MIN_VISITS = 1e-7  # smallest expected visits that are kept
_RECENT_PARTS = 2**14  # of a file, whose objects are kept; 500 bytes each
_STEP = 2.0**-30  # visits are multiples of it, so that sums of equal weights do not depend on the order


class Part(NamedTuple):
    """Expected visits between teleports from one start node."""

    nodes: Int32
    """Positions, ascending."""
    visits: Float32
    """Expected visits of `nodes`."""
    total: float
    """Sum of the expected visits of all nodes, including those not kept."""
    weight: float = 1.0
    """Factor of the visits in a sum over a history."""

    @classmethod
    def of_most_visited(cls, graph: Graph, nodes: Int32, visits: Float64, total: float) -> Part:
        """Return the part of the most visited nodes: 1,024 of them, or 256 if the graph has more than 100,000."""
        most = min(len(nodes), 1_024 if graph.num_nodes <= 100_000 else 256)
        kept, kept_visits = kernels.part_sums.keep_most_visited(nodes, visits, most, _MIN_VISITS, _STEP)
        return cls(kept, kept_visits, round(float(total) / _STEP) * _STEP)

    def look_up(self, nodes: Int32) -> Float32:
        """Return the expected visits of some nodes, zero if they are not kept."""
        places = self.nodes.searchsorted(nodes)
        return np.asarray(self.visits.take(places, mode="clip") * (self.nodes.take(places, mode="clip") == nodes))


_NOWHERE = Part(np.empty(0, np.int32), np.empty(0, np.float32), 0.0)


class Parts(MutableMapping[int, Part]):
    """Parts by start node: those in arrays, which may be mapped from a file, and others that were added."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays, self._added, self._recent = arrays, dict[int, Part](), dict[int, Part]()

    def __getitem__(self, start: int) -> Part:
        part = self._added.get(start) or self._recent.get(start)
        if part is None:
            row = self._find_row(start)
            if row is None:
                raise KeyError(start)
            own = slice(*self._arrays["offsets"][row : row + 2].tolist())
            part = Part(self._arrays["nodes"][own], self._arrays["visits"][own], float(self._arrays["totals"][row]))
            if len(self._recent) >= _RECENT_PARTS:
                self._recent.clear()
            self._recent[start] = part
        return part

    def _find_row(self, start: int) -> int | None:
        starts = self._arrays["starts"]
        row = int(starts.searchsorted(np.int32(start)))  # for another type, numpy would convert all of `starts`
        return row if row < len(starts) and starts[row] == start else None

    def __contains__(self, start: object) -> bool:
        return start in self._added or (isinstance(start, int) and self._find_row(start) is not None)

    def __setitem__(self, start: int, part: Part) -> None:
        if self._find_row(start) is None:
            self._added[start] = part

    def __delitem__(self, start: int) -> None:
        del self._added[start]

    def __iter__(self) -> Iterator[int]:
        return iter(sorted({*self._arrays["starts"].tolist(), *self._added}))

    def __len__(self) -> int:
        return len(self._arrays["starts"]) + len(self._added)


@dataclass(frozen=True, eq=False)
class PartRanker(Ranker):
    """A ranker whose scores are sums over the parts of visited nodes."""

    zero_is_unreached = True
    _: KW_ONLY
    support: float = 5.0
    """Number of visitors of a visited node at which it weighs half of one with very many: links of items with few
    visitors are often due to chance. It makes no difference if the graph has no `visitors`."""
    workers: int | None = field(default=None, repr=False, compare=False)
    """Number of threads that compute parts. Default: one per processor."""
    simulates: bool = field(default=True, repr=False, compare=False)
    """Whether the parts of nodes that are not prepared are computed. If not, these nodes do not count, except that all
    do in a PageRank of a history of which no node is prepared."""
    kept: dict[Graph, MutableMapping[int, Part]] = field(default_factory=dict, repr=False, compare=False)
    """Parts computed or loaded so far, by graph and position."""

    @property
    @abstractmethod
    def alpha(self) -> float:
        """Probability to continue instead of teleporting to the history."""

    def __post_init__(self) -> None:
        if check_alpha(self.alpha) == 0:
            raise SettingError("alpha is 0, so that no link is followed; give a number above 0.")
        if not is_number(self.support) or not 0 <= self.support < np.inf:
            raise SettingError(f"support is {quote_value(self.support)}; give a number of visitors, 0 or more.")

    @abstractmethod
    def compute_parts(self, graph: Graph, nodes: Sequence[int]) -> list[Part]:
        """Return the part of each of some positions."""

    @abstractmethod
    def find_parts(self, graph: Graph, histories: Sequence[Int32]) -> list[dict[int, Part] | None]:
        """Return the parts of each history by node, computing missing ones; None if it is to be solved exactly."""

    def weigh_visits(self, graph: Graph, history: Int32) -> Float64:
        """Return the weight of each visited node; only their proportions matter."""
        if graph.visitors is None:
            return np.ones(len(history))
        visitors = np.maximum(graph.visitors[history], 1)
        return np.asarray(visitors / (visitors + self.support))

    def weigh_parts(self, graph: Graph, history: Int32, parts: dict[int, Part]) -> dict[int, Part]:
        """Return the parts of visited nodes with the weights of these."""
        weights = self.weigh_visits(graph, history)
        if (weights == weights[:1]).all():
            return parts
        pairs = zip(history.tolist(), weights.tolist(), strict=True)
        return {v: parts[v]._replace(weight=weight) for v, weight in pairs if v in parts}

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return score_parts(graph, self.find_parts(graph, histories), candidates)

    def contributions(self, graph: Graph, history: Int32, nodes: Int32) -> Float64:
        parts = self.find_parts(graph, [history])[0] or {}
        rows = np.zeros((len(history), len(nodes)))
        for row, v in zip(rows, history.tolist(), strict=True):
            if v in parts:  # others are not prepared
                row[:] = parts[v].weight * parts[v].look_up(nodes)
        return rows / (_sum_totals(parts.values()) or 1.0)

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


def score_parts(graph: Graph, found: Sequence[dict[int, Part] | None], candidates: Candidates) -> Float64:
    """Return the scores of candidates, given the parts of each history; zero if there are none."""
    scores = np.zeros(len(candidates.nodes))
    reached, (shares,) = sum_parts(graph, [[parts or {} for parts in found]], [np.empty(0, np.int32)] * len(found))
    users = zip(pairwise(reached.offsets.tolist()), pairwise(candidates.offsets.tolist()), strict=True)
    for (first, end), (a, b) in users:
        if first < end:
            scores[a:b] = Part(reached.nodes[first:end], shares[first:end], 1.0).look_up(candidates.nodes[a:b])
    return scores


def score_reached(
    rankers: Iterable[Ranker], graph: Graph, histories: Sequence[Int32]
) -> tuple[Candidates, Float64] | None:
    """Return the unvisited nodes that parts of any ranker reach, and their scores by each ranker (row).

    None if not all scores are sums of parts.
    """
    found = []
    for ranker in rankers:
        by_history = ranker.find_parts(graph, histories) if isinstance(ranker, PartRanker) else [None]
        found.append([parts for parts in by_history if parts is not None])
        if len(found[-1]) < len(by_history):
            return None
    return sum_parts(graph, found, histories)


def _sum_totals(parts: Iterable[Part]) -> float:
    return sum(part.weight * part.total for part in parts)


def sum_parts(
    graph: Graph, found: Sequence[Sequence[Mapping[int, Part]]], excluded: Sequence[Int32]
) -> tuple[Candidates, Float64]:
    """Return the nodes that parts reach, given those of each ranker and history, and their scores by ranker (row)."""
    rows = [tuple(parts.values()) for user in zip(*found, strict=True) for parts in user]
    nodes, visits, _, weights = zip(*chain(*rows, [_NOWHERE]), strict=True)
    sums = np.array([_sum_totals(row) or 1.0 for row in rows]).reshape(-1, len(found))
    visited = np.concatenate([_NOWHERE.nodes, *excluded])
    offsets, reached, shares = kernels.part_sums.sum_parts(
        np.array([0, *accumulate(map(len, rows))]),
        np.array([0, *accumulate(map(len, nodes))]),
        np.array(weights),
        np.concatenate(nodes),
        np.concatenate(visits),
        sums,
        np.array([0, *accumulate(map(len, excluded))]),
        visited,
        graph.num_nodes,
    )
    return Candidates(offsets, reached), shares
