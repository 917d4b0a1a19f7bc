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

from curiograph.kernels.adjacency import find_link, get_map_size, has_edge, map_get, map_put
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
            out[c] = dimension * num_linked - num_edges - dimension * (dimension + 1) // 2 if num_linked > 0 else 0
        for t in range(length):
            may_be_visited[nodes[i, t] & mask] = False
    return out


@kernel
def grow_walks(indptr, indices, nodes, lengths, places, linked, counts):
    """Update the state of every walk to its first `lengths[i]` nodes."""
    link = np.empty(linked.shape[1], np.int32)
    for i in range(lengths.shape[0]):
        for step in range(counts[i, NODES], lengths[i]):
            size = find_link(indptr, indices, nodes[i, step], nodes[i], places[i], step, link)
            for k in range(size):
                counts[i, LINKED] += not linked[i, link[k]]
                linked[i, link[k]] = True
            linked[i, step] = size > 0
            counts[i, LINKED] += size > 0
            counts[i, EDGES] += size
            counts[i, DIMENSION] = raise_dimension(counts[i, LINKED], counts[i, EDGES], counts[i, DIMENSION])
            map_put(places[i], nodes[i, step], step)
            counts[i, NODES] += 1
