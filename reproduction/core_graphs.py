"""Graphs of the most similar pairs of items of a dense core, as in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from curiograph.arrays import Int64
from curiograph.errors import SettingError, WalkError
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_labels
from curiograph.human.data.cooccurrence import ItemSimilarity
from curiograph.human.prediction.predict import Recipe
from curiograph.human.trajectories import Trajectories
from curiograph.recommendation.incidence import build_incidence, multiply_blocks

_MIN_COMMON_USERS = 3  # of a pair of items: what one or two users share is mostly chance


@dataclass(frozen=True)
class CoreRecipe(Recipe):
    """A recipe whose graph has the most similar pairs of the items of a dense core."""

    user_items: int = 2
    """Minimum number of items of a graph user."""
    mean_degree: float = 16
    """Mean degree of the graph."""
    keep: str = "highest"
    """Name of this kind of graph, for reports."""

    def build_graph(self, walks: Trajectories) -> Graph:
        """Build the graph from the walks of graph users."""
        dense = core(compact(walks), self.item_users, self.user_items)
        return link_highest(dense, self.similarity, self.mean_degree, self.item_users)


def compact(walks: Trajectories) -> Trajectories:
    """Return the same walks over the visited nodes alone, in order of first visit.

    >>> compact(Trajectories.from_walks([["a", "b"], ["c", "b"]])[[1]]).nodes.tolist()
    [0, 1]
    """
    visited = walks.nodes[np.sort(np.unique(walks.nodes, return_index=True)[1])]
    positions = np.full(len(walks.names), -1)
    positions[visited] = np.arange(len(visited))
    return walks.renumber(positions, as_labels([walks.names[int(node)] for node in visited]))


def core(walks: Trajectories, item_users: int = 50, user_items: int = 10) -> Trajectories:
    """Return the dense core: items with enough users, and users with enough of these items.

    Each rule removes entries that the other one counts, so both are applied until nothing changes. Items keep their
    order.
    """
    visits = build_incidence(walks, walks.users)
    items, users = np.ones(visits.shape[1], bool), np.ones(visits.shape[0], bool)
    while True:
        kept_items = items & (visits.T @ users.astype(np.int32) >= item_users)
        kept_users = users & (visits @ kept_items.astype(np.int32) >= user_items)
        if np.array_equal(kept_items, items) and np.array_equal(kept_users, users):
            break
        items, users = kept_items, kept_users
    if not items.any():
        raise WalkError(
            f"the core is empty: no items are left that {item_users} users visited who visited {user_items} of them; "
            "give a smaller item_users or user_items."
        )
    names = as_labels([walks.names[int(item)] for item in np.flatnonzero(items)])
    chosen = walks[users[np.unique(walks.users, return_inverse=True)[1]]]
    return chosen.renumber(np.where(items, np.cumsum(items) - 1, -1), names)


def link_highest(walks: Trajectories, similarity: ItemSimilarity, mean_degree: float, fewest: int) -> Graph:
    """Build the graph of the most similar pairs, up to a mean degree, reduced to its largest component.

    Ties are broken by position. If the component is denser than `mean_degree`, the last pairs are dropped; it is
    sparser if dropping pairs splits the component, or if most pairs are outside of it. Three users must have visited
    both items of a pair, and only positive values of "pmi" count.
    """
    import scipy.sparse
    from scipy.sparse.csgraph import connected_components

    visits = build_incidence(walks, walks.users)
    items = np.flatnonzero(visits.sum(axis=0) >= fewest)
    num_pairs = round(mean_degree * len(items) / 2)
    keys = find_highest_pairs(visits[:, items], similarity, num_pairs)
    if len(keys) < max(num_pairs, 1):
        raise SettingError(
            f"mean_degree is {mean_degree}, but the {len(items)} items that {fewest} users or more visited make only "
            f"{len(keys)} pairs, a mean degree of {2 * len(keys) / max(len(items), 1):.3g}; give a smaller "
            "mean_degree or more walks."
        )
    source, target = np.divmod(keys, len(items))
    while True:
        shape = (len(items), len(items))
        links = scipy.sparse.csr_array((np.ones(len(source), np.int8), (source, target)), shape=shape)
        component = connected_components(links, directed=False)[1]
        inside = component == np.argmax(np.bincount(component))
        taken = inside[source]
        surplus = int(taken.sum()) - round(mean_degree * int(inside.sum()) / 2)
        if surplus <= 0:
            break
        source, target = source[:-surplus], target[:-surplus]
    position = np.cumsum(inside) - 1
    names = as_labels([walks.names[int(item)] for item in items[inside]])
    return Graph.from_arrays(position[source[taken]], position[target[taken]], names=names)


def find_highest_pairs(visits: Any, similarity: ItemSimilarity, count: int) -> Int64:
    """Return keys (row * size + column) of the most similar pairs of columns, best first, ties by position.

    The order is that of one division of integers, so that equal similarities are equal to the last bit.
    """
    size = visits.shape[1]
    num_users = visits.sum(axis=0).astype(np.int64)
    scores, keys = np.empty(0), np.empty(0, np.int64)
    for first, counts in multiply_blocks(visits.T.tocsr(), visits):
        common = counts.toarray().astype(np.int64)
        product = num_users[first : first + len(common), None] * num_users
        if similarity == "cosine":
            similar = common**2 / product
        else:
            similar = np.where(common * visits.shape[0] > product, common / product, 0)
        similar[common < _MIN_COMMON_USERS] = 0
        upper = np.triu(similar, first + 1)
        threshold = scores[-1] if len(scores) == count > 0 else 0  # later pairs must exceed it: ties go to earlier ones
        rows, columns = np.nonzero(upper > threshold)
        scores = np.concatenate([scores, upper[rows, columns]])
        keys = np.concatenate([keys, (first + rows) * size + columns])
        best = np.lexsort((keys, -scores))[:count]
        scores, keys = scores[best], keys[best]
    return keys
