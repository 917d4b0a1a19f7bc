"""Conditional logit: likelihood of choices of many people, each with own weights.

The candidates of choice c are the rows `offsets[c]:offsets[c + 1]` of `features`, the chosen one is row `chosen[c]`,
and the choices of person i are `bounds[i]:bounds[i + 1]`. A candidate x has the probability exp(w x) / sum of exp(w y).
"""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import inner_kernel, kernel


@kernel
def compute_log_likelihoods(features, offsets, chosen, bounds, weights):
    """Return the log-likelihood of the choices of each person at each of its weights (people x points x features)."""
    people, points, _ = weights.shape
    out = np.zeros((people, points))
    for i in range(people):
        for k in range(points):
            for c in range(bounds[i], bounds[i + 1]):
                out[i, k] += _compute_one(features, offsets[c], offsets[c + 1], chosen[c], weights[i, k])
    return out


@kernel
def compute_choice_log_likelihoods(features, offsets, chosen, bounds, weights):
    """Return the log-likelihood of each choice at the weights of its person (people x features)."""
    out = np.empty(chosen.shape[0])
    for i in range(weights.shape[0]):
        for c in range(bounds[i], bounds[i + 1]):
            out[c] = _compute_one(features, offsets[c], offsets[c + 1], chosen[c], weights[i])
    return out


@inner_kernel
def _compute_utility(features, row, weights):
    utility = 0.0
    for m in range(weights.shape[0]):
        utility += weights[m] * features[row, m]
    return utility


@inner_kernel
def _compute_one(features, start, stop, chosen, weights):
    """Return the logarithm of the probability of the chosen candidate."""
    own = _compute_utility(features, chosen, weights)
    total = 0.0
    top = own  # the largest utility so far; `total` is relative to it
    for row in range(start, stop):
        utility = _compute_utility(features, row, weights)
        if utility <= top:
            total += np.exp(utility - top)
        else:
            total = total * np.exp(top - utility) + 1.0
            top = utility
    return own - top - np.log(total)


@kernel
def expand_log_likelihoods(features, offsets, chosen, bounds, weights):
    """Return the log-likelihood of each person, its gradient, and the negative of its matrix of second derivatives."""
    people, size = weights.shape
    value = np.zeros(people)
    gradient = np.zeros((people, size))
    information = np.zeros((people, size, size))
    mean = np.empty(size)
    square = np.empty((size, size))
    for i in range(people):
        for c in range(bounds[i], bounds[i + 1]):
            start, stop = offsets[c], offsets[c + 1]
            top = -np.inf
            for row in range(start, stop):
                top = max(top, _compute_utility(features, row, weights[i]))
            total = 0.0
            mean[:] = 0.0
            square[:] = 0.0
            for row in range(start, stop):
                share = np.exp(_compute_utility(features, row, weights[i]) - top)
                total += share
                for m in range(size):
                    weighted = share * features[row, m]
                    mean[m] += weighted
                    for n in range(m + 1):
                        square[m, n] += weighted * features[row, n]
            value[i] += _compute_utility(features, chosen[c], weights[i]) - top - np.log(total)
            mean /= total
            for m in range(size):
                gradient[i, m] += features[chosen[c], m] - mean[m]
                for n in range(m + 1):
                    information[i, m, n] += square[m, n] / total - mean[m] * mean[n]
        for m in range(size):
            for n in range(m):
                information[i, n, m] = information[i, m, n]
    return value, gradient, information
