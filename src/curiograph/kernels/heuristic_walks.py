"""Walks to the end in one call, by the rules of the paper's baselines: at random, by degree, or greedy."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.adjacency import find_link, get_map_size, map_clear, map_put
from curiograph.kernels.candidates import append_candidates, find_best, round_scores
from curiograph.kernels.compressibility import allocate_workspace, compute_joined_bits, extend_adjacency
from curiograph.kernels.homology import (
    GAPS,
    add_node,
    allocate_state,
    clear_state,
    enlarge_state,
    has_room,
    survey_link,
)
from curiograph.kernels.jit import kernel

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
    local, lists, marks, born, counts, tree, sums, basis, pivot = allocate_state(longest, 2 * longest, np.int64(1))
    work = allocate_workspace(1 if f is None else most)
    inner = np.empty(work[0].shape, np.int8)
    candidates, values, scores = np.empty(16, np.int32), np.empty(16), np.empty(16)
    for i in range(nodes.shape[0]):
        if lengths[i] >= most:
            continue
        walk = nodes[i]
        map_clear(places)
        clear_state(born, counts)
        step = np.int64(0)
        while step < lengths[i]:
            v = walk[step]
            if f is None:
                size = find_link(indptr, indices, v, walk, places, step, link)
                if not has_room(marks, counts, size):
                    lists, marks, born, tree, sums, basis, pivot = enlarge_state(
                        longest, lists, marks, born, counts, size
                    )
                add_node(v, link, size, places, local, lists, marks, born, counts, tree, sums, basis, pivot)
            else:
                map_put(places, v, step)
                extend_adjacency(indptr, indices, walk[: step + 1], step, inner)
            step += 1
            if step < lengths[i] or step == most:
                continue
            candidates, count = append_candidates(
                out_indptr, out_indices, walk, step, places, low[i], high[i], fallback, candidates, np.int64(0)
            )
            if count == 0:
                break
            if count > values.shape[0]:
                values, scores = np.empty(2 * count), np.empty(2 * count)
            first, last = 0, count
            if rule != GREEDY:
                for c in range(count):
                    scores[c] = rule * (out_indptr[candidates[c] + 1] - out_indptr[candidates[c]])
                first = find_best(candidates, scores, 0, count, streams[i], step)
                last = first + 1  # only the reward of the chosen one is needed
            for c in range(first, last):
                if f is None:
                    size = find_link(indptr, indices, candidates[c], walk, places, step, link)
                    opened, closed = survey_link(
                        link, size, local, lists, marks, born, counts, tree, sums, basis, pivot
                    )
                    values[c] = counts[GAPS] + opened - closed
                else:
                    values[c] = compute_joined_bits(
                        indptr, indices, walk[:step], candidates[c], inner, None, f, unit, work
                    )
            if rule == GREEDY:
                round_scores(values, first, count, scores)
                first = find_best(candidates, scores, 0, count, streams[i], step)
            walk[step], rewards[i, step - 1] = candidates[first], values[first]
            lengths[i] += 1
