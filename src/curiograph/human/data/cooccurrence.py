"""Graphs of items that are visited by the same users, and dense cores of user-item data."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Int64
from curiograph.errors import SettingError, WalkError, quote_value
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_labels
from curiograph.human.trajectories import Trajectories
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.incidence import build_incidence, multiply_blocks
from curiograph.validation import check_choice, check_integer, is_number

Keep = Literal["knn", "highest"]
"""Pairs of items that become edges."""
ItemSimilarity = Literal["cosine", "pmi"]
"""Similarity of two items."""
DEFAULT_NEIGHBORS = 10
DEFAULT_MEAN_DEGREE = 16.0

_ATTACHED = 3  # maximum number of links by which an item with few users is attached, for "knn"
_MAX_ITEMS = 5000  # of a user with more items, the ones visited last count, for "knn": it bounds the work per user
_MIN_COMMON_USERS = 3  # of a pair of items, for "highest": what one or two users share is mostly chance
_ROWS = 2048  # items between two updates of the progress


def cooccurrence_graph(
    walks: Trajectories,
    *,
    similarity: ItemSimilarity = "cosine",
    keep: Keep = "knn",
    neighbors: int | None = None,
    mean_degree: float | None = None,
    fewest: int = 5,
    progress: Progress = no_progress,
) -> Graph:
    """Build an undirected, unweighted graph of items that are visited by the same users.

    By default every item is linked with its `neighbors` nearest items among those that `fewest` users or more visited;
    two items are linked if one is among the nearest of the other. An item with fewer users is linked with the 3 of
    them with which it shares most users, or if there are none, with 3 items of any number of users. Nodes are in the
    order of their labels, and ties are broken by a pseudo-random order of labels, so that the graph does not depend on
    the order of users or rows. Of a user with more than 5,000 items, the ones visited last count.

    With `keep="highest"`, the most similar pairs become edges until the mean degree of all items is `mean_degree`;
    ties are broken by position. The graph is the largest component. If the component is denser than `mean_degree`, the
    last pairs are dropped; it is sparser if dropping pairs splits the component, or if most pairs are outside of it.

    Parameters
    ----------
    walks : Trajectories
        The walks to count; give training walks alone.
    similarity : {"cosine", "pmi"}
        "cosine" is n_ij / sqrt(n_i n_j), where n is the number of users who visited an item or both. "pmi" is log2(n_ij
        U / (n_i n_j)) for U users; it favors items with few visitors.
    keep : {"knn", "highest"}
        "knn" is the symmetric k-nearest-neighbor graph, which covers the catalog. "highest" takes the most similar
        pairs of all; a few dense groups may use them up and leave most items outside. For "highest", 3 users must have
        visited both items of a pair, and only positive values of "pmi" count.
    neighbors : int, optional
        Number of nearest items of each item, for "knn". Default: 10.
    mean_degree : float, optional
        Mean degree of the returned graph, for "highest". Default: 16.
    fewest : int
        Minimum number of users of an item. With "highest", items with fewer users are left out.
    progress : callable
        Progress callback.

    Returns
    -------
    Graph
        The graph with the labels of the items. With "knn" it may have several components.

    Examples
    --------
    >>> walks = Trajectories.from_walks([["a", "b", "c"]] * 3 + [["d", "c", "rare"]] + [["c", "d"]] * 2)
    >>> cooccurrence_graph(walks, neighbors=2, fewest=3)
    Graph(5 nodes, 6 edges, undirected)
    >>> cooccurrence_graph(walks, keep="highest", mean_degree=2, fewest=3)
    Graph(4 nodes, 4 edges, undirected)
    """
    check_choice("similarity", similarity, get_args(ItemSimilarity))
    check_choice("keep", keep, get_args(Keep))
    check_integer("fewest", fewest, 1, "give the minimum number of users of an item, 1 or more")
    if keep == "knn":
        if mean_degree is not None:
            raise SettingError(f"mean_degree is {quote_value(mean_degree)}, which is for keep='highest'.")
        neighbors = DEFAULT_NEIGHBORS if neighbors is None else neighbors
        check_integer("neighbors", neighbors, 1, "give the number of nearest items, from 1 to 1,000", most=1000)
        return link_nearest(walks, similarity, neighbors, fewest, progress)
    if neighbors is not None:
        raise SettingError(f"neighbors is {quote_value(neighbors)}, which is for keep='knn'.")
    mean_degree = DEFAULT_MEAN_DEGREE if mean_degree is None else mean_degree
    if not is_number(mean_degree) or not 0 < mean_degree < np.inf:
        raise SettingError(f"mean_degree is {quote_value(mean_degree)}; give the mean number of neighbors, above 0.")
    return link_highest(walks, similarity, mean_degree, fewest)


def core(walks: Trajectories, item_users: int = 50, user_items: int = 10) -> Trajectories:
    """Return the dense core: items with enough users, and users with enough of these items.

    Each rule removes entries that the other one counts, so both are applied until nothing changes.

    Parameters
    ----------
    walks : Trajectories
        Walks over items.
    item_users : int
        Minimum number of users who visited an item.
    user_items : int
        Minimum number of items that a user visited.

    Returns
    -------
    Trajectories
        The walks of the remaining users over the remaining items, which keep their order.

    Examples
    --------
    >>> dense = core(Trajectories.from_walks([["a", "b"], ["b", "a", "c"], ["c", "d"]]), item_users=2, user_items=2)
    >>> dense, dense[1]
    (Trajectories(2 walks by 2 users, 4 visits of 2 nodes), ['b', 'a'])
    """
    check_integer("item_users", item_users, 1, "give the minimum number of users of an item, 1 or more")
    check_integer("user_items", user_items, 1, "give the minimum number of items of a user, 1 or more")
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
            "give a smaller item_users or user_items, or keep='knn', which needs no core."
        )
    names = as_labels([walks.names[int(item)] for item in np.flatnonzero(items)])
    chosen = walks[users[np.unique(walks.users, return_inverse=True)[1]]]
    return chosen.renumber(np.where(items, np.cumsum(items) - 1, -1), names)


# ---- the nearest items of each item ---------------------------------------------------------------------------------


def link_nearest(
    walks: Trajectories, similarity: ItemSimilarity, neighbors: int, fewest: int, progress: Progress
) -> Graph:
    """Build the symmetric k-nearest-neighbor graph of a whole catalog."""
    import scipy.sparse

    visited = np.unique(walks.nodes)
    size = len(visited)
    names = [walks.names[int(node)] for node in visited]
    by_label = sorted(range(size), key=lambda place: (str(names[place]), type(names[place]).__name__))
    numbers = np.full(len(walks.names), -1, np.int64)
    numbers[visited[by_label]] = np.arange(size)
    visits = pd.DataFrame({"user": np.repeat(walks.users, walks.lengths), "item": numbers[walks.nodes]})
    visits = visits.sort_values("user", kind="stable").drop_duplicates(keep="last").groupby("user").tail(_MAX_ITEMS)
    users, row_of = np.unique(visits["user"], return_inverse=True)
    places = (row_of, visits["item"].to_numpy())
    by_user = scipy.sparse.csr_array((np.ones(len(visits), bool), places), (len(users), size))
    by_item = by_user.T.tocsr()
    num_users = np.diff(by_item.indptr)
    supported = num_users >= fewest
    if size and not supported.any():
        raise SettingError(
            f"fewest is {fewest}, but the most visited of the {size:,} items has only {num_users.max()} users; give "
            "that or less (--fewest)."
        )
    matrices = [array.astype(np.int64) for half in (by_item, by_user) for array in (half.indptr, half.indices)]
    pairs: list[tuple[Int64, Int64]] = []

    def add_pairs(rows: Int64, count: int, eligible: NDArray[np.bool_], measure: int) -> None:
        for first in range(0, len(rows), _ROWS):
            block = rows[first : first + _ROWS]
            nearest = kernels.nearest_items.find_nearest_items(block, count, *matrices, eligible, measure)
            places, ranks = np.nonzero(nearest >= 0)
            pairs.append((block[places], nearest[places, ranks]))
            progress("finding the nearest items", min(1.0, (first + _ROWS) / len(rows)))

    measure = kernels.nearest_items.PMI if similarity == "pmi" else kernels.nearest_items.COSINE
    measure_rare = kernels.nearest_items.COUNT  # similarities to an item with few users favor others with few users
    few = min(neighbors, _ATTACHED)
    add_pairs(np.flatnonzero(supported), neighbors, supported, measure)
    # rare items link to supported ones alone; an item that shares no user with a supported one links to any
    add_pairs(np.flatnonzero(~supported), few, supported, measure_rare)
    alone = np.setdiff1d(np.arange(size), np.concatenate([rows for rows, _ in pairs]) if pairs else [])
    add_pairs(alone, few, np.ones(size, bool), measure_rare)
    source, target = (np.concatenate([np.empty(0, np.int64), *(pair[end] for pair in pairs)]) for end in (0, 1))
    if not len(source):
        raise WalkError(
            f"no two of the {size:,} items were visited by the same user, in {len(walks):,} walks of "
            f"{walks.num_users:,} users; check which columns hold the user and the item (--user, --item)."
        )
    keys = np.unique(np.minimum(source, target) * size + np.maximum(source, target))
    source, target = np.divmod(keys, size)
    linked = np.unique(np.concatenate([source, target]))
    labels = as_labels([names[by_label[int(item)]] for item in linked])
    return Graph.from_arrays(np.searchsorted(linked, source), np.searchsorted(linked, target), names=labels)


# ---- the most similar pairs of all ----------------------------------------------------------------------------------


def link_highest(walks: Trajectories, similarity: ItemSimilarity, mean_degree: float, fewest: int) -> Graph:
    """Build the graph of the most similar pairs, reduced to its largest component."""
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
            "mean_degree (--mean-degree), more walks, or keep='knn' (--keep knn)."
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
