"""Graphs of items that the same people visited, and the dense core of who visited what."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import SettingError, UnknownNameError, WalkError
from curiograph.graph.graph import Graph
from curiograph.graph.labels import as_labels
from curiograph.human.data.incidence import build_incidence, keep_nearest, multiply_blocks
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.validation import check_integer, is_number

Similarity = Literal["cosine", "pmi"]
Keep = Literal["highest", "nearest"]

_TOGETHER = 3  # users who must have visited both items of a pair: what one or two share is mostly chance


def cooccurrence_graph(
    walks: Trajectories,
    *,
    similarity: Similarity = "cosine",
    mean_degree: float = 16,
    fewest: int = 5,
    keep: Keep = "highest",
) -> Graph:
    """Items joined by the users who visited both, whenever that was: the most similar pairs, undirected, unweighted.

    Only the given walks count, so give those to fit on. Pairs are taken from the best down, as many as give all items
    the wanted mean degree; equal ones in order of position. The graph is their largest component. Where items fall
    outside and leave it denser than wanted, fewer pairs are taken until its own mean degree is the wanted one; it ends
    below where the last pairs to go split it, or where groups outside hold most of the pairs.

    Parameters
    ----------
    similarity : "cosine" is n_ij / sqrt(n_i n_j), with n the users who visited an item or both. "pmi" is
        log2(n_ij U / (n_i n_j)) for U users, positive ones alone: it favours items that few visited. Nothing is shrunk;
        instead 3 users must have visited both.
    mean_degree : of the graph that comes out.
    fewest : users who must have visited an item. With 3 or fewer, pairs of rare items that all the same users visited
        come first; many more leave out most of the catalogue.
    keep : "highest" takes the most similar pairs of all: a few dense groups may use them up, and most items fall
        outside. "nearest" takes every item with its nearest one, then with its second nearest, and so on: few fall
        outside.

    >>> walks = Trajectories.from_walks([["a", "b", "c"]] * 3 + [["d", "c", "rare"]] + [["c", "d"]] * 2)
    >>> cooccurrence_graph(walks, mean_degree=2, fewest=3)
    Graph(4 nodes, 4 edges, undirected)
    """
    _check(similarity, mean_degree, fewest, keep)
    seen = build_incidence(walks, walks.users)
    items = np.flatnonzero(seen.sum(axis=0) >= fewest)
    wanted, shared = round(mean_degree * len(items) / 2), seen[:, items]
    if keep == "highest":
        source, target = _highest_pairs(shared, similarity, wanted)
    else:
        source, target = _nearest_pairs(shared, similarity, wanted, math.ceil(mean_degree))
    if len(source) < max(wanted, 1):
        raise SettingError(
            f"mean_degree is {mean_degree}, but the {len(items)} items that {fewest} users or more visited make only "
            f"{len(source)} pairs, a mean degree of {2 * len(source) / max(len(items), 1):.3g}; ask for less, or give "
            "more walks."
        )
    taken, inside = _component_of_degree(source, target, len(items), mean_degree)
    place = np.cumsum(inside) - 1
    names = as_labels([walks.names[int(item)] for item in items[inside]])
    return Graph.from_arrays(place[source[taken]], place[target[taken]], names=names)


def _check(similarity: Any, mean_degree: Any, fewest: Any, keep: Any) -> None:
    for name, value, known in (("similarity", similarity, get_args(Similarity)), ("keep", keep, get_args(Keep))):
        if value not in known:
            raise UnknownNameError(f"{name} is {quote_value(value)}; give {' or '.join(known)}.")
    if not is_number(mean_degree) or not 0 < mean_degree < np.inf:
        raise SettingError(
            f"mean_degree is {quote_value(mean_degree)}; give the wanted mean number of neighbours, above 0."
        )
    check_integer("fewest", fewest, 1, "give the fewest users of an item, 1 or more")


def core(walks: Trajectories, item_users: int = 50, user_items: int = 10) -> Trajectories:
    """The dense core: items that so many users visited, and users who visited so many of these items.

    Either rule leaves out what the other counted, so both are applied until nothing more falls out. The items that are
    left keep their order.

    >>> dense = core(Trajectories.from_walks([["a", "b"], ["b", "a", "c"], ["c", "d"]]), item_users=2, user_items=2)
    >>> dense, dense.labels(1)
    (Trajectories(2 walks by 2 users, 4 visits of 2 nodes), ['b', 'a'])
    """
    check_integer("item_users", item_users, 1, "give the fewest users of an item, 1 or more")
    check_integer("user_items", user_items, 1, "give the fewest items of a user, 1 or more")
    seen = build_incidence(walks, walks.users)
    items, users = np.ones(seen.shape[1], bool), np.ones(seen.shape[0], bool)
    while True:
        kept_items = items & (seen.T @ users.astype(np.int32) >= item_users)
        kept_users = users & (seen @ kept_items.astype(np.int32) >= user_items)
        if np.array_equal(kept_items, items) and np.array_equal(kept_users, users):
            break
        items, users = kept_items, kept_users
    if not items.any():
        raise WalkError(
            f"no items are left that {item_users} users visited who visited {user_items} of them; ask for less."
        )
    chosen = walks.rows(users[np.unique(walks.users, return_inverse=True)[1]])
    kept = items[chosen.nodes]
    before = np.concatenate([[0], np.cumsum(kept)])
    nodes = (np.cumsum(items) - 1)[chosen.nodes[kept]].astype(np.int32)
    names = as_labels([walks.names[int(item)] for item in np.flatnonzero(items)])
    return Trajectories.from_arrays(nodes, before[chosen.offsets], names, chosen.users, chosen.user_names)


def _highest_pairs(seen: Any, similarity: Similarity, most: int) -> tuple[Int64, Int64]:
    """The pairs of columns that are most similar, best first; equal ones by position."""
    size = seen.shape[1]
    scores, keys = np.empty(0), np.empty(0, np.int64)
    for first, similar in _similar_rows(seen, similarity):
        upper = np.triu(similar, first + 1)
        rows, columns = np.nonzero(upper > (scores[-1] if len(scores) == most > 0 else 0))  # equal ones come too late
        scores = np.concatenate([scores, upper[rows, columns]])
        keys = np.concatenate([keys, (first + rows) * size + columns])
        best = np.lexsort((keys, -scores))[:most]
        scores, keys = scores[best], keys[best]
    return _ends(keys, size)


def _nearest_pairs(seen: Any, similarity: Similarity, most: int, neighbours: int) -> tuple[Int64, Int64]:
    """Pairs of a column and its nearest one, then its second nearest, and so on; equal ranks by similarity."""
    size = seen.shape[1]
    similar = keep_nearest(_similar_rows(seen, similarity), size, neighbours)
    rows = np.repeat(np.arange(size), np.diff(similar.indptr))
    order = np.lexsort((similar.indices, -similar.data, rows))  # each row from its nearest on
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - similar.indptr[rows]
    keys = np.minimum(rows, similar.indices) * size + np.maximum(rows, similar.indices)
    order = np.lexsort((keys, -similar.data, rank))
    first = np.sort(np.unique(keys[order], return_index=True)[1])  # of the two ranks of a pair, the better
    return _ends(keys[order][first][:most], size)


def _ends(keys: Int64, size: int) -> tuple[Int64, Int64]:
    ends: tuple[Int64, Int64] = np.divmod(keys, max(size, 1))
    return ends


def _similar_rows(seen: Any, similarity: Similarity) -> Iterator[tuple[int, Float64]]:
    """Numbers in the order of the similarity, a few rows at a time; zero for pairs that are left out.

    Each is one division of whole numbers, so that equal similarities are equal to the bit.
    """
    visitors = seen.sum(axis=0).astype(np.int64)
    for first, counts in multiply_blocks(seen.T.tocsr(), seen):
        together = counts.toarray().astype(np.int64)
        product = visitors[first : first + len(together), None] * visitors
        if similarity == "cosine":
            similar = together**2 / product
        else:
            similar = np.where(together * seen.shape[0] > product, together / product, 0)
        similar[together < _TOGETHER] = 0
        yield first, similar


def _component_of_degree(
    source: Int64, target: Int64, size: int, mean_degree: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The edges and nodes of the largest component; the last edges go until it is no denser than wanted."""
    count = len(source)
    while True:
        inside = _largest_component(source[:count], target[:count], size)
        taken = inside[source] & (np.arange(len(source)) < count)
        surplus = int(taken.sum()) - round(mean_degree * int(inside.sum()) / 2)
        if surplus <= 0:
            return taken, inside
        count -= surplus


def _largest_component(source: Int64, target: Int64, size: int) -> NDArray[np.bool_]:
    import scipy.sparse
    from scipy.sparse.csgraph import connected_components

    matrix = scipy.sparse.csr_array((np.ones(len(source), np.int8), (source, target)), shape=(size, size))
    member = connected_components(matrix, directed=False)[1]
    inside: NDArray[np.bool_] = member == np.argmax(np.bincount(member))
    return inside
