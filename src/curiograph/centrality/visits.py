"""Where walkers are, step by step since the last teleport: from it, the scores for every alpha."""

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
    """Chances to be at each node, step by step since the last teleport, by several independent swarms ("groups")."""

    steps: Sequence[Any]
    """Of every step a sparse array: groups x nodes, or 1 x nodes where all groups agree. Step 0 is q."""
    size: int
    """Walkers that each group may have; where there are more paths, they are drawn."""
    paths: int
    """Distinct paths that the agent was asked about."""
    drawn: bool
    """Whether walkers had to be drawn; without that, the chances are exact as far as they go."""

    @property
    def groups(self) -> int:
        """Number of independent swarms; 1 where nothing was drawn."""
        return int(max(step.shape[0] for step in self.steps))

    @property
    def walks(self) -> int:
        """Walkers simulated; none where all paths were followed."""
        return self.groups * self.size if self.drawn else 0

    @cached_property
    def touched(self) -> Int64:
        """Nodes that were reached."""
        return np.unique(np.concatenate([step.indices for step in self.steps])).astype(np.int64)

    @cached_property
    def _table(self) -> Any:
        """(groups x touched nodes) x steps, sparse."""
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

    def expected(self, alphas: Float64) -> Float64:
        """Expected visits between two teleports, sum over k of alpha^k Pr(step k): alphas x groups x touched nodes."""
        powers = alphas[None, :] ** np.arange(len(self.steps))[:, None]
        table = self._table @ powers
        return np.ascontiguousarray(table.T).reshape(len(alphas), self.groups, len(self.touched))


def combine_visits(several: Sequence[Visits], alphas: Float64) -> tuple[Int64, Float64, Float64]:
    """Nodes that were reached, ascending; their scores (visits as a share of all) and standard errors, alphas x nodes.

    Simulations of different size count in proportion to it. The error of a share of a total that itself varies is taken
    to first order.
    """
    sizes = np.asarray([visits.size for visits in several], np.float64)
    expected = [visits.expected(alphas) for visits in several]
    nodes = np.unique(np.concatenate([visits.touched for visits in several]))
    places = [np.searchsorted(nodes, visits.touched) for visits in several]
    scores = np.zeros((len(alphas), len(nodes)))
    for place, share, each in zip(places, sizes / sizes.sum(), expected, strict=True):
        scores[:, place] += share * each.mean(axis=1)
    total = scores.sum(axis=1, keepdims=True)
    scores /= total
    variance = np.zeros_like(scores)
    for visits, place, share, each in zip(several, places, sizes / sizes.sum(), expected, strict=True):
        if visits.drawn:
            excess = (each - scores[:, None, place] * each.sum(axis=2, keepdims=True)) / total[:, :, None]
            variance[:, place] += share**2 * excess.var(axis=1, ddof=1) / visits.groups
    return nodes, scores, np.sqrt(variance)
