"""PageRank near a history by forward push, without reading the rest of the graph.

Touched nodes have one slot each, in order of discovery, and a hash map from node to slot that grows as needed. A row of
`state` contains the settled part of a node's score, the part waiting to be pushed, and the node's strength. Scores are
(1 - alpha) y, before the mass of dangling nodes returns to q.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel

HELD, WAITING, STRENGTH = 0, 1, 2
SHRINK = 0.25  # nodes below this fraction of the largest waiting / strength are not pushed in a round
INITIAL_CAPACITY = 256


@inner_kernel
def find_place(table, node):
    """Return the index of a node in the map, or of the empty entry where it belongs (linear probing)."""
    mask = table.shape[0] - 1
    place = (node * 0x9E3779B1) & mask
    while table[place, 0] != -1 and table[place, 0] != node:
        place = (place + 1) & mask
    return place


@inner_kernel
def double_capacity(nodes, state):
    """Return nodes and state with twice the capacity, and a map of them that is a quarter full."""
    count = nodes.shape[0]
    more_nodes, more_state = np.empty(2 * count, np.int32), np.zeros((2 * count, 3))
    table = np.full((4 * count, 2), -1, np.int32)
    for slot in range(count):
        more_nodes[slot] = nodes[slot]
        for part in range(3):
            more_state[slot, part] = state[slot, part]
        place = find_place(table, nodes[slot])
        table[place, 0] = nodes[slot]
        table[place, 1] = slot
    return more_nodes, more_state, table


@inner_kernel
def get_strength(indptr, strengths, v):
    """Return the strength of a node: its degree if the graph is unweighted."""
    if strengths is None:
        return float(indptr[v + 1] - indptr[v])
    return strengths[v]


@inner_kernel
def find_best_slots(state, count, k, alpha, lows, best):
    """Find the k slots of largest lower bound, largest first, into `best` and `lows`; return their number."""
    found = 0
    for slot in range(count):
        low = state[slot, HELD] + (1 - alpha) * state[slot, WAITING]
        if low <= 0.0 or (found == k and low <= lows[k - 1]):
            continue
        place = found if found < k else k - 1
        found = min(found + 1, k)
        while place > 0 and lows[place - 1] < low:
            lows[place] = lows[place - 1]
            best[place] = best[place - 1]
            place -= 1
        lows[place] = low
        best[place] = slot
    return found


@inner_kernel
def settle_dangling(indptr, strengths, nodes, state, known, count, alpha):
    """Read the strengths of new nodes and settle the waiting mass of dangling nodes.

    Return the total waiting mass, the largest waiting / strength, and whether every touched node has been pushed, so
    that no other node can be reached. Strengths are read here and not when a node is found, because independent reads
    overlap.
    """
    waiting, peak, closed = 0.0, 0.0, True
    for slot in range(known, count):
        state[slot, STRENGTH] = get_strength(indptr, strengths, nodes[slot])
    for slot in range(count):
        amount = state[slot, WAITING]
        if amount > 0.0:
            if state[slot, STRENGTH] == 0.0:
                state[slot, HELD] += (1 - alpha) * amount
                state[slot, WAITING] = 0.0
            else:
                waiting += amount
                peak = max(peak, amount / state[slot, STRENGTH])
        closed &= state[slot, HELD] > 0.0
    return waiting, peak, closed


@inner_kernel
def bound_untouched(table, hubs, reach, strengths, indptr):
    """Return the largest `reach` (without it, strength) of an untouched node; hubs are in descending order of it."""
    for i in range(hubs.shape[0]):
        if table[find_place(table, hubs[i]), 0] == -1 or i == hubs.shape[0] - 1:
            return get_strength(indptr, strengths, hubs[i]) if reach is None else reach[hubs[i]]
    return 0.0


@kernel
def push_scores(indptr, indices, weights, strengths, reach, hubs, alpha, seeds, chances, k, tolerance, most):
    """Push waiting mass, largest first, until the best k are certain or accurate enough, or `most` edges were read.

    The score of v exceeds its lower bound by at most alpha * strength(v) * peak in an undirected graph, where peak is
    the largest waiting / strength, because the walk is reversible. In any graph it is at most
    alpha * reach(v) * waiting, where reach(v) is the largest probability of a step to v.
    """
    nodes, state = np.empty(INITIAL_CAPACITY, np.int32), np.zeros((INITIAL_CAPACITY, 3))
    table = np.full((2 * INITIAL_CAPACITY, 2), -1, np.int32)
    lows, best = np.zeros(k), np.zeros(k, np.int64)
    known, count, read, certain, found = 0, 0, 0, False, 0
    for i in range(seeds.shape[0]):
        if count == nodes.shape[0]:
            nodes, state, table = double_capacity(nodes, state)
        place = find_place(table, seeds[i])
        table[place, 0] = seeds[i]
        table[place, 1] = count
        nodes[count] = seeds[i]
        state[count, WAITING] = chances[i]
        count += 1
    while True:
        waiting, peak, closed = settle_dangling(indptr, strengths, nodes, state, known, count, alpha)
        known = count
        unit = alpha * (peak if reach is None else waiting)
        found = find_best_slots(state, count, k, alpha, lows, best)
        last = lows[found - 1]
        other, width, tied, inside = 0.0, 0.0, 0.0, 0
        if not closed:
            other = unit * bound_untouched(table, hubs, reach, strengths, indptr)
        for slot in range(count):
            low = state[slot, HELD] + (1 - alpha) * state[slot, WAITING]
            bound = unit * (state[slot, STRENGTH] if reach is None else reach[nodes[slot]])
            if low < last:
                other = max(other, low + bound)
            else:
                inside += 1
                width = max(width, bound)
                tied = max(tied, low + bound if low == last else 0.0)
        if inside > found:
            other = max(other, tied)
        certain = other <= (last if found == k else 0.0)
        if certain or read >= most or waiting == 0.0 or (found == k and width <= tolerance * last):
            break
        for slot in range(known):
            amount, strength = state[slot, WAITING], state[slot, STRENGTH]
            if strength == 0.0 or amount <= SHRINK * peak * strength:  # dangling nodes are settled, not pushed
                continue
            v = nodes[slot]
            first, end = indptr[v], indptr[v + 1]
            read += end - first
            state[slot, HELD] += (1 - alpha) * amount
            state[slot, WAITING] = 0.0
            for edge in range(first, end):
                u = indices[edge]
                part = alpha * amount * ((1.0 if weights is None else weights[edge]) / strength)
                if part == 0.0:
                    continue
                place = find_place(table, u)
                if table[place, 0] == -1:
                    if count == nodes.shape[0]:
                        nodes, state, table = double_capacity(nodes, state)
                        place = find_place(table, u)
                    table[place, 0] = u
                    table[place, 1] = count
                    nodes[count] = u
                    count += 1
                state[table[place, 1], WAITING] += part
            if read >= most:
                break
    low, bound, held = np.empty(count), np.empty(count), 0.0
    for slot in range(count):
        held += state[slot, HELD]
        low[slot] = state[slot, HELD] + (1 - alpha) * state[slot, WAITING]
        bound[slot] = unit * (state[slot, STRENGTH] if reach is None else reach[nodes[slot]])
    return nodes[:count].copy(), low, bound, best[:found].copy(), held, waiting, certain
