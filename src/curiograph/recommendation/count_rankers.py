"""Rankers that are fitted to walks of people: popularity, Markov chain, item-kNN and EASE.

The scores of a history add up to 1 over all nodes, as those of PageRank do; those of EASE to at most 1 in absolute
terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import RankerError, SettingError, WalkError, quote_value
from curiograph.exploration.mdp import Candidates
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph
from curiograph.recommendation.incidence import build_incidence, gather_product, multiply_blocks, to_dense
from curiograph.recommendation.ranker import Ranker
from curiograph.validation import check_choice, check_integer, is_number

if TYPE_CHECKING:
    from curiograph.human.trajectories import Trajectories

MAX_EASE_ITEMS = 12_000
"""Maximum number of items of EASE: two dense matrices of this size take 2.3 GB."""


def fit_ranker(name: str, graph: Graph, walks: Trajectories) -> Ranker:
    """Fit a ranker to walks of people, to recommend with it or to evaluate it.

    Parameters
    ----------
    name : {"popularity", "markov", "item-knn", "ease"}
        Number of users who visited the node; Markov chain of first order; cosine similarity to the visited nodes by
        common users; or EASE (Steck 2019), linear weights between nodes. All walks of a user count as one, except
        that the steps of a Markov chain are those within walks.
    graph : Graph
        Graph of the nodes.
    walks : Trajectories
        Walks on the graph, as by `walks.on(graph)`.

    Returns
    -------
    Ranker
        Argument `ranker` of `recommend`, `Recommender` and `MixtureRanker`.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.toys.library()
    >>> walks = cg.human.Trajectories.from_walks([["music", "poetry"], ["music", "dance", "poetry"]], graph=g)
    >>> top = cg.recommend(g, ["music"], k=2, ranker=cg.fit_ranker("item-knn", g, walks))
    >>> [label for label, score in top]
    ['poetry', 'dance']
    """
    check_choice("the ranker", name, FITTED_RANKERS)
    if name == "popularity":
        return Popularity.from_walks(graph, walks, by_user=True)
    if name == "markov":
        return Markov.from_walks(graph, walks)
    return ItemKnn.from_walks(graph, walks, by_user=True) if name == "item-knn" else Ease.from_walks(graph, walks)


FITTED_RANKERS = ("popularity", "markov", "item-knn", "ease")


@dataclass(frozen=True, eq=False)
class Popularity(Ranker):
    """Score candidates by their share of all steps, or of all visits if every user counts once.

    >>> import curiograph as cg
    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> walks = cg.human.Trajectories.from_walks([["a", "b"], ["c", "b", "a"]], graph=line)
    >>> [Popularity.from_walks(line, walks, by_user=by_user).visits.tolist() for by_user in (False, True)]
    [[1, 2, 0], [2, 2, 1]]
    """

    visits: Int64
    """Number of steps to each node, or of its users, by position."""
    name: str = "popularity"
    is_personal = False

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories, *, by_user: bool = False) -> Popularity:
        """Count users, or the steps of walks: their starts do not count, since on Wikispeedia they are assigned."""
        if by_user:
            check_walks(graph, walks)
            visits = build_incidence(walks, walks.users).sum(axis=0).astype(np.int64)
        else:
            visits = np.bincount(_list_steps(graph, walks)[1], minlength=graph.num_nodes)
        return cls(freeze_array(visits))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        _check_size(self, graph, len(self.visits))
        return np.asarray(self.visits[candidates.nodes] / max(self.visits.sum(), 1))


@dataclass(frozen=True, eq=False)
class UserCounts:
    """Number of times each integer key occurred, in total and by user."""

    keys: Int64  # distinct and ascending
    counts: Int64  # occurrences of each key
    pairs: Int64  # distinct pairs of a user and a key, as user * len(keys) + index of the key, ascending
    pair_counts: Int64  # occurrences of each pair

    @classmethod
    def from_events(cls, keys: Int64, users: Int64) -> UserCounts:
        """Count keys, each with the user it belongs to."""
        distinct, indices, counts = np.unique(keys, return_inverse=True, return_counts=True)
        pairs, pair_counts = np.unique(users * len(distinct) + indices, return_counts=True)
        return cls(keys=distinct, counts=counts, pairs=pairs, pair_counts=pair_counts)

    def look_up(self, keys: Int64, excluded_users: Int64 | None = None) -> Int64:
        """Return the count of each key, without the occurrences of the excluded user given for each."""
        if len(self.keys) == 0:
            return np.zeros(len(keys), np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        counts = np.where(self.keys[place] == keys, self.counts[place], 0)
        if excluded_users is not None:
            known = np.flatnonzero(counts)
            pairs = excluded_users[known] * len(self.keys) + place[known]
            pair_place = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
            counts[known] -= np.where(self.pairs[pair_place] == pairs, self.pair_counts[pair_place], 0)
        return counts


@dataclass(frozen=True, eq=False)
class Markov(Ranker):
    """First-order Markov chain: score candidates by the number of steps to them from the last node of the history.

    The score is (n(last, v) + k share(v)) / (n(last) + k), where share(v) is the share of all steps that lead to v. So
    candidates without an observed step from the last node are ordered by popularity.

    >>> import curiograph as cg
    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> walks = cg.human.Trajectories.from_walks([["a", "b", "c"], ["c", "b", "c"]], graph=line)
    >>> candidates = Candidates(np.array([0, 2]), np.array([0, 2]))
    >>> Markov.from_walks(line, walks).scores(line, [np.array([1])], candidates).round(3).tolist()
    [0.0, 0.833]
    """

    num_nodes: int
    links: UserCounts  # of steps, by source * num_nodes + target
    sources: UserCounts  # of steps, by source
    targets: UserCounts  # of steps, by target
    k: float = 1.0
    """Weight of popularity, in steps; at 1 or below it only breaks ties."""
    name: str = "markov"

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
        links = UserCounts.from_events(begins * graph.num_nodes + ends, users)
        leaving, arriving = UserCounts.from_events(begins, users), UserCounts.from_events(ends, users)
        return cls(graph.num_nodes, links, leaving, arriving, k)

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
class LinearRanker(Ranker):
    """Scores that are sums of the weights from visited nodes, divided by their absolute weights to all nodes."""

    weights: Any
    """Weight from each node (row) to each other, an array or a scipy csr_array."""

    @cached_property
    def _totals(self) -> Float64:
        return np.asarray(abs(self.weights).sum(axis=1))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        _check_size(self, graph, self.weights.shape[0])
        return gather_product(_build_histories(histories, self._totals), self.weights, candidates)

    def contributions(self, graph: Graph, history: Int32, nodes: Int32) -> Float64:
        return np.asarray(to_dense(self.weights[history][:, nodes]) / (self._totals[history].sum() or 1.0))


@dataclass(frozen=True, eq=False)
class ItemKnn(LinearRanker):
    """Item-based nearest neighbors with cosine similarity n_ij / sqrt(n_i n_j), n being numbers of walks or of users.

    >>> import curiograph as cg
    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> walks = cg.human.Trajectories.from_walks([["a", "b"], ["b", "a"], ["b", "c"], ["c"]], graph=line)
    >>> ItemKnn.from_walks(line, walks).weights.toarray().round(3).tolist()
    [[0.0, 0.816, 0.0], [0.816, 0.0, 0.408], [0.0, 0.408, 0.0]]
    """

    name: str = "item-knn"

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories, neighbors: int = 100, *, by_user: bool = False) -> ItemKnn:
        """Count co-visits in walks that are `on` the graph; every node keeps its `neighbors` most similar nodes.

        Equally similar nodes are kept in order. If `by_user`, all walks of a user count as one.
        """
        check_walks(graph, walks)
        size = graph.num_nodes
        count = min(check_integer("neighbors", neighbors, 1, "give the most neighbors of a node, 1 or more"), size)
        visits = build_incidence(walks, walks.users if by_user else np.arange(len(walks.users)))
        norms = np.sqrt(np.maximum(visits.sum(axis=0), 1))
        nearest = [scipy.sparse.csr_array((0, size))]
        for first, counts in multiply_blocks(visits.T.tocsr(), visits):
            nodes = first + np.arange(counts.shape[0])
            # divided after the product: sums of integers are exact, so equal similarities stay equal
            rows = counts.toarray() / (norms[nodes, None] * norms)
            rows[nodes - first, nodes] = 0
            threshold = np.partition(rows, size - count, axis=1)[:, size - count, None]
            above, tied = rows > threshold, rows == threshold
            room = count - above.sum(axis=1, keepdims=True)
            is_kept = above | (tied & (tied.cumsum(axis=1) <= room))
            nearest.append(scipy.sparse.csr_array(np.where(is_kept, rows, 0)))
        return cls(scipy.sparse.vstack(nearest, format="csr"))


@dataclass(frozen=True, eq=False)
class Ease(LinearRanker):
    """Embarrassingly shallow autoencoder (Steck 2019): linear weights between items in closed form.

    With the Gram matrix G of the users x items matrix and P = (G + L2 I)^-1, the weights are -P_ij / P_jj, and zero on
    the diagonal.

    >>> import curiograph as cg
    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> walks = cg.human.Trajectories.from_walks([["a", "b"], ["a", "b"], ["c", "b"]], graph=line)
    >>> Ease.from_walks(line, walks, l2=1.0).weights.round(3).tolist()
    [[0.0, 0.667, -0.25], [0.571, 0.0, 0.375], [-0.286, 0.5, 0.0]]
    """

    name: str = "ease"

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories, l2: float = 200.0) -> Ease:
        """Fit the weights to the items of each user, with the regularization `l2` on the diagonal."""
        check_walks(graph, walks)
        if not is_number(l2) or not 0 < l2 < np.inf:
            raise SettingError(f"l2 is {quote_value(l2)}; give the regularization, above 0.")
        size = graph.num_nodes
        if size > MAX_EASE_ITEMS:
            raise SettingError(
                f"EASE has dense matrices of {size:,} x {size:,} items, {16 * size**2 / 1e9:.0f} GB, and is limited to "
                f"{MAX_EASE_ITEMS:,} items; leave it out, or raise item_users."
            )
        visits = build_incidence(walks, walks.users).astype(np.float64)
        gram = (visits.T @ visits).toarray()
        gram[np.diag_indices(size)] += l2
        weights = np.linalg.inv(gram)
        weights /= -np.diag(weights).copy()
        weights[np.diag_indices(size)] = 0
        return cls(weights)


def _build_histories(histories: Sequence[Int32], totals: Float64) -> scipy.sparse.csr_array:
    """Return histories x nodes: for the visited nodes, 1 divided by the sum of their totals."""
    offsets = np.cumsum([0, *map(len, histories)])
    nodes = np.concatenate([*histories, np.empty(0, np.int32)]).astype(np.int32)
    scales = [1 / (totals[history].sum() or 1.0) for history in histories]
    shape = (len(histories), len(totals))
    return scipy.sparse.csr_array((np.repeat(scales, np.diff(offsets)), nodes, offsets), shape=shape)


def _check_size(ranker: Ranker, graph: Graph, size: int) -> None:
    if graph.num_nodes != size:
        raise RankerError(
            f"ranker {ranker.name!r} was fitted on a graph of {size} nodes and the given graph has "
            f"{graph.num_nodes}; fit it on this graph."
        )


def check_walks(graph: Graph, walks: Trajectories) -> None:
    """Raise WalkError unless walks are on the graph."""
    if not hasattr(walks, "names"):
        raise SettingError(f"the walks are {quote_value(walks)}; give Trajectories, as `walks` of a dataset.")
    if walks.names is not graph.names and list(walks.names) != list(graph.names):
        raise WalkError(f"{walks!r} and {graph!r} number their nodes differently; fit on walks.on(graph).")


def _list_steps(graph: Graph, walks: Trajectories) -> tuple[Int32, Int32, Int64]:
    """Return the source, the target and the user of every step."""
    check_walks(graph, walks)
    lengths = np.diff(walks.offsets)
    is_step = np.ones(len(walks.nodes), bool)
    is_step[walks.offsets[:-1][lengths > 0]] = False
    ends = np.flatnonzero(is_step)
    return walks.nodes[ends - 1], walks.nodes[ends], np.repeat(walks.users, lengths)[ends]
