"""Percentile ranks of choices under many mixtures of scores.

The candidates of choice i are at `offsets[i]:offsets[i + 1]`, the chosen one first.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from curiograph.kernels.random import draw_uniform


@njit(cache=True)
def sample_candidates(offsets, nodes, chosen, most, streams):
    """Return the offsets and nodes of each chosen node, followed by at most `most` random other candidates.

    `chosen` holds the index of each chosen node in `nodes`; `streams` the random stream of each choice.
    """
    count = chosen.shape[0]
    new_offsets = np.zeros(count + 1, np.int64)
    for i in range(count):
        new_offsets[i + 1] = new_offsets[i] + min(offsets[i + 1] - offsets[i], most + 1)
    sampled = np.empty(new_offsets[count], np.int32)
    for i in range(count):
        pool = nodes[offsets[i] : offsets[i + 1]].copy()
        place = chosen[i] - offsets[i]
        pool[0], pool[place] = pool[place], pool[0]
        kept = new_offsets[i + 1] - new_offsets[i]
        if kept < pool.shape[0]:
            for j in range(1, kept):  # the first steps of a Fisher-Yates shuffle
                other = j + int(draw_uniform(streams[i], j, 0) * (pool.shape[0] - j))
                pool[j], pool[other] = pool[other], pool[j]
        sampled[new_offsets[i] : new_offsets[i + 1]] = pool[:kept]
    return new_offsets, sampled


@njit(cache=True)
def average_rows(table, weights, histories, offsets, nodes):
    """Return for each candidate the weighted mean of its column of `table` over the nodes of the history.

    `table` has a row of scores of all nodes for each node, `weights` a weight for each row.
    """
    out = np.zeros(nodes.shape[0], np.float32)
    for i in range(histories.shape[0]):
        total = 0.0
        for h in histories[i]:
            total += weights[h]
        for h in histories[i]:
            share = np.float32(weights[h] / total)
            for c in range(offsets[i], offsets[i + 1]):
                out[c] += share * table[h, nodes[c]]
    return out


@njit(cache=True)
def rank_choices(offsets, rows, option, weights):
    """Return the percentile rank of every choice, whose chosen candidate is the first, under a sum of three rows.

    It is the share of the other candidates that score less; a tie counts one half.
    """
    ranks = np.empty(offsets.shape[0] - 1, np.float64)
    u, v, w = weights[0], weights[1], weights[2]
    for i in range(ranks.shape[0]):
        a = rows[option[0], offsets[i] : offsets[i + 1]]
        b = rows[option[1], offsets[i] : offsets[i + 1]]
        c = rows[option[2], offsets[i] : offsets[i + 1]]
        first = u * a[0] + v * b[0] + w * c[0]
        twice = -1  # the first is tied with itself
        for k in range(a.shape[0]):  # fixed to three terms, without branches: the compiler vectorizes this loop
            score = u * a[k] + v * b[k] + w * c[k]
            twice += score < first
            twice += score <= first
        ranks[i] = twice / (2.0 * (a.shape[0] - 1))
    return ranks


@njit(cache=True)
def average_ranks(offsets, rows, options, weights):
    """Return the mean percentile rank over choices, options x weights."""
    means = np.empty((options.shape[0], weights.shape[0]), np.float64)
    for o in range(options.shape[0]):
        for w in range(weights.shape[0]):
            means[o, w] = rank_choices(offsets, rows, options[o], weights[w]).mean()
    return means
