"""PageRank near a history, without reading the rest of the graph: forward push on a hash map that grows as needed.

Touched nodes have a slot each, in order of discovery. A row of `state` holds what a push needs of one: the settled part
of its score, what still waits to be spread from it, and its strength. Scores here are (1 - alpha) y, before what
dangles is given back to q.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel

HELD, WAITING, STRENGTH = 0, 1, 2
SHRINK = 0.25  # of the largest share that waits, what is left alone: less means more edges read between two looks
FIRST_ROOM = 256


@kernel
def find_slot(table, node):
    """Where a node stands in the map, or would stand: the first place from its own that holds it or nothing."""
    mask = table.shape[0] - 1
    place = (node * 0x9E3779B1) & mask
    while table[place, 0] != -1 and table[place, 0] != node:
        place = (place + 1) & mask
    return place


@kernel
def double_capacity(nodes, state):
    """Nodes and state with twice the room, and a map of them that is a quarter full."""
    count = nodes.shape[0]
    more_nodes, more_state = np.empty(2 * count, np.int32), np.zeros((2 * count, 3))
    table = np.full((4 * count, 2), -1, np.int32)
    for slot in range(count):
        more_nodes[slot] = nodes[slot]
        for part in range(3):
            more_state[slot, part] = state[slot, part]
        place = find_slot(table, nodes[slot])
        table[place, 0] = nodes[slot]
        table[place, 1] = slot
    return more_nodes, more_state, table


@kernel
def get_strength(indptr, strengths, v):
    """Strength of a node: its degree where there are no weights."""
    if strengths is None:
        return float(indptr[v + 1] - indptr[v])
    return strengths[v]


@kernel
def find_best_slots(state, count, k, alpha, lows, best):
    """The k slots of largest lower bound and these bounds, largest first; returns how many there are."""
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


@kernel
def settle_dangling(indptr, strengths, nodes, state, known, count, alpha):
    """Read the strengths of new nodes and settle what waits where a walk ends; what waits now, and the largest share.

    Strengths are read here, not when a node is found: reads that do not depend on each other overlap. The last value
    says whether every touched node has been pushed, so that there are no others to find.
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


@kernel
def bound_untouched(table, hubs, reach, strengths, indptr):
    """The largest `reach` (strength without it) of a node that was not touched; hubs come in falling order of it."""
    for i in range(hubs.shape[0]):
        if table[find_slot(table, hubs[i]), 0] == -1 or i == hubs.shape[0] - 1:
            return get_strength(indptr, strengths, hubs[i]) if reach is None else reach[hubs[i]]
    return 0.0


@kernel
def push_scores(indptr, indices, weights, strengths, reach, hubs, alpha, seeds, chances, k, tolerance, most):
    """Push what waits, largest shares first, until the best k are certain or known well enough, or `most` edges read.

    What is missing from the lower bound of v is at most alpha * strength(v) * peak in an undirected graph, where peak
    is the largest waiting / strength: walks there and back are equally likely, strengths aside. In any graph it is at
    most alpha * reach(v) * waiting, reach the largest chance of a step to v.
    """
    nodes, state = np.empty(FIRST_ROOM, np.int32), np.zeros((FIRST_ROOM, 3))
    table = np.full((2 * FIRST_ROOM, 2), -1, np.int32)
    lows, best = np.zeros(k), np.zeros(k, np.int64)
    known, count, read, certain, found = 0, 0, 0, False, 0
    for i in range(seeds.shape[0]):
        if count == nodes.shape[0]:
            nodes, state, table = double_capacity(nodes, state)
        place = find_slot(table, seeds[i])
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
            if strength == 0.0 or amount <= SHRINK * peak * strength:  # where a walk ends is settled, not pushed
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
                place = find_slot(table, u)
                if table[place, 0] == -1:
                    if count == nodes.shape[0]:
                        nodes, state, table = double_capacity(nodes, state)
                        place = find_slot(table, u)
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
    return nodes[:count].copy(), low, bound, best[:found].copy(), held, waiting, certain, read
