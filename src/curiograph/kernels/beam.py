"""Selection in a beam search over walks."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.compile import kernel
from curiograph.kernels.random import draw, mix

_TIE = 1e-9  # priorities closer than this are ordered by chance


@kernel
def node_hashes(nodes, lengths):
    """A hash of the set of nodes of every walk, whatever their order."""
    out = np.zeros(nodes.shape[0], np.uint64)
    for i in range(nodes.shape[0]):
        for t in range(lengths[i]):
            out[i] ^= mix(np.uint64(nodes[i, t]))
    return out


@kernel
def select(groups, offsets, candidates, priorities, hashes, streams, step, width):
    """The `width` best extensions in every group of walks, one for each (visited set, last node).

    `groups[g]:groups[g + 1]` are the walks that compete. Returns the new bounds of the groups and, for every extension
    kept, the walk it extends and its index in `candidates`; best first.
    """
    count = groups.shape[0] - 1
    bounds = np.zeros(count + 1, np.int64)
    parents = np.empty(count * width, np.int64)
    chosen = np.empty(count * width, np.int64)
    kept = 0
    for g in range(count):
        first, last = offsets[groups[g]], offsets[groups[g + 1]]
        size = last - first
        owner = np.empty(size, np.int64)
        keys = np.empty(size, np.uint64)
        order = np.empty(size, np.float64)
        for i in range(groups[g], groups[g + 1]):
            for c in range(offsets[i], offsets[i + 1]):
                node = np.uint64(candidates[c])
                owner[c - first] = i
                keys[c - first] = (hashes[i] ^ mix(node)) * np.uint64(0x9E3779B97F4A7C15) + mix(~node)
                luck = (draw(streams[g], step, keys[c - first]) >> np.uint64(11)) * 2.0**-53
                order[c - first] = -priorities[c] - _TIE * luck
        kept = _take_best(np.argsort(order), keys, owner, first, width, parents, chosen, kept)
        bounds[g + 1] = kept
    return bounds, parents[:kept].copy(), chosen[:kept].copy()


@kernel
def _take_best(ranking, keys, owner, first, width, parents, chosen, kept):
    """Walk down the ranking, skip states seen already, stop at `width`."""
    slots = 4
    while slots < 4 * width:
        slots *= 2
    seen = np.zeros(slots, np.uint64)
    full = np.zeros(slots, np.bool_)
    mask = np.uint64(slots - 1)
    end = kept + width
    for c in ranking:
        slot = keys[c] & mask
        while full[slot] and seen[slot] != keys[c]:
            slot = (slot + np.uint64(1)) & mask
        if full[slot]:
            continue
        full[slot] = True
        seen[slot] = keys[c]
        parents[kept] = owner[c]
        chosen[kept] = first + c
        kept += 1
        if kept == end:
            break
    return kept
