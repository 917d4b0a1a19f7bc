"""Nearest items by co-occurrence, and the symmetric k-nearest-neighbor graph of a whole catalog."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Int64
from curiograph.errors import SettingError, WalkError
from curiograph.graph.csr import concatenate_ranges
from curiograph.graph.graph import Graph
from curiograph.graph.labels import Labels, as_labels
from curiograph.human.trajectories import Trajectories
from curiograph.progress import Progress, no_progress, split_progress

Similarity = Literal["cosine", "pmi", "sequence"]
"""Similarity of two items."""
ATTACHED = 3
"""Maximum number of links by which an item with few users is attached."""
_UNIT = 2**20  # weights of visits are multiples of 1 / _UNIT, so that sums do not depend on the order
_HALVINGS = 6  # visits of a walk that are further apart do not count: their weight is below 1 / 64
_PAIRS = 2**22  # pairs of visits that are counted together; does not change the result
_ROWS = 2048  # items between two updates of the progress


class _Visits(NamedTuple):
    """Visits of items, sorted by user and in their order within a user's walks."""

    users: Int64
    """User of each visit, from 0 to the number of users - 1."""
    walks: Int64
    """Number of the walk of each visit."""
    items: Int64
    """Item of each visit, numbered in the order of the labels."""


class _Product(NamedTuple):
    """Two sparse matrices whose product counts what items have in common."""

    left: Any
    """Items x users, or items x items."""
    right: Any
    """Users x items, or the identity."""
    num_users: Int64
    """Number of users of each item."""


def build_knn_graph(
    walks: Trajectories,
    similarity: Similarity,
    neighbors: int,
    fewest: int,
    shrinkage: float,
    half_life: float,
    max_items: int,
    progress: Progress = no_progress,
) -> Graph:
    """Build the graph described by `cooccurrence_graph` with `keep="knn"`; the arguments are checked there."""
    import scipy.sparse

    visited = np.unique(walks.nodes)
    names = [walks.names[int(node)] for node in visited]
    by_label = sorted(range(len(names)), key=lambda place: (str(names[place]), type(names[place]).__name__))
    numbers = np.full(len(walks.names), -1, np.int64)
    numbers[visited[by_label]] = np.arange(len(visited))
    visits = _list_visits(walks, numbers, len(visited), max_items)
    size = len(visited)
    keys = np.unique(visits.users * max(size, 1) + visits.items)
    users, items = np.divmod(keys, max(size, 1))
    total_users = int(users[-1]) + 1 if len(users) else 0
    right = scipy.sparse.csr_array((np.ones(len(keys)), (users, items)), shape=(total_users, size))
    product = _Product(left=right.T.tocsr(), right=right, num_users=np.bincount(items, minlength=size))
    counting, finding = split_progress(progress, [1 if similarity == "sequence" else 0, 1])
    if similarity == "sequence":
        left = _count_followers(visits, size, half_life, counting)
        product = product._replace(left=left, right=scipy.sparse.eye_array(size, format="csr"))
    supported = product.num_users >= fewest
    if size and not supported.any():
        most = int(product.num_users.max())
        raise SettingError(
            f"fewest is {fewest}, but the most visited of the {size:,} items has only {most}; give {most} or less "
            "(--fewest, or --item-users of predict)."
        )
    measure = kernels.nearest_items.PMI if similarity == "pmi" else kernels.nearest_items.COSINE
    measure_rare = kernels.nearest_items.COUNT  # similarities to an item with few users favor others with few users
    find_pairs = partial(_find_pairs, product, total_users, shrinkage)
    rare, few = np.flatnonzero(~supported), min(neighbors, ATTACHED)
    linking, attaching = split_progress(finding, [size - len(rare), len(rare)])
    pairs = list(find_pairs(np.flatnonzero(supported), neighbors, supported, measure, linking))
    # rare items link to supported ones alone; an item that no supported one is similar to links to any
    pairs += find_pairs(rare, few, supported, measure_rare, attaching)
    alone = np.setdiff1d(np.arange(size), np.concatenate([rows for rows, _ in pairs]) if pairs else [])
    pairs += find_pairs(alone, few, np.ones(size, bool), measure_rare, no_progress)
    source, target = (np.concatenate([np.empty(0, np.int64), *(pair[end] for pair in pairs)]) for end in (0, 1))
    if not len(source):
        raise WalkError(
            f"no two of the {size:,} items were visited by the same user, in {len(walks):,} walks of "
            f"{walks.num_users:,} users; check which columns hold the user and the item (--user, --item)."
        )
    keys = np.unique(np.minimum(source, target) * size + np.maximum(source, target))
    source, target = np.divmod(keys, size)
    linked = np.unique(np.concatenate([source, target]))
    labels: Labels = as_labels([names[by_label[int(item)]] for item in linked])
    return Graph.from_arrays(np.searchsorted(linked, source), np.searchsorted(linked, target), names=labels)


def _list_visits(walks: Trajectories, numbers: Int64, size: int, max_items: int) -> _Visits:
    """Return the visits by user; of a user with more than `max_items` items, those of the latest items alone."""
    by_user = np.argsort(walks.users, kind="stable")
    lengths = walks.lengths[by_user]
    users = np.repeat(np.unique(walks.users[by_user], return_inverse=True)[1], lengths)
    items = numbers[walks.nodes[concatenate_ranges(walks.offsets[:-1][by_user], lengths)]]
    visits = _Visits(users=users, walks=np.repeat(np.arange(len(by_user)), lengths), items=items)
    # the last visit of each item of a user, latest first
    latest, pair = np.unique((users * max(size, 1) + items)[::-1], return_index=True)
    owner = latest // max(size, 1)
    num_items = np.bincount(owner)
    if not len(owner) or num_items.max() <= max_items:
        return visits
    order = np.lexsort((pair, owner))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(num_items) - num_items, num_items)
    kept = np.isin((users * size + items), latest[order[rank < max_items]])
    return _Visits(*(column[kept] for column in visits))


def _count_followers(visits: _Visits, size: int, half_life: float, progress: Progress) -> Any:
    """Return the symmetric matrix of weights of pairs of items that were visited soon after each other.

    A user counts a pair once, by its two visits that are nearest to each other in a walk.
    """
    import scipy.sparse

    gaps = np.arange(1, 2 + int(_HALVINGS * half_life))
    weights = np.round(_UNIT * 0.5 ** ((gaps - 1) / half_life)).astype(np.int64)
    total: Any = scipy.sparse.csr_array((size, size), dtype=np.int64)
    bounds = np.flatnonzero(np.diff(visits.users, prepend=-1, append=-1))  # first visit of each user
    first = 0
    while first < len(bounds) - 1:  # blocks of whole users
        last = max(first + 1, int(np.searchsorted(bounds, bounds[first] + _PAIRS // len(gaps), "right")) - 1)
        block = slice(bounds[first], bounds[last])
        users, walks, items = (column[block] for column in visits)
        found = []
        for gap, weight in zip(gaps, weights, strict=True):
            before, after = items[:-gap], items[gap:]
            taken = (walks[:-gap] == walks[gap:]) & (before != after)
            low, high = np.minimum(before, after)[taken], np.maximum(before, after)[taken]
            found.append((users[:-gap][taken], low, high, np.full(len(low), weight)))
        owner, low, high, weight = (np.concatenate(columns) for columns in zip(*found, strict=True))
        order = np.lexsort((-weight, high, low, owner))
        owner, low, high, weight = owner[order], low[order], high[order], weight[order]
        is_nearest = np.ones(len(owner), bool)
        is_nearest[1:] = (np.diff(owner) != 0) | (np.diff(low) != 0) | (np.diff(high) != 0)
        places = (low[is_nearest], high[is_nearest])
        total = total + scipy.sparse.coo_array((weight[is_nearest], places), shape=(size, size)).tocsr()
        progress("counting successive visits", last / (len(bounds) - 1))
        first = last
    both = (total + total.T).tocsr()
    return scipy.sparse.csr_array((both.data / _UNIT, both.indices, both.indptr), shape=both.shape)


def _find_pairs(
    product: _Product,
    total_users: int,
    shrinkage: float,
    rows: Int64,
    count: int,
    eligible: NDArray[np.bool_],
    measure: int,
    progress: Progress,
) -> Iterator[tuple[Int64, Int64]]:
    """Yield items and their `count` nearest eligible items, in blocks."""
    left, right = product.left, product.right
    for first in range(0, len(rows), _ROWS):
        block = slice(first, first + _ROWS)
        nearest = kernels.nearest_items.find_nearest_items(
            rows[block],
            count,
            left.indptr.astype(np.int64),
            left.indices.astype(np.int64),
            left.data,
            right.indptr.astype(np.int64),
            right.indices.astype(np.int64),
            product.num_users,
            total_users,
            eligible,
            measure,
            shrinkage,
        )
        places, ranks = np.nonzero(nearest >= 0)
        yield rows[block][places], nearest[places, ranks]
        progress("finding the nearest items", min(1.0, (first + _ROWS) / len(rows)))
