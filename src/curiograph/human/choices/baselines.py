"""Count-based baselines: rankers that score candidates by counts of observed walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from curiograph.arrays import Float64, Int32
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.human.trajectories import Trajectories
from curiograph.recommendation.count_rankers import ItemKnn, Markov, Popularity
from curiograph.recommendation.ranker import Ranker


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


BASELINES = (Uniform, Degree, Popularity, Markov, ItemKnn)
"""All count-based baselines."""
