"""Look-ups in compressed sparse rows whose rows are sorted, a small hash map from node to position, and sorting.

Plain loops on purpose: numba takes seconds to compile numpy's own sorting and slicing.
"""

from __future__ import annotations

from curiograph.kernels.compile import kernel


@kernel
def has_edge(indptr, indices, u, v):
    """Whether row `u` holds `v`, by bisection."""
    low = indptr[u]
    high = indptr[u + 1]
    while low < high:
        mid = (low + high) >> 1
        if indices[mid] < v:
            low = mid + 1
        else:
            high = mid
    return low < indptr[u + 1] and indices[low] == v


@kernel
def map_size(capacity):
    """Number of slots, a power of two, that keeps a map of `capacity` nodes at most half full."""
    size = 4
    while size < 2 * capacity:
        size *= 2
    return size


@kernel
def map_put(keys, values, node, value):
    """Store `value` under `node`; `keys` starts out filled with -1."""
    mask = keys.shape[0] - 1
    slot = (node * 0x9E3779B1) & mask
    while keys[slot] != -1 and keys[slot] != node:
        slot = (slot + 1) & mask
    keys[slot] = node
    values[slot] = value


@kernel
def map_get(keys, values, node):
    """The value stored under `node`, or -1."""
    mask = keys.shape[0] - 1
    slot = (node * 0x9E3779B1) & mask
    while keys[slot] != -1:
        if keys[slot] == node:
            return values[slot]
        slot = (slot + 1) & mask
    return -1


@kernel
def clear(keys):
    """Empty a map."""
    for slot in range(keys.shape[0]):
        keys[slot] = -1


@kernel
def sort(array, start, end):
    """Sort `array[start:end]` in place (Shell's method)."""
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
