"""Selection in a beam search over walks."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel
from curiograph.kernels.random import draw_uniform, mix_bits

_TIE = 1e-9  # priorities closer than this, relative to the largest, are ordered at random


@kernel
def hash_node_orders(nodes, lengths):
    """Hash the nodes of every walk in their order."""
    out = np.zeros(nodes.shape[0], np.uint64)
    for i in range(nodes.shape[0]):
        for t in range(lengths[i]):
            out[i] = mix_bits(out[i] ^ mix_bits(np.uint64(nodes[i, t])))
    return out


@kernel
def compute_sort_keys(groups, nodes, lengths, order_hashes, offsets, candidates, priorities, streams):
    """Return the sort key (descending priority, ties at random) and the state hash of every extension.

    The state is the set of visited nodes and the last node, and `order_hashes` for a reward that depends on the order.
    """
    order = np.empty(candidates.shape[0], np.float64)
    keys = np.empty(candidates.shape[0], np.uint64)
    for g in range(groups.shape[0] - 1):
        largest = 0.0
        for c in range(offsets[groups[g]], offsets[groups[g + 1]]):
            largest = max(largest, abs(priorities[c]))
        for i in range(groups[g], groups[g + 1]):
            state = order_hashes[i] * np.uint64(0xD1342543DE82EF95)  # spreads small numbers over all bits
            for t in range(lengths[i]):
                state ^= mix_bits(np.uint64(nodes[i, t]))
            for c in range(offsets[i], offsets[i + 1]):
                node = np.uint64(candidates[c])
                keys[c] = (state ^ mix_bits(node)) * np.uint64(0x9E3779B97F4A7C15) + mix_bits(~node)
                order[c] = -priorities[c] - _TIE * largest * draw_uniform(streams[g], lengths[i], keys[c])
    return order, keys


@kernel
def select_extensions(groups, offsets, ranking, keys, width):
    """Select the `width` best extensions of every group of walks, one per state (visited set and last node).

    The walks `groups[g]:groups[g + 1]` compete, and `ranking` lists their extensions, best first, group after group.
    Return the new bounds of the groups and the selected extensions.
    """
    count = groups.shape[0] - 1
    bounds = np.zeros(count + 1, np.int64)
    chosen = np.empty(min(count * width, ranking.shape[0]), np.int64)
    kept = 0
    for g in range(count):
        first, last, end = offsets[groups[g]], offsets[groups[g + 1]], kept + width
        slots = 4
        while slots < 4 * min(width, last - first):
            slots *= 2
        seen = np.zeros(slots, np.uint64)
        full = np.zeros(slots, np.bool_)
        mask = np.uint64(slots - 1)
        for place in range(first, last):
            c = ranking[place]
            slot = keys[c] & mask
            while full[slot] and seen[slot] != keys[c]:
                slot = (slot + np.uint64(1)) & mask
            if full[slot]:
                continue
            full[slot] = True
            seen[slot] = keys[c]
            chosen[kept] = c
            kept += 1
            if kept == end:
                break
        bounds[g + 1] = kept
    return bounds, chosen[:kept].copy()
