"""Conformational change: how flexible the visited subgraph is, seen as a mechanical network of joints and bars.

Over the n nodes with at least one link and the e edges of the subgraph, in d dimensions:

    degrees of freedom    d n - e
    rigid motions         d (d + 1) / 2, the translations and rotations of the whole network
    conformable           degrees of freedom that are not rigid motions: d n - e - d (d + 1) / 2

The dimension starts at 1. After every step of a walk it rises until the conformable degrees of freedom are not
negative, and it never falls. Without any edge (n = 0) there is nothing to move: d stays 1, and both numbers are 0.

A new node matters by its visited neighbors alone: each adds an edge, and each that had no link before a linked node.

The state of a batch of walks, a row per walk (positions 0, 1, ... in order of visit):

    places   [B, H, 2]   hash map from node to position
    linked   [B, T]      whether the node at this position has a visited neighbor
    counts   [B, 4]      nodes, linked nodes, edges and dimension so far
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import find_link, get_map_size, has_edge, map_clear, map_get, map_put
from curiograph.kernels.jit import inner_kernel, kernel

NODES, LINKED, EDGES, DIMENSION = 0, 1, 2, 3

_TABLE_ENTRIES = 8  # per entry of a map, which is at most half full
_LONG_ROW = 16  # times the length of the walk: it is faster to search for every visited node in such a row


@inner_kernel
def raise_dimension(num_linked, num_edges, dimension):
    """Return the lowest dimension, at least `dimension`, whose conformable degrees of freedom are not negative.

    The loop ends: a simple graph has at most n (n - 1) / 2 edges, so dimension n - 1 suffices.
    """
    if num_linked == 0:
        return dimension
    while dimension * num_linked - num_edges - dimension * (dimension + 1) // 2 < 0:
        dimension += 1
    return dimension


@inner_kernel
def count_conformable(num_linked, num_edges, dimension):
    """Return the degrees of freedom that are not rigid motions; 0 without any edge."""
    if num_linked == 0:
        return 0
    return dimension * num_linked - num_edges - dimension * (dimension + 1) // 2


@kernel
def count_candidate_conformable(indptr, indices, nodes, places, linked, counts, offsets, candidates):
    """Return the conformable degrees of freedom of S + v for every candidate v of every walk."""
    out = np.empty(candidates.shape[0], np.float64)
    # a sparse table that contains all visited nodes and few others: most neighbors need no search in `places`
    may_be_visited = np.zeros(_TABLE_ENTRIES * get_map_size(linked.shape[1]), np.bool_)
    mask = may_be_visited.shape[0] - 1
    for i in range(offsets.shape[0] - 1):
        length = counts[i, NODES]
        for t in range(length):
            may_be_visited[nodes[i, t] & mask] = True
        for c in range(offsets[i], offsets[i + 1]):
            v = candidates[c]
            size, isolated = 0, 0
            if indptr[v + 1] - indptr[v] > _LONG_ROW * length:
                for t in range(length):
                    if has_edge(indptr, indices, v, nodes[i, t]):
                        size += 1
                        isolated += not linked[i, t]
            else:
                for slot in range(indptr[v], indptr[v + 1]):
                    if may_be_visited[indices[slot] & mask]:
                        place = map_get(places[i], indices[slot])
                        if place >= 0:
                            size += 1
                            isolated += not linked[i, place]
            num_linked = counts[i, LINKED] + isolated + (size > 0)
            num_edges = counts[i, EDGES] + size
            dimension = raise_dimension(num_linked, num_edges, counts[i, DIMENSION])
            out[c] = count_conformable(num_linked, num_edges, dimension)
        for t in range(length):
            may_be_visited[nodes[i, t] & mask] = False
    return out


@kernel
def grow_walks(indptr, indices, nodes, lengths, places, linked, counts):
    """Update the state of every walk to its first `lengths[i]` nodes."""
    link = np.empty(linked.shape[1], np.int32)
    for i in range(lengths.shape[0]):
        while counts[i, NODES] < lengths[i]:
            _visit(indptr, indices, nodes[i], places[i], linked[i], counts[i], link)


@kernel
def measure_walks(indptr, indices, nodes, offsets):
    """Return the dimension and the degrees of freedom of walks after every step.

    Walk i is `nodes[offsets[i]:offsets[i + 1]]`, and both results have an entry for each of `nodes`.
    """
    dimension = np.empty(nodes.shape[0], np.int64)
    freedom = np.empty(nodes.shape[0], np.int64)
    longest = 0
    for i in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    table = np.empty((get_map_size(longest), 2), np.int32)
    linked = np.empty(longest, np.bool_)
    link = np.empty(longest, np.int32)
    counts = np.empty(4, np.int64)
    for i in range(offsets.shape[0] - 1):
        places = table[: get_map_size(offsets[i + 1] - offsets[i])]
        map_clear(places)
        counts[NODES] = counts[LINKED] = counts[EDGES] = 0
        counts[DIMENSION] = 1
        for step in range(offsets[i], offsets[i + 1]):
            _visit(indptr, indices, nodes[offsets[i] : offsets[i + 1]], places, linked, counts, link)
            dimension[step] = counts[DIMENSION]
            freedom[step] = counts[DIMENSION] * counts[LINKED] - counts[EDGES]
    return dimension, freedom


@inner_kernel
def _visit(indptr, indices, nodes, places, linked, counts, link):
    """Add the next node of a walk to its state."""
    step = counts[NODES]
    size = find_link(indptr, indices, nodes[step], nodes, places, step, link)
    for k in range(size):
        counts[LINKED] += not linked[link[k]]
        linked[link[k]] = True
    linked[step] = size > 0
    counts[LINKED] += size > 0
    counts[EDGES] += size
    counts[DIMENSION] = raise_dimension(counts[LINKED], counts[EDGES], counts[DIMENSION])
    map_put(places, nodes[step], step)
    counts[NODES] += 1
