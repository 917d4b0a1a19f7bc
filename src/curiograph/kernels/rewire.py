"""Degree-preserving rewiring by double edge swaps.

Edges a-b and c-d become a-d and c-b, unless one of these exists or is a self-loop. Degrees do not change, so a swap
overwrites four entries of the rows in place.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.csr import sort_range
from curiograph.kernels.jit import kernel
from curiograph.kernels.random import draw_uniform


@kernel
def swap_edges(indptr, indices, tries, stream):
    """Return the rows of an undirected graph after `tries` attempts to swap two random edges."""
    rows = indices.copy()
    size = rows.shape[0]
    owner = np.empty(size, np.int32)
    for u in range(indptr.shape[0] - 1):
        owner[indptr[u] : indptr[u + 1]] = u
    reverse = _find_reverse_slots(indptr, indices)
    for t in range(tries):
        s = int(draw_uniform(stream, t, 0) * size)
        r = int(draw_uniform(stream, t, 1) * size)
        a, b, c, d = owner[s], rows[s], owner[r], rows[r]
        if a in (c, d) or b in (c, d):
            continue
        if _are_neighbors(indptr, rows, a, d) or _are_neighbors(indptr, rows, c, b):
            continue
        back_s, back_r = reverse[s], reverse[r]
        rows[s], rows[back_r] = d, a
        rows[r], rows[back_s] = b, c
        reverse[s], reverse[back_r] = back_r, s
        reverse[r], reverse[back_s] = back_s, r
    for u in range(indptr.shape[0] - 1):
        sort_range(rows, indptr[u], indptr[u + 1])
    return rows


@kernel
def _find_reverse_slots(indptr, indices):
    """Return the slot of the reverse of every edge; rows are sorted, so each row fills in order."""
    filled = indptr[:-1].copy()
    reverse = np.empty(indices.shape[0], np.int64)
    for s in range(indices.shape[0]):
        v = indices[s]
        reverse[filled[v]] = s
        filled[v] += 1
    return reverse


@kernel
def _are_neighbors(indptr, rows, u, v):
    """Return whether u and v are neighbors, by a search in the shorter of their unsorted rows."""
    if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
        u, v = v, u
    return v in rows[indptr[u] : indptr[u + 1]]
