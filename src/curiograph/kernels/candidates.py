"""Candidates for the next node of a batch of walks, and the choice of the best.

A batch is `nodes` (walks x capacity, positions, -1 beyond the end) with `lengths`. Candidates are stored flat: those of
walk i are at `offsets[i]:offsets[i + 1]`, in ascending order.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import get_map_size, map_clear, map_get, map_put, reserve, sort_range
from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.random import draw_bits

FRONTIER = 0
ANYWHERE = 1


@kernel
def find_candidates(indptr, indices, nodes, lengths, low, high, fallback):
    """Return the unvisited out-neighbors of each last node; if there are none, the candidates of `fallback`.

    `low[i]` and `high[i]` bound the nodes of the graph of walk i (a batch may span several graphs). A walk of length 0
    is inactive and has no candidates.
    """
    count = nodes.shape[0]
    offsets = np.zeros(count + 1, np.int64)
    out = np.empty(16 * count + 16, np.int32)
    visited = np.empty((get_map_size(nodes.shape[1]), 2), np.int32)
    filled = np.int64(0)
    for i in range(count):
        if lengths[i] > 0:
            map_clear(visited)
            for t in range(lengths[i]):
                map_put(visited, nodes[i, t], t)
            out, filled = append_candidates(
                indptr, indices, nodes[i], lengths[i], visited, low[i], high[i], fallback, out, filled
            )
        offsets[i + 1] = filled
    return offsets, out[:filled].copy()


@inner_kernel
def append_candidates(indptr, indices, walk, length, visited, low, high, fallback, out, filled):
    """Append the candidates of one walk, whose nodes are in the map `visited`; return `out` and its filled length."""
    last = walk[length - 1]
    out = reserve(out, filled, indptr[last + 1] - indptr[last])
    end = _append_row(indptr, indices, last, visited, out, filled)
    if end == filled and fallback == FRONTIER:
        for t in range(length):
            out = reserve(out, end, indptr[walk[t] + 1] - indptr[walk[t]])
            end = _append_row(indptr, indices, walk[t], visited, out, end)
        end = _sort_unique(out, filled, end)
    elif end == filled:
        out = reserve(out, filled, high - low)
        for v in range(low, high):
            if map_get(visited, v) == -1:
                out[end] = v
                end += 1
    return out, end


@inner_kernel
def _append_row(indptr, indices, u, visited, out, end):
    for slot in range(indptr[u], indptr[u + 1]):
        v = indices[slot]
        if map_get(visited, v) == -1:
            out[end] = v
            end += 1
    return end


@inner_kernel
def _sort_unique(out, start, end):
    sort_range(out, start, end)
    kept = start
    for c in range(start, end):
        if kept == start or out[kept - 1] != out[c]:
            out[kept] = out[c]
            kept += 1
    return kept


@kernel
def select_best(offsets, nodes, scores, streams, steps):
    """Return the index of the best candidate of each walk, ties uniformly at random from its stream; -1 if none."""
    chosen = np.empty(offsets.shape[0] - 1, np.int64)
    for i in range(chosen.shape[0]):
        chosen[i] = find_best(nodes, scores, offsets[i], offsets[i + 1], streams[i], steps[i])
    return chosen


@inner_kernel
def find_best(nodes, scores, first, last, stream, step):
    """Return the index, from `first` to `last` - 1, of the best candidate of one walk; -1 if there is none."""
    best, top = -1, np.uint64(0)
    for c in range(first, last):
        if best != -1 and scores[c] < scores[best]:
            continue
        luck = draw_bits(stream, step, nodes[c])
        if best == -1 or scores[c] > scores[best] or luck > top:
            best = c
            top = luck
    return best


@inner_kernel
def round_scores(scores, first, last, out):
    """Write the scores of one walk to `out`, rounded to nine digits relative to the largest."""
    largest = 0.0
    for c in range(first, last):
        largest = max(largest, abs(scores[c]))
    if largest == 0.0:
        largest = 1.0
    for c in range(first, last):
        out[c] = np.rint(scores[c] / largest * 1e9) / 1e9 * largest
