"""Simulated choices of people whose weights are known."""

from __future__ import annotations

import numpy as np

from curiograph.human.motives.logit import ChoiceLogit


def simulate_choices(seed, people, choices, candidates, mean, spread):
    """Return choices among candidates with normal features, and the weights (people x features) behind them."""
    rng = np.random.default_rng(seed)
    weights = np.array(mean) + np.array(spread) * rng.standard_normal((people, len(mean)))
    rows = people * choices * candidates
    features = rng.standard_normal((rows, len(mean)))
    user_of = np.repeat(np.arange(people), choices)
    utilities = (features * np.repeat(weights, choices * candidates, axis=0)).sum(axis=1) + rng.gumbel(size=rows)
    offsets = np.arange(0, rows + 1, candidates)
    chosen = utilities.reshape(-1, candidates).argmax(axis=1) + offsets[:-1]
    return ChoiceLogit.from_choices(features, offsets, chosen, user_of), weights
