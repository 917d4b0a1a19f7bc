"""PageRank of several histories side by side, in single precision: a column each, so that every row of the graph is
read once for all of them and the inner loops run over neighbouring numbers.

See `kernels.pagerank` for the method. What single precision leaves missing is solved for in another round.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel
from curiograph.kernels.pagerank import WINDOW, select_latest, solve_mixture

RIDGE = 1e-6


@kernel
def run_sweep(indptr, indices, weights, share, alpha, q, z, out, feed):
    """`out` = q + alpha times what flows in from z; with `feed` z follows at once, as Gauss and Seidel have it.

    Inner loops are short and write one array each: the compiler does not vectorise others.
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


@kernel
def record_change(x, swept, change, place, moved, total, products):
    """Changes from x to the latest sweep, their sizes, and their inner products with those before."""
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


@kernel
def mix_sweeps(swept, share, parts, z):
    """z of the mixture of the noted sweeps, each column with its own shares."""
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
    """y of every column of q, into `x`: of two sweeps, the second is combined with those noted before it.

    Ends when a sweep changes no column by more than its share `enough` of the column's sum. The other arrays are room
    to work in: n x columns, and WINDOW x n x columns.
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
    """`out` = q + alpha P^T y - y, in double precision; its absolute sum and the sum of y, of every column."""
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
    """Rows of `scores` from columns of y, and the residual of each by the definition, from what is `missing` in y.

    With y' = y / sum(y), and what dangles going to q: y' - (1 - alpha + alpha dangling) q - alpha P^T y' is
    (missing - sum(missing) q) / sum(y) up to the sign. A hair below zero that rounding left is cut off, and may add
    twice its size to the residual.
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
