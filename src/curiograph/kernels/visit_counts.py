"""Scores of candidates by what a person has seen before: counts of visits and steps, in one pass over all walks.

Counts are of the earlier visits of the same person in all walks, with returns. They leak: with every visit, all counts
are multiplied by `leak`, which is applied when a count is read. The steps that left a node are in a linked list.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel

NOVELTY, SURPRISE, INFORMATION_GAIN, RECENCY = 0, 1, 2, 3


@kernel
def score_candidates(nodes, offsets, users, visits, order, bounds, candidates, degrees, kind, leak):
    """Return a score of each candidate, at the time just before the visit of its choice.

    Parameters
    ----------
    nodes, offsets, users : visits of all walks, bounds and users of the walks; the walks of a user are adjacent.
    visits, order : index in `nodes` of the visit that each choice led to, and the order that sorts them.
    bounds, candidates : bounds of the choices in `candidates`, and candidates.
    degrees : out-degree of every node.
    kind : NOVELTY is -log(1 + n(v)); SURPRISE -log p(v | last); INFORMATION_GAIN the expected divergence of the
        distribution p(. | v) from that after one more step from v; RECENCY 1 / (visits since v), 0 if never.
        p(w | v) = (n(v, w) + 1 / k) / (n(v) + 1), k being the out-degree of v.
    leak : factor of all counts per visit.
    """
    scores = np.zeros(candidates.shape[0])
    size = degrees.shape[0]
    count, seen = np.zeros(size), np.zeros(size, np.int64)  # leaky count at the last visit, and its time from 1 on
    # the steps that left every node, as linked lists: last entry, entry before, target, leaky count, and its time
    head, following = np.full(size, -1, np.int64), np.empty(nodes.shape[0], np.int64)
    target, stepped = np.empty(nodes.shape[0], np.int64), np.empty(nodes.shape[0], np.int64)
    steps = np.empty(nodes.shape[0])
    lists = (head, following, target, steps, stepped)
    now, filled, begin, cursor = 0, 0, 0, 0
    for walk in range(offsets.shape[0] - 1):
        if walk > 0 and users[walk] != users[walk - 1]:
            for place in range(begin, offsets[walk]):
                count[nodes[place]], seen[nodes[place]], head[nodes[place]] = 0.0, 0, -1
            now, filled, begin = 0, 0, offsets[walk]
        for place in range(offsets[walk], offsets[walk + 1]):
            node = nodes[place]
            if cursor < order.shape[0] and visits[order[cursor]] == place:
                last, choice = nodes[place - 1], order[cursor]
                cursor += 1
                for j in range(bounds[choice], bounds[choice + 1]):
                    v = candidates[j]
                    if kind == NOVELTY:
                        if seen[v] > 0:
                            scores[j] = -np.log(1.0 + count[v] * leak ** (now - seen[v]))
                    elif kind == RECENCY:
                        if seen[v] > 0:
                            scores[j] = 1.0 / (now + 1 - seen[v])
                    elif kind == INFORMATION_GAIN:
                        scores[j] = _expect_gain(v, lists, now, leak, degrees[v])
                if kind == SURPRISE:
                    own = slice(bounds[choice], bounds[choice + 1])
                    _score_surprise(scores[own], candidates[own], last, lists, now, leak, degrees[last])
            if place > offsets[walk]:
                before = nodes[place - 1]
                entry = head[before]
                while entry >= 0 and target[entry] != node:
                    entry = following[entry]
                if entry < 0:
                    entry = filled
                    following[entry], target[entry], steps[entry], stepped[entry] = head[before], node, 0.0, now
                    head[before] = entry
                    filled += 1
                steps[entry] = steps[entry] * leak ** (now + 1 - stepped[entry]) + 1.0
                stepped[entry] = now + 1
            now += 1
            count[node] = count[node] * leak ** (now - seen[node]) + 1.0
            seen[node] = now
    return scores


@inner_kernel
def _score_surprise(scores, candidates, last, lists, now, leak, degree):
    """Write -log p(v | last) of the candidates of a choice."""
    head, following, target, steps, stepped = lists
    total = 1.0
    entry = head[last]
    while entry >= 0:
        total += steps[entry] * leak ** (now - stepped[entry])
        entry = following[entry]
    prior = 1.0 / max(degree, 1)
    for j in range(candidates.shape[0]):
        taken = 0.0
        entry = head[last]
        while entry >= 0:
            if target[entry] == candidates[j]:
                taken = steps[entry] * leak ** (now - stepped[entry])
                break
            entry = following[entry]
        scores[j] = -np.log((taken + prior) / total)


@inner_kernel
def _expect_gain(v, lists, now, leak, degree):
    """Return the expected divergence after one more step from a node, over the steps that it may be."""
    head, following, _, steps, stepped = lists
    total, known = 1.0, 0
    entry = head[v]
    while entry >= 0:
        total += steps[entry] * leak ** (now - stepped[entry])
        known += 1
        entry = following[entry]
    size = max(degree, known)
    if size == 0:
        return 0.0
    prior, gain = 1.0 / size, 0.0
    entry = head[v]
    while entry >= 0:
        gain += weigh_gain(steps[entry] * leak ** (now - stepped[entry]) + prior, total)
        entry = following[entry]
    return gain + (size - known) * weigh_gain(prior, total)


@inner_kernel
def weigh_gain(share, total):
    """Return the probability share / total of an outcome times the divergence that observing it once would cause.

    The divergence is the relative entropy of the probabilities before it with respect to those after it.
    """
    return share / total * (np.log1p(1.0 / total) - share / total * np.log1p(1.0 / share))
