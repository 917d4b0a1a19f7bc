"""Mixtures: eta' = b eta_PR + c eta_IGT + d eta_CPT and so on, with weights on the unit sphere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import SettingError
from curiograph.messages import quote_value


def mixture(components: Mapping[str, Any], weights: Mapping[str, float] | None = None) -> Float64:
    """Scores of a mixture of centralities.

    Parameters
    ----------
    components : scores by name: arrays over the nodes, or what `pagerank` and `curious_pagerank` return, each with its
        own alpha or all with the same.
    weights : a number for each name, of either sign; only their proportions matter, since they are scaled to the unit
        sphere. Equal ones without it.

    >>> from curiograph.graph.toys import library
    >>> from curiograph.centrality.pagerank import pagerank
    >>> from curiograph.centrality.curious_pagerank import curious_pagerank
    >>> g, history = library(), ["music", "logic"]
    >>> eta = mixture({
    ...     "pagerank": pagerank(g, 0.85, history),
    ...     "igt": curious_pagerank(g, "greedy", 0.5, history, reward="igt"),
    ... })
    >>> eta.shape
    (12,)
    """
    if not isinstance(components, Mapping) or not components:
        raise SettingError(f"the components are {quote_value(components)}; give scores by name, at least one.")
    scores = {name: _scores(name, getattr(each, "scores", each)) for name, each in components.items()}
    shapes = {name: each.shape for name, each in scores.items()}
    if len(set(shapes.values())) > 1:
        raise SettingError(f"the components have scores of different shapes, {shapes}; give those of one graph.")
    unit = normalize_weights(scores, weights)
    return np.asarray(sum(unit[name] * each for name, each in scores.items()))


def normalize_weights(names: Iterable[str], weights: Mapping[str, float] | None = None) -> dict[str, float]:
    """A weight for each name such that their squares add up to 1; a name that is not given has none.

    >>> normalize_weights(["pagerank", "igt"], {"pagerank": 3, "igt": 4})
    {'pagerank': 0.6, 'igt': 0.8}
    """
    names = list(names)
    if weights is not None and not isinstance(weights, Mapping):
        raise SettingError(
            f"the weights are {quote_value(weights)}; give numbers by name, as in {{{names[0]!r}: 1.0}}."
        )
    given = dict.fromkeys(names, 1.0) if weights is None else dict(weights)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise SettingError(f"there is a weight for {unknown[0]!r}; the components are {', '.join(names)}.")
    try:
        values = np.asarray([float(given.get(name, 0.0)) for name in names])
    except (TypeError, ValueError):
        raise SettingError(f"the weights are {quote_value(given)}; give a number for each component.") from None
    length = float(np.linalg.norm(values))
    if not np.isfinite(length) or length == 0:
        raise SettingError(f"the weights are {quote_value(given)}; give finite numbers that are not all zero.")
    return dict(zip(names, (values / length).tolist(), strict=True))


def _scores(name: str, given: Any) -> Float64:
    try:
        scores = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise SettingError(f"the scores of {name!r} are {quote_value(given)}; give one number per node.") from None
    if not np.all(np.isfinite(scores)):
        raise SettingError(f"the scores of {name!r} hold a number that is not finite; give one per node.")
    return scores
