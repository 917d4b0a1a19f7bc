"""Visit probabilities of walkers by step since the last teleport, from which the scores for every alpha follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from curiograph.arrays import Float64, Int64


@dataclass(frozen=True, eq=False)
class Visits:
    """Probabilities to be at each node, by step since the last teleport, from independent swarms ("groups")."""

    steps: Sequence[Any]
    """Sparse array of each step: groups x nodes, or 1 x nodes while all groups agree. Step 0 is q."""
    size: int
    """Maximum number of walkers per group; if there are more paths, walkers are sampled."""
    paths: int
    """Number of distinct paths that the agent evaluated."""
    sampled: bool
    """Whether walkers were sampled; otherwise the probabilities of all steps are exact."""

    @property
    def groups(self) -> int:
        """Number of independent swarms; 1 if nothing was sampled."""
        return int(max(step.shape[0] for step in self.steps))

    @property
    def walks(self) -> int:
        """Number of sampled walkers; 0 if all paths were followed."""
        return self.groups * self.size if self.sampled else 0

    @cached_property
    def touched(self) -> Int64:
        """Positions of all nodes reached."""
        return np.unique(np.concatenate([step.indices for step in self.steps])).astype(np.int64)

    @cached_property
    def _table(self) -> Any:
        """Sparse array of shape (groups x touched nodes) x steps."""
        groups, width = self.groups, len(self.touched)
        rows, columns, values = [], [], []
        for k, step in enumerate(self.steps):
            wide = step if step.shape[0] == groups else scipy.sparse.vstack([step] * groups)
            entries = wide.tocoo()
            rows.append(entries.coords[0] * width + np.searchsorted(self.touched, entries.coords[1]))
            columns.append(np.full(entries.nnz, k))
            values.append(entries.data)
        places = (np.concatenate(rows), np.concatenate(columns))
        return scipy.sparse.csr_array((np.concatenate(values), places), shape=(groups * width, len(self.steps)))

    def compute_expected(self, alphas: Float64) -> Float64:
        """Return the expected visits between teleports, sum over k of alpha^k Pr(step k).

        The shape is alphas x groups x touched nodes.
        """
        powers = alphas[None, :] ** np.arange(len(self.steps))[:, None]
        table = self._table @ powers
        return np.ascontiguousarray(table.T).reshape(len(alphas), self.groups, len(self.touched))


def combine_visits(several: Sequence[Visits], alphas: Float64) -> tuple[Int64, Float64, Float64]:
    """Return the nodes reached, ascending, and their scores and standard errors, alphas x nodes.

    A score is the share of all visits. Simulations are weighted by size. The standard error of the ratio of two random
    quantities is taken to first order.
    """
    sizes = np.asarray([visits.size for visits in several], np.float64)
    expected_visits = [visits.compute_expected(alphas) for visits in several]
    nodes = np.unique(np.concatenate([visits.touched for visits in several]))
    places = [np.searchsorted(nodes, visits.touched) for visits in several]
    scores = np.zeros((len(alphas), len(nodes)))
    for place, share, each in zip(places, sizes / sizes.sum(), expected_visits, strict=True):
        scores[:, place] += share * each.mean(axis=1)
    total = scores.sum(axis=1, keepdims=True)
    scores /= total
    variance = np.zeros_like(scores)
    for visits, place, share, each in zip(several, places, sizes / sizes.sum(), expected_visits, strict=True):
        if visits.sampled:
            excess = (each - scores[:, None, place] * each.sum(axis=2, keepdims=True)) / total[:, :, None]
            variance[:, place] += share**2 * excess.var(axis=1, ddof=1) / visits.groups
    return nodes, scores, np.sqrt(variance)
