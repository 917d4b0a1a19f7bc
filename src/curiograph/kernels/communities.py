"""Communities of an undirected graph by the method of Louvain (Blondel et al. 2008), best of several orders.

Nodes move one by one, in random order, to the community of a neighbor that raises modularity most, until none does;
then communities become the nodes of a smaller graph, and so on. At last, single nodes move again, and all is repeated
until nothing moves. Gains are integers, so that results are exact; of equal gains, a random one is taken, since a fixed
rule leads all orders to the same poor result on small graphs, such as paths.

A graph is three arrays: row u is `links[starts[u]:starts[u + 1]]`, with as many `weights`.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.random import draw_uniform

ORDERS = 10
"""Random orders of the nodes of a small graph, of which the best result is taken."""


@kernel
def find_communities(starts, links, orders):
    """Return the community 0, 1, ... of every node, and the modularity; row u is `links[starts[u]:starts[u + 1]]`."""
    size = starts.shape[0] - 1
    graph = (starts.astype(np.int64), links.astype(np.int64), np.ones(links.shape[0], np.int64))
    best = np.arange(size)
    highest = -np.inf
    for stream in range(orders):
        member = np.arange(size)
        level = graph
        improved = True
        while improved:
            improved, member = _move_nodes(graph, member, stream)
            level = _join_nodes(graph, member)
            moved = True
            while moved:
                moved, names = _move_nodes(level, np.arange(level[0].shape[0] - 1), stream)
                improved = improved or moved
                member = names[member]
                level = _join_nodes(level, names)
        modularity = _compute_modularity(level)
        if modularity > highest + 1e-12:
            highest = modularity
            best = member
    return best, highest


@inner_kernel
def _move_nodes(graph, member, stream):
    """Move nodes until no move raises modularity; return whether any moved, and the communities, numbered from 0."""
    starts, links, weights = graph
    size = starts.shape[0] - 1
    degree = np.zeros(size, np.int64)
    for u in range(size):
        for slot in range(starts[u], starts[u + 1]):
            degree[u] += weights[slot]
    total = degree.sum()
    member = member.copy()
    sums = np.zeros(size, np.int64)  # of degrees, by community
    near = np.zeros(size, np.int64)  # weight of the links of a node, by community
    order = np.arange(size)
    for i in range(size - 1, 0, -1):
        j = int(draw_uniform(np.uint64(stream), i, size) * (i + 1))
        order[i], order[j] = order[j], order[i]
    for u in range(size):
        sums[member[u]] += degree[u]
    moved = False
    changed = True
    while changed:
        changed = False
        for u in order:
            for slot in range(starts[u], starts[u + 1]):
                if links[slot] != u:
                    near[member[links[slot]]] += weights[slot]
            own = member[u]
            sums[own] -= degree[u]
            target, place = own, -1
            highest = total * near[own] - sums[own] * degree[u]
            shift = int(draw_uniform(np.uint64(stream), u, size + 1) * size)
            for slot in range(starts[u], starts[u + 1]):
                community = member[links[slot]]
                if near[community] > 0:  # once for each community
                    gain = total * near[community] - sums[community] * degree[u]
                    after = community - shift if community >= shift else community - shift + size
                    if gain > highest or (gain == highest and after < place):
                        highest, target, place = gain, community, after
                    near[community] = 0
            sums[target] += degree[u]
            if target != own:
                member[u] = target
                changed = moved = True
    names = np.full(size, -1)
    count = 0
    for u in range(size):
        if names[member[u]] < 0:
            names[member[u]] = count
            count += 1
    return moved, names[member]


@inner_kernel
def _join_nodes(graph, names):
    """Return the graph of communities; weights within count twice, as in the sums of degrees."""
    starts, links, weights = graph
    count = names.max() + 1
    order = np.argsort(names, kind="mergesort")  # nodes by community
    joined_starts = np.zeros(count + 1, np.int64)
    joined_links, joined_weights = np.empty(links.shape[0], np.int64), np.empty(links.shape[0], np.int64)
    slots = np.full(count, -1)  # of each community in the present row
    filled = 0
    for u in order:
        first = joined_starts[names[u]]
        for slot in range(starts[u], starts[u + 1]):
            community = names[links[slot]]
            if slots[community] < first:
                slots[community] = filled
                joined_links[filled], joined_weights[filled] = community, 0
                filled += 1
            joined_weights[slots[community]] += weights[slot]
        joined_starts[names[u] + 1] = filled
    return joined_starts, joined_links[:filled], joined_weights[:filled]


@inner_kernel
def _compute_modularity(graph):
    """Return the modularity of the division in which every node is a community."""
    starts, links, weights = graph
    total = weights.sum()
    found = 0.0
    for u in range(starts.shape[0] - 1):
        own, degree = 0, 0
        for slot in range(starts[u], starts[u + 1]):
            degree += weights[slot]
            own += weights[slot] if links[slot] == u else 0
        found += own / total - (degree / total) ** 2
    return found
