"""Information gaps by annotation: beta_1 of the clique complex of a walk's subgraph, updated exactly while it grows.

Every edge of the subgraph S has a bit vector of the independent gaps that run through it (a basis of 1-cocycles over
GF(2)), so that the bits summed around any cycle identify its homology class. A new node v affects only its link: the
graph on its visited neighbors. Coning off the link

- opens a gap for every component of the link beyond the first in the same component of S, and
- closes as many gaps as the rank of the sums around the link's cycles.

Of the gaps in such a sum the youngest is closed and folded into the others (the elder rule), so the pairs
(opened, closed) are those of the persistent homology of the node order.

The state of a batch of walks, a row per walk (`w` words of 64 gaps, local positions 0, 1, ... in order of visit):

    places   [B, H, 2]     hash map from node to local position
    local    [B, T, 2]     per local node: the first entry of its list of neighbors, and its component of S
    lists    [B, 2 E, 2]   entries of these lists: the neighbor, and the next entry; entry s belongs to edge s // 2
    marks    [B, E, w]     annotation of every edge
    born     [B, 64 w]     step at which the gap of this bit was opened, -1 for a free bit
    counts   [B, 4]        nodes, edges, components and gaps so far

The reference implementation in the tests builds the whole complex and computes the ranks of its boundary matrices.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import find_link, map_put
from curiograph.kernels.jit import inner_kernel, kernel

NODES, EDGES, COMPONENTS, GAPS = 0, 1, 2, 3
HEAD, COMPONENT = 0, 1
TO, NEXT = 0, 1


@kernel
def count_candidate_gaps(indptr, indices, nodes, places, local, lists, marks, counts, offsets, candidates):
    """Return beta_1 of S + v for every candidate v of every walk."""
    out = np.empty(candidates.shape[0], np.float64)
    mark, queue, sums, basis, pivot, group, link = _allocate_scratch(local.shape[1], marks.shape[2])
    for i in range(offsets.shape[0] - 1):
        for c in range(offsets[i], offsets[i + 1]):
            size = find_link(indptr, indices, candidates[c], nodes[i], places[i], counts[i, NODES], link)
            opened, closed = _survey(
                link, size, local[i], lists[i], marks[i], counts[i], mark, queue, sums, basis, pivot, group
            )
            out[c] = counts[i, GAPS] + opened - closed
    return out


@kernel
def grow_walks(indptr, indices, nodes, lengths, places, local, lists, marks, born, counts):
    """Update the state of every walk to its first `lengths[i]` nodes.

    Return the closed gaps, as the first rows (walk, step opened, step closed) of an array and their number, and the
    numbers of edges and of gap bits that the state needs room for before the update can continue; both are 0 when all
    walks are up to date.
    """
    mark, queue, sums, basis, pivot, group, link = _allocate_scratch(local.shape[1], marks.shape[2])
    pairs = np.empty((16, 3), np.int64)
    num_pairs, edges, gaps = 0, 0, 0
    for i in range(lengths.shape[0]):
        while counts[i, NODES] < lengths[i]:
            step = counts[i, NODES]
            v = nodes[i, step]
            size = find_link(indptr, indices, v, nodes[i], places[i], step, link)
            if counts[i, EDGES] + size > marks.shape[1] or counts[i, GAPS] + size > 64 * marks.shape[2]:
                edges = max(edges, counts[i, EDGES] + size)
                gaps = max(gaps, counts[i, GAPS] + size)
                break
            opened, closed = _survey(
                link, size, local[i], lists[i], marks[i], counts[i], mark, queue, sums, basis, pivot, group
            )
            for r in range(closed):
                youngest = _find_youngest(basis, r, pivot, born[i])
                for e in range(counts[i, EDGES]):
                    _fold(marks[i], e, basis[r], youngest)
                for k in range(size):
                    _fold(sums, link[k], basis[r], youngest)
                if num_pairs == pairs.shape[0]:
                    pairs = _double_rows(pairs)
                pairs[num_pairs, 0], pairs[num_pairs, 1], pairs[num_pairs, 2] = i, born[i, youngest], step
                num_pairs += 1
                born[i, youngest] = -1
            _attach(v, step, link, size, places[i], local[i], lists[i], marks[i], born[i], counts[i], sums, group)
            counts[i, GAPS] += opened - closed
    return pairs, num_pairs, edges, gaps


@inner_kernel
def _double_rows(pairs):
    out = np.empty((2 * pairs.shape[0], 3), np.int64)
    for k in range(pairs.shape[0]):
        for j in range(3):
            out[k, j] = pairs[k, j]
    return out


@inner_kernel
def _allocate_scratch(nodes, words):
    """Return the workspaces `mark`, `queue`, `sums`, `basis`, `pivot`, `group` and `link`."""
    by_node = np.zeros((4, nodes), np.int32)
    return (
        by_node[0],
        by_node[1],
        np.empty((nodes, words), np.uint64),
        np.empty((64 * words, words), np.uint64),  # a node may close more gaps than the walk has nodes
        np.empty(64 * words, np.int64),
        by_node[2],
        by_node[3],
    )


@inner_kernel
def _survey(link, size, local, lists, marks, counts, mark, queue, sums, basis, pivot, group):
    """Return the numbers of gaps that a node with this link opens and closes.

    Also set, for `_attach`, `basis` (independent sums around the link's cycles), `sums` (bits along the tree path from
    the root of a node's component of the link) and `group` (that component's root). `mark` is all zero on entry and
    on return.
    """
    if size == 0:
        return 0, 0
    words = marks.shape[1] if counts[GAPS] > 0 else 0
    rank, roots = 0, 0
    for k in range(size):
        mark[link[k]] = 1
    for k in range(size):
        root = link[k]
        if mark[root] != 1:
            continue
        roots += 1
        mark[root] = 2
        group[root] = root
        _clear_row(sums, root)
        queue[0] = root
        first, last = 0, 1
        while first < last:
            u = queue[first]
            first += 1
            slot = local[u, HEAD]
            while slot != -1:
                w = lists[slot, TO]
                if mark[w] == 1:
                    mark[w] = 2
                    group[w] = root
                    queue[last] = w
                    last += 1
                    _clear_row(sums, w)
                    for b in range(words):
                        sums[w, b] = sums[u, b] ^ marks[slot >> 1, b]
                elif mark[w] == 2 and w < u and rank < counts[GAPS]:
                    rank = _reduce_cycle(sums, u, w, marks, slot >> 1, words, basis, pivot, rank)
                slot = lists[slot, NEXT]
    opened = roots - 1
    if counts[COMPONENTS] > 1 and roots > 1:
        opened = roots - _count_components(link, size, local, mark)
    for k in range(size):
        mark[link[k]] = 0
    return opened, rank


@inner_kernel
def _clear_row(table, row):
    for b in range(table.shape[1]):
        table[row, b] = 0


@inner_kernel
def _count_components(link, size, local, mark):
    """Count the components of S in the link; a component is named by a local node, whose mark 4 is set and cleared."""
    distinct = 0
    for k in range(size):
        p = local[link[k], COMPONENT]
        if mark[p] & 4 == 0:
            mark[p] |= 4
            distinct += 1
    for k in range(size):
        mark[local[link[k], COMPONENT]] &= 3
    return distinct


@inner_kernel
def _reduce_cycle(sums, u, w, marks, edge, words, basis, pivot, rank):
    """Add the sum around the cycle through this edge to the basis if it is independent; return the rank."""
    for b in range(words):
        basis[rank, b] = sums[u, b] ^ sums[w, b] ^ marks[edge, b]
    _clear_pivots(basis, rank, words, pivot)
    for b in range(words):
        if basis[rank, b] != 0:
            pivot[rank] = 64 * b + _find_lowest_bit(basis[rank, b])
            return rank + 1
    return rank


@inner_kernel
def _clear_pivots(basis, row, words, pivot):
    """Add earlier rows of the basis to this one until it contains none of their pivots."""
    for r in range(row):
        bit = pivot[r]
        if (basis[row, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1):
            for b in range(words):
                basis[row, b] ^= basis[r, b]


@inner_kernel
def _find_lowest_bit(x):
    bit = 0
    while (x >> np.uint64(bit)) & np.uint64(1) == 0:
        bit += 1
    return bit


@inner_kernel
def _find_youngest(basis, row, pivot, born):
    """Clear the closed bits from this sum and return its youngest bit, the gap that is closed.

    `pivot[:row]` contains the bits closed before and is extended by this one.
    """
    words = basis.shape[1]
    _clear_pivots(basis, row, words, pivot)
    youngest = -1
    for b in range(words):
        x = basis[row, b]
        while x != 0:
            bit = 64 * b + _find_lowest_bit(x)
            x &= x - np.uint64(1)
            if youngest == -1 or born[bit] > born[youngest]:
                youngest = bit
    pivot[row] = youngest
    return youngest


@inner_kernel
def _fold(table, row, vector, bit):
    """Add a vector to a row that contains the bit."""
    if (table[row, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1):
        for b in range(vector.shape[0]):
            table[row, b] ^= vector[b]


@inner_kernel
def _attach(v, step, link, size, places, local, lists, marks, born, counts, sums, group):
    """Add v and its edges to the state; a root of the link beyond the first in its component of S opens a gap."""
    map_put(places, v, step)
    local[step, HEAD] = -1
    local[step, COMPONENT] = step if size == 0 else local[link[0], COMPONENT]
    counts[COMPONENTS] += size == 0
    free = 0
    for k in range(1, size):
        u = link[k]
        if group[u] != u:
            continue
        if local[u, COMPONENT] == local[step, COMPONENT]:
            while born[free] != -1:
                free += 1
            born[free] = step
            sums[u, free >> 6] |= np.uint64(1) << np.uint64(free & 63)
        else:
            old = local[u, COMPONENT]
            for t in range(step):
                if local[t, COMPONENT] == old:
                    local[t, COMPONENT] = local[step, COMPONENT]
            counts[COMPONENTS] -= 1
    for k in range(size):
        u = np.int64(link[k])
        edge = counts[EDGES]
        for b in range(marks.shape[1]):
            marks[edge, b] = sums[u, b]
            if group[u] != u:
                marks[edge, b] ^= sums[group[u], b]
        _add_neighbor(local, lists, step, u, 2 * edge)
        _add_neighbor(local, lists, u, step, 2 * edge + 1)
        counts[EDGES] += 1
    counts[NODES] += 1


@inner_kernel
def _add_neighbor(local, lists, u, neighbor, slot):
    """Insert `neighbor` at the front of the list of u."""
    lists[slot, TO] = neighbor
    lists[slot, NEXT] = local[u, HEAD]
    local[u, HEAD] = slot
