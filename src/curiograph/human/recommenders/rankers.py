"""Rankers of the evaluation beyond the count-based baselines: EASE, implicit ALS, and re-ranked methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import RankerError, SettingError
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.human.data.incidence import build_incidence
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.optional import import_optional
from curiograph.recommendation.ranker import Ranker, score_candidates
from curiograph.validation import is_number

MAX_EASE_ITEMS = 12_000
"""Maximum number of items of EASE: two dense matrices of this size take 2.3 GB."""


def build_histories(histories: Sequence[Int32], num_items: int) -> Any:
    """Return histories x items, a scipy csr_array of ones."""
    import scipy.sparse

    offsets = np.cumsum([0, *map(len, histories)])
    nodes = np.concatenate([*histories, np.empty(0, np.int32)]).astype(np.int32)
    return scipy.sparse.csr_array((np.ones(len(nodes)), nodes, offsets), shape=(len(histories), num_items))


@dataclass(frozen=True, eq=False)
class Ease(Ranker):
    """Embarrassingly shallow autoencoder (Steck 2019): linear weights between items in closed form.

    The score of an item is the sum of the weights to it from the visited items. With the Gram matrix G of the users x
    items matrix and P = (G + L2 I)^-1, the weights are -P_ij / P_jj, and zero on the diagonal.

    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> walks = Trajectories.from_walks([["a", "b"], ["a", "b"], ["c", "b"]], graph=line)
    >>> Ease.from_walks(line, walks, l2=1.0).weights.round(3).tolist()
    [[0.0, 0.667, -0.25], [0.571, 0.0, 0.375], [-0.286, 0.5, 0.0]]
    """

    weights: Float64
    """Items x items: weight from a visited item (row) to a candidate."""
    name: str = "ease"
    """Name of the ranker."""

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories, l2: float = 200.0) -> Ease:
        """Fit the weights to the items of each user, with the regularization `l2` on the diagonal."""
        if not is_number(l2) or not 0 < l2 < np.inf:
            raise SettingError(f"l2 is {quote_value(l2)}; give the regularization, above 0.")
        size = graph.num_nodes
        if size > MAX_EASE_ITEMS:
            raise SettingError(
                f"EASE has dense matrices of {size:,} x {size:,} items, {16 * size**2 / 1e9:.0f} GB, and is limited to "
                f"{MAX_EASE_ITEMS:,} items; leave it out, or raise item_users (--item-users)."
            )
        visits = build_incidence(walks, walks.users).astype(np.float64)
        gram = (visits.T @ visits).toarray()
        gram[np.diag_indices(size)] += l2
        weights = np.linalg.inv(gram)
        weights /= -np.diag(weights).copy()
        weights[np.diag_indices(size)] = 0
        return cls(weights)

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        rows = build_histories(histories, len(self.weights)) @ self.weights
        return np.asarray(rows[candidates.walks, candidates.nodes])


@dataclass(frozen=True, eq=False)
class ImplicitAls(Ranker):
    """Matrix factorization of implicit feedback by alternating least squares (Hu et al. 2008), by the library implicit.

    The factors of a user are computed from the history, with the factors of the items fixed.
    """

    model: Any
    """Fitted model of the library."""
    name: str = "als"
    """Name of the ranker."""

    @classmethod
    def from_walks(
        cls, graph: Graph, walks: Trajectories, factors: int = 64, regularization: float = 0.05, seed: int = 0
    ) -> ImplicitAls:
        """Fit the factors to the items of each user, in one thread, so that the same seed gives the same factors."""
        import scipy.sparse
        from threadpoolctl import threadpool_limits

        als = import_optional("implicit.als", "als", "ALS recommenders")
        visits = scipy.sparse.csr_matrix(build_incidence(walks, walks.users).astype(np.float32))
        with threadpool_limits(1, "blas"):
            model = als.AlternatingLeastSquares(
                factors=min(factors, max(1, min(visits.shape) - 1)),
                regularization=regularization,
                alpha=10.0,
                iterations=15,
                num_threads=1,
                use_gpu=False,
                random_state=seed,
            )
            model.fit(visits, show_progress=False)
        return cls(model)

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        import scipy.sparse
        from threadpoolctl import threadpool_limits

        visited = scipy.sparse.csr_matrix(build_histories(histories, len(self.model.item_factors)).astype(np.float32))
        with threadpool_limits(1, "blas"):
            factors = self.model.recalculate_user(np.arange(len(histories)), visited)
            rows = np.asarray(factors, np.float64) @ np.asarray(self.model.item_factors, np.float64).T
        return np.asarray(rows[candidates.walks, candidates.nodes])


# ---- re-ranking -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Blend(Ranker):
    """Weighted mean of two rankers, whose scores are scaled to sum to one over the candidates of a user."""

    base: Ranker
    """Ranker with scores of zero or above."""
    other: Ranker
    """Ranker with scores of zero or above."""
    strength: float
    """Weight of the other ranker, from 0 to 1."""
    name: str = "blend"
    """Name of the ranker."""

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        own, other = (
            scale_scores(score_base(ranker, graph, histories, candidates), candidates)
            for ranker in (self.base, self.other)
        )
        return (1 - self.strength) * own + self.strength * other


@dataclass(frozen=True, eq=False)
class Discounted(Ranker):
    """Scores divided by a power of the number of training users of the item, as in RP3beta."""

    base: Ranker
    """Ranker with scores of zero or above."""
    counts: Int64
    """Number of training users of each item."""
    strength: float
    """Exponent of the number of users."""
    name: str = "discounted"
    """Name of the ranker."""

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        penalty = np.maximum(self.counts, 1).astype(np.float64) ** -self.strength
        return score_base(self.base, graph, histories, candidates) * penalty[candidates.nodes]


@dataclass(frozen=True, eq=False)
class Sampled(Ranker):
    """Lists drawn at random without replacement, in proportion to score^(1 / strength).

    Adding Gumbel noise of scale `strength` to the logarithms of the scores and sorting draws such lists. A strength of
    zero leaves the order as it is. The noise of a user depends on the seed and the history alone.
    """

    base: Ranker
    """Ranker with scores of zero or above."""
    strength: float
    """Temperature."""
    seed: int = 0
    """Random seed."""
    name: str = "sampled"
    """Name of the ranker."""

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        scores = score_base(self.base, graph, histories, candidates)
        drawn = np.zeros(len(scores))
        for history, (start, end) in zip(histories, pairwise(candidates.offsets.tolist()), strict=True):
            nodes = candidates.nodes[start:end]
            noise = np.random.default_rng([self.seed, *history.tolist()]).gumbel(size=graph.num_nodes)[nodes]
            reached = scores[start:end] > 0
            keys = np.log(scores[start:end][reached]) + self.strength * noise[reached]
            drawn[start:end][reached] = 1 + 1 / (1 + np.exp(-keys / 64))  # ascending, above zero, and finite
        return drawn


def score_base(ranker: Ranker, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
    """Return the scores of a ranker to re-rank; raise RankerError for negative ones, whose ratios have no meaning."""
    scores = score_candidates(ranker, graph, histories, candidates)
    lowest = scores.min(initial=0)
    if lowest < 0:
        raise RankerError(
            f"ranker {ranker.name!r} gave the score {lowest:.3g}, and negative scores cannot be re-ranked; give a base "
            "with scores of zero or above."
        )
    return scores


def scale_scores(scores: Float64, candidates: Candidates) -> Float64:
    """Divide scores of zero or above by their sum over the candidates of each user."""
    totals = np.bincount(candidates.walks, scores, len(candidates.counts))
    return np.asarray(scores / np.where(totals > 0, totals, 1)[candidates.walks])
