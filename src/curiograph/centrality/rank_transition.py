"""The rank transition: move probabilities of a walker that an agent biases."""

from __future__ import annotations

from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64
from curiograph.errors import SettingError, quote_value
from curiograph.validation import is_number


def rank_transition(scores: Any, p_g: float) -> Float64:
    """Return the probability of every candidate: (1 - p_g) p_g^(rank - 1) / (1 - p_g^candidates).

    Parameters
    ----------
    scores : array_like
        One score per candidate; the highest has rank 1. Ties share the mean of the probabilities of their ranks.
    p_g : float
        Parameter in [0, 1]: 0 always takes the best candidate, 1 takes all with equal probability.

    Returns
    -------
    ndarray
        Probabilities, which sum to 1.

    Examples
    --------
    >>> import curiograph as cg
    >>> rank_transition([0.1, 0.7, 0.2], p_g=0.5).round(3)
    array([0.143, 0.571, 0.286])
    >>> rank_transition([1.0, 1.0, 0.0], p_g=0.0)
    array([0.5, 0.5, 0. ])
    """
    try:
        values = np.asarray(scores, np.float64)
    except (TypeError, ValueError):
        values = np.asarray(np.nan)
    if values.ndim != 1 or np.any(np.isnan(values)):
        raise SettingError(f"the scores are {quote_value(scores)}; give one number per candidate, none of them NaN.")
    probabilities: Float64 = kernels.rank_probabilities.compute_probabilities(
        np.array([0, len(values)]), values, check_p_g(p_g)
    )
    return probabilities


def check_p_g(p_g: Any) -> float:
    """Return p_g, a number in [0, 1]."""
    if not is_number(p_g) or not 0 <= p_g <= 1:
        raise SettingError(
            f"p_g is {quote_value(p_g)}; give a number from 0 (always the best) to 1 (all equally likely)."
        )
    return float(p_g)
