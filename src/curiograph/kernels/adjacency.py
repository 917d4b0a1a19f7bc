"""Edge lookup in sorted CSR rows, a small hash map from node to position, sorting, and counting bits.

These are plain loops because numba takes seconds to compile numpy's sorting and slicing.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel


@inner_kernel
def has_edge(indptr, indices, u, v):
    """Return whether row `u` contains `v`: bisection, then a linear scan, which has no branch to mispredict."""
    low = indptr[u]
    high = indptr[u + 1]
    while high - low > 16:
        mid = (low + high) >> 1
        if indices[mid] < v:
            low = mid + 1
        else:
            high = mid
    found = False
    for slot in range(low, min(high + 1, indptr[u + 1])):
        found |= indices[slot] == v
    return found


@inner_kernel
def find_slot(indptr, indices, u, v):
    """Return the slot of `v` in row `u`, -1 if it is not there."""
    low = indptr[u]
    high = indptr[u + 1]
    while low < high:
        mid = (low + high) >> 1
        if indices[mid] == v:
            return mid
        if indices[mid] < v:
            low = mid + 1
        else:
            high = mid
    return -1


@kernel
def get_map_size(capacity):
    """Return the number of slots, a power of two, that keeps a map of `capacity` nodes at most half full."""
    size = 4
    while size < 2 * capacity:
        size *= 2
    return size


@inner_kernel
def map_put(table, node, value):
    """Store `value` for `node`; rows of `table` are (node, value), with node -1 in empty slots."""
    mask = table.shape[0] - 1
    slot = (node * 0x9E3779B1) & mask
    while table[slot, 0] != -1 and table[slot, 0] != node:
        slot = (slot + 1) & mask
    table[slot, 0] = node
    table[slot, 1] = value


@inner_kernel
def map_get(table, node):
    """Return the value stored for `node`, or -1."""
    mask = table.shape[0] - 1
    slot = (node * 0x9E3779B1) & mask
    while table[slot, 0] != -1:
        if table[slot, 0] == node:
            return table[slot, 1]
        slot = (slot + 1) & mask
    return -1


@inner_kernel
def map_clear(table):
    """Remove all entries of a map."""
    for slot in range(table.shape[0]):
        table[slot, 0] = -1


@inner_kernel
def find_link(indptr, indices, v, nodes, places, length, link):
    """Write the positions in a walk of the visited neighbors of v to `link`, and return their number.

    `places` maps the first `length` nodes of the walk to their positions. The shorter of row and walk is scanned.
    """
    size = 0
    if indptr[v + 1] - indptr[v] > 4 * length:
        for t in range(length):
            if has_edge(indptr, indices, v, nodes[t]):
                link[size] = t
                size += 1
        return size
    for slot in range(indptr[v], indptr[v + 1]):
        place = map_get(places, indices[slot])
        if place >= 0:
            link[size] = place
            size += 1
    return size


@inner_kernel
def find_root(parent, node):
    """Return the node that names the component of a node, in a forest of parents, whose paths become shorter."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@inner_kernel
def reserve(out, filled, more):
    """Return `out`, or a larger copy of its filled part if `more` entries do not fit."""
    if filled + more <= out.shape[0]:
        return out
    bigger = np.empty(2 * (filled + more), np.int32)
    for c in range(filled):
        bigger[c] = out[c]
    return bigger


@inner_kernel
def count_bits(x):
    """Return the number of bits that are set in a 64-bit word."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inner_kernel
def find_lowest(x):
    """Return the number of the lowest bit that is set."""
    return count_bits((x & (~x + np.uint64(1))) - np.uint64(1))


@inner_kernel
def fill(seed, rest, adjacent):
    """Return `seed` and the nodes of `rest` that are connected to it within both."""
    reached = seed
    todo = seed
    while todo != np.uint64(0) and rest != np.uint64(0):
        near = adjacent[find_lowest(todo)] & rest
        todo &= todo - np.uint64(1)
        rest &= ~near
        reached |= near
        todo |= near
    return reached


@inner_kernel
def count_pieces(mask, adjacent):
    """Return the number of components of the visited nodes in `mask`."""
    pieces = 0
    while mask != np.uint64(0):
        lowest = mask & (~mask + np.uint64(1))
        mask &= ~fill(lowest, mask & ~lowest, adjacent)
        pieces += 1
    return pieces


@inner_kernel
def sort_range(array, start, end):
    """Sort `array[start:end]` in place (Shellsort)."""
    gap = 1
    while gap < (end - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, end):
            value = array[i]
            j = i
            while j >= start + gap and array[j - gap] > value:
                array[j] = array[j - gap]
                j -= gap
            array[j] = value
        gap //= 3
