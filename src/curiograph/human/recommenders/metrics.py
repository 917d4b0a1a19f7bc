"""Measures of recommendation lists: accuracy by user, and diversity of the lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.bootstrap import INTERVAL_PERCENTILES, Estimate, Seed, draw_weights
from curiograph.human.data.incidence import build_incidence
from curiograph.human.recommenders.splits import Split

USER_MEASURES = ("hit", "recall", "ndcg", "novelty", "serendipity", "diversity")
"""Measures at k that are means over users."""
LIST_MEASURES = ("coverage", "gini")
"""Measures at k of the lists of all users together."""
MRR = "mrr"
"""Mean reciprocal rank, over the whole ranking."""


@dataclass(frozen=True, eq=False)
class Catalog:
    """What the measures need to know of the training events."""

    visitors: Any
    """Training users x items, a scipy csr_array of ones."""
    popular: Int32
    """All items, those with most training users first; items with equally many are in random order."""

    @classmethod
    def from_split(cls, split: Split, seed: int = 0) -> Catalog:
        """Count the training users of every item."""
        visitors = build_incidence(split.train, split.train.users)
        counts = np.asarray(visitors.sum(axis=0)).ravel()
        order = np.random.default_rng([seed, 2]).permutation(len(counts))
        return cls(visitors, order[np.argsort(-counts[order], kind="stable")].astype(np.int32))

    @cached_property
    def counts(self) -> Int64:
        """Number of training users of each item."""
        return np.asarray(self.visitors.sum(axis=0)).ravel().astype(np.int64)

    @cached_property
    def information(self) -> Float64:
        """Self-information of each item in bits: -log2 of the share of training users who visited it."""
        return np.asarray(-np.log2(np.maximum(self.counts, 1) / self.visitors.shape[0]))

    @cached_property
    def vectors(self) -> Any:
        """Items x training users, with rows of length 1: products are cosine similarities."""
        scale = 1 / np.sqrt(np.maximum(self.counts, 1))
        return self.visitors.T.multiply(scale[:, None]).tocsr()

    def list_popular(self, history: Int32, k: int) -> Int32:
        """Return the k most popular items that are not in a history."""
        return self.popular[~np.isin(self.popular, history)][:k]


def rank_items(scores: Float64, history: Int32, catalog: Catalog) -> Int32:
    """Return all items but those of the history, the best first; equal scores are in order of popularity.

    `scores` are those of all items.
    """
    order = catalog.popular[np.argsort(-scores[catalog.popular], kind="stable")]
    seen = np.zeros(len(scores), bool)
    seen[history] = True
    return order[~seen[order]]


@dataclass(frozen=True, eq=False)
class Lists:
    """Recommendation lists of all test users by one method."""

    top: Int32
    """Users x k: the best items of every user, the best first; -1 if the catalog has fewer."""
    reciprocal: Float64
    """Reciprocal rank of the best-ranked target of every user, among all items that are not in the history."""

    def measure_users(self, k: int, targets: Sequence[Int32], popular: Sequence[Int32], catalog: Catalog) -> Float64:
        """Return users x `USER_MEASURES` at k; `popular` holds the most popular unvisited items of every user."""
        top = self.top[:, :k]
        listed = top >= 0
        relevant = np.stack([np.isin(row, target) for row, target in zip(top, targets, strict=True)]) & listed
        expected = np.stack([np.isin(row, items[:k]) for row, items in zip(top, popular, strict=True)])
        counts = np.array([len(target) for target in targets])
        gains = 1 / np.log2(np.arange(2, k + 2))
        ideal = np.cumsum(gains)[np.minimum(counts, k) - 1]
        lengths = np.maximum(listed.sum(axis=1), 1)
        return np.column_stack(
            [
                relevant.any(axis=1),
                relevant.sum(axis=1) / counts,
                relevant @ gains[: top.shape[1]] / ideal,
                np.where(listed, catalog.information[top], 0).sum(axis=1) / lengths,
                (relevant & ~expected).sum(axis=1) / k,
                measure_diversity(top, catalog),
            ]
        )

    def count_items(self, k: int, num_items: int) -> Any:
        """Return users x items, a scipy csr_array with ones for the items of the first k."""
        import scipy.sparse

        rows, columns = np.nonzero(self.top[:, :k] >= 0)
        places = (rows, self.top[rows, columns])
        return scipy.sparse.csr_array((np.ones(len(rows)), places), shape=(len(self.top), num_items))


def measure_diversity(top: Int32, catalog: Catalog) -> Float64:
    """Return the intra-list diversity of every list: 1 - mean cosine similarity of its pairs; NaN for one item.

    The similarities of all pairs add up to half of |sum of the vectors|^2 - the number of items.
    """
    listed = Lists(top, np.empty(0)).count_items(top.shape[1], catalog.vectors.shape[0])
    lengths = np.asarray(listed.sum(axis=1)).ravel()
    total = np.asarray((listed @ catalog.vectors).power(2).sum(axis=1)).ravel()
    diversity: Float64 = np.full(len(top), np.nan)
    pairs = lengths * (lengths - 1)
    np.divide(pairs - (total - lengths), pairs, out=diversity, where=pairs > 0)
    return diversity


def measure_coverage(counts: Float64) -> Float64:
    """Return the share of items with a count above zero in each row."""
    return np.asarray(np.count_nonzero(counts, axis=-1) / counts.shape[-1])


def measure_gini(counts: Float64) -> Float64:
    """Return the Gini coefficient of each row: 0 if all items are recommended equally often, near 1 if one is.

    >>> measure_gini(np.array([[1.0, 1.0], [0.0, 4.0]])).tolist()
    [0.0, 0.5]
    """
    ordered = np.sort(counts, axis=-1)
    size = counts.shape[-1]
    ranks = np.arange(1, size + 1)
    return np.asarray((2 * ranks - size - 1) @ ordered.T / (size * ordered.sum(axis=-1)))


def resample_measures(
    by_user: Float64, counts: Any, measured: Sequence[str] = LIST_MEASURES, seed: Seed = 0
) -> tuple[Float64, dict[str, Float64]]:
    """Return bootstrap samples of the means over users, and of the measures of all lists.

    The same seed draws the same users, so that samples of several methods can be compared one by one.

    Parameters
    ----------
    by_user : users x measures; NaN where a measure is not defined.
    counts : users x items, as by `Lists.count_items`.
    measured : names of `LIST_MEASURES` to compute.
    seed : seed of the samples.
    """
    known = ~np.isnan(by_user)
    values = np.where(known, by_user, 0)
    means: list[Float64] = []
    functions = {"coverage": measure_coverage, "gini": measure_gini}
    found: dict[str, list[Float64]] = {name: [] for name in measured}
    for times in draw_weights(len(by_user), seed):
        with np.errstate(invalid="ignore"):
            means.append(times @ values / (times @ known))
        for block in np.array_split(times, max(1, times.shape[0] * counts.shape[1] // 2**22)):
            drawn = block @ counts if measured else None
            for name in measured:
                found[name].append(functions[name](np.asarray(drawn)))
    return np.concatenate(means), {name: np.concatenate(each) for name, each in found.items()}


def make_estimate(value: float, samples: Float64) -> Estimate:
    """Return an estimate with its interval from bootstrap samples."""
    if np.isnan(samples).any():
        return Estimate(value, float("nan"), float("nan"))
    low, high = np.percentile(samples, INTERVAL_PERCENTILES).tolist()
    return Estimate(value, min(low, value), max(high, value))
