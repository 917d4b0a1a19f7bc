"""The visited nodes and candidates of walks with the edges between them, as arrays of fixed size."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import get_map_size, map_clear, map_get, map_put, sort_range
from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.random import draw_bits


@kernel
def build_views(
    indptr, indices, skeleton_indptr, skeleton_indices, nodes, lengths, offsets, candidates, low, streams, rows, slots
):
    """Return arrays that describe each walk: nodes as rows, links into the walk, choices, edges and their number.

    Rows are the visited nodes in order of visit, then the candidates in ascending order, at most `rows`. If not all
    candidates fit, the stream of the walk selects a uniformly random subset of them. `choices` are the indices of the
    candidates in the flat list, -1 for other rows. Edges (source, target) join rows in the direction of the graph:
    first those between visited nodes, then those between visited nodes and candidates, then those between candidates,
    at most `slots`. `low[i]` is the first node of the graph of walk i.
    """
    count = lengths.shape[0]
    places = np.full((count, rows), -1, np.int32)
    choices = np.full((count, rows), -1, np.int64)
    links = np.zeros((count, rows), np.int64)
    edges = np.zeros((count, 2, slots), np.int64)
    num_edges = np.zeros(count, np.int64)
    table = np.empty((get_map_size(rows), 2), np.int32)
    for i in range(count):
        length = lengths[i]
        map_clear(table)
        for t in range(length):
            places[i, t] = nodes[i, t]
            map_put(table, nodes[i, t], t)
        filled = length
        limit = _find_limit(candidates, offsets[i], offsets[i + 1], rows - length, low[i], streams[i], length)
        for c in range(offsets[i], offsets[i + 1]):
            if filled < rows and draw_bits(streams[i], length, candidates[c] - low[i]) <= limit:
                places[i, filled] = candidates[c]
                choices[i, filled] = c
                map_put(table, candidates[c], filled)
                filled += 1
        for t in range(length):
            for slot in range(skeleton_indptr[nodes[i, t]], skeleton_indptr[nodes[i, t] + 1]):
                row = map_get(table, skeleton_indices[slot])
                if row >= 0:
                    links[i, row] += 1
        end = 0
        end = _add_edges(indptr, indices, places[i], table, 0, length, 0, length, edges[i], end)
        end = _add_edges(indptr, indices, places[i], table, 0, length, length, filled, edges[i], end)
        end = _add_edges(indptr, indices, places[i], table, length, filled, 0, length, edges[i], end)
        end = _add_edges(indptr, indices, places[i], table, length, filled, length, filled, edges[i], end)
        num_edges[i] = end
    return places, links, choices, edges, num_edges


@inner_kernel
def _find_limit(candidates, first, last, room, low, stream, step):
    """Return the largest random number of a candidate that belongs to the subset of `room` candidates."""
    if last - first <= room:
        return ~np.uint64(0)
    draws = np.empty(last - first, np.uint64)
    for c in range(first, last):
        draws[c - first] = draw_bits(stream, step, candidates[c] - low)
    sort_range(draws, 0, last - first)
    return draws[room - 1] if room > 0 else np.uint64(0)


@inner_kernel
def _add_edges(indptr, indices, places, table, first, last, low, high, edges, end):
    """Append the edges from the rows `first:last` to the rows `low:high`; return the number of edges."""
    for row in range(first, last):
        for slot in range(indptr[places[row]], indptr[places[row] + 1]):
            target = map_get(table, indices[slot])
            if low <= target < high and end < edges.shape[1]:
                edges[0, end] = row
                edges[1, end] = target
                end += 1
    return end
