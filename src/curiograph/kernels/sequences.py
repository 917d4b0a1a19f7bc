"""Measures of sequences of visits with returns: growth of vocabulary, ranks, entropy, and step lengths on the graph.

The visits of walk i are `visits[offsets[i]:offsets[i + 1]]`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import zetac

from curiograph.kernels.adjacency import get_map_size, map_get, map_put, sort_range
from curiograph.kernels.jit import inner_kernel, kernel

REVISITS, HEAPS, ZIPF, VISIT_ENTROPY, ENTROPY_RATE, NUM_MEASURES = 0, 1, 2, 3, 4, 5

_HALVINGS = 100  # of an interval that holds an exponent
_MAX_EXPONENT = 64.0


@kernel
def measure_sequences(visits, offsets):
    """Return the measures of every walk, a row per walk; those that are not defined are NaN."""
    out = np.full((offsets.shape[0] - 1, NUM_MEASURES), np.nan)
    for i in range(offsets.shape[0] - 1):
        walk = visits[offsets[i] : offsets[i + 1]]
        length = walk.shape[0]
        counts, distinct = _count_visits(walk)
        out[i, REVISITS] = length - counts.shape[0]
        entropy = 0.0
        for rank in range(counts.shape[0]):
            entropy -= counts[rank] / length * np.log2(counts[rank] / length)
        out[i, VISIT_ENTROPY] = entropy
        if length >= 2:
            out[i, HEAPS] = _compute_slope(distinct)
            out[i, ENTROPY_RATE] = _estimate_entropy_rate(walk)
        if counts.shape[0] >= 2:
            out[i, ZIPF] = _fit_zipf(counts)
    return out


@inner_kernel
def _count_visits(walk):
    """Return the numbers of visits of the distinct nodes, descending, and the number of distinct nodes after each."""
    places = np.full((get_map_size(walk.shape[0]), 2), -1, np.int32)
    counts = np.zeros(walk.shape[0], np.int64)
    distinct = np.empty(walk.shape[0], np.int64)
    size = 0
    for t in range(walk.shape[0]):
        place = map_get(places, walk[t])
        if place < 0:
            place = size
            map_put(places, walk[t], size)
            size += 1
        counts[place] += 1
        distinct[t] = size
    sort_range(counts, 0, size)
    return counts[:size][::-1].copy(), distinct


@inner_kernel
def _compute_slope(distinct):
    """Return the least-squares slope of log distinct(t) on log t, t = 1, 2, ..."""
    length = distinct.shape[0]
    mean_x, mean_y, above, below = 0.0, 0.0, 0.0, 0.0
    for t in range(length):
        mean_x += np.log(t + 1) / length
        mean_y += np.log(distinct[t]) / length
    for t in range(length):
        x = np.log(t + 1) - mean_x
        above += x * (np.log(distinct[t]) - mean_y)
        below += x * x
    return above / below


@inner_kernel
def _fit_zipf(counts):
    """Return the exponent s of the likeliest distribution of visits over ranks, P(r) ~ r^-s for r = 1, ..., n."""
    size = counts.shape[0]
    if counts[0] == counts[size - 1]:
        return 0.0
    mean = 0.0
    for rank in range(size):
        mean += counts[rank] * np.log(rank + 1)
    mean /= counts.sum()
    low, high = 0.0, _MAX_EXPONENT
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        total, logs = 0.0, 0.0
        for rank in range(size):
            log = np.log(rank + 1)
            share = np.exp(-middle * log)
            total += share
            logs += share * log
        if logs > mean * total:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@inner_kernel
def _estimate_entropy_rate(walk):
    """Return the Lempel-Ziv estimate of the entropy rate in bits per visit: T log2 T / sum of match lengths.

    The match length at t is that of the shortest run of visits from t on that does not occur before t; a run that does,
    up to the end of the walk, counts one more than its length.
    """
    length = walk.shape[0]
    total = 0
    for t in range(length):
        longest = 0
        for start in range(t):
            run = 0
            while start + run < t and t + run < length and walk[start + run] == walk[t + run]:
                run += 1
            longest = max(longest, run)
        total += longest + 1
    return length * np.log2(length) / total


@kernel
def compute_step_lengths(indptr, indices, visits, offsets):
    """Return the distance in the graph from each visit to the next of its walk; -1 if there is no path or no next.

    The graph is undirected. Breadth-first search from both ends, the smaller side first.
    """
    size = indptr.shape[0] - 1
    seen = np.zeros(size, np.int32)  # 2 * step + side of the latest search that reached the node
    queues = (np.empty(size, np.int32), np.empty(size, np.int32))
    out = np.full(visits.shape[0], -1, np.int32)
    step = 0
    for i in range(offsets.shape[0] - 1):
        for t in range(offsets[i], offsets[i + 1] - 1):
            step += 1
            if step == 2**30 - 1:
                seen[:] = 0
                step = 1
            out[t] = _search(indptr, indices, visits[t], visits[t + 1], 2 * step, seen, queues[0], queues[1])
    return out


@inner_kernel
def _search(indptr, indices, source, target, mark, seen, forward, backward):
    """Return the distance of two nodes, or -1; `mark` and `mark + 1` are new values for `seen`."""
    if source == target:
        return 0
    seen[source] = mark
    seen[target] = mark + 1
    forward[0] = source
    backward[0] = target
    heads = np.zeros(2, np.int64)
    tails = np.ones(2, np.int64)
    depth = 0
    while heads[0] < tails[0] and heads[1] < tails[1]:
        side = 0 if tails[0] - heads[0] <= tails[1] - heads[1] else 1
        queue = forward if side == 0 else backward
        depth += 1
        last = tails[side]
        while heads[side] < last:
            u = queue[heads[side]]
            heads[side] += 1
            for slot in range(indptr[u], indptr[u + 1]):
                v = indices[slot]
                if seen[v] == mark + 1 - side:
                    return depth
                if seen[v] != mark + side:
                    seen[v] = mark + side
                    queue[tails[side]] = v
                    tails[side] += 1
    return -1


def summarize_steps(lengths, offsets):
    """Return the mean step length of every walk and the exponent of its distribution, P(d) ~ d^-a for d = 1, 2, ...

    The exponent is the likeliest one: the expected logarithm, -zeta'(a) / zeta(a), equals the mean. It is NaN if all
    steps have length 1, for which it is infinite.
    """
    walk = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[lengths > 0]
    count, total, logs = (
        np.bincount(walk, values[lengths > 0], len(offsets) - 1)
        for values in (np.ones(len(lengths)), lengths, np.log(np.maximum(lengths, 1)))
    )
    out = np.full((len(count), 2), np.nan)
    np.divide(total, count, out=out[:, 0], where=count > 0)
    fitted = np.flatnonzero(logs)
    mean = logs[fitted] / count[fitted]
    low, high = np.ones(len(fitted)), np.full(len(fitted), _MAX_EXPONENT)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        width = 1e-4 * (middle - 1)
        slope = np.log1p(zetac(middle - width)) - np.log1p(zetac(middle + width))
        is_low = slope > 2 * width * mean
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    out[fitted, 1] = (low + high) / 2
    return out


@kernel
def cut_blocks(visits, offsets, num_nodes, size):
    """Cut walks, one block after the other, into the shortest blocks with `size` distinct nodes; leave out the rest.

    Return a row for each block: number of the walk, and bounds of the block in `visits`.
    """
    out = np.empty((visits.shape[0] // size, 3), np.int64)
    seen_in = np.full(num_nodes, -1, np.int64)  # first visit of the block in which a node was seen last
    count = 0
    for i in range(offsets.shape[0] - 1):
        begin = offsets[i]
        distinct = 0
        for t in range(offsets[i], offsets[i + 1]):
            if seen_in[visits[t]] != begin:
                seen_in[visits[t]] = begin
                distinct += 1
            if distinct == size:
                out[count, 0], out[count, 1], out[count, 2] = i, begin, t + 1
                count += 1
                begin = t + 1
                distinct = 0
    return out[:count].copy()
