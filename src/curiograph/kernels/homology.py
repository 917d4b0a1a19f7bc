"""Information gaps by annotation: beta_1 of the clique complex of a walk's subgraph, updated exactly while it grows.

Every edge of the subgraph S has a bit vector of the independent gaps that run through it (a basis of 1-cocycles over
GF(2)), so that the bits summed around any cycle identify its homology class. A new node v affects only its link: the
graph on its visited neighbors. Coning off the link

- opens a gap for every component of the link beyond the first in the same component of S, and
- closes as many gaps as the rank of the sums around the link's cycles.

Of the gaps in such a sum the youngest is closed and folded into the others (the elder rule), so the pairs
(opened, closed) are those of the persistent homology of the node order.

The state of a walk (`w` words of 64 gaps, local positions 0, 1, ... in order of visit); a batch has a row per walk:

    places   [H, 2]     hash map from node to local position
    local    [T, 2]     per local node: the first entry of its list of neighbors, and its component of S
    lists    [2 E, 2]   entries of these lists: the neighbor, and the next entry; entry s belongs to edge s // 2
    marks    [E, w]     annotation of every edge
    born     [64 w]     step at which the gap of this bit was opened, -1 for a free bit
    counts   [4]        nodes, edges, components and gaps so far

The reference implementation in the tests builds the whole complex and computes the ranks of its boundary matrices.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import (
    count_bits,
    count_pieces,
    find_link,
    find_lowest,
    get_map_size,
    map_clear,
    map_put,
    reserve,
)
from curiograph.kernels.flexibility import raise_dimension
from curiograph.kernels.jit import inline_kernel, inner_kernel, kernel

NODES, EDGES, COMPONENTS, GAPS = 0, 1, 2, 3
HEAD, COMPONENT = 0, 1
TO, NEXT = 0, 1
MARK, QUEUE, ROOT = 0, 1, 2


@kernel
def measure_walks(indptr, indices, nodes, offsets):
    """Measure walks after every step; walk i is `nodes[offsets[i]:offsets[i + 1]]`.

    Return a row each of the numbers of edges, components and gaps, of dimensions and degrees of freedom (see
    `flexibility`), with an entry for each of `nodes`; and all gaps, each as three entries of a flat array: number of
    the walk, step opened, step closed or -1.
    """
    longest, one = np.int64(0), np.int64(1)
    for i in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    table, link = np.empty((get_map_size(longest), 2), np.int32), np.empty(longest, np.int32)
    local, lists, marks, born, counts, tree, sums, basis, pivot = allocate_state(longest, 2 * longest, one)
    steps = np.empty((5, nodes.shape[0]), np.int64)
    gaps, filled = np.empty(48, np.int32), np.int64(0)
    for i in range(offsets.shape[0] - 1):
        walk = nodes[offsets[i] : offsets[i + 1]]
        places = table[: get_map_size(walk.shape[0])]
        map_clear(places)
        clear_state(born, counts)
        linked, dimension = np.int64(0), one
        for step in range(walk.shape[0]):
            size = find_link(indptr, indices, walk[step], walk, places, step, link)
            if not has_room(marks, counts, size):
                lists, marks, born, tree, sums, basis, pivot = enlarge_state(longest, lists, marks, born, counts, size)
            linked += size > 0
            for k in range(size):
                linked += local[link[k], HEAD] == -1
            closed = add_node(
                walk[step], link, size, places, local, lists, marks, born, counts, tree, sums, basis, pivot
            )
            gaps = reserve(gaps, filled, 3 * closed)
            for r in range(closed):
                gaps[filled], gaps[filled + 1], gaps[filled + 2] = i, pivot[r], step
                filled += 3
            dimension = raise_dimension(linked, counts[EDGES], dimension)
            k = offsets[i] + step
            steps[0, k], steps[1, k], steps[2, k] = counts[EDGES], counts[COMPONENTS], counts[GAPS]
            steps[3, k], steps[4, k] = dimension, dimension * linked - counts[EDGES]
        gaps = reserve(gaps, filled, 3 * counts[GAPS])
        for bit in range(born.shape[0]):
            if born[bit] != -1:
                gaps[filled], gaps[filled + 1], gaps[filled + 2] = i, born[bit], -1
                filled += 3
    return steps, gaps[:filled]


@kernel
def count_candidate_gaps(indptr, indices, nodes, places, local, lists, marks, born, counts, offsets, candidates, masks):
    """Return beta_1 of S + v for every candidate v of every walk of a batch; `masks` is a workspace, a zero per node.

    If a walk has at most 64 nodes and many candidates, its neighbors are marked by bits: then the links of all
    candidates are known, and only links with cycles have to be surveyed.
    """
    out = np.empty(candidates.shape[0], np.float64)
    tree, sums, basis, pivot = _allocate_scratch(local.shape[1], marks.shape[2])
    link, adjacent = np.empty(local.shape[1], np.int32), np.empty(64, np.uint64)
    for i in range(offsets.shape[0] - 1):
        walk, place, count, birth = nodes[i], places[i], counts[i], born[i]  # once: a slice costs as much as an edge
        near, entries, bits = local[i], lists[i], marks[i]
        length = count[NODES]
        cost = 0 if length <= 64 and count[COMPONENTS] == 1 else np.iinfo(np.int64).max
        for t in range(length if cost == 0 else 0):
            cost += 2 * (indptr[walk[t] + 1] - indptr[walk[t]])
        for c in range(offsets[i], offsets[i + 1]):
            cost -= min(indptr[candidates[c] + 1] - indptr[candidates[c]] + 8, 4 * length)
        if cost > 0:
            for c in range(offsets[i], offsets[i + 1]):
                size = find_link(indptr, indices, candidates[c], walk, place, length, link)
                opened, closed = survey_link(link, size, near, entries, bits, birth, count, tree, sums, basis, pivot)
                out[c] = count[GAPS] + opened - closed
            continue
        for t in range(length):
            for slot in range(indptr[walk[t]], indptr[walk[t] + 1]):
                masks[indices[slot]] |= np.uint64(1) << np.uint64(t)
        for t in range(length):
            adjacent[t] = masks[walk[t]]
        for c in range(offsets[i], offsets[i + 1]):
            mask = masks[candidates[c]]
            size, edges = 0, 0
            while mask != np.uint64(0):
                link[size] = find_lowest(mask)
                edges += count_bits(adjacent[link[size]] & mask)
                mask &= mask - np.uint64(1)
                size += 1
            opened, closed = max(count_pieces(masks[candidates[c]], adjacent) - 1, 0), 0
            if count[GAPS] > 0 and edges >= size - opened:  # the link has a cycle
                opened, closed = survey_link(link, size, near, entries, bits, birth, count, tree, sums, basis, pivot)
            out[c] = count[GAPS] + opened - closed
        for t in range(length):
            for slot in range(indptr[walk[t]], indptr[walk[t] + 1]):
                masks[indices[slot]] = np.uint64(0)
    return out


@kernel
def grow_walks(indptr, indices, nodes, lengths, places, local, lists, marks, born, counts):
    """Update the state of every walk of a batch to its first `lengths[i]` nodes.

    Return the closed gaps as in `measure_walks`, and the numbers of edges and of gap bits that the state needs room for
    before the update can continue; both are 0 when all walks are up to date.
    """
    tree, sums, basis, pivot = _allocate_scratch(local.shape[1], marks.shape[2])
    link = np.empty(local.shape[1], np.int32)
    gaps = np.empty(48, np.int32)
    filled, most_edges, most_gaps = np.int64(0), 0, 0
    for i in range(lengths.shape[0]):
        walk, place, count, birth = nodes[i], places[i], counts[i], born[i]  # once: a slice costs as much as an edge
        near, entries, bits = local[i], lists[i], marks[i]
        for step in range(count[NODES], lengths[i]):
            size = find_link(indptr, indices, walk[step], walk, place, step, link)
            if not has_room(bits, count, size):
                most_edges = max(most_edges, count[EDGES] + size)
                most_gaps = max(most_gaps, count[GAPS] + size)
                break
            closed = add_node(
                walk[step], link, size, place, near, entries, bits, birth, count, tree, sums, basis, pivot
            )
            gaps = reserve(gaps, filled, 3 * closed)
            for r in range(closed):
                gaps[filled], gaps[filled + 1], gaps[filled + 2] = i, pivot[r], step
                filled += 3
    return gaps[:filled], most_edges, most_gaps


@inline_kernel
def allocate_state(nodes, room, words):
    """Return `local`, `lists`, `marks`, `born` and `counts` of one walk, and the workspaces of `survey_link`."""
    lists, marks = np.empty((2 * room, 2), np.int32), np.empty((room, words), np.uint64)
    tree, sums, basis, pivot = _allocate_scratch(nodes, words)
    local, born, counts = np.empty((nodes, 2), np.int32), np.empty(64 * words, np.int64), np.empty(4, np.int64)
    return local, lists, marks, born, counts, tree, sums, basis, pivot


@inline_kernel
def clear_state(born, counts):
    """Remove all nodes from the state of a walk."""
    for bit in range(born.shape[0]):
        born[bit] = -1
    for k in range(4):
        counts[k] = 0


@inline_kernel
def has_room(marks, counts, size):
    """Return whether the edges and gaps of a node with `size` visited neighbors fit into the state of a walk."""
    return counts[EDGES] + size <= marks.shape[0] and counts[GAPS] + size <= 64 * marks.shape[1]


@inline_kernel
def enlarge_state(nodes, lists, marks, born, counts, size):
    """Return larger copies of these arrays, and larger workspaces of `survey_link`."""
    room, words = marks.shape
    if counts[GAPS] + size > 64 * words:
        words = 2 * words + size // 64
    room = max(room, 2 * (counts[EDGES] + size))
    _, more_lists, more_marks, more_born, _, tree, sums, basis, pivot = allocate_state(nodes, room, words)
    for edge in range(counts[EDGES]):
        for end in range(2 * edge, 2 * edge + 2):
            more_lists[end, TO], more_lists[end, NEXT] = lists[end, TO], lists[end, NEXT]
        for b in range(words):
            more_marks[edge, b] = marks[edge, b] if b < marks.shape[1] else np.uint64(0)
    for bit in range(64 * words):
        more_born[bit] = born[bit] if bit < born.shape[0] else -1
    return more_lists, more_marks, more_born, tree, sums, basis, pivot


@inline_kernel
def _allocate_scratch(nodes, words):
    """Return the workspaces `tree`, `sums`, `basis` and `pivot` of `survey_link`."""
    tree, sums = np.empty((nodes, 3), np.int32), np.empty((nodes, words), np.uint64)
    for t in range(nodes):
        tree[t, MARK] = 0
    # a node may close more gaps than the walk has nodes
    return tree, sums, np.empty((64 * words, words), np.uint64), np.empty(64 * words, np.int64)


@inner_kernel
def survey_link(link, size, local, lists, marks, born, counts, tree, sums, basis, pivot):
    """Return the numbers of gaps that a node with this link opens and closes.

    Also set, for `add_node`, `basis` (independent sums around the link's cycles), `pivot` (the gap that each of them
    closes), `sums` (bits along the tree path from the root of a node's component of the link) and `tree[:, ROOT]` (that
    root). `tree[:, MARK]` is all zero on entry and on return.
    """
    if size == 0:
        return 0, 0
    words = marks.shape[1] if counts[GAPS] > 0 else 0
    rank, roots = np.int64(0), 0
    for k in range(size):
        tree[link[k], MARK] = 1
        for b in range(marks.shape[1]):
            sums[link[k], b] = 0
    for k in range(size):
        root = link[k]
        if tree[root, MARK] != 1:
            continue
        roots += 1
        tree[root, MARK] = 2
        tree[root, ROOT] = root
        tree[0, QUEUE] = root
        first, last = 0, 1
        while first < last:
            u = tree[first, QUEUE]
            first += 1
            slot = local[u, HEAD]
            while slot != -1:
                w = lists[slot, TO]
                if tree[w, MARK] == 1:
                    tree[w, MARK] = 2
                    tree[w, ROOT] = root
                    tree[last, QUEUE] = w
                    last += 1
                    for b in range(words):
                        sums[w, b] = sums[u, b] ^ marks[slot >> 1, b]
                elif tree[w, MARK] == 2 and w < u and rank < counts[GAPS]:
                    for b in range(words):
                        basis[rank, b] = sums[u, b] ^ sums[w, b] ^ marks[slot >> 1, b]
                    rank += _reduce_sum(basis, rank, words, pivot, born)
                slot = lists[slot, NEXT]
    opened = roots - 1
    if counts[COMPONENTS] > 1 and roots > 1:
        opened = roots
        for k in range(size):  # a component of S is named by a local node
            component = local[link[k], COMPONENT]
            opened -= tree[component, MARK] & 4 == 0
            tree[component, MARK] |= 4
        for k in range(size):
            tree[local[link[k], COMPONENT], MARK] = 0
    for k in range(size):
        tree[link[k], MARK] = 0
    return opened, rank


@inner_kernel
def _reduce_sum(basis, row, words, pivot, born):
    """Clear the pivots of earlier rows from this one and make its youngest gap its pivot; return whether it has any."""
    for r in range(row):
        if (basis[row, pivot[r] >> 6] >> np.uint64(pivot[r] & 63)) & np.uint64(1):
            for b in range(words):
                basis[row, b] ^= basis[r, b]
    youngest = -1
    for b in range(words):
        rest = basis[row, b]
        bit = 64 * b
        while rest != 0:
            if rest & np.uint64(1) and (youngest == -1 or born[bit] > born[youngest]):
                youngest = bit
            rest >>= np.uint64(1)
            bit += 1
    pivot[row] = youngest
    return youngest != -1


@inner_kernel
def add_node(v, link, size, places, local, lists, marks, born, counts, tree, sums, basis, pivot):
    """Add v and its edges to the state of a walk; return the number of gaps that it closes.

    The steps at which these gaps were opened are written to `pivot`.
    """
    step = counts[NODES]
    opened, closed = survey_link(link, size, local, lists, marks, born, counts, tree, sums, basis, pivot)
    map_put(places, v, step)
    local[step, HEAD] = -1
    local[step, COMPONENT] = step if size == 0 else local[link[0], COMPONENT]
    counts[COMPONENTS] += size == 0
    free = 0
    for k in range(1, size):
        u = link[k]
        if tree[u, ROOT] != u:
            continue
        if local[u, COMPONENT] == local[step, COMPONENT]:  # a further component of the link opens a gap
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
            if tree[u, ROOT] != u:
                marks[edge, b] ^= sums[tree[u, ROOT], b]
        lists[2 * edge, TO], lists[2 * edge, NEXT] = u, local[step, HEAD]  # each at the front of the other's list
        lists[2 * edge + 1, TO], lists[2 * edge + 1, NEXT] = step, local[u, HEAD]
        local[step, HEAD], local[u, HEAD] = 2 * edge, 2 * edge + 1
        counts[EDGES] += 1
    for r in range(closed):  # add the sum to every edge that the closed gap runs through
        gap = pivot[r]
        for edge in range(counts[EDGES]):
            if (marks[edge, gap >> 6] >> np.uint64(gap & 63)) & np.uint64(1):
                for b in range(marks.shape[1]):
                    marks[edge, b] ^= basis[r, b]
        pivot[r] = born[gap]
        born[gap] = -1
    counts[NODES] += 1
    counts[GAPS] += opened - closed
    return closed
