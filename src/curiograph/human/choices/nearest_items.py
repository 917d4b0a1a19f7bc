"""Rankers by similar items: what people who visited the same also visited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curiograph.arrays import Float64, Int32
from curiograph.errors import SettingError
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph
from curiograph.human.choices.baselines import check_size, check_walks, sum_rows
from curiograph.human.data.incidence import build_incidence, keep_nearest, multiply_blocks
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.recommendation.ranker import Ranker
from curiograph.validation import is_number


@dataclass(frozen=True, eq=False)
class _ByItems(Ranker):
    """The similarities of a candidate to the visited nodes, added up; zero for one that is near none of them."""

    similar: Any
    """From each node (row) to those nearest to it, a scipy csr_array."""

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        check_size(self, graph, self.similar.shape[0])
        return sum_rows(self.similar, histories, candidates)


@dataclass(frozen=True, eq=False)
class ItemKnn(_ByItems):
    """Nearest neighbours among items: n_ij / sqrt(n_i n_j), with n the walks that visited a node or both.

    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> knn = ItemKnn.from_walks(line, Trajectories.from_walks([["a", "b"], ["b", "a"], ["b", "c"], ["c"]], graph=line))
    >>> knn.similar.toarray().round(3).tolist()
    [[0.0, 0.816, 0.0], [0.816, 0.0, 0.408], [0.0, 0.408, 0.0]]
    """

    name: str = "item-knn"

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories, neighbours: int = 100) -> ItemKnn:
        """Counted in walks that are `on` the graph, each a set of nodes; every node keeps its nearest ones."""
        check_walks(graph, walks)
        seen = build_incidence(walks, np.arange(len(walks)))
        length = np.sqrt(np.maximum(seen.sum(axis=0), 1))
        # divided after the product, so that only whole numbers are added up and equal ones stay equal
        rows = (
            (first, counts.toarray() / (length[first : first + counts.shape[0], None] * length))
            for first, counts in multiply_blocks(seen.T.tocsr(), seen)
        )
        return cls(keep_nearest(rows, graph.num_nodes, neighbours))


@dataclass(frozen=True, eq=False)
class RP3beta(_ByItems):
    """Random walks of three steps from the user to an item, with popular items held back (Paudel et al. 2017).

    From a visited node to one of the walks that visited it, from there to one of its nodes v, all with equal chances;
    divided by n_v^beta, with n_v the walks that visited v.

    >>> line = Graph.from_edges([("a", "b"), ("b", "c")])
    >>> walks = Trajectories.from_walks([["a", "b"], ["b", "c"]], graph=line)
    >>> RP3beta.from_walks(line, walks, beta=1).similar.toarray().tolist()
    [[0.0, 0.25, 0.0], [0.25, 0.0, 0.25], [0.0, 0.25, 0.0]]
    """

    name: str = "rp3beta"

    @classmethod
    def from_walks(cls, graph: Graph, walks: Trajectories, neighbours: int = 100, beta: float = 0.6) -> RP3beta:
        """Counted in walks that are `on` the graph, each a set of nodes; every node keeps its nearest ones."""
        if not is_number(beta) or not 0 <= beta < np.inf:
            raise SettingError(f"beta is {quote_value(beta)}; give how much popular nodes are held back, 0 or above.")
        check_walks(graph, walks)
        seen = build_incidence(walks, np.arange(len(walks)))
        visitors = np.maximum(seen.sum(axis=0), 1)
        to_walks = seen.T.multiply(1 / visitors[:, None]).tocsr()
        to_nodes = seen.multiply(1 / np.maximum(seen.sum(axis=1), 1)[:, None]).tocsr()
        held_back = visitors ** -float(beta)
        rows = ((first, chances.toarray() * held_back) for first, chances in multiply_blocks(to_walks, to_nodes))
        return cls(keep_nearest(rows, graph.num_nodes, neighbours))
