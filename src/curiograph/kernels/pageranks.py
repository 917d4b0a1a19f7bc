"""PageRank of several histories side by side, in single precision: a column each, so that every row of the graph is
read once for all of them and the inner loops run over neighbouring numbers.

See `kernels.pagerank` for the method. What single precision leaves missing is solved for in another round.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.compile import kernel
from curiograph.kernels.pagerank import WINDOW, latest, mixture

RIDGE = 1e-6


@kernel
def inflows(indices, weights, first, last, z, out):
    """What flows in over the slots from `first` up to `last`, of every column."""
    columns = out.shape[0]
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    for j in range(columns):
        out[j] = 0
    slot = first
    if weights is None:
        while slot + four <= last:
            a, b, c, d = indices[slot], indices[slot + one], indices[slot + two], indices[slot + three]
            for j in range(columns):
                out[j] += (z[a, j] + z[b, j]) + (z[c, j] + z[d, j])
            slot += four
        while slot < last:
            a = indices[slot]
            for j in range(columns):
                out[j] += z[a, j]
            slot += one
    else:
        while slot < last:
            a = indices[slot]
            weight = weights[slot]
            for j in range(columns):
                out[j] += weight * z[a, j]
            slot += one


@kernel
def plain_sweep(indptr, indices, weights, share, alpha, q, x, z, flow):
    """One Gauss-Seidel sweep of all columns. Short loops, one array written in each: others are not vectorised."""
    columns = q.shape[1]
    for v in range(q.shape[0]):
        inflows(indices, weights, indptr[v], indptr[v + 1], z, flow)
        part = share[v]
        for j in range(columns):
            x[v, j] = q[v, j] + alpha * flow[j]
        for j in range(columns):
            z[v, j] = x[v, j] * part


@kernel
def noted_sweep(indptr, indices, weights, share, alpha, q, x, z, flow, change, swept, place, moved, total, products):
    """A sweep that notes its values and changes, and the inner products of the changes with those before."""
    columns = q.shape[1]
    moved[:] = 0
    total[:] = 0
    products[:] = 0
    for v in range(q.shape[0]):
        inflows(indices, weights, indptr[v], indptr[v + 1], z, flow)
        part = share[v]
        for j in range(columns):
            flow[j] = q[v, j] + alpha * flow[j]
        for j in range(columns):
            z[v, j] = flow[j] * part
        for j in range(columns):
            swept[v, place, j] = flow[j]
        for j in range(columns):
            total[j] += abs(flow[j])
        for j in range(columns):
            flow[j] -= x[v, j]
        for j in range(columns):
            change[v, place, j] = flow[j]
        for j in range(columns):
            moved[j] += abs(flow[j])
        for i in range(WINDOW):
            for j in range(columns):
                products[i, j] += flow[j] * change[v, i, j]


@kernel
def many_sweeps(indptr, indices, weights, share, alpha, q, x, z, change, swept, enough, most):
    """y of every column of q, into `x`: sweeps of which every third is combined with the combined ones before it.

    Ends when a sweep changes no column by more than its share `enough` of the column's sum. The other arrays are room
    to work in: n x columns, and n x WINDOW x columns.
    """
    n, columns = q.shape
    flow, moved, total = np.empty(columns, np.float32), np.empty(columns, np.float32), np.empty(columns, np.float32)
    products, parts = np.zeros((WINDOW, columns), np.float32), np.zeros((WINDOW, columns), np.float32)
    gram, mixed = np.zeros((columns, WINDOW, WINDOW)), np.zeros(WINDOW)
    z[:] = 0
    change[:] = 0
    swept[:] = 0
    steps, count, place = 0, 0, 0
    while True:
        plain_sweep(indptr, indices, weights, share, alpha, q, x, z, flow)
        plain_sweep(indptr, indices, weights, share, alpha, q, x, z, flow)
        noted_sweep(indptr, indices, weights, share, alpha, q, x, z, flow, change, swept, place, moved, total, products)
        steps += 3
        if steps >= most or all_within(moved, total, enough):
            x[:] = swept[:, place]
            return steps
        count = min(count + 1, WINDOW)
        for j in range(columns):
            for i in range(WINDOW):
                gram[j, i, place] = gram[j, place, i] = products[i, j]
            if products[place, j] <= 0 or not mixture(gram[j], count, RIDGE, mixed):
                latest(mixed, place)
            for i in range(count):
                parts[i, j] = mixed[i]
        for v in range(n):
            part = share[v]
            for j in range(columns):
                flow[j] = parts[0, j] * swept[v, 0, j] + parts[1, j] * swept[v, 1, j]
            for j in range(columns):
                flow[j] += parts[2, j] * swept[v, 2, j] + parts[3, j] * swept[v, 3, j]
            for j in range(columns):
                z[v, j] = flow[j] * part
        place = (place + 1) % WINDOW


@kernel
def all_within(moved, total, enough):
    """Whether no column moved by more than its share of its sum."""
    return np.all(moved <= enough * total)


@kernel
def shortfalls(indptr, indices, weights, share, alpha, q, y, z, out):
    """`out` = q + alpha P^T y - y, in double precision; its absolute sum and the sum of y, of every column."""
    n, columns = y.shape
    flow, missing, total = np.empty(columns), np.zeros(columns), np.zeros(columns)
    for v in range(n):
        for j in range(columns):
            z[v, j] = y[v, j] * share[v]
    for v in range(n):
        inflows(indices, weights, indptr[v], indptr[v + 1], z, flow)
        for j in range(columns):
            flow[j] = q[v, j] - y[v, j] + alpha * flow[j]
        for j in range(columns):
            out[v, j] = flow[j]
        for j in range(columns):
            missing[j] += abs(flow[j])
        for j in range(columns):
            total[j] += y[v, j]
    return missing, total


@kernel
def normalised(y, q, missing, scores, residual):
    """Rows of `scores` from columns of y, and the residual of each by the definition, from what is `missing` in y.

    With y' = y / sum(y), and what dangles going to q: y' - (1 - alpha + alpha dangling) q - alpha P^T y' is
    (missing - sum(missing) q) / sum(y) up to the sign.
    """
    n, columns = y.shape
    for j in range(columns):
        total, lack = 0.0, 0.0
        for v in range(n):
            total += y[v, j]
            lack += missing[v, j]
        residual[j] = 0.0
        for v in range(n):
            scores[j, v] = y[v, j] / total
            residual[j] += abs(missing[v, j] - lack * q[v, j]) / total
