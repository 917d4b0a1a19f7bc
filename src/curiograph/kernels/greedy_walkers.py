"""Greedy curious walkers that take few steps: their expected visits from a start node, in one call.

Walkers follow the rank transition of the rewards of their candidates, as in `centrality.swarm`. Visited subgraphs of
up to `MAX_NODES` nodes are numbers: bit t (t - 1) / 2 + s says whether nodes s < t, in ascending order, are linked. A
table holds the reward of each number, computed when it is first needed, so that a candidate costs one look-up.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import has_edge, reserve, sort_range
from curiograph.kernels.candidates import find_candidates, round_scores
from curiograph.kernels.compressibility import allocate_workspace, compute_bits
from curiograph.kernels.jit import inline_kernel, inner_kernel, kernel
from curiograph.kernels.random import draw_uniform
from curiograph.kernels.rank_probabilities import compute_probabilities
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
    out_indptr, out_indices, indptr, indices, start, steps, alpha, p_g, size, groups, tail, fallback, streams, reward,
    f, unit, table, sums, seen, least,
):  # fmt: skip
    """Simulate walkers from one start; follow all paths if they are few, and otherwise sample them in groups.

    Parameters
    ----------
    out_indptr, out_indices : out-neighbors, along which walkers move.
    indptr, indices : neighbors in either direction, which define subgraphs.
    start : start node.
    steps : maximum number of steps, less than `MAX_NODES`.
    alpha, p_g : weight of a step relative to the one before, and parameter of the rank transition.
    size, groups, tail : limits of the swarm, see `centrality.swarm.SwarmLimits`.
    fallback : candidates at a dead end, see `kernels.candidates`.
    streams : random stream of each group.
    reward : `GAPS` or `COMPRESSIBILITY`.
    f, unit : entropy table of the compressibility.
    table : rewards of all subgraphs of up to `steps` + 1 nodes; NaN if not computed yet.
    sums : workspace, (groups + 1) x nodes, zeros on entry and on return.
    seen : workspace, a zero per node on entry and on return.
    least : smallest expected number of visits that is returned.

    Returns
    -------
    The nodes reached, ascending; their expected visits and standard errors; and the expected visits of all nodes.
    """
    work = allocate_workspace(np.int64(MAX_NODES))
    touched = np.empty(1024, np.int32)
    touched[0] = start
    num_touched = np.int64(1)
    seen[start] = 1
    sums[groups, start] = 1.0
    paths, nowhere = np.empty((1, 1), np.int32), np.empty(MAX_NODES, np.int32)
    bounds, states, weights = np.empty(2, np.int64), np.empty(1, np.int64), np.empty(1, np.float64)
    paths[0, 0], bounds[0], bounds[1], states[0], weights[0] = start, 0, 1, 0, 1.0
    for t in range(MAX_NODES):
        nowhere[t] = -1
    sampled = False
    for step in range(1, steps + 1):
        if not alpha**step > (tail if sampled else _NEGLIGIBLE):
            break
        count = paths.shape[0]
        lengths, low, high = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
        for i in range(count):
            lengths[i], low[i], high[i] = step, 0, indptr.shape[0] - 1
        offsets, candidates = find_candidates(out_indptr, out_indices, paths, lengths, low, high, fallback)
        rewards = np.empty(candidates.shape[0], np.float64)
        marked = nowhere.copy()
        for i in range(count):
            first, last = offsets[i], offsets[i + 1]
            if first < last:
                _mark_neighbors(indptr, indices, paths[i], marked, seen)
                _compute_rewards(
                    out_indptr, out_indices, indptr, indices, paths[i], candidates[first:last], seen, reward, f, unit,
                    table, work, rewards[first:last],
                )  # fmt: skip
        _mark_neighbors(indptr, indices, nowhere[:step], marked, seen)
        chances, branches = compute_probabilities(offsets, rewards, p_g), 0
        for c in range(chances.shape[0]):
            branches += chances[c] > 0.0
        touched, num_touched = _mark_reached(candidates, chances, seen, touched, num_touched)
        for g in range(bounds.shape[0] - 1):
            row = g if sampled else groups
            for k in range(bounds[g], bounds[g + 1]):
                weight = weights[k] * alpha**step
                for c in range(offsets[states[k]], offsets[states[k] + 1]):
                    sums[row, candidates[c]] += weight * chances[c]
        if step == steps:
            break
        if not sampled and branches > size * groups:
            sampled = True
            bounds = np.empty(groups + 1, np.int64)
            for g in range(groups + 1):
                bounds[g] = g * states.shape[0]
            states, weights = _repeat(states, groups), _repeat(weights, groups)
        wanted = max(1, int(size * alpha ** (1.2 * step))) if sampled else size * groups
        luck = np.empty(bounds.shape[0] - 1, np.float64)
        for g in range(luck.shape[0]):
            luck[g] = draw_uniform(streams[g], step, np.int64(0))
        bounds, chosen, weights = branch_walkers(bounds, states, weights, offsets, chances, wanted, luck)
        if chosen.shape[0] == 0:
            break
        paths, states = _extend_paths(paths, offsets, candidates, chosen)
    return _summarize(touched, num_touched, seen, sums, groups, sampled, least)


@inner_kernel
def _repeat(values, times):
    """Return an array repeated end to end."""
    out = np.empty(times * values.shape[0], values.dtype)
    for k in range(out.shape[0]):
        out[k] = values[k % values.shape[0]]
    return out


@inline_kernel
def _compute_rewards(
    out_indptr, out_indices, indptr, indices, path, candidates, marks, reward, f, unit, table, work, out
):
    """Write the reward of the path with each candidate, ascending, rounded to nine digits of the largest, to `out`.

    The neighbors of all nodes of the path but the last are marked by `_mark_neighbors`.
    """
    length = path.shape[0]
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
    first_bit = length * (length - 1) // 2  # of the links of a candidate
    for c in range(candidates.shape[0]):
        v = candidates[c]
        code = inner | (np.int64(marks[v]) >> 2 & ((1 << (length - 1)) - 1)) << first_bit
        if is_neighbor or has_edge(indptr, indices, v, at_end):
            code |= 1 << (first_bit + length - 1)
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
        out[c] = value
    round_scores(out, np.int64(0), candidates.shape[0], out)


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


@inner_kernel
def _mark_reached(candidates, chances, seen, touched, count):
    """Append the candidates of positive probability that are not seen yet to `touched`; return it and its length."""
    for c in range(candidates.shape[0]):
        v = candidates[c]
        if chances[c] > 0.0 and not seen[v]:
            seen[v] = 1
            if count == touched.shape[0]:
                touched = reserve(touched, count, count)
            touched[count] = v
            count += 1
    return touched, count


@inline_kernel
def _extend_paths(paths, offsets, candidates, chosen):
    """Return the distinct paths that lead to the chosen candidates, and the path of each of them."""
    number = np.empty(candidates.shape[0], np.int64)
    for c in range(candidates.shape[0]):
        number[c] = -1
    for k in range(chosen.shape[0]):
        number[chosen[k]] = 0
    count = 0
    for c in range(candidates.shape[0]):
        if number[c] == 0:
            number[c] = count
            count += 1
    length = paths.shape[1]
    extended = np.empty((count, length + 1), np.int32)
    for i in range(paths.shape[0]):
        for c in range(offsets[i], offsets[i + 1]):
            if number[c] >= 0:
                for t in range(length):
                    extended[number[c], t] = paths[i, t]
                extended[number[c], length] = candidates[c]
    states = np.empty(chosen.shape[0], np.int64)
    for k in range(chosen.shape[0]):
        states[k] = number[chosen[k]]
    return extended, states


@inline_kernel
def _summarize(touched, count, seen, sums, groups, sampled, least):
    """Return the results of `simulate_walkers`, and clear its workspaces."""
    sort_range(touched, np.int64(0), count)
    nodes = np.empty(count, np.int32)
    visits = np.empty(count, np.float32)
    errors = np.empty(count, np.float32)
    total, kept = 0.0, 0
    for k in range(count):
        v = touched[k]
        mean = 0.0
        for g in range(groups):
            mean += sums[g, v] / groups
        variance = 0.0
        for g in range(groups):
            variance += (sums[g, v] - mean) ** 2
        mean += sums[groups, v]
        total += mean
        if mean > least:
            nodes[kept] = v
            visits[kept] = mean
            errors[kept] = np.sqrt(variance / (groups - 1) / groups) if sampled else 0.0
            kept += 1
        seen[v] = 0
        for g in range(groups + 1):
            sums[g, v] = 0.0
    return nodes[:kept].copy(), visits[:kept].copy(), errors[:kept].copy(), total
