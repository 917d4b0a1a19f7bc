"""Rankers that count: what every other ranker of human choices has to beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import RankerError, SettingError, WalkError
from curiograph.exploration.mdp import Candidates
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.recommendation.ranker import Ranker
from curiograph.validation import is_number

_ENTRIES = 2**22  # histories times nodes scored together: bounds the memory, does not change the scores


@dataclass(frozen=True)
class Uniform(Ranker):
    """All candidates alike.

    >>> from curiograph.graph.toys import cycle
    >>> Uniform().scores(cycle(4), [np.array([0])], Candidates(np.array([0, 2]), np.array([1, 3]))).tolist()
    [0.0, 0.0]
    """

    name: str = "uniform"

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories) -> Uniform:
        """The same for all walks."""
        return cls()

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return np.zeros(len(candidates.nodes))


@dataclass(frozen=True)
class Degree(Ranker):
    """The number of links that lead to a node.

    On Wikispeedia they predict choices among all nodes better than links that lead away; among the out-links of the
    last node neither predicts much.

    >>> star = Graph.from_edges([(1, 0), (2, 0)], directed=True)
    >>> Degree().scores(star, [np.array([1])], Candidates(np.array([0, 2]), np.array([0, 2]))).tolist()
    [2.0, 0.0]
    """

    name: str = "degree"

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories) -> Degree:
        """The same for all walks."""
        return cls()

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return np.bincount(graph.indices, minlength=graph.num_nodes)[candidates.nodes].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Popularity(Ranker):
    """How often people went to a node. Where a walk starts does not count: on Wikispeedia nobody chose that.

    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> Popularity.from_walks(line, Trajectories.from_walks([["a", "b"], ["c", "b", "a"]], graph=line)).visits.tolist()
    [1, 2, 0]
    """

    visits: Int64
    """By position."""
    name: str = "popularity"

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories) -> Popularity:
        """Counted in walks that are `on` the graph."""
        return cls(freeze_array(np.bincount(_steps(graph, walks)[1], minlength=graph.num_nodes)))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        check_size(self, graph, len(self.visits))
        return self.visits[candidates.nodes].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Markov(Ranker):
    """A first-order chain: how often people went from the last node of the history to the candidate.

    The score is (n(last, v) + k share(v)) / (n(last) + k): the chance of v, mixed with its share of all steps as if
    that had been seen k times. So steps that nobody took are ordered by popularity.

    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> markov = Markov.from_walks(line, Trajectories.from_walks([["a", "b", "c"], ["c", "b", "c"]], graph=line))
    >>> markov.scores(line, [np.array([1])], Candidates(np.array([0, 2]), np.array([0, 2]))).round(3).tolist()
    [0.0, 0.833]
    """

    counts: Any
    """Steps from each node to each other, a scipy csr_array."""
    k: float = 1.0
    """Above 0; at 1 or below popularity only breaks ties."""
    name: str = "markov"

    def __post_init__(self) -> None:
        if not is_number(self.k) or not 0 < self.k < np.inf:
            raise SettingError(f"k is {quote_value(self.k)}; give the steps that popularity stands for, above 0.")

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories, k: float = 1.0) -> Markov:
        """Counted in walks that are `on` the graph."""
        import scipy.sparse

        sources, targets = _steps(graph, walks)
        size = graph.num_nodes
        counts = scipy.sparse.csr_array((np.ones(len(sources)), (sources, targets)), shape=(size, size))
        return cls(counts, k)

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        check_size(self, graph, self.counts.shape[0])
        arriving = self.counts.sum(axis=0)
        share = arriving / max(arriving.sum(), 1)
        lasts = [history[-1:] for history in histories]
        counted = sum_rows(self.counts, lasts, candidates)
        total = self.counts.sum(axis=1)
        leaving = np.array([total[last].sum() for last in lasts])
        return np.asarray((counted + self.k * share[candidates.nodes]) / (leaving + self.k)[candidates.walks])


def check_size(ranker: Ranker, graph: Graph, size: int) -> None:
    """Raise where a ranker is asked about another graph than the one that it was fitted on."""
    if graph.num_nodes != size:
        raise RankerError(
            f"ranker {ranker.name!r} was fitted on a graph of {size} nodes and is asked about one of "
            f"{graph.num_nodes}; fit it on this one."
        )


def check_walks(graph: Graph, walks: Trajectories) -> None:
    """Raise unless the positions of the walks are those of the graph."""
    if walks.names is not graph.names and list(walks.names) != list(graph.names):
        raise WalkError(f"{walks!r} does not number nodes as {graph!r} does; fit on walks.on(graph).")


def _steps(graph: Graph, walks: Trajectories) -> tuple[Int32, Int32]:
    """Where each step of each walk began and ended."""
    check_walks(graph, walks)
    later = np.ones(len(walks.nodes), bool)
    later[walks.offsets[:-1][walks.lengths > 0]] = False
    ends = np.flatnonzero(later)
    return walks.nodes[ends - 1], walks.nodes[ends]


def sum_rows(matrix: Any, histories: Sequence[Int32], candidates: Candidates) -> Float64:
    """For each candidate the sum of its column of a sparse matrix over the rows of the history."""
    import scipy.sparse

    size = matrix.shape[0]
    offsets = np.concatenate([[0], np.cumsum([len(history) for history in histories])]).astype(np.int64)
    nodes = np.concatenate([*histories, np.empty(0, np.int32)]).astype(np.int32)
    visited = scipy.sparse.csr_array((np.ones(len(nodes)), nodes, offsets), shape=(len(histories), size))
    scores = np.empty(len(candidates.nodes))
    count = max(1, _ENTRIES // max(1, size))
    for first in range(0, len(histories), count):
        last = min(first + count, len(histories))
        mine = slice(candidates.offsets[first], candidates.offsets[last])
        rows = (visited[first:last] @ matrix).toarray()
        scores[mine] = rows[candidates.walks[mine] - first, candidates.nodes[mine]]
    return scores
