"""PageRank of several histories at once, in single precision.

Every history is a column, so that each row of the graph is read once for all of them and the inner loops run over
contiguous memory. See `kernels.pagerank_single` for the method. The caller refines the solution by solving for the
residual.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.pagerank_single import WINDOW, select_latest, solve_mixture

RIDGE = 1e-6


@inner_kernel
def run_sweep(indptr, indices, weights, share, alpha, q, z, out, feed):
    """Set `out` to q + alpha times the inflow from z; with `feed`, update z row by row (Gauss-Seidel).

    Inner loops are short and write one array each: the compiler vectorizes only such loops.
    """
    n, columns = q.shape
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    flow = np.zeros(columns, q.dtype)
    for v in range(n):
        slot, last = indptr[v], indptr[v + 1]
        for j in range(columns):
            flow[j] = 0
        if weights is None:
            while slot + four <= last:
                a, b, c, d = indices[slot], indices[slot + one], indices[slot + two], indices[slot + three]
                for j in range(columns):
                    flow[j] += (z[a, j] + z[b, j]) + (z[c, j] + z[d, j])
                slot += four
            while slot < last:
                a = indices[slot]
                for j in range(columns):
                    flow[j] += z[a, j]
                slot += one
        else:
            while slot < last:
                a, weight = indices[slot], weights[slot]
                for j in range(columns):
                    flow[j] += weight * z[a, j]
                slot += one
        for j in range(columns):
            out[v, j] = q[v, j] + alpha * flow[j]
        if feed:
            part = share[v]
            for j in range(columns):
                z[v, j] = out[v, j] * part


@inner_kernel
def record_change(x, swept, change, place, moved, total, products):
    """Record the change from x to the latest sweep, its norm, and its inner products with earlier changes."""
    n, columns = x.shape
    f = np.empty(columns, x.dtype)
    moved[:] = 0
    total[:] = 0
    products[:] = 0
    for v in range(n):
        for j in range(columns):
            f[j] = swept[place, v, j] - x[v, j]
        for j in range(columns):
            change[place, v, j] = f[j]
        for j in range(columns):
            moved[j] += abs(f[j])
        for j in range(columns):
            total[j] += abs(swept[place, v, j])
        for i in range(WINDOW):
            for j in range(columns):
                products[i, j] += f[j] * change[i, v, j]


@inner_kernel
def mix_sweeps(swept, share, parts, z):
    """Set z to share times the weighted sum of the recorded sweeps, with the weights of each column."""
    n, columns = z.shape
    x = np.empty(columns, z.dtype)
    for v in range(n):
        part = share[v]
        for j in range(columns):
            x[j] = parts[0, j] * swept[0, v, j] + parts[1, j] * swept[1, v, j]
        for j in range(columns):
            x[j] += parts[2, j] * swept[2, v, j] + parts[3, j] * swept[3, v, j]
        for j in range(columns):
            z[v, j] = x[j] * part


@kernel
def solve_gauss_seidel(indptr, indices, weights, share, alpha, q, x, z, change, swept, enough, most):
    """Solve for y for every column of q, into `x`; every second sweep is combined with those recorded before.

    Stop when a sweep changes no column by more than `enough` times the column's sum. Return the number of sweeps. The
    other arrays are workspace: z is n x columns; change and swept are WINDOW x n x columns.
    """
    columns = q.shape[1]
    moved, total, gram = np.empty(columns, q.dtype), np.empty(columns, q.dtype), np.zeros((columns, WINDOW, WINDOW))
    products, parts, shares = (
        np.zeros((WINDOW, columns), q.dtype),
        np.zeros((WINDOW, columns), q.dtype),
        np.zeros(WINDOW),
    )
    z[:] = 0
    change[:] = 0
    swept[:] = 0
    steps, count, place = 0, 0, 0
    while True:
        run_sweep(indptr, indices, weights, share, alpha, q, z, x, True)
        run_sweep(indptr, indices, weights, share, alpha, q, z, swept[place], True)
        steps += 2
        record_change(x, swept, change, place, moved, total, products)
        if steps >= most or np.all(moved <= enough * total):
            x[:] = swept[place]
            return steps
        count = min(count + 1, WINDOW)
        for j in range(columns):
            for i in range(WINDOW):
                gram[j, i, place] = gram[j, place, i] = products[i, j]
            if products[place, j] <= 0 or not solve_mixture(gram[j], count, RIDGE, shares):
                select_latest(shares, place)
            for i in range(count):
                parts[i, j] = shares[i]
        mix_sweeps(swept, share, parts, z)
        place = (place + 1) % WINDOW


@kernel
def compute_residuals(indptr, indices, weights, share, alpha, q, y, z, out):
    """Set `out` to q + alpha P^T y - y in double precision; return its absolute sum and the sum of y per column."""
    n, columns = y.shape
    missing, total = np.zeros(columns), np.zeros(columns)
    for v in range(n):
        for j in range(columns):
            z[v, j] = y[v, j] * share[v]
    run_sweep(indptr, indices, weights, share, alpha, q, z, out, False)
    for v in range(n):
        for j in range(columns):
            out[v, j] -= y[v, j]
        for j in range(columns):
            missing[j] += abs(out[v, j])
        for j in range(columns):
            total[j] += y[v, j]
    return missing, total


@kernel
def normalize_scores(q, y, missing, scores):
    """Write the normalized columns of y to the rows of `scores` and return the residual of each by the definition.

    `missing` is q + alpha P^T y - y. With y' = y / sum(y), and dangling nodes going to q,
    y' - (1 - alpha + alpha dangling) q - alpha P^T y' equals (missing - sum(missing) q) / sum(y) up to the sign.
    Negative rounding errors of y are set to zero, which adds at most twice their size to the residual.
    """
    n, columns = y.shape
    lack, total, residual = np.zeros(columns), np.zeros(columns), np.zeros(columns)
    for v in range(n):
        for j in range(columns):
            lack[j] += missing[v, j]
        for j in range(columns):
            total[j] += max(y[v, j], 0.0)
    for v in range(n):
        for j in range(columns):
            residual[j] += abs(missing[v, j] - lack[j] * q[v, j]) + 2 * max(-y[v, j], 0.0)
        for j in range(columns):
            scores[j, v] = max(y[v, j], 0.0) / total[j]
    return residual / total
