"""Degree-preserving rewiring by double edge swaps.

Edges a-b and c-d become a-d and c-b, unless one of these exists or is a self-loop. Degrees do not change, so a swap
overwrites four entries of the rows in place. Nodes are in blocks `bounds[k]:bounds[k + 1]` without edges between them,
each rewired alone with its own random stream; a whole graph is one block.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import sort_range
from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.random import draw_uniform


@kernel
def swap_edges(indptr, indices, bounds, tries, streams):
    """Return the rows of an undirected graph after `tries` attempts per edge to swap two random edges."""
    rows = indices.copy()
    owner = np.empty(indices.shape[0], np.int32)  # row of every slot
    reverse = np.empty(indices.shape[0], np.int64)  # slot of the reverse of every edge
    filled = indptr[:-1].copy()  # rows are sorted, so the reverse edges of each row come in order
    for u in range(indptr.shape[0] - 1):
        for slot in range(indptr[u], indptr[u + 1]):
            owner[slot] = u
            v = indices[slot]
            reverse[filled[v]] = slot
            filled[v] += 1
    for k in range(bounds.shape[0] - 1):
        start = indptr[bounds[k]]
        size = indptr[bounds[k + 1]] - start
        for t in range(tries * (size // 2)):
            s = start + int(draw_uniform(streams[k], t, 0) * size)
            r = start + int(draw_uniform(streams[k], t, 1) * size)
            a, b, c, d = owner[s], rows[s], owner[r], rows[r]
            if a in (c, d) or b in (c, d) or _are_neighbors(indptr, rows, a, d) or _are_neighbors(indptr, rows, c, b):
                continue
            back_s, back_r = reverse[s], reverse[r]
            rows[s], rows[back_r] = d, a
            rows[r], rows[back_s] = b, c
            reverse[s], reverse[back_r] = back_r, s
            reverse[r], reverse[back_s] = back_s, r
    for u in range(indptr.shape[0] - 1):
        sort_range(rows, indptr[u], indptr[u + 1])
    return rows


@inner_kernel
def _are_neighbors(indptr, rows, u, v):
    """Return whether u and v are neighbors, by a search in the shorter of their unsorted rows."""
    if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
        u, v = v, u
    return v in rows[indptr[u] : indptr[u + 1]]
