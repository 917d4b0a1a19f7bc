"""Information gaps by annotation: beta_1 of the clique complex of a walk's subgraph, kept exactly while it grows.

Every edge of the subgraph S carries a bit vector that says which independent gaps run through it (a basis of
1-cocycles over GF(2)), so that the bits summed around any cycle name its homology class. A new node v sees only its
link: the graph on its visited neighbours. Coning it off

- opens a gap for every component of the link beyond the first in the same component of S, and
- closes as many gaps as the sums around the link's cycles have rank.

Of the gaps in such a sum the youngest dies and is folded into the others (the elder rule), which makes the pairs
(opened, closed) those of the persistent homology of the node order.

The state of a batch of walks, a row per walk (`w` words of 64 gaps, local positions 0, 1, ... in order of visit):

    keys, places  [B, H]        hash map from node to local position
    head          [B, T]        first slot of a local node's list of neighbours
    succ, to      [B, 2 E]      next slot, and the neighbour; slot s belongs to edge s // 2
    marks         [B, E, w]     annotation of every edge
    part          [B, T]        component of S that a local node lies in
    born          [B, 64 w]     step at which the gap in this bit was opened, -1 for a free bit
    counts        [B, 4]        nodes, edges, components, gaps

The slow twin in the tests builds the whole complex and its boundary ranks.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.compile import kernel
from curiograph.kernels.csr import has_edge, map_get, map_put

NODES = 0
EDGES = 1
PARTS = 2
GAPS = 3


@kernel
def candidate_gaps(indptr, indices, nodes, keys, places, head, succ, to, marks, part, counts, offsets, candidates):
    """beta_1 of S + v for every candidate v of every walk."""
    out = np.empty(candidates.shape[0], np.float64)
    mark, queue, sums, basis, pivot, group = _scratch(head.shape[1], marks.shape[2])
    link = np.empty(head.shape[1], np.int32)
    for i in range(offsets.shape[0] - 1):
        for c in range(offsets[i], offsets[i + 1]):
            v = candidates[c]
            size = _link(indptr, indices, v, nodes[i], keys[i], places[i], counts[i, NODES], link)
            opened, closed = _survey(
                link,
                size,
                head[i],
                succ[i],
                to[i],
                marks[i],
                part[i],
                counts[i],
                mark,
                queue,
                sums,
                basis,
                pivot,
                group,
            )
            out[c] = counts[i, GAPS] + opened - closed
    return out


@kernel
def link_sizes(indptr, indices, nodes, keys, places, counts, new):
    """Number of visited neighbours of each walk's new node: the room that `grow` needs. -1 in `new` means no move."""
    out = np.zeros(new.shape[0], np.int64)
    link = np.empty(nodes.shape[1], np.int32)
    for i in range(new.shape[0]):
        if new[i] >= 0:
            out[i] = _link(indptr, indices, new[i], nodes[i], keys[i], places[i], counts[i, NODES], link)
    return out


@kernel
def grow(indptr, indices, nodes, keys, places, head, succ, to, marks, part, born, counts, new):
    """Add node `new[i]` to walk i (nothing for -1) and return the gaps closed: walks, steps opened, steps closed."""
    mark, queue, sums, basis, pivot, group = _scratch(head.shape[1], marks.shape[2])
    link = np.empty(head.shape[1], np.int32)
    pairs = [(0, np.int64(0), np.int64(0)) for _ in range(0)]
    for i in range(new.shape[0]):
        v = new[i]
        if v < 0:
            continue
        step = counts[i, NODES]
        size = _link(indptr, indices, v, nodes[i], keys[i], places[i], step, link)
        opened, closed = _survey(
            link, size, head[i], succ[i], to[i], marks[i], part[i], counts[i], mark, queue, sums, basis, pivot, group
        )
        for r in range(closed):
            youngest = _fold_youngest(basis, r, pivot, born[i])
            _fold_edges(marks[i], counts[i, EDGES], basis[r], youngest)
            _fold_sums(sums, link, size, basis[r], youngest)
            pairs.append((i, born[i, youngest], step))
            born[i, youngest] = -1
        _attach(
            v,
            step,
            link,
            size,
            keys[i],
            places[i],
            head[i],
            succ[i],
            to[i],
            marks[i],
            part[i],
            born[i],
            counts[i],
            sums,
            group,
        )
        counts[i, GAPS] += opened - closed
    out = np.empty((len(pairs), 3), np.int64)
    for k in range(len(pairs)):
        out[k, 0], out[k, 1], out[k, 2] = pairs[k]
    return out


@kernel
def _scratch(nodes, words):
    return (
        np.zeros(nodes, np.int8),
        np.empty(nodes, np.int32),
        np.empty((nodes, words), np.uint64),
        np.empty((64 * words, words), np.uint64),  # a node may close more gaps than the walk has nodes
        np.empty(64 * words, np.int64),
        np.empty(nodes, np.int32),
    )


@kernel
def _link(indptr, indices, v, nodes, keys, places, length, link):
    """Local positions of the visited neighbours of v; walks the shorter of its row and the walk."""
    size = 0
    if indptr[v + 1] - indptr[v] > 4 * length:
        for t in range(length):
            if has_edge(indptr, indices, v, nodes[t]):
                link[size] = t
                size += 1
        return size
    for slot in range(indptr[v], indptr[v + 1]):
        place = map_get(keys, places, indices[slot])
        if place >= 0:
            link[size] = place
            size += 1
    return size


@kernel
def _survey(link, size, head, succ, to, marks, part, counts, mark, queue, sums, basis, pivot, group):
    """Gaps that a node with this link opens and closes.

    Leaves `basis` (the sums around the link's cycles, independent), `sums` (bits along the tree path from the root of a
    node's component of the link) and `group` (that component's root) for `_attach`. `mark` comes and goes all zero.
    """
    if size == 0:
        return 0, 0
    words = marks.shape[1] if counts[GAPS] > 0 else 0
    rank = 0
    roots = 0
    for k in range(size):
        mark[link[k]] = 1
    for k in range(size):
        root = link[k]
        if mark[root] != 1:
            continue
        roots += 1
        mark[root] = 2
        group[root] = root
        _zero(sums, root)
        queue[0] = root
        first, last = 0, 1
        while first < last:
            u = queue[first]
            first += 1
            slot = head[u]
            while slot != -1:
                w = to[slot]
                if mark[w] == 1:
                    mark[w] = 2
                    group[w] = root
                    queue[last] = w
                    last += 1
                    _zero(sums, w)
                    for b in range(words):
                        sums[w, b] = sums[u, b] ^ marks[slot >> 1, b]
                elif mark[w] == 2 and w < u and rank < counts[GAPS]:
                    rank = _reduce(sums, u, w, marks, slot >> 1, words, basis, pivot, rank)
                slot = succ[slot]
    opened = roots - 1
    if counts[PARTS] > 1 and roots > 1:
        opened = roots - _distinct_parts(link, size, part, mark)
    for k in range(size):
        mark[link[k]] = 0
    return opened, rank


@kernel
def _zero(table, row):
    for b in range(table.shape[1]):
        table[row, b] = 0


@kernel
def _distinct_parts(link, size, part, mark):
    """Number of components of S among the link; a part is named by a local node, whose mark 4 is set and cleared."""
    distinct = 0
    for k in range(size):
        p = part[link[k]]
        if mark[p] & 4 == 0:
            mark[p] |= 4
            distinct += 1
    for k in range(size):
        mark[part[link[k]]] &= 3
    return distinct


@kernel
def _reduce(sums, u, w, marks, edge, words, basis, pivot, rank):
    """Add the sum around the cycle through this edge to the basis if it is new; return the rank."""
    for b in range(words):
        basis[rank, b] = sums[u, b] ^ sums[w, b] ^ marks[edge, b]
    for r in range(rank):
        bit = pivot[r]
        if (basis[rank, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1):
            for b in range(words):
                basis[rank, b] ^= basis[r, b]
    for b in range(words):
        x = basis[rank, b]
        if x != 0:
            bit = 0
            while (x >> np.uint64(bit)) & np.uint64(1) == 0:
                bit += 1
            pivot[rank] = 64 * b + bit
            return rank + 1
    return rank


@kernel
def _fold_youngest(basis, row, pivot, born):
    """Clear the bits already closed from this sum and return its youngest bit, the gap that dies.

    `pivot[:row]` holds the bits closed before, and is extended by this one.
    """
    words = basis.shape[1]
    for r in range(row):
        bit = pivot[r]
        if (basis[row, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1):
            for b in range(words):
                basis[row, b] ^= basis[r, b]
    youngest = -1
    for b in range(words):
        x = basis[row, b]
        while x != 0:
            bit = 0
            while (x >> np.uint64(bit)) & np.uint64(1) == 0:
                bit += 1
            x &= x - np.uint64(1)
            bit += 64 * b
            if youngest == -1 or born[bit] > born[youngest]:
                youngest = bit
    pivot[row] = youngest
    return youngest


@kernel
def _fold_edges(marks, edges, vector, bit):
    word = bit >> 6
    shift = np.uint64(bit & 63)
    for e in range(edges):
        if (marks[e, word] >> shift) & np.uint64(1):
            for b in range(vector.shape[0]):
                marks[e, b] ^= vector[b]


@kernel
def _fold_sums(sums, link, size, vector, bit):
    word = bit >> 6
    shift = np.uint64(bit & 63)
    for k in range(size):
        u = link[k]
        if (sums[u, word] >> shift) & np.uint64(1):
            for b in range(vector.shape[0]):
                sums[u, b] ^= vector[b]


@kernel
def _attach(v, step, link, size, keys, places, head, succ, to, marks, part, born, counts, sums, group):
    """Put v and its edges into the state; a root of the link beyond the first in its part of S carries a new gap."""
    map_put(keys, places, v, step)
    head[step] = -1
    part[step] = step if size == 0 else part[link[0]]
    counts[PARTS] += size == 0
    free = 0
    for k in range(1, size):
        u = link[k]
        if group[u] != u:
            continue
        if part[u] == part[step]:
            while born[free] != -1:
                free += 1
            born[free] = step
            sums[u, free >> 6] |= np.uint64(1) << np.uint64(free & 63)
        else:
            _unite(part, step, part[u], part[step])
            counts[PARTS] -= 1
    for k in range(size):
        u = link[k]
        edge = counts[EDGES]
        for b in range(marks.shape[1]):
            marks[edge, b] = sums[u, b]
            if group[u] != u:
                marks[edge, b] ^= sums[group[u], b]
        to[2 * edge] = u
        succ[2 * edge] = head[step]
        head[step] = 2 * edge
        to[2 * edge + 1] = step
        succ[2 * edge + 1] = head[u]
        head[u] = 2 * edge + 1
        counts[EDGES] += 1
    counts[NODES] += 1


@kernel
def _unite(part, length, old, new):
    for t in range(length):
        if part[t] == old:
            part[t] = new
