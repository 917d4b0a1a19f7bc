"""Measures of the subgraphs that walks induce: clustering, distances, communities, core and periphery, entropy, leaps.

Walk i has the distinct nodes `nodes[offsets[i]:offsets[i + 1]]`. Subgraphs are undirected and unweighted.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import find_link, find_root, get_map_size, map_put, reserve
from curiograph.kernels.communities import ORDERS, find_communities
from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.shortest_paths import search

EDGES, CLUSTERING, PATH_LENGTH, EFFICIENCY, MODULARITY, PARTICIPATION, CORE_PERIPHERY, ENTROPY = 0, 1, 2, 3, 4, 5, 6, 7
NUM_MEASURES = 8


@kernel
def measure_subgraphs(indptr, indices, nodes, offsets, with_distances, with_communities):
    """Return the measures of every walk, a row per walk; those that are not requested or not defined are NaN."""
    out = np.full((offsets.shape[0] - 1, NUM_MEASURES), np.nan)
    for i in range(offsets.shape[0] - 1):
        starts, links = link_nodes(indptr, indices, nodes, offsets[i], offsets[i + 1])
        size = starts.shape[0] - 1
        total = links.shape[0]  # twice the number of edges
        out[i, EDGES] = total // 2
        if size >= 3:
            out[i, CLUSTERING] = _compute_clustering(starts, links)
        if with_distances and size >= 2:
            out[i, PATH_LENGTH], out[i, EFFICIENCY] = _compute_distances(starts, links)
        if with_communities and total > 0:
            member, out[i, MODULARITY] = find_communities(starts, links, ORDERS)
            out[i, PARTICIPATION] = _compute_participation(starts, links, member)
        spread, entropy = 0.0, 0.0
        for v in range(size):
            degree = starts[v + 1] - starts[v]
            spread += abs(degree - total / size)
            entropy += (degree + 1) * np.log2(degree + 1)  # with a self-loop
        if total > 0:
            out[i, CORE_PERIPHERY] = spread / total
        out[i, ENTROPY] = entropy / (total + size)
    return out


@kernel
def link_nodes(indptr, indices, nodes, first, last):
    """Return the subgraph on `nodes[first:last]` as rows of neighbors in CSR format; node k is `nodes[first + k]`."""
    size = last - first
    places = np.full((get_map_size(size), 2), -1, np.int32)
    for k in range(size):
        map_put(places, nodes[first + k], k)
    starts = np.zeros(size + 1, np.int64)
    links = np.empty(8 * size, np.int32)
    filled = 0
    for k in range(size):
        links = reserve(links, filled, size)
        filled += find_link(indptr, indices, nodes[first + k], nodes[first:last], places, size, links[filled:])
        starts[k + 1] = filled
    return starts, links[:filled]


@kernel
def list_edges(indptr, indices, nodes, offsets):
    """Return the edges of all subgraphs, once each, as rows (walk, place, place) with places in `nodes`."""
    out = np.empty((16, 3), np.int64)
    filled = 0
    for i in range(offsets.shape[0] - 1):
        starts, links = link_nodes(indptr, indices, nodes, offsets[i], offsets[i + 1])
        while filled + links.shape[0] > out.shape[0]:
            out = np.concatenate((out, np.empty_like(out)))
        for u in range(starts.shape[0] - 1):
            for v in links[starts[u] : starts[u + 1]]:
                if v > u:
                    out[filled, 0], out[filled, 1], out[filled, 2] = i, offsets[i] + u, offsets[i] + v
                    filled += 1
    return out[:filled].copy()


@kernel
def measure_leaps(indptr, indices, nodes, offsets, community):
    """Return the shares of steps that are leaps, and leaps that are linked later, for every walk; NaN for one node.

    A leap is the first visit of a node in another community than the one before it, without a link to any earlier node.
    It is linked later if both nodes are connected in the subgraph of the whole walk.
    """
    out = np.full((offsets.shape[0] - 1, 2), np.nan)
    for i in range(offsets.shape[0] - 1):
        starts, links = link_nodes(indptr, indices, nodes, offsets[i], offsets[i + 1])
        size = starts.shape[0] - 1
        parent = np.arange(size)
        leaps = np.zeros(size, np.bool_)
        for t in range(size):
            leaps[t] = t > 0 and community[nodes[offsets[i] + t]] != community[nodes[offsets[i] + t - 1]]
            for slot in range(starts[t], starts[t + 1]):
                if links[slot] < t:
                    leaps[t] = False
                    parent[find_root(parent, links[slot])] = find_root(parent, t)
        linked = 0
        for t in range(1, size):
            linked += leaps[t] and find_root(parent, t) == find_root(parent, t - 1)
        if size > 1:
            out[i, 0], out[i, 1] = leaps.sum() / (size - 1), linked / (size - 1)
    return out


@inner_kernel
def _compute_clustering(starts, links):
    """Return the mean over nodes of the share of pairs of neighbors that are linked; 0 for fewer than 2 neighbors."""
    size = starts.shape[0] - 1
    near = np.zeros(size, np.bool_)
    total = 0.0
    for v in range(size):
        degree = starts[v + 1] - starts[v]
        if degree < 2:
            continue
        row = links[starts[v] : starts[v + 1]]
        for u in row:
            near[u] = True
        linked = 0  # every edge among the neighbors twice
        for u in row:
            for slot in range(starts[u], starts[u + 1]):
                linked += near[links[slot]]
        for u in row:
            near[u] = False
        total += linked / (degree * (degree - 1))
    return total / size


@inner_kernel
def _compute_distances(starts, links):
    """Return the mean distance of connected pairs, NaN if there are none, and the mean inverse distance of all."""
    size = starts.shape[0] - 1
    depth = np.empty(size, np.int64)
    queue = np.empty(size, np.int64)
    counts = np.zeros(size, np.int64)  # ordered pairs by distance
    for root in range(size):
        depth[:] = -1
        for k in range(1, search(starts, links, root, depth, queue)):
            counts[depth[queue[k]]] += 1
    pairs, total, inverse = 0, 0, 0.0
    for d in range(1, size):
        pairs += counts[d]
        total += d * counts[d]
        inverse += counts[d] / d
    return total / pairs if pairs > 0 else np.nan, inverse / (size * (size - 1))


@inner_kernel
def _compute_participation(starts, links, member):
    """Return the mean over nodes of 1 - sum over communities of the squared share of links to them; 0 without links."""
    size = starts.shape[0] - 1
    counts = np.zeros(size, np.int64)
    total = 0.0
    for u in range(size):
        degree = starts[u + 1] - starts[u]
        squares = 0
        for slot in range(starts[u], starts[u + 1]):
            squares += 2 * counts[member[links[slot]]] + 1
            counts[member[links[slot]]] += 1
        for slot in range(starts[u], starts[u + 1]):
            counts[member[links[slot]]] = 0
        if degree > 0:
            total += 1 - squares / degree**2
    return total / size
