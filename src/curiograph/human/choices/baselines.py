"""Count-based baselines: rankers that score candidates by counts of observed walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from curiograph.arrays import Float64, Int32
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.recommendation.count_rankers import ItemKnn, ItemSimilarity, Markov, Popularity, check_walks
from curiograph.recommendation.incidence import build_incidence, keep_nearest, multiply_blocks
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
class RP3beta(ItemSimilarity):
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
        check_walks(graph, walks)
        visits = build_incidence(walks, walks.users if by_user else np.arange(len(walks)))
        visitors = np.maximum(visits.sum(axis=0), 1)
        to_walks = visits.T.multiply(1 / visitors[:, None]).tocsr()
        to_nodes = visits.multiply(1 / np.maximum(visits.sum(axis=1), 1)[:, None]).tocsr()
        penalty = visitors ** -float(beta)
        rows = ((first, chances.toarray() * penalty) for first, chances in multiply_blocks(to_walks, to_nodes))
        return cls(keep_nearest(rows, graph.num_nodes, neighbors))


BASELINES = (Uniform, Degree, Popularity, Markov, ItemKnn, RP3beta)
"""All count-based baselines."""
