"""The subgraphs S + v of every candidate v as one list of nodes, and the message passing of the GNN on them.

Subgraph c has the nodes `bounds[c]:bounds[c + 1]` of the list: the walk in order of visit, then the candidate.
`links[starts[k]:starts[k + 1]]` are the neighbors of node k, as indices of that list.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import has_edge, reserve
from curiograph.kernels.jit import kernel


@kernel
def build_subgraphs(indptr, indices, nodes, lengths, offsets, candidates):
    """Return `bounds`, the position of every node in the graph batch, `starts` and `links` of all S + v."""
    count = candidates.shape[0]
    bounds = np.zeros(count + 1, np.int64)
    longest = 0
    for i in range(lengths.shape[0]):
        longest = max(longest, lengths[i])
        for c in range(offsets[i], offsets[i + 1]):
            bounds[c + 1] = bounds[c] + lengths[i] + 1
    places = np.empty(bounds[count], np.int32)
    starts = np.zeros(bounds[count] + 1, np.int64)
    links = np.empty(8 * bounds[count] + 16, np.int32)
    joined = np.zeros((longest + 1, longest + 1), np.bool_)
    edges = 0
    for i in range(lengths.shape[0]):
        length = lengths[i]
        if offsets[i + 1] > offsets[i]:
            for a in range(length):
                for b in range(a):
                    joined[a, b] = joined[b, a] = has_edge(indptr, indices, nodes[i, a], nodes[i, b])
        for c in range(offsets[i], offsets[i + 1]):
            links = reserve(links, edges, (length + 1) ** 2)
            first = bounds[c]
            for a in range(length):
                joined[a, length] = joined[length, a] = has_edge(indptr, indices, candidates[c], nodes[i, a])
            for a in range(length + 1):
                places[first + a] = nodes[i, a] if a < length else candidates[c]
                for b in range(length + 1):
                    if joined[a, b]:
                        links[edges] = first + b
                        edges += 1
                starts[first + a + 1] = edges
            for a in range(length):
                joined[a, length] = joined[length, a] = False
    return bounds, places, starts, links[:edges].copy()


@kernel
def count_degrees_and_triangles(bounds, starts, links):
    """Return the degree and the number of triangles of every node inside its subgraph."""
    out = np.zeros((starts.shape[0] - 1, 2), np.float32)
    longest = 0
    for c in range(bounds.shape[0] - 1):
        longest = max(longest, bounds[c + 1] - bounds[c])
    joined = np.zeros((longest, longest), np.bool_)
    for c in range(bounds.shape[0] - 1):
        first = bounds[c]
        for k in range(first, bounds[c + 1]):
            for slot in range(starts[k], starts[k + 1]):
                joined[k - first, links[slot] - first] = True
        for k in range(first, bounds[c + 1]):
            out[k, 0] = starts[k + 1] - starts[k]
            for slot in range(starts[k], starts[k + 1]):
                for later in range(slot + 1, starts[k + 1]):
                    out[k, 1] += joined[links[slot] - first, links[later] - first]
        for k in range(first, bounds[c + 1]):
            for slot in range(starts[k], starts[k + 1]):
                joined[k - first, links[slot] - first] = False
    return out


@kernel
def gather_messages(starts, links, hidden, mean, out):
    """Write every node's state and the mean (or the sum) over its neighbors to `out`, which has 2 d columns."""
    width = hidden.shape[1]
    for k in range(hidden.shape[0]):
        for j in range(width):
            out[k, j] = hidden[k, j]
            out[k, width + j] = 0.0
        for slot in range(starts[k], starts[k + 1]):
            other = links[slot]
            for j in range(width):
                out[k, width + j] += hidden[other, j]
        if mean and starts[k + 1] - starts[k] > 1:
            share = np.float32(1.0) / np.float32(starts[k + 1] - starts[k])
            for j in range(width):
                out[k, width + j] *= share


@kernel
def sum_states(bounds, hidden):
    """Return the sum of the states of every subgraph."""
    out = np.zeros((bounds.shape[0] - 1, hidden.shape[1]), np.float32)
    for c in range(bounds.shape[0] - 1):
        for k in range(bounds[c], bounds[c + 1]):
            for j in range(hidden.shape[1]):
                out[c, j] += hidden[k, j]
    return out


@kernel
def gather_gradients(starts, links, gradient, mean, out):
    """Backpropagate `gradient`, that of the output of `gather_messages`, to the states, into `out`.

    Links are symmetric, so a node receives the gradients of its own neighbors.
    """
    width = gradient.shape[1] // 2
    for k in range(gradient.shape[0]):
        for j in range(width):
            out[k, j] = gradient[k, j]
        for slot in range(starts[k], starts[k + 1]):
            other = links[slot]
            share = np.float32(1.0)
            if mean:
                share /= np.float32(starts[other + 1] - starts[other])
            for j in range(width):
                out[k, j] += share * gradient[other, width + j]
