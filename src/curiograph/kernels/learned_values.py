"""Values of options with uncertain outcomes, which a person learns choice by choice and plans ahead with.

An option belongs to a state. Its outcome is a state with probability p(s | option) = (n(option, s) + 1 / S) /
(n(option) + 1), given counts of the outcomes that the person has seen and the number of states S. The value of an
option is its expected reward plus `discount` times the expected value of the best option of its outcome, and so on.
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel
from curiograph.kernels.visit_counts import INFORMATION_GAIN, NOVELTY, RECENCY, SURPRISE, weigh_gain

EMPOWERMENT = 4
_TOLERANCE = 1e-9  # of values
_MAX_SWEEPS = 10_000
_STEPS = 2  # of empowerment


@kernel
def score_options(
    users, is_first, states, chosen, outcomes, rows, bounds, options, owned, owned_bounds, kind, discount
):
    """Return a score of each option of some choices, from what the user has seen in earlier rows.

    Parameters
    ----------
    users, is_first, states, chosen, outcomes : of every row: user, whether a session begins, state, chosen option, and
        the state that it led to, or -1; the rows of a user are adjacent and in order.
    rows, bounds, options : rows to score, ascending, bounds of their options, and options.
    owned, owned_bounds : options of every state, as rows of lists.
    kind : NOVELTY: the reward of an outcome is -log((1 + n(s)) / (n + S)), n being counts of visits; SURPRISE: that of
        an option is the expected -log p of its outcome; INFORMATION_GAIN: the expected divergence of p from p after one
        more outcome; EMPOWERMENT: log(1 + number of states that known outcomes reach in two steps), not
        planned; RECENCY: 1 / (rows since the option was chosen), 0 if never.
    discount : factor of rewards per step, below 1.
    """
    scores = np.zeros(options.shape[0])
    num_states, num_options = owned_bounds.shape[0] - 1, owned.shape[0]
    visits, values = np.zeros(num_states), np.zeros(num_states)
    times, when = np.zeros(num_options), np.full(num_options, -1, np.int64)
    # the outcomes of every option that were seen, as linked lists: first entry, next entry, outcome, and its count
    head, following = np.full(num_options, -1, np.int64), np.empty(states.shape[0], np.int64)
    target, counts = np.empty(states.shape[0], np.int64), np.empty(states.shape[0])
    lists, owners = (head, following, target, counts), (owned, owned_bounds)
    quality, reward, gains = np.zeros(num_options), np.zeros(num_options), np.zeros(num_states)
    mark, queue = np.zeros(num_states, np.int64), np.empty(num_states, np.int64)
    filled, cursor, stamp = 0, 0, 0
    for row in range(states.shape[0]):
        if row > 0 and users[row] != users[row - 1]:
            visits[:], values[:], times[:], when[:], head[:], filled = 0.0, 0.0, 0.0, -1, -1, 0
        if is_first[row] or outcomes[row - 1] != states[row]:  # else it was counted as an outcome
            visits[states[row]] += 1
        if cursor < rows.shape[0] and rows[cursor] == row:
            if kind in (NOVELTY, SURPRISE, INFORMATION_GAIN):
                if kind == NOVELTY:
                    total = visits.sum() + num_states
                    for s in range(num_states):
                        gains[s] = -np.log((1.0 + visits[s]) / total)
                else:
                    for option in range(num_options):
                        reward[option] = _expect_reward(option, lists, times[option] + 1.0, num_states, kind)
                _plan(quality, values, reward, gains, times, lists, owners, discount)
            for j in range(bounds[cursor], bounds[cursor + 1]):
                option = options[j]
                if kind == RECENCY:
                    scores[j] = 1.0 / (row - when[option]) if when[option] >= 0 else 0.0
                elif kind == EMPOWERMENT:
                    stamp += 1
                    scores[j] = _count_states(option, stamp, mark, queue, lists, owners)
                else:
                    scores[j] = quality[option]
            cursor += 1
        option = chosen[row]
        when[option] = row
        if outcomes[row] >= 0:
            entry = head[option]
            while entry >= 0 and target[entry] != outcomes[row]:
                entry = following[entry]
            if entry < 0:
                entry = filled
                following[entry], target[entry], counts[entry], head[option] = head[option], outcomes[row], 0.0, entry
                filled += 1
            counts[entry] += 1.0
            times[option] += 1.0
            visits[outcomes[row]] += 1
    return scores


@inner_kernel
def _expect_reward(option, lists, total, num_states, kind):
    """Return the expected surprise, or information gain, of the outcome of an option."""
    head, following, _, counts = lists
    prior, found, known = 1.0 / num_states, 0.0, 0
    entry = head[option]
    while entry >= 0:
        share = counts[entry] + prior
        found += weigh_gain(share, total) if kind == INFORMATION_GAIN else -share / total * np.log(share / total)
        known += 1
        entry = following[entry]
    rest = weigh_gain(prior, total) if kind == INFORMATION_GAIN else -prior / total * np.log(prior / total)
    return found + (num_states - known) * rest


@inner_kernel
def _plan(quality, values, reward, gains, times, lists, owners, discount):
    """Write the values of all options, given rewards of options and of outcomes, and values of states to start from."""
    (head, following, target, counts), (owned, owned_bounds), num_states = lists, owners, values.shape[0]
    for _ in range(_MAX_SWEEPS):
        mean, change = 0.0, 0.0
        for s in range(num_states):
            mean += (gains[s] + discount * values[s]) / num_states
        for option in range(quality.shape[0]):
            expected = mean
            entry = head[option]
            while entry >= 0:
                expected += counts[entry] * (gains[target[entry]] + discount * values[target[entry]])
                entry = following[entry]
            quality[option] = reward[option] + expected / (times[option] + 1.0)
        for s in range(num_states):
            if owned_bounds[s] < owned_bounds[s + 1]:
                best = quality[owned[owned_bounds[s]]]
                for place in range(owned_bounds[s], owned_bounds[s + 1]):
                    best = max(best, quality[owned[place]])
                change = max(change, abs(best - values[s]))
                values[s] = best
        if change <= _TOLERANCE:
            break


@inner_kernel
def _count_states(option, stamp, mark, queue, lists, owners):
    """Return log(1 + number of states that the known outcomes of an option reach in two steps)."""
    (head, following, target, _), (owned, owned_bounds), begin, end = lists, owners, 0, 0
    entry = head[option]
    while entry >= 0:
        mark[target[entry]] = stamp
        queue[end] = target[entry]
        end += 1
        entry = following[entry]
    for _ in range(_STEPS - 1):
        stop = end
        for place in range(begin, stop):
            for slot in range(owned_bounds[queue[place]], owned_bounds[queue[place] + 1]):
                entry = head[owned[slot]]
                while entry >= 0:
                    if mark[target[entry]] != stamp:
                        mark[target[entry]] = stamp
                        queue[end] = target[entry]
                        end += 1
                    entry = following[entry]
        begin = stop
    return np.log(1.0 + end)
