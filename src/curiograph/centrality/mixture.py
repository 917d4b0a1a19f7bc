"""Mixtures of centralities: eta' = b eta_PR + c eta_IGT + d eta_CPT, with weights on the unit sphere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import SettingError, quote_value


def mixture(components: Mapping[str, Any], weights: Mapping[str, float] | None = None) -> Float64:
    """Return the scores of a mixture of centralities.

    Parameters
    ----------
    components : dict
        Scores by name: arrays over the nodes, or results of `pagerank` and `curious_pagerank`, which may have different
        alphas.
    weights : dict, optional
        A number for each name, of either sign. They are scaled to the unit sphere, so only their proportions matter.
        Default: equal weights.

    Returns
    -------
    ndarray
        Weighted sum of the scores.

    Examples
    --------
    >>> import curiograph as cg
    >>> g, history = cg.toys.library(), ["music", "logic"]
    >>> eta = cg.mixture({
    ...     "pagerank": cg.pagerank(g, 0.85, history),
    ...     "igt": cg.curious_pagerank(g, "greedy", 0.5, history, reward="igt"),
    ... })
    >>> eta.shape
    (12,)
    """
    if not isinstance(components, Mapping) or not components:
        raise SettingError(f"the components are {quote_value(components)}; give scores by name, at least one.")
    try:
        scores = {name: np.asarray(getattr(each, "scores", each), np.float64) for name, each in components.items()}
    except (TypeError, ValueError):
        raise SettingError(f"the components are {quote_value(components)}; give one number per node.") from None
    if len({each.shape for each in scores.values()}) > 1:
        shapes = {name: each.shape for name, each in scores.items()}
        raise SettingError(f"the components have scores of different shapes, {shapes}; give those of one graph.")
    unit = normalize_weights(scores, weights)
    return np.asarray(sum(unit[name] * each for name, each in scores.items()))


def normalize_weights(names: Iterable[str], weights: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return weights whose squares sum to 1; a name without a weight gets 0, and all are equal if `weights` is None.

    >>> normalize_weights(["pagerank", "igt"], {"pagerank": 3, "igt": 4})
    {'pagerank': 0.6, 'igt': 0.8}
    """
    names = list(names)
    if weights is not None and not isinstance(weights, Mapping):
        raise SettingError(f"the weights are {quote_value(weights)}; give numbers by name.")
    given = dict.fromkeys(names, 1.0) if weights is None else dict(weights)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise SettingError(f"there is a weight for {unknown[0]!r}; the components are {', '.join(names)}.")
    try:
        values = np.asarray([float(given.get(name, 0.0)) for name in names])
    except (TypeError, ValueError):
        raise SettingError(f"the weights are {quote_value(given)}; give a number for each component.") from None
    norm = float(np.linalg.norm(values))
    if not np.isfinite(norm) or norm == 0:
        raise SettingError(f"the weights are {quote_value(given)}; give finite numbers that are not all zero.")
    return dict(zip(names, (values / norm).tolist(), strict=True))
