"""The neighborhood of a walk that the horizon agent reads, and the message passing on it.

The neighborhood of walk i is a list of nodes: the walk in order of visit, then its candidates, then the nodes around
them in breadth-first order, up to a number of hops, of nodes, and of neighbors per node. The cost of a decision is
therefore independent of the size of the graph. The lists have the format of `subgraphs`.
"""

from __future__ import annotations

import math

import numpy as np

from curiograph.kernels.csr import get_map_size, has_edge, map_clear, map_get, map_put, reserve
from curiograph.kernels.jit import inner_kernel, kernel

VISITED = 0
LAST = 1
CANDIDATE = 2
AGE = 3
LINKS = 4
LINK_EDGES = 5
AHEAD = 6
LENGTH = 7
AGES = 8
LINKED = 18
NUM_FLAGS = 28

_RECENT = 10  # number of last nodes of the walk that have a flag each, and a flag for their neighbors
_SCALE = 0.1  # scale of step counts: a ten-node walk spans one unit


@kernel
def read_neighborhood(indptr, indices, nodes, lengths, offsets, candidates, ahead, hops, most, fan):
    """Read the nodes around every walk, the edges among them, and their flags.

    Parameters
    ----------
    ahead : number of rewards still to come, for each walk.
    hops, most, fan : limits beyond walk and candidates: distance, number of nodes, and neighbors read per node.

    Returns
    -------
    bounds : the nodes of walk i are `bounds[i]:bounds[i + 1]` of the lists below.
    places : position of every node in the graph batch.
    starts, links : neighbors of node k among the nodes read (indices of the list): `links[starts[k]:starts[k + 1]]`.
    loose : for every link, whether its ends have no common neighbor among the last 64 visited nodes: if both ends are
        linked to the walk, visiting one after the other closes a loop.
    flags : a row of `NUM_FLAGS` numbers for every node.
    """
    count = lengths.shape[0]
    bounds = np.zeros(count + 1, np.int64)
    longest = 0
    for i in range(count):
        here = lengths[i] + offsets[i + 1] - offsets[i]
        longest = max(longest, here)
        bounds[i + 1] = bounds[i] + here + most
    table = np.empty((get_map_size(longest + most), 2), np.int32)
    places = np.empty(bounds[count], np.int32)
    starts = np.zeros(bounds[count] + 1, np.int64)
    links = np.empty(16 * bounds[count] + 16, np.int32)
    filled = 0
    edges = 0
    for i in range(count):
        bounds[i] = filled
        if offsets[i + 1] > offsets[i]:
            map_clear(table)
            end = _add_walk(nodes[i], lengths[i], candidates, offsets[i], offsets[i + 1], table, places, filled)
            end = _expand(indptr, indices, table, places, filled, end, hops, most, fan, lengths[i])
            links, edges = _connect_nodes(indptr, indices, table, places, filled, end, starts, links, edges)
            filled = end
    bounds[count] = filled
    flags = np.zeros((filled, NUM_FLAGS), np.float32)
    for i in range(count):
        if bounds[i + 1] > bounds[i]:
            _set_flags(
                starts, links, bounds[i], bounds[i + 1], lengths[i], offsets[i + 1] - offsets[i], ahead[i], flags
            )
    loose = _find_loose_links(bounds, starts, links, lengths, edges)
    return bounds, places[:filled].copy(), starts[: filled + 1].copy(), links[:edges].copy(), loose, flags


@inner_kernel
def _find_loose_links(bounds, starts, links, lengths, edges):
    out = np.zeros(edges, np.bool_)
    tied = np.zeros(starts.shape[0], np.uint64)  # per node, a bit for each of the last 64 visited nodes it is linked to
    for i in range(lengths.shape[0]):
        visited_end = bounds[i] + lengths[i]
        for k in range(bounds[i], bounds[i + 1]):
            for slot in range(starts[k], starts[k + 1]):
                age = visited_end - 1 - links[slot]
                if 0 <= age < 64:
                    tied[k] |= np.uint64(1) << np.uint64(age)
        for k in range(bounds[i], bounds[i + 1]):
            for slot in range(starts[k], starts[k + 1]):
                out[slot] = tied[k] & tied[links[slot]] == np.uint64(0)
    return out


@inner_kernel
def _add_walk(walk, length, candidates, first, last, table, places, start):
    """Add the walk and its candidates to the list of nodes."""
    end = start
    for t in range(length):
        places[end] = walk[t]
        map_put(table, walk[t], end - start)
        end += 1
    for c in range(first, last):
        places[end] = candidates[c]
        map_put(table, candidates[c], end - start)
        end += 1
    return end


@inner_kernel
def _expand(indptr, indices, table, places, start, end, hops, most, fan, length):
    """Add the nodes around the candidates, then those around the walk, hop by hop."""
    limit = end + most
    level = start + length  # candidates first: the nodes beyond them matter most
    level_end = end
    for hop in range(hops):
        stop = end
        for k in range(level, level_end):
            end = _add_neighbors(indptr, indices, places[k], table, places, start, end, limit, fan)
        if hop == 0:
            for k in range(start, start + length):
                end = _add_neighbors(indptr, indices, places[k], table, places, start, end, limit, fan)
        if end == stop:
            break
        level, level_end = stop, end
    return end


@inner_kernel
def _add_neighbors(indptr, indices, u, table, places, start, end, limit, fan):
    for slot in range(indptr[u], min(indptr[u + 1], indptr[u] + fan)):
        if end == limit:
            break
        v = indices[slot]
        if map_get(table, v) == -1:
            places[end] = v
            map_put(table, v, end - start)
            end += 1
    return end


@inner_kernel
def _connect_nodes(indptr, indices, table, places, start, end, starts, links, edges):
    """Write the edges among the nodes read; scan the shorter of a node's row and the list."""
    size = end - start
    for k in range(start, end):
        u = places[k]
        links = reserve(links, edges, size)
        starts[k] = edges
        if indptr[u + 1] - indptr[u] > 4 * size:
            for other in range(start, end):
                if has_edge(indptr, indices, u, places[other]):
                    links[edges] = other
                    edges += 1
        else:
            for slot in range(indptr[u], indptr[u + 1]):
                place = map_get(table, indices[slot])
                if place >= 0:
                    links[edges] = start + place
                    edges += 1
        starts[k + 1] = edges
    return links, edges


@inner_kernel
def _set_flags(starts, links, first, last, length, candidates, ahead, flags):
    """Set the flags of each node read: its relation to the walk."""
    joined = np.zeros((length, length), np.bool_)
    for t in range(length):
        for slot in range(starts[first + t], starts[first + t + 1]):
            other = links[slot] - first
            if other < length:
                joined[t, other] = True
    seen = np.empty(length, np.int64)
    for k in range(first, last):
        size = 0
        for slot in range(starts[k], starts[k + 1]):
            other = links[slot] - first
            if other < length:
                seen[size] = other
                size += 1
                if length - 1 - other < _RECENT:
                    flags[k, LINKED + length - 1 - other] = 1.0
        inner = 0
        for a in range(size):
            for b in range(a + 1, size):
                inner += joined[seen[a], seen[b]]
        place = k - first
        if place < length:
            flags[k, VISITED] = 1.0
            flags[k, AGE] = _SCALE * (length - 1 - place)
            if length - 1 - place < _RECENT:
                flags[k, AGES + length - 1 - place] = 1.0
        flags[k, LAST] = place == length - 1
        flags[k, CANDIDATE] = length <= place < length + candidates
        flags[k, LINKS] = 0.25 * size
        flags[k, LINK_EDGES] = math.log1p(inner)
        flags[k, AHEAD] = _SCALE * ahead
        flags[k, LENGTH] = _SCALE * length


@kernel
def gather_messages(bounds, starts, links, loose, lengths, hidden, out):
    """Write every node's state and three messages to `out`, which has 4 d columns.

    The messages are the mean over its neighbors, the sum over visited neighbors, and a quarter of the sum over
    unvisited neighbors across a loose link.
    """
    width = hidden.shape[1]
    for i in range(lengths.shape[0]):
        visited_end = bounds[i] + lengths[i]
        for k in range(bounds[i], bounds[i + 1]):
            for j in range(width):
                out[k, j] = hidden[k, j]
                out[k, width + j] = 0.0
                out[k, 2 * width + j] = 0.0
                out[k, 3 * width + j] = 0.0
            for slot in range(starts[k], starts[k + 1]):
                other = links[slot]
                for j in range(width):
                    out[k, width + j] += hidden[other, j]
                if other < visited_end:
                    for j in range(width):
                        out[k, 2 * width + j] += hidden[other, j]
                elif loose[slot]:
                    for j in range(width):
                        out[k, 3 * width + j] += np.float32(0.25) * hidden[other, j]
            if starts[k + 1] - starts[k] > 1:
                share = np.float32(1.0) / np.float32(starts[k + 1] - starts[k])
                for j in range(width):
                    out[k, width + j] *= share


@kernel
def gather_gradients(bounds, starts, links, loose, lengths, gradient, out):
    """Backpropagate `gradient`, that of the output of `gather_messages`, to the states, into `out`.

    Links and their looseness are symmetric, so a node receives the gradients of its own neighbors.
    """
    width = gradient.shape[1] // 4
    for i in range(lengths.shape[0]):
        visited_end = bounds[i] + lengths[i]
        for k in range(bounds[i], bounds[i + 1]):
            for j in range(width):
                out[k, j] = gradient[k, j]
            for slot in range(starts[k], starts[k + 1]):
                other = links[slot]
                share = np.float32(1.0) / np.float32(starts[other + 1] - starts[other])
                for j in range(width):
                    out[k, j] += share * gradient[other, width + j]
                if k < visited_end:
                    for j in range(width):
                        out[k, j] += gradient[other, 2 * width + j]
                elif loose[slot]:
                    for j in range(width):
                        out[k, j] += np.float32(0.25) * gradient[other, 3 * width + j]


@kernel
def compute_walk_mean(bounds, lengths, hidden):
    """Return the mean state of the nodes of every walk; zeros for a walk without candidates."""
    out = np.zeros((lengths.shape[0], hidden.shape[1]), np.float32)
    for i in range(lengths.shape[0]):
        if bounds[i + 1] > bounds[i]:
            for k in range(bounds[i], bounds[i] + lengths[i]):
                for j in range(hidden.shape[1]):
                    out[i, j] += hidden[k, j]
            for j in range(hidden.shape[1]):
                out[i, j] /= np.float32(lengths[i])
    return out


@kernel
def add_walk_relu(bounds, walks, values):
    """Add to every node's row the row of its walk and apply ReLU, in place."""
    for i in range(walks.shape[0]):
        for k in range(bounds[i], bounds[i + 1]):
            for j in range(values.shape[1]):
                values[k, j] = max(np.float32(0.0), values[k, j] + walks[i, j])
