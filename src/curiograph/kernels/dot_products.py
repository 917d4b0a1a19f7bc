"""Dot products of pairs of rows of a matrix, without copies of the rows."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel


@kernel
def compute_sparse_dots(indptr, indices, values, first, second):
    """Return the dot product of rows `first[k]` and `second[k]` of a CSR matrix with sorted rows, for every k."""
    out = np.zeros(first.shape[0], np.float64)
    for k in range(first.shape[0]):
        i, j = indptr[first[k]], indptr[second[k]]
        i_end, j_end = indptr[first[k] + 1], indptr[second[k] + 1]
        total = 0.0
        while i < i_end and j < j_end:
            if indices[i] == indices[j]:
                total += np.float64(values[i]) * np.float64(values[j])
                i += 1
                j += 1
            elif indices[i] < indices[j]:
                i += 1
            else:
                j += 1
        out[k] = total
    return out


@kernel
def compute_dense_dots(rows, first, second):
    """Return the dot product of `rows[first[k]]` and `rows[second[k]]` for every k."""
    out = np.zeros(first.shape[0], np.float64)
    for k in range(first.shape[0]):
        a, b = first[k], second[k]
        total = 0.0
        for j in range(rows.shape[1]):
            total += np.float64(rows[a, j]) * np.float64(rows[b, j])
        out[k] = total
    return out
