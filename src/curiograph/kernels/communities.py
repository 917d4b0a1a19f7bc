"""Communities of a small undirected graph by the method of Louvain (Blondel et al. 2008), best of several orders.

Nodes move one by one, in random order, to the community of a neighbor that raises modularity most, until none does;
then communities become the nodes of a smaller graph, and so on. At last, single nodes move again, and all is repeated
until nothing moves. Gains are integers, so that results are exact; of equal gains, a random one is taken, since a fixed
rule leads all orders to the same poor result on small graphs, such as paths.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.random import draw_uniform

_ORDERS = 10  # random orders of nodes, of which the best result is taken


@kernel
def find_communities(starts, links):
    """Return the community 0, 1, ... of every node, and the modularity; row u is `links[starts[u]:starts[u + 1]]`."""
    size = starts.shape[0] - 1
    weights = np.zeros((size, size), np.int64)
    for u in range(size):
        for slot in range(starts[u], starts[u + 1]):
            weights[u, links[slot]] += 1
    best = np.arange(size)
    highest = -np.inf
    for stream in range(_ORDERS):
        member = np.arange(size)
        level = weights
        improved = True
        while improved:
            improved, member = _move_nodes(weights, member, stream)
            level = _join_nodes(weights, member)
            moved = True
            while moved:
                moved, names = _move_nodes(level, np.arange(level.shape[0]), stream)
                improved = improved or moved
                member = names[member]
                level = _join_nodes(level, names)
        modularity = _compute_modularity(level)
        if modularity > highest + 1e-12:
            highest = modularity
            best = member
    return best, highest


@inner_kernel
def _move_nodes(weights, member, stream):
    """Move nodes between communities until no move raises modularity; return whether any moved, and 0, 1, ... names."""
    size = weights.shape[0]
    degree = weights.sum(axis=1)
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
            near[:] = 0
            for v in range(size):
                if v != u:
                    near[member[v]] += weights[u, v]
            own = member[u]
            sums[own] -= degree[u]
            target = own
            highest = total * near[own] - sums[own] * degree[u]
            shift = int(draw_uniform(np.uint64(stream), u, size + 1) * size)
            for k in range(size):
                community = k + shift - size if k + shift >= size else k + shift
                if near[community] > 0:
                    gain = total * near[community] - sums[community] * degree[u]
                    if gain > highest:
                        highest, target = gain, community
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
def _join_nodes(weights, names):
    """Return the weights between communities; those within count twice, as in the sums of degrees."""
    count = names.max() + 1
    joined = np.zeros((count, count), np.int64)
    for u in range(weights.shape[0]):
        for v in range(weights.shape[0]):
            joined[names[u], names[v]] += weights[u, v]
    return joined


@inner_kernel
def _compute_modularity(weights):
    """Return the modularity of the division in which every node is a community."""
    total = weights.sum()
    found = 0.0
    for u in range(weights.shape[0]):
        found += weights[u, u] / total - (weights[u].sum() / total) ** 2
    return found
