"""Graphs of items that are visited by the same users."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, WalkError
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_labels
from curiograph.human.trajectories import Trajectories, as_trajectories
from curiograph.progress import Progress, no_progress
from curiograph.validation import check_choice, check_integer

ItemSimilarity = Literal["cosine", "pmi"]
"""Similarity of two items."""

_ATTACHED = 3  # maximum number of links by which an item with few users is attached
_CHOICES = 10  # nearest items among which those with room are chosen
_MAX_ATTACHED = 20  # maximum number of items that are attached to one
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
    """Build an undirected graph of items that are visited by the same users, weighted by the cosine similarity.

    Every item is linked with its `neighbors` nearest items among those that `fewest` users or more visited; two items
    are linked if one is among the nearest of the other. An item with fewer users is attached to 3 of its 10 nearest
    items among those, or if that leaves it without a link, among all; at most 20 items are attached to one, the most
    similar first, so that no degree grows with the catalog. An item that finds no room is left out. Nodes are in the
    order of their labels, and ties are broken by a pseudo-random order of labels, so that the graph does not depend on
    the order of users or rows. Of a user with more than 5,000 items, the ones visited last count.

    Parameters
    ----------
    walks : Trajectories
        The walks to count; give training walks alone.
    similarity : {"cosine", "pmi"}
        What the nearest items are chosen by. "cosine" is n_ij / sqrt(n_i n_j), where n is the number of users who
        visited an item or both. "pmi" is log2(n_ij U / (n_i n_j)) for U users; it favors items with few visitors.
    neighbors : int
        Number of nearest items of each item.
    fewest : int
        Minimum number of users of an item that has all its links.
    progress : callable
        Progress callback.

    Returns
    -------
    Graph
        The graph with the labels of the items, and the number of users of each as `visitors`. It may have several
        components.

    Examples
    --------
    >>> walks = Trajectories.from_walks([["a", "b", "c"]] * 3 + [["d", "c", "rare"]] + [["c", "d"]] * 2)
    >>> cooccurrence_graph(walks, neighbors=2, fewest=3)
    Graph(5 nodes, 6 edges, undirected, weighted)
    """
    import scipy.sparse

    check_choice("similarity", similarity, get_args(ItemSimilarity))
    check_integer("fewest", fewest, 1, "give the minimum number of users of an item, 1 or more")
    check_integer("neighbors", neighbors, 1, "give the number of nearest items, from 1 to 1,000", most=1000)
    walks = as_trajectories(walks)
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
    links: list[tuple[Int64, Int64, Float64]] = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    room = np.full(size, _MAX_ATTACHED)  # for attached items

    def find_nearest(rows: Int64, count: int, eligible: NDArray[np.bool_], measure: int) -> tuple[Int64, Float64]:
        """Return the nearest items of rows, and the cosines."""
        nearest, shared = np.full((len(rows), count), -1), np.zeros((len(rows), count))
        for first in range(0, len(rows), _ROWS):
            own = slice(first, first + _ROWS)
            found = kernels.nearest_items.find_nearest_items(rows[own], count, *matrices, eligible, measure)
            nearest[own], shared[own] = found
            progress("finding the nearest items", min(1.0, (first + _ROWS) / len(rows)))
        return nearest, shared / np.sqrt(np.maximum(num_users[rows, None] * num_users[nearest], 1))

    def attach(rows: Int64, eligible: NDArray[np.bool_]) -> None:
        """Link rows with their nearest items that have room, the most similar rows first."""
        nearest, cosines = find_nearest(rows, _CHOICES, eligible, kernels.nearest_items.COSINE)
        missing = np.full(len(rows), min(neighbors, _ATTACHED))
        for choice, similar in zip(nearest.T, cosines.T, strict=True):
            open_rows = np.flatnonzero((choice >= 0) & (missing > 0))
            ranked = open_rows[np.argsort(-similar[open_rows], kind="stable")]
            before = pd.Series(choice[ranked]).groupby(choice[ranked]).cumcount()  # rows that want the same item
            linked = ranked[before.to_numpy() < room[choice[ranked]]]
            missing[linked] -= 1
            room[:] -= np.bincount(choice[linked], minlength=size)
            links.append((rows[linked], choice[linked], similar[linked]))

    common = np.flatnonzero(supported)
    measure = kernels.nearest_items.PMI if similarity == "pmi" else kernels.nearest_items.COSINE
    nearest, cosines = find_nearest(common, neighbors, supported, measure)
    is_found = nearest >= 0
    links.append((np.repeat(common, is_found.sum(axis=1)), nearest[is_found], cosines[is_found]))
    # rare items are attached to supported ones; an item that shares no user with one that has room, to any
    attach(np.flatnonzero(~supported), supported)
    attach(np.setdiff1d(np.arange(size), np.concatenate([rows for rows, _, _ in links])), np.ones(size, bool))
    source, target, weights = (np.concatenate(each) for each in zip(*links, strict=True))
    if not len(source):
        raise WalkError(
            f"no two of the {size:,} items were visited by the same user, in {len(walks):,} walks of "
            f"{walks.num_users:,} users; check which columns hold the user and the item (--user, --item)."
        )
    keys, firsts = np.unique(np.minimum(source, target) * size + np.maximum(source, target), return_index=True)
    source, target = np.divmod(keys, size)
    linked = np.unique(np.concatenate([source, target]))
    labels = as_labels([names[by_label[int(item)]] for item in linked])
    ends = np.searchsorted(linked, source), np.searchsorted(linked, target)
    return Graph.from_arrays(*ends, weights[firsts], labels, visitors=num_users[linked])
