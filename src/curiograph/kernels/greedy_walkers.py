"""Greedy curious walkers that take few steps: their expected visits from a start node, in one call.

Walkers follow the rank transition of the rewards of their candidates, as in `centrality.swarm`. Visited subgraphs of
up to `MAX_NODES` nodes are numbers: bit t (t - 1) / 2 + s says whether nodes s < t, in ascending order, are linked. A
table holds the reward of each number, computed when it is first needed, so that a candidate costs one look-up.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import has_edge, reserve
from curiograph.kernels.candidates import find_candidates
from curiograph.kernels.compressibility import allocate_workspace, compute_bits
from curiograph.kernels.jit import inline_kernel, inner_kernel, kernel
from curiograph.kernels.random import draw_uniform
from curiograph.kernels.rank_probabilities import apply_weights, sum_tail
from curiograph.kernels.resampling import branch_walkers

MAX_NODES = 7
"""Largest subgraphs of a table: 2^21 entries, 16 MB."""
GAPS, COMPRESSIBILITY = 0, 1

_NEGLIGIBLE = 1e-17  # probability below the precision of any sum


def count_table_entries(nodes: int) -> int:
    """Return the number of subgraphs of 1 to `nodes` nodes."""
    return sum(1 << m * (m - 1) // 2 for m in range(1, nodes + 1))


@kernel
def simulate_walkers(
    out_indptr, out_indices, out_weights, indptr, indices, start, steps, alpha, p_g, walks, tail, fallback, stream,
    reward, f, unit, table, sums, seen,
):  # fmt: skip
    """Simulate walkers from one start; follow all paths if they are few, and otherwise sample them.

    Parameters
    ----------
    out_indptr, out_indices, out_weights : out-neighbors, along which walkers move; None for equal weights.
    indptr, indices : neighbors in either direction, which define subgraphs.
    start : start node.
    steps : maximum number of steps, less than `MAX_NODES`.
    alpha, p_g : weight of a step relative to the one before, and parameter of the rank transition.
    walks, tail : limits of the swarm of one group, see `centrality.swarm.SwarmLimits`.
    fallback : candidates at a dead end, see `kernels.candidates`.
    stream : random stream.
    reward : `GAPS` or `COMPRESSIBILITY`.
    f, unit : entropy table of the compressibility.
    table : rewards of all subgraphs of up to `steps` + 1 nodes; NaN if not computed yet.
    sums : workspace, a zero per node on entry and on return.
    seen : workspace, a zero per node on entry and on return.

    Returns
    -------
    The nodes reached, in order of discovery, and their expected visits.
    """
    work = allocate_workspace(np.int64(MAX_NODES))
    touched, num_touched = np.empty(1024, np.int32), np.int64(1)
    paths, nowhere = np.empty((1, 1), np.int32), np.empty(MAX_NODES, np.int32)
    bounds, states, weights = np.zeros(2, np.int64), np.zeros(1, np.int64), np.ones(1, np.float64)
    paths[0, 0] = touched[0] = start
    sums[start] = seen[start] = 1
    for t in range(MAX_NODES):
        nowhere[t] = -1
    sampled = False
    for step in range(1, steps + 1):
        if not alpha**step > (tail if sampled else _NEGLIGIBLE):
            break
        count = paths.shape[0]
        lengths, low, high = np.empty(count, np.int64), np.zeros(count, np.int64), np.empty(count, np.int64)
        for i in range(count):
            lengths[i], high[i] = step, indptr.shape[0] - 1
        offsets, candidates = find_candidates(out_indptr, out_indices, paths, lengths, low, high, fallback)
        chances = np.empty(candidates.shape[0], np.float64)
        marked, branches = nowhere.copy(), 0
        for i in range(count):
            first, last = offsets[i], offsets[i + 1]
            if first == last:
                continue
            _mark_neighbors(indptr, indices, paths[i], marked, seen)
            _compute_chances(
                out_indptr, out_indices, indptr, indices, paths[i], candidates[first:last], seen, p_g, reward, f, unit,
                table, work, chances[first:last],
            )  # fmt: skip
            if out_weights is not None:
                apply_weights(
                    out_indptr, out_indices, out_weights, paths[i, step - 1], candidates, chances, first, last
                )
            weight = weights[i] * alpha**step
            touched = reserve(touched, num_touched, last - first)
            for c in range(first, last):
                if chances[c] > 0.0:
                    branches += 1
                    v = candidates[c]
                    if not seen[v] & 1:
                        seen[v] |= 1
                        touched[num_touched] = v
                        num_touched += 1
                    sums[v] += weight * chances[c]
        _mark_neighbors(indptr, indices, nowhere[:step], marked, seen)
        if step == steps:
            break
        sampled |= branches > walks
        luck = np.empty(1, np.float64)
        luck[0] = draw_uniform(stream, step, np.int64(0))
        bounds[1], states = count, np.arange(count)
        wanted = max(1, int(walks * alpha ** (1.2 * step))) if sampled else walks
        _, chosen, weights = branch_walkers(bounds, states, weights, offsets, chances, wanted, luck)
        if chosen.shape[0] == 0:
            break
        paths = _extend_paths(paths, offsets, candidates, chosen)
    nodes, visits = touched[:num_touched].copy(), np.empty(num_touched, np.float64)
    for k in range(num_touched):
        visits[k] = sums[nodes[k]]
        sums[nodes[k]] = seen[nodes[k]] = 0
    return nodes, visits


@inline_kernel
def _compute_chances(
    out_indptr, out_indices, indptr, indices, path, candidates, marks, p_g, reward, f, unit, table, work, out
):
    """Write the probability of each candidate of a path, ascending, to `out`: the rank transition of their rewards.

    The neighbors of all nodes of the path but the last are marked by `_mark_neighbors`. Candidates that are linked to
    the same nodes of the path have the same reward, so only these sets of links are ranked. Rewards are rounded to nine
    digits of the largest.
    """
    length, count = path.shape[0], candidates.shape[0]
    begin = 0  # of the subgraphs of length + 1 nodes in the table
    for m in range(1, length + 1):
        begin += 1 << (m * (m - 1) // 2)
    inner = 0
    for t in range(1, length):
        for s in range(t):
            if has_edge(indptr, indices, path[s], path[t]):
                inner |= 1 << (t * (t - 1) // 2 + s)
    at_end = path[length - 1]
    is_neighbor = has_edge(out_indptr, out_indices, at_end, candidates[0])  # or all are candidates of the fallback
    numbers = np.zeros(1 << length, np.int64)  # of candidates by links
    for c in range(count):
        links = np.int64(marks[candidates[c]]) >> 2 & ((1 << (length - 1)) - 1)
        if is_neighbor or has_edge(indptr, indices, candidates[c], at_end):
            links |= 1 << (length - 1)
        numbers[links] += 1
        out[c] = links
    rewards, order = np.empty(1 << length, np.float64), np.empty(1 << length, np.int64)
    distinct, largest = 0, 0.0
    for links in range(1 << length):
        if numbers[links] > 0:
            code = inner | links << (length * (length - 1) // 2)
            value = table[begin + code]
            if value != value:
                if reward == GAPS:
                    value = count_gaps(length + 1, code)
                else:
                    for t in range(length + 1):
                        work[0][t, t] = 1  # a self-loop
                        for s in range(t):
                            work[0][s, t] = work[0][t, s] = code >> (t * (t - 1) // 2 + s) & 1
                    value = compute_bits(length + 1, f, unit, work)
                table[begin + code] = value
            rewards[links] = value
            largest = max(largest, abs(value))
            order[distinct] = links
            distinct += 1
    for k in range(distinct):  # sort by reward, highest first
        links = order[k]
        if largest > 0.0:
            rewards[links] = np.rint(rewards[links] / largest * 1e9)
        while k > 0 and rewards[order[k - 1]] < rewards[links]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = links
    first, rank = 0, 0
    while first < distinct:
        end, tied = first, 0
        while end < distinct and rewards[order[end]] == rewards[order[first]]:
            tied += numbers[order[end]]
            end += 1
        share = (sum_tail(rank, count, p_g) - sum_tail(rank + tied, count, p_g)) / tied
        for k in range(first, end):
            rewards[order[k]] = share
        first, rank = end, rank + tied
    for c in range(count):
        out[c] = rewards[np.int64(out[c])]


@inner_kernel
def _mark_neighbors(indptr, indices, path, marked, marks):
    """Set bit p + 2 of `marks` for the neighbors of node p of the path, for all but the last.

    `marked` holds the nodes whose neighbors are marked, or -1: paths in sequence share their first nodes.
    """
    for p in range(path.shape[0] - 1):
        if marked[p] != path[p]:
            for v in (marked[p], path[p]):
                if v >= 0:
                    for k in range(indptr[v], indptr[v + 1]):
                        marks[indices[k]] ^= 1 << (p + 2)
            marked[p] = path[p]


@inner_kernel
def count_gaps(nodes, code):
    """Return beta_1 of the clique complex of a subgraph: links - nodes + components - rank of the triangles."""
    part, basis = np.empty(nodes, np.int64), np.empty(64, np.int64)
    for t in range(nodes):
        part[t] = t
    for bit in range(64):
        basis[bit] = 0
    links, components, rank = 0, nodes, 0
    for t in range(nodes):
        for s in range(t):
            st = t * (t - 1) // 2 + s
            if not code >> st & 1:
                continue
            links += 1
            if part[s] != part[t]:
                components -= 1
                old, new = part[t], part[s]
                for u in range(nodes):
                    if part[u] == old:
                        part[u] = new
            for r in range(s):
                rs, rt = s * (s - 1) // 2 + r, t * (t - 1) // 2 + r
                if code >> rs & 1 and code >> rt & 1:
                    vector = (1 << st) | (1 << rs) | (1 << rt)
                    bit = 0
                    while vector != 0:
                        while not vector >> bit & 1:
                            bit += 1
                        if basis[bit] == 0:
                            basis[bit] = vector
                            rank += 1
                            break
                        vector ^= basis[bit]
    return float(links - nodes + components - rank)


@inline_kernel
def _extend_paths(paths, offsets, candidates, chosen):
    """Return the paths that lead to the chosen candidates, which are in ascending order."""
    length = paths.shape[1]
    extended = np.empty((chosen.shape[0], length + 1), np.int32)
    i = 0
    for k in range(chosen.shape[0]):
        while offsets[i + 1] <= chosen[k]:
            i += 1
        for t in range(length):
            extended[k, t] = paths[i, t]
        extended[k, length] = candidates[chosen[k]]
    return extended
