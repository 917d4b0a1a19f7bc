"""Co-occurrence graphs of items visited by the same users, and dense cores of user-item data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, WalkError
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_labels
from curiograph.human.data.item_neighbors import Similarity, build_knn_graph
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.incidence import build_incidence, keep_nearest, multiply_blocks
from curiograph.validation import check_choice, check_integer, is_number

Keep = Literal["knn", "highest", "nearest"]
"""Pairs of items that become edges."""
DEFAULT_NEIGHBORS = 10
DEFAULT_MEAN_DEGREE = 16.0

_MIN_COMMON_USERS = 3  # of a pair of items, for "highest" and "nearest": what one or two users share is mostly chance


def cooccurrence_graph(
    walks: Trajectories,
    *,
    similarity: Similarity = "cosine",
    keep: Keep = "knn",
    neighbors: int | None = None,
    mean_degree: float | None = None,
    fewest: int = 5,
    shrinkage: float = 0.0,
    half_life: float = 2.0,
    max_items: int = 5000,
    progress: Progress = no_progress,
) -> Graph:
    """Build an undirected, unweighted graph of items that are visited by the same users.

    By default every item is linked with its `neighbors` nearest items among those that `fewest` users or more visited;
    two items are linked if one is among the nearest of the other. An item with fewer users is linked with the 3 of
    them with which it shares most users, or if there are none, with 3 items of any number of users. Nodes are in the
    order of their labels, and ties are broken by a pseudo-random order of labels, so that the graph does not depend on
    the order of users or rows.

    With `keep="highest"` or `"nearest"`, the most similar pairs become edges until the mean degree of all items is
    `mean_degree`; ties are broken by position. The graph is the largest component. If the component is denser than
    `mean_degree`, the last pairs are dropped; it is sparser if dropping pairs splits the component, or if most of the
    pairs are outside of it.

    Parameters
    ----------
    walks : Trajectories
        The walks to count; give training walks alone.
    similarity : {"cosine", "pmi", "sequence"}
        "cosine" is n_ij / sqrt(n_i n_j), where n is the number of users who visited an item or both. "pmi" is log2(n_ij
        U / (n_i n_j)) for U users; it favors items with few visitors. "sequence" is the cosine with n_ij as a sum over
        users of 2^(-(d - 1) / half_life), where d is the smallest number of visits from one item to the other in a
        walk of the user. The order of visits does not matter for the others.
    keep : {"knn", "highest", "nearest"}
        "knn" is the symmetric k-nearest-neighbor graph, which covers the catalog. "highest" takes the most similar
        pairs of all; a few dense groups may use them up and leave most items outside. "nearest" takes every item with
        its nearest one, then with its second nearest, and so on; few items fall outside. For the last two, 3 users
        must have visited both items of a pair, and only positive values of "pmi" count.
    neighbors : int, optional
        Number of nearest items of each item, for "knn". Default: 10.
    mean_degree : float, optional
        Mean degree of the returned graph, for "highest" and "nearest". Default: 16.
    fewest : int
        Minimum number of users of an item. With "highest" and "nearest", items with fewer users are left out.
    shrinkage : float
        A positive similarity of two items with n_ij common users is multiplied by n_ij / (n_ij + shrinkage), so that
        pairs of few users come later; for "knn".
    half_life : float
        Number of visits after which the weight of a pair is halved, for "sequence".
    max_items : int
        Maximum number of items of a user; of a user with more, the ones visited last count. It bounds the work per
        user; for "knn".
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
    check_choice("similarity", similarity, get_args(Similarity))
    check_choice("keep", keep, get_args(Keep))
    check_integer("fewest", fewest, 1, "give the minimum number of users of an item, 1 or more")
    if keep == "knn":
        if mean_degree is not None:
            raise SettingError(
                f"mean_degree is {quote_value(mean_degree)}, which is for the item graphs highest and nearest; give "
                "neighbors (--neighbors) instead, or keep='highest' (--item-graph highest)."
            )
        neighbors = DEFAULT_NEIGHBORS if neighbors is None else neighbors
        check_integer("neighbors", neighbors, 1, "give the number of nearest items, from 1 to 1,000", most=1000)
        check_integer("max_items", max_items, 2, "give the maximum number of items of a user, 2 or more")
        if not is_number(shrinkage) or not 0 <= shrinkage < np.inf:
            raise SettingError(f"shrinkage is {quote_value(shrinkage)}; give a number of users, 0 or above.")
        if not is_number(half_life) or not 0 < half_life <= 1000:
            raise SettingError(
                f"half_life is {quote_value(half_life)}; give a number of visits, above 0, at most 1,000."
            )
        return build_knn_graph(
            walks, similarity, neighbors, fewest, float(shrinkage), float(half_life), max_items, progress
        )
    if neighbors is not None:
        raise SettingError(
            f"neighbors is {quote_value(neighbors)}, which is for the item graph knn; give mean_degree "
            "(--mean-degree) instead, or keep='knn' (--item-graph knn)."
        )
    if similarity == "sequence":
        raise SettingError(
            "similarity is 'sequence', which is for the item graph knn; give cosine or pmi, or keep='knn' "
            "(--item-graph knn)."
        )
    mean_degree = DEFAULT_MEAN_DEGREE if mean_degree is None else mean_degree
    if not is_number(mean_degree) or not 0 < mean_degree < np.inf:
        raise SettingError(
            f"mean_degree is {quote_value(mean_degree)}; give the wanted mean number of neighbors, above 0."
        )
    visits = build_incidence(walks, walks.users)
    items = np.flatnonzero(visits.sum(axis=0) >= fewest)
    num_pairs = round(mean_degree * len(items) / 2)
    if keep == "highest":
        keys = _find_highest_pairs(visits[:, items], similarity, num_pairs)
    else:
        keys = _find_nearest_pairs(visits[:, items], similarity, num_pairs, math.ceil(mean_degree))
    if len(keys) < max(num_pairs, 1):
        raise SettingError(
            f"mean_degree is {mean_degree}, but the {len(items)} items that {fewest} users or more visited make only "
            f"{len(keys)} pairs, a mean degree of {2 * len(keys) / max(len(items), 1):.3g}; give a smaller "
            "mean_degree (--mean-degree), more walks, or keep='knn' (--item-graph knn)."
        )
    source, target = np.divmod(keys, len(items))
    while True:
        inside = _find_largest_component(source, target, len(items))
        taken = inside[source]
        surplus = int(taken.sum()) - round(mean_degree * int(inside.sum()) / 2)
        if surplus <= 0:
            break
        source, target = source[:-surplus], target[:-surplus]
    position = np.cumsum(inside) - 1
    names = as_labels([walks.names[int(item)] for item in items[inside]])
    return Graph.from_arrays(position[source[taken]], position[target[taken]], names=names)


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
    >>> dense, dense.labels(1)
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
            "give a smaller item_users (--item-users) or user_items (--user-items), or a knn graph (--item-graph knn), "
            "which needs no core."
        )
    names = as_labels([walks.names[int(item)] for item in np.flatnonzero(items)])
    chosen = walks.rows(users[np.unique(walks.users, return_inverse=True)[1]])
    return chosen.renumber(np.where(items, np.cumsum(items) - 1, -1), names)


def _find_highest_pairs(visits: Any, similarity: Similarity, count: int) -> Int64:
    """Return keys (row * size + column) of the most similar pairs of columns, best first, ties by position."""
    size = visits.shape[1]
    scores, keys = np.empty(0), np.empty(0, np.int64)
    for first, similar in _compute_similarities(visits, similarity):
        upper = np.triu(similar, first + 1)
        threshold = scores[-1] if len(scores) == count > 0 else 0  # later pairs must exceed it: ties go to earlier ones
        rows, columns = np.nonzero(upper > threshold)
        scores = np.concatenate([scores, upper[rows, columns]])
        keys = np.concatenate([keys, (first + rows) * size + columns])
        best = np.lexsort((keys, -scores))[:count]
        scores, keys = scores[best], keys[best]
    return keys


def _find_nearest_pairs(visits: Any, similarity: Similarity, count: int, neighbors: int) -> Int64:
    """Return keys of the pairs of each column and its nearest one, then its second nearest, and so on.

    Pairs of equal rank are ordered by similarity, then by position.
    """
    size = visits.shape[1]
    similar = keep_nearest(_compute_similarities(visits, similarity), size, neighbors)
    rows = np.repeat(np.arange(size), np.diff(similar.indptr))
    order = np.lexsort((similar.indices, -similar.data, rows))  # each row starts with its nearest
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - similar.indptr[rows]
    keys = np.minimum(rows, similar.indices) * size + np.maximum(rows, similar.indices)
    order = np.lexsort((keys, -similar.data, rank))
    first = np.sort(np.unique(keys[order], return_index=True)[1])  # the better one of the two ranks of a pair
    nearest: Int64 = keys[order][first][:count]
    return nearest


def _compute_similarities(visits: Any, similarity: Similarity) -> Iterator[tuple[int, Float64]]:
    """Yield blocks of rows with numbers in the order of the similarity; zero for pairs that do not count.

    Each number is one division of integers, so that equal similarities are equal to the last bit.
    """
    num_users = visits.sum(axis=0).astype(np.int64)
    for first, counts in multiply_blocks(visits.T.tocsr(), visits):
        common = counts.toarray().astype(np.int64)
        product = num_users[first : first + len(common), None] * num_users
        if similarity == "cosine":
            similar = common**2 / product
        else:
            similar = np.where(common * visits.shape[0] > product, common / product, 0)
        similar[common < _MIN_COMMON_USERS] = 0
        yield first, similar


def _find_largest_component(source: Int64, target: Int64, size: int) -> Any:
    """Return the mask of the nodes of the largest component."""
    import scipy.sparse
    from scipy.sparse.csgraph import connected_components

    matrix = scipy.sparse.csr_array((np.ones(len(source), np.int8), (source, target)), shape=(size, size))
    component = connected_components(matrix, directed=False)[1]
    return component == np.argmax(np.bincount(component))
