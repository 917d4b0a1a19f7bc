"""Random graphs of the paper's families, drawn from given random bits: a seed gives the same graph in every release.

The draws are those of networkx 3.6 (random geometric: of numpy) with a generator PCG64. `words` are its raw 64-bit
numbers, and `state` is how many of them were used, with the unused upper half of a word or -1. When they are used up,
drawing starts over with the first word, and the caller has to discard the result and give more words. Functions that
draw write the ends of edges, and return the number of edges.
"""

from __future__ import annotations

import math

import numpy as np

from curiograph.kernels.adjacency import sort_range
from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.shortest_paths import search

_LINKS = 4  # of a new node of Barabasi-Albert


@kernel
def draw_geometric(points, redrawn, radius, words, state, ends):
    """Draw the chosen points of the unit square, and join all pairs within the radius."""
    size, strips = points.shape[0], int(1 / radius)
    for u in range(size):
        if redrawn[u]:
            points[u, 0] = _draw_uniform(words, state)
            points[u, 1] = _draw_uniform(words, state)
    # points by vertical strips, at least as wide as the radius: neighbors are in the same strip or in the next one
    starts, order = np.zeros(strips + 2, np.int64), np.empty(size, np.int64)
    for u in range(size):
        starts[min(int(points[u, 0] * strips), strips - 1) + 2] += 1
    for strip in range(2, strips + 2):
        starts[strip] += starts[strip - 1]
    for u in range(size):
        strip = min(int(points[u, 0] * strips), strips - 1)
        order[starts[strip + 1]] = u
        starts[strip + 1] += 1
    count = 0
    for strip in range(strips):
        for i in range(starts[strip], starts[strip + 1]):
            for j in range(i + 1, starts[min(strip + 2, strips)]):
                u, v = order[i], order[j]
                across, up = points[u, 0] - points[v, 0], points[u, 1] - points[v, 1]
                if across * across + up * up <= radius * radius:
                    ends[count, 0], ends[count, 1] = u, v
                    count += 1
    return count


@kernel
def draw_watts_strogatz(size, probability, words, state, ends):
    """Rewire the edges of a ring of nodes that are joined to the next two nodes on either side."""
    degrees = np.empty(size, np.int64)
    for u in range(size):
        degrees[u] = 4
    for j in range(2):
        for u in range(size):
            ends[j * size + u, 0], ends[j * size + u, 1] = u, (u + j + 1) % size
    count = 2 * size
    for edge in range(count):
        if _draw_uniform(words, state) >= probability:
            continue
        u = ends[edge, 0]
        w, skipped = _draw_below(size, words, state), False
        while not skipped and (w == u or _is_joined(ends, count, u, w)):
            w = _draw_below(size, words, state)
            skipped = degrees[u] >= size - 1
        if not skipped:
            degrees[ends[edge, 1]] -= 1
            degrees[w] += 1
            ends[edge, 1] = w
    return count


@inner_kernel
def _is_joined(ends, count, u, v):
    for edge in range(count):
        if (ends[edge, 0] == u and ends[edge, 1] == v) or (ends[edge, 0] == v and ends[edge, 1] == u):
            return True
    return False


@kernel
def draw_barabasi_albert(size, words, state, ends):
    """Join each new node to four different ends of random edges, starting from a star of five nodes."""
    repeated = np.empty(2 * _LINKS * size, np.int64)  # nodes, each as often as it has edges
    chosen = np.empty(2 * _LINKS, np.int64)
    count = _LINKS
    for leaf in range(_LINKS):
        ends[leaf, 0], ends[leaf, 1] = 0, leaf + 1
        repeated[leaf], repeated[_LINKS + leaf] = 0, leaf + 1
    for u in range(_LINKS + 1, size):
        for slot in range(2 * _LINKS):
            chosen[slot] = -1
        found = 0
        while found < _LINKS:
            v = repeated[_draw_below(2 * count, words, state)]
            found += _insert(chosen, v)
        filled = 2 * count
        for v in chosen:
            if v >= 0:
                ends[count, 0], ends[count, 1] = u, v
                repeated[filled] = v
                repeated[filled + _LINKS] = u
                filled += 1
                count += 1
    return count


@inner_kernel
def _insert(table, value):
    """Insert a number into a set of fewer than five; return whether it is new.

    Slots are those of a set of Python, in whose order networkx reads the chosen nodes.
    """
    mask, rest, slot = table.shape[0] - 1, value, value & (table.shape[0] - 1)
    while table[slot] >= 0:
        if table[slot] == value:
            return False
        rest >>= 5
        slot = (slot * 5 + 1 + rest) & mask
    table[slot] = value
    return True


@kernel
def draw_erdos_renyi(size, probability, words, state, ends):
    """Join each pair with a probability: the number of pairs to skip is geometrically distributed."""
    u, v, count = 1, -1, 0
    while u < size:
        skipped = 0
        if probability < 1:
            skipped = int(math.log(1.0 - _draw_uniform(words, state)) / math.log(1.0 - probability))
        v += 1 + skipped
        while v >= u and u < size:
            v -= u
            u += 1
        if u < size:
            ends[count, 0], ends[count, 1] = u, v
            count += 1
    return count


# ---- random numbers -------------------------------------------------------------------------------------------------


@inner_kernel
def _draw_word(words, state):
    word = words[state[0] % words.shape[0]]
    state[0] += 1
    return word


@inner_kernel
def _draw_uniform(words, state):
    """Return a uniform number in [0, 1), like `Generator.random`."""
    return (_draw_word(words, state) >> np.uint64(11)) * 2.0**-53


@inner_kernel
def _draw_below(limit, words, state):
    """Return a random integer below `limit`, like `random.Random.choice` on the bytes of a `Generator`."""
    bits = 0
    while limit >> bits:
        bits += 1
    num_bytes = (bits + 7) // 8
    while True:
        half = state[1]
        if half >= 0:
            state[1] = -1
        else:
            word = _draw_word(words, state)
            half = np.int64(word & np.uint64(0xFFFFFFFF))
            state[1] = np.int64(word >> np.uint64(32))
        value = 0
        for place in range(num_bytes):  # the first byte is the most significant one
            value = value << 8 | (half >> 8 * place & 255)
        value >>= 8 * num_bytes - bits
        if value < limit:
            return value


# ---- rows -----------------------------------------------------------------------------------------------------------


@kernel
def build_rows(ends, count, outside):
    """Return sorted CSR rows, and mark and count the nodes outside the largest component, the first of several."""
    size = outside.shape[0]
    indptr, indices = np.zeros(size + 1, np.int64), np.empty(2 * count, np.int32)
    for edge in range(count):
        indptr[ends[edge, 0] + 1] += 1
        indptr[ends[edge, 1] + 1] += 1
    for u in range(size):
        indptr[u + 1] += indptr[u]
    filled = np.empty(size, np.int64)
    for u in range(size):
        filled[u] = indptr[u]
    for edge in range(count):
        u, v = ends[edge, 0], ends[edge, 1]
        indices[filled[u]], indices[filled[v]] = v, u
        filled[u] += 1
        filled[v] += 1
    for u in range(size):
        sort_range(indices, indptr[u], indptr[u + 1])
    depth, queue, largest = np.full(size, -1), np.empty(size, np.int64), 0
    for first in range(size):
        count = search(indptr, indices, first, depth, queue) if depth[first] < 0 else 0
        if count > largest:
            largest = count
            outside[:] = True
            outside[queue[:count]] = False
    return indptr, indices, size - largest
