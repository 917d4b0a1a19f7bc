"""Rewiring: edges swap their ends, so that every node keeps its degree and nothing else.

Two edges a-b and c-d become a-d and c-b, unless one of these is there already or would be a self-loop. Degrees do not
change, so rows keep their places: a swap overwrites four entries.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.csr import sort_range
from curiograph.kernels.jit import kernel
from curiograph.kernels.random import draw_uniform


@kernel
def swap_edges(indptr, indices, tries, stream):
    """The rows of an undirected graph after `tries` tries to swap two of its edges, drawn from a random stream."""
    rows = indices.copy()
    size = rows.shape[0]
    owner = np.empty(size, np.int32)
    for u in range(indptr.shape[0] - 1):
        owner[indptr[u] : indptr[u + 1]] = u
    twin = _twins(indptr, indices)
    for t in range(tries):
        s = int(draw_uniform(stream, t, 0) * size)
        r = int(draw_uniform(stream, t, 1) * size)
        a, b, c, d = owner[s], rows[s], owner[r], rows[r]
        if a in (c, d) or b in (c, d):
            continue
        if _linked(indptr, rows, a, d) or _linked(indptr, rows, c, b):
            continue
        back_s, back_r = twin[s], twin[r]
        rows[s], rows[back_r] = d, a
        rows[r], rows[back_s] = b, c
        twin[s], twin[back_r] = back_r, s
        twin[r], twin[back_s] = back_s, r
    for u in range(indptr.shape[0] - 1):
        sort_range(rows, indptr[u], indptr[u + 1])
    return rows


@kernel
def _twins(indptr, indices):
    """Where each edge stands in the row of its other end; rows are sorted, so these places come in order."""
    filled = indptr[:-1].copy()
    twin = np.empty(indices.shape[0], np.int64)
    for s in range(indices.shape[0]):
        v = indices[s]
        twin[filled[v]] = s
        filled[v] += 1
    return twin


@kernel
def _linked(indptr, rows, u, v):
    """Whether the shorter of two unsorted rows holds the other node."""
    if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
        u, v = v, u
    return v in rows[indptr[u] : indptr[u + 1]]
