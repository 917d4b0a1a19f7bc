"""Variance decomposition of a full factorial design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import SettingError


class Share(NamedTuple):
    """Shares of the variance that a factor explains."""

    main: float
    """Variance of the means of its levels: the main effect of the factor."""
    total: float
    """Mean variance over its levels while all other factors are fixed: the main effect and all interactions."""


def decompose_variance(values: Float64, factors: Mapping[str, Sequence[Any]]) -> dict[str, Share]:
    """Return the shares of the variance that each factor of a full factorial explains; NaN if nothing varies.

    Main effects are the sums of squares of an analysis of variance over their total, which is also the first-order
    index of Sobol (1993); total shares are his total index (Homma and Saltelli 1996).

    Parameters
    ----------
    values : array
        One finite value per combination of levels, with an axis per factor.
    factors : mapping
        Levels of each factor, in the order of the axes.

    Examples
    --------
    >>> decompose_variance(np.array([[0.0, 1.0], [2.0, 3.0]]), {"a": [1, 2], "b": [1, 2]})
    {'a': Share(main=0.8, total=0.8), 'b': Share(main=0.2, total=0.2)}
    """
    shape = tuple(len(levels) for levels in factors.values())
    if values.shape != shape or not np.isfinite(values).all():
        raise SettingError(
            f"the values have shape {values.shape}, with {np.count_nonzero(~np.isfinite(values))} that are not finite; "
            f"give one finite number for each of the {shape} combinations of levels."
        )
    variance = values.var()
    shares = {}
    for axis, name in enumerate(factors):
        others = tuple(other for other in range(values.ndim) if other != axis)
        main, total = values.mean(axis=others).var(), values.var(axis=axis).mean()
        shares[name] = Share(*(float(each / variance) if variance > 0 else np.nan for each in (main, total)))
    return shares
