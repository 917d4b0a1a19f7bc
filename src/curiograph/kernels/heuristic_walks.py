"""Walks to the end in one call, by the rules of the paper's baselines: at random, by degree, or greedy."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import find_link, get_map_size, map_clear, map_put
from curiograph.kernels.candidates import append_candidates, find_best, round_scores
from curiograph.kernels.compressibility import allocate_workspace, build_adjacency, compute_joined_bits
from curiograph.kernels.homology import GAPS, add_node, allocate_state, clear_state, reserve_state, survey_link
from curiograph.kernels.jit import inner_kernel, kernel

FEWEST, RANDOM, MOST, GREEDY = -1, 0, 1, 2


@kernel
def run_walks(
    out_indptr, out_indices, indptr, indices, low, high, fallback, streams, rule, f, unit, most, nodes, lengths, rewards
):
    """Continue walks, in place, until they have `most` nodes or no candidates.

    Parameters
    ----------
    out_indptr, out_indices : out-neighbors, along which walks move.
    indptr, indices : neighbors in either direction, which define subgraphs.
    low, high, fallback : candidates of each walk, see `kernels.candidates`.
    streams : random stream of each walk, for ties.
    rule : `MOST` or `FEWEST` out-neighbors, `RANDOM`, or `GREEDY` for the highest reward.
    f, unit : entropy table if the reward is compressibility; None and 0 if it is the number of gaps.
    most, nodes, lengths, rewards : as in `exploration.mdp.Exploration`.
    """
    longest = nodes.shape[1]
    places, link = np.empty((get_map_size(longest), 2), np.int32), np.empty(longest, np.int32)
    state, work = allocate_state(longest, 2 * longest, 1), allocate_workspace(most if f is not None else 1)
    inner = np.empty((most, most) if f is not None else (1, 1), np.int8)
    candidates, values, scores = np.empty(16, np.int32), np.empty(16), np.empty(16)
    for i in range(nodes.shape[0]):
        walk = nodes[i]
        map_clear(places)
        clear_state(state)
        for t in range(lengths[i]):
            state = _visit(indptr, indices, walk, t, places, link, state, f)
        while 0 < lengths[i] < most:
            length = lengths[i]
            candidates, count = append_candidates(
                out_indptr, out_indices, walk, length, places, low[i], high[i], fallback, candidates, 0
            )
            if count > values.shape[0]:
                values, scores = np.empty(2 * count), np.empty(2 * count)
            if f is not None:
                build_adjacency(indptr, indices, walk[:length], inner)
            if rule == GREEDY:
                _evaluate(indptr, indices, walk, length, candidates, 0, count, places, link, state, inner, f, unit, work, values)
                round_scores(values, 0, count, scores)
            else:
                for c in range(count):
                    scores[c] = rule * (out_indptr[candidates[c] + 1] - out_indptr[candidates[c]])
            best = find_best(candidates, scores, 0, count, streams[i], length)
            if best == -1:
                break
            if rule != GREEDY:
                _evaluate(indptr, indices, walk, length, candidates, best, best + 1, places, link, state, inner, f, unit, work, values)
            walk[length], rewards[i, length - 1] = candidates[best], values[best]
            state = _visit(indptr, indices, walk, length, places, link, state, f)
            lengths[i] += 1


@inner_kernel
def _visit(indptr, indices, walk, step, places, link, state, f):
    """Add a node of the walk to its map and, if the reward is the number of gaps, to their state; return the state."""
    if f is not None:
        map_put(places, walk[step], step)
        return state
    size = find_link(indptr, indices, walk[step], walk, places, step, link)
    state = reserve_state(state, size)
    add_node(walk[step], link, size, places, *state)
    return state


@inner_kernel
def _evaluate(indptr, indices, walk, length, candidates, first, last, places, link, state, inner, f, unit, work, values):
    """Write the reward of the walk followed by each of the candidates from `first` to `last` - 1."""
    for c in range(first, last):
        if f is not None:
            values[c] = compute_joined_bits(indptr, indices, walk[:length], candidates[c], inner, f, unit, work)
        else:
            size = find_link(indptr, indices, candidates[c], walk, places, length, link)
            opened, closed = survey_link(link, size, *state)
            values[c] = state[4][GAPS] + opened - closed
