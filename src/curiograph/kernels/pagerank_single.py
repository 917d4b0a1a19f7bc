"""PageRank of one history: solve y = q + alpha P^T y, P without the rows of dangling nodes.

Rows contain in-neighbors. Positions are unsigned: numba then omits the test for negative indices, which makes the loops
over neighbors three times faster. `share` is 1 / strength, 0 for a dangling node, so that
P(u, v) = weight(u, v) * share[u] and z = y * share is the flow along an edge of weight 1. `weights` is None for an
unweighted graph.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inline_kernel, inner_kernel, kernel

WINDOW = 4  # number of sweeps that are combined: fewer need more sweeps, more cost more per sweep
RIDGE = 1e-14  # regularizes the combination of nearly parallel changes


@inner_kernel
def sum_row_inflow(indices, weights, first, last, z):
    """Sum the flow over a whole row, with four accumulators."""
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    slot = first
    if weights is None:
        while slot + four <= last:
            a += z[indices[slot]]
            b += z[indices[slot + one]]
            c += z[indices[slot + two]]
            d += z[indices[slot + three]]
            slot += four
        while slot < last:
            a += z[indices[slot]]
            slot += one
    else:
        while slot < last:
            a += weights[slot] * z[indices[slot]]
            slot += one
    return (a + b) + (c + d)


@kernel
def compute_residual(indptr, indices, weights, share, alpha, q, y):
    """Return q + alpha P^T y - y."""
    z = y * share
    out = q - y
    for v in range(out.shape[0]):
        out[v] += alpha * sum_row_inflow(indices, weights, indptr[v], indptr[v + 1], z)
    return out


@kernel
def compute_definition_residual(indptr, indices, weights, share, alpha, q, scores):
    """Return the sum of |scores - (1 - alpha) q - alpha P^T scores|, where dangling rows of P are q."""
    n = indptr.shape[0] - 1
    z = np.empty(n, np.float64)
    back = 1 - alpha
    for v in range(n):
        z[v] = scores[v] * share[v]
        if share[v] == 0.0:
            back += alpha * scores[v]
    total = 0.0
    for v in range(n):
        flow = sum_row_inflow(indices, weights, indptr[v], indptr[v + 1], z)
        total += abs(scores[v] - back * q[v] - alpha * flow)
    return total


@inline_kernel
def solve_mixture(gram, count, ridge, out):
    """Write to `out` the weights, with sum 1, that minimize the norm of a combination of `count` vectors.

    `gram` contains the inner products of the vectors, which are normalized first because they shrink from sweep to
    sweep. Return False if the system is numerically singular.
    """
    a = np.empty((count, count + 1), np.float64)
    for i in range(count):
        for j in range(count):
            a[i, j] = gram[i, j] / np.sqrt(gram[i, i] * gram[j, j])
        a[i, i] = 1.0 + ridge
        a[i, count] = 1.0 / np.sqrt(gram[i, i])
    for i in range(count):
        if not a[i, i] > 0.0:
            return False
        for k in range(i + 1, count):
            factor = a[k, i] / a[i, i]
            for j in range(i, count + 1):
                a[k, j] -= factor * a[i, j]
    total = 0.0
    for m in range(count):
        i = count - 1 - m
        value = a[i, count]
        for j in range(i + 1, count):
            value -= a[i, j] * out[j]
        out[i] = value / a[i, i]
    for i in range(count):
        out[i] /= np.sqrt(gram[i, i])
        total += out[i]
    for i in range(count):
        out[i] /= total
    return np.isfinite(total) and total != 0.0


@kernel
def solve_gauss_seidel(indptr, indices, weights, share, alpha, q, enough, known, most):
    """Solve for y on any graph by Gauss-Seidel sweeps, with Anderson acceleration over pairs of sweeps.

    Without acceleration, the component of the error along the stationary distribution shrinks slowest, by alpha^2 per
    sweep. The first sweep of a pair only updates the flow, which costs much less than a sweep that is combined with
    earlier ones; a combination is scaled to the sum that y must have. After a sweep that changes y by f,
    |q + alpha P^T y - y| is at most alpha |f|; stop when that is at most `enough` times the sum of y plus `known`, the
    sum of earlier partial solutions. Return y and the number of sweeps.
    """
    n = indptr.shape[0] - 1
    x, y, z = np.empty(n, np.float64), np.empty(n, np.float64), np.empty(n, np.float64)
    change, swept = np.empty((n, WINDOW), np.float64), np.empty((n, WINDOW), np.float64)
    gram = np.empty((WINDOW, WINDOW), np.float64)
    parts, sums = np.empty(WINDOW, np.float64), np.empty(WINDOW, np.float64)
    steps, count, place, least, mass = 0, np.int64(0), np.int64(0), np.inf, 0.0
    for v in range(n):
        mass += q[v]
        x[v], y[v], z[v] = q[v], q[v], q[v] * share[v]
        for i in range(WINDOW):
            change[v, i] = 0.0
    while steps < most:
        if steps + 2 <= most:
            steps += 1
            for v in range(n):
                y[v] = q[v] + alpha * sum_row_inflow(indices, weights, indptr[v], indptr[v + 1], z)
                z[v] = y[v] * share[v]
        steps += 1
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        moved, total, left = 0.0, 0.0, 0.0
        for v in range(n):
            value = q[v] + alpha * sum_row_inflow(indices, weights, indptr[v], indptr[v + 1], z)
            f = value - x[v]
            z[v] = value * share[v]
            swept[v, place] = value
            change[v, place] = f
            a += f * change[v, 0]
            b += f * change[v, 1]
            c += f * change[v, 2]
            d += f * change[v, 3]
            moved += abs(value - y[v])
            total += abs(value)
            left += value if share[v] == 0.0 else (1 - alpha) * value  # is not passed on to neighbors
        if alpha * moved <= enough * (known + total) or steps == most:
            break
        if not moved < 10 * least:  # the combination diverged: restart from this sweep
            count, place, a, b, c, d = np.int64(0), np.int64(0), restart_window(change, swept, place), 0.0, 0.0, 0.0
        least = min(least, moved)
        parts[0], parts[1], parts[2], parts[3] = a, b, c, d
        count = min(count + 1, WINDOW)
        sums[place] = left
        for i in range(WINDOW):
            gram[i, place] = gram[place, i] = parts[i]
        if not solve_mixture(gram, count, RIDGE, parts):
            select_latest(parts, place)
        left = 0.0
        for i in range(count):
            left += parts[i] * sums[i]
        scale = mass / left if 0.5 * left < mass < 2 * left else 1.0  # what is not passed on equals q at the solution
        combine_sweeps(swept, share, parts, count, scale, x, z)
        place = (place + 1) % WINDOW
    for v in range(n):
        y[v] = swept[v, place]
    return y, steps


@inner_kernel
def combine_sweeps(swept, share, parts, count, scale, x, z):
    """Set x to `scale` times the weighted sum of the last sweeps, and z to x * share."""
    for v in range(x.shape[0]):
        value = 0.0
        for i in range(count):
            value += parts[i] * swept[v, i]
        x[v] = scale * value
        z[v] = x[v] * share[v]


@inner_kernel
def select_latest(parts, place):
    """Set all weights to zero except that of `place`, which is 1."""
    for i in range(parts.shape[0]):
        parts[i] = 1.0 if i == place else 0.0


@inner_kernel
def restart_window(change, swept, place):
    """Discard all sweeps except the one at `place`, move it to the front and return the square of its change."""
    square = 0.0
    for v in range(change.shape[0]):
        kept, moved = swept[v, place], change[v, place]
        for i in range(WINDOW):
            change[v, i] = 0.0
        swept[v, 0], change[v, 0] = kept, moved
        square += moved * moved
    return square
