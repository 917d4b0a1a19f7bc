"""Count-based baselines: rankers that score candidates by counts of observed walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import RankerError, SettingError, WalkError
from curiograph.exploration.mdp import Candidates
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph
from curiograph.human.data.incidence import build_incidence, gather_product, keep_nearest, multiply_blocks
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.recommendation.ranker import Ranker
from curiograph.validation import is_number


class _Unfitted(Ranker):
    """Ranker that does not depend on walks."""

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories) -> Self:
        """Return the ranker."""
        return cls()


@dataclass(frozen=True)
class Uniform(_Unfitted):
    """Score all candidates equally."""

    name: str = "uniform"
    """Name of the ranker."""

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return np.zeros(len(candidates.nodes))


@dataclass(frozen=True)
class Degree(_Unfitted):
    """Score candidates by their in-degree.

    On Wikispeedia in-degrees predict choices among all nodes better than out-degrees; among the out-neighbors of the
    last node neither predicts much.

    >>> star = Graph.from_edges([(1, 0), (2, 0)], directed=True)
    >>> Degree().scores(star, [np.array([1])], Candidates(np.array([0, 2]), np.array([0, 2]))).tolist()
    [2.0, 0.0]
    """

    name: str = "degree"
    """Name of the ranker."""

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return np.bincount(graph.indices, minlength=graph.num_nodes)[candidates.nodes].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Popularity(Ranker):
    """Score candidates by the number of steps to them. Starts of walks do not count: on Wikispeedia they are assigned.

    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> Popularity.from_walks(line, Trajectories.from_walks([["a", "b"], ["c", "b", "a"]], graph=line)).visits.tolist()
    [1, 2, 0]
    """

    visits: Int64
    """Number of steps to each node, by position; `evaluate_recommenders` counts training users instead."""
    name: str = "popularity"
    """Name of the ranker."""

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories) -> Popularity:
        """Count the steps of walks that are `on` the graph."""
        return cls(freeze_array(np.bincount(_list_steps(graph, walks)[1], minlength=graph.num_nodes)))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        _check_size(self, graph, len(self.visits))
        return self.visits[candidates.nodes].astype(np.float64)


@dataclass(frozen=True, eq=False)
class UserCounts:
    """Number of times each integer key occurred, in total and by user."""

    keys: Int64
    """Distinct keys, ascending."""
    counts: Int64
    """Number of occurrences of each key."""
    pairs: Int64
    """Distinct pairs of a user and a key, as user * len(keys) + index of the key, ascending."""
    pair_counts: Int64
    """Number of occurrences of each pair."""

    @classmethod
    def from_events(cls, keys: Int64, users: Int64) -> UserCounts:
        """Count keys, each with the user it belongs to."""
        distinct, indices, counts = np.unique(keys, return_inverse=True, return_counts=True)
        pairs, pair_counts = np.unique(users * len(distinct) + indices, return_counts=True)
        return cls(keys=distinct, counts=counts, pairs=pairs, pair_counts=pair_counts)

    def look_up(self, keys: Int64, excluded_users: Int64 | None = None) -> Int64:
        """Return the count of each key, without the occurrences of the excluded user given for each.

        >>> counts = UserCounts.from_events(np.array([5, 7, 5]), np.array([0, 0, 1]))
        >>> counts.look_up(np.array([5, 7, 5, 6]), np.array([0, 0, 2, 1])).tolist()
        [1, 0, 2, 0]
        >>> counts.look_up(np.array([5, 7, 6])).tolist()
        [2, 1, 0]
        """
        if len(self.keys) == 0:
            return np.zeros(len(keys), np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        counts = self.counts[place]
        if excluded_users is not None:
            pairs = excluded_users * len(self.keys) + place
            pair_place = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
            counts = counts - np.where(self.pairs[pair_place] == pairs, self.pair_counts[pair_place], 0)
        return np.where(self.keys[place] == keys, counts, 0)


@dataclass(frozen=True, eq=False)
class Markov(Ranker):
    """First-order Markov chain: score candidates by the number of steps to them from the last node of the history.

    The score is (n(last, v) + k share(v)) / (n(last) + k), where share(v) is the share of all steps that lead to v. So
    candidates without an observed step from the last node are ordered by popularity.

    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> markov = Markov.from_walks(line, Trajectories.from_walks([["a", "b", "c"], ["c", "b", "c"]], graph=line))
    >>> markov.scores(line, [np.array([1])], Candidates(np.array([0, 2]), np.array([0, 2]))).round(3).tolist()
    [0.0, 0.833]
    """

    num_nodes: int
    """Number of nodes of the graph."""
    links: UserCounts
    """Counts of steps, by source * num_nodes + target."""
    sources: UserCounts
    """Counts of steps, by source."""
    targets: UserCounts
    """Counts of steps, by target."""
    k: float = 1.0
    """Weight of popularity, in steps; at 1 or below it only breaks ties."""
    name: str = "markov"
    """Name of the ranker."""

    def __post_init__(self) -> None:
        if not is_number(self.k) or not 0 < self.k < np.inf:
            raise SettingError(f"k is {quote_value(self.k)}; give the weight of popularity in steps, above 0.")

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories, k: float = 1.0) -> Markov:
        """Count the steps of walks that are `on` the graph."""
        return cls.from_steps(graph, *_list_steps(graph, walks), k)

    @classmethod
    def from_steps(cls, graph: Graph, sources: Int32, targets: Int32, users: Int64, k: float = 1.0) -> Markov:
        """Count steps, given the source, the target and the user of each."""
        begins, ends = sources.astype(np.int64), targets.astype(np.int64)
        return cls(
            num_nodes=graph.num_nodes,
            links=UserCounts.from_events(begins * graph.num_nodes + ends, users),
            sources=UserCounts.from_events(begins, users),
            targets=UserCounts.from_events(ends, users),
            k=k,
        )

    def scores(
        self, graph: Graph, histories: Sequence[Int32], candidates: Candidates, excluded_users: Int64 | None = None
    ) -> Float64:
        """Score the candidates of each history, without the steps of the excluded user given for each."""
        _check_size(self, graph, self.num_nodes)
        rows, nodes = candidates.walks, candidates.nodes.astype(np.int64)
        last = np.array([history[-1] if len(history) else -1 for history in histories], np.int64)
        excluded = None if excluded_users is None else excluded_users[rows]
        steps = self.links.look_up(last[rows] * self.num_nodes + nodes, excluded)
        share = self.targets.look_up(nodes, excluded) / max(int(self.targets.counts.sum()), 1)
        leaving = self.sources.look_up(last, excluded_users)
        return np.asarray((steps + self.k * share) / (leaving + self.k)[rows])


@dataclass(frozen=True, eq=False)
class _ItemSimilarity(Ranker):
    """Score candidates by the sum of their similarities to the visited nodes."""

    similar: Any
    """Similarity of each node (row) to its nearest nodes, a scipy csr_array."""

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        import scipy.sparse

        size = self.similar.shape[0]
        _check_size(self, graph, size)
        offsets = np.concatenate([[0], np.cumsum([len(history) for history in histories])]).astype(np.int64)
        nodes = np.concatenate([*histories, np.empty(0, np.int32)]).astype(np.int32)
        visited = scipy.sparse.csr_array((np.ones(len(nodes)), nodes, offsets), shape=(len(histories), size))
        return gather_product(visited, self.similar, candidates)


@dataclass(frozen=True, eq=False)
class ItemKnn(_ItemSimilarity):
    """Item-based nearest neighbors with cosine similarity n_ij / sqrt(n_i n_j), n being numbers of walks or of users.

    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> knn = ItemKnn.from_walks(line, Trajectories.from_walks([["a", "b"], ["b", "a"], ["b", "c"], ["c"]], graph=line))
    >>> knn.similar.toarray().round(3).tolist()
    [[0.0, 0.816, 0.0], [0.816, 0.0, 0.408], [0.0, 0.408, 0.0]]
    """

    name: str = "item-knn"
    """Name of the ranker."""

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories, neighbors: int = 100, *, by_user: bool = False) -> ItemKnn:
        """Count co-visits in walks that are `on` the graph; every node keeps its `neighbors` most similar nodes.

        If `by_user`, all walks of a user count as one.
        """
        _check_walks(graph, walks)
        visits = build_incidence(walks, walks.users if by_user else np.arange(len(walks)))
        norms = np.sqrt(np.maximum(visits.sum(axis=0), 1))
        # divided after the product: sums of integers are exact, so equal similarities stay equal
        rows = (
            (first, counts.toarray() / (norms[first : first + counts.shape[0], None] * norms))
            for first, counts in multiply_blocks(visits.T.tocsr(), visits)
        )
        return cls(keep_nearest(rows, graph.num_nodes, neighbors))


@dataclass(frozen=True, eq=False)
class RP3beta(_ItemSimilarity):
    """Three-step random walks from the user to an item, with a popularity penalty (Paudel et al. 2017).

    From a visited node to one of the walks that contain it, from there to one of its nodes v, both uniformly; divided
    by n_v^beta, n_v being the number of walks that contain v. Users may take the place of walks.

    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> walks = Trajectories.from_walks([["a", "b"], ["b", "c"]], graph=line)
    >>> RP3beta.from_walks(line, walks, beta=1).similar.toarray().tolist()
    [[0.0, 0.25, 0.0], [0.25, 0.0, 0.25], [0.0, 0.25, 0.0]]
    """

    name: str = "rp3beta"
    """Name of the ranker."""

    @classmethod
    def from_walks(
        cls, graph: Graph, walks: Trajectories, neighbors: int = 100, beta: float = 0.6, *, by_user: bool = False
    ) -> RP3beta:
        """Count co-visits in walks that are `on` the graph; every node keeps its `neighbors` most similar nodes.

        If `by_user`, all walks of a user count as one.
        """
        if not is_number(beta) or not 0 <= beta < np.inf:
            raise SettingError(f"beta is {quote_value(beta)}; give the exponent of the popularity penalty, 0 or above.")
        _check_walks(graph, walks)
        visits = build_incidence(walks, walks.users if by_user else np.arange(len(walks)))
        visitors = np.maximum(visits.sum(axis=0), 1)
        to_walks = visits.T.multiply(1 / visitors[:, None]).tocsr()
        to_nodes = visits.multiply(1 / np.maximum(visits.sum(axis=1), 1)[:, None]).tocsr()
        penalty = visitors ** -float(beta)
        rows = ((first, chances.toarray() * penalty) for first, chances in multiply_blocks(to_walks, to_nodes))
        return cls(keep_nearest(rows, graph.num_nodes, neighbors))


BASELINES = (Uniform, Degree, Popularity, Markov, ItemKnn)
"""All count-based baselines."""


def _check_size(ranker: Ranker, graph: Graph, size: int) -> None:
    if graph.num_nodes != size:
        raise RankerError(
            f"ranker {ranker.name!r} was fitted on a graph of {size} nodes and the given graph has "
            f"{graph.num_nodes}; fit it on this graph."
        )


def _check_walks(graph: Graph, walks: Trajectories) -> None:
    if walks.names is not graph.names and list(walks.names) != list(graph.names):
        raise WalkError(f"{walks!r} and {graph!r} number their nodes differently; fit on walks.on(graph).")


def _list_steps(graph: Graph, walks: Trajectories) -> tuple[Int32, Int32, Int64]:
    """Return the source, the target and the user of every step."""
    _check_walks(graph, walks)
    is_step = np.ones(len(walks.nodes), bool)
    is_step[walks.offsets[:-1][walks.lengths > 0]] = False
    ends = np.flatnonzero(is_step)
    return walks.nodes[ends - 1], walks.nodes[ends], np.repeat(walks.users, walks.lengths)[ends]
