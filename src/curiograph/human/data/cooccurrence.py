"""Graphs of items that are visited by the same users."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Int64
from curiograph.errors import SettingError, WalkError
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_labels
from curiograph.human.trajectories import Trajectories
from curiograph.progress import Progress, no_progress
from curiograph.validation import check_choice, check_integer

ItemSimilarity = Literal["cosine", "pmi"]
"""Similarity of two items."""

_ATTACHED = 3  # maximum number of links by which an item with few users is attached
_MAX_ITEMS = 5000  # of a user with more items, the ones visited last count: it bounds the work per user
_ROWS = 2048  # items between two updates of the progress


def cooccurrence_graph(
    walks: Trajectories,
    *,
    similarity: ItemSimilarity = "cosine",
    neighbors: int = 10,
    fewest: int = 5,
    progress: Progress = no_progress,
) -> Graph:
    """Build an undirected, unweighted graph of items that are visited by the same users.

    Every item is linked with its `neighbors` nearest items among those that `fewest` users or more visited; two items
    are linked if one is among the nearest of the other. An item with fewer users is linked with the 3 of them with
    which it shares most users, or if there are none, with 3 items of any number of users. Nodes are in the order of
    their labels, and ties are broken by a pseudo-random order of labels, so that the graph does not depend on the order
    of users or rows. Of a user with more than 5,000 items, the ones visited last count.

    Parameters
    ----------
    walks : Trajectories
        The walks to count; give training walks alone.
    similarity : {"cosine", "pmi"}
        "cosine" is n_ij / sqrt(n_i n_j), where n is the number of users who visited an item or both. "pmi" is log2(n_ij
        U / (n_i n_j)) for U users; it favors items with few visitors.
    neighbors : int
        Number of nearest items of each item.
    fewest : int
        Minimum number of users of an item that has all its links.
    progress : callable
        Progress callback.

    Returns
    -------
    Graph
        The graph with the labels of the items. It may have several components.

    Examples
    --------
    >>> walks = Trajectories.from_walks([["a", "b", "c"]] * 3 + [["d", "c", "rare"]] + [["c", "d"]] * 2)
    >>> cooccurrence_graph(walks, neighbors=2, fewest=3)
    Graph(5 nodes, 6 edges, undirected)
    """
    import scipy.sparse

    check_choice("similarity", similarity, get_args(ItemSimilarity))
    check_integer("fewest", fewest, 1, "give the minimum number of users of an item, 1 or more")
    check_integer("neighbors", neighbors, 1, "give the number of nearest items, from 1 to 1,000", most=1000)
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
