"""Presentation of node scores: top nodes, scores by label, plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import SettingError
from curiograph.graph.graph import Graph
from curiograph.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NUM_PLOTTED = 10


def find_top_nodes(graph: Graph, scores: Float64, k: int, resolution: Any = 0.0) -> Any:
    """Return the `k` nodes with the highest scores as (label, score), best first, ties in node order.

    Scores that are equal after rounding to a multiple of `resolution` are ties. For several rows of scores, return a
    list of such lists.

    >>> from curiograph.graph.toys import cycle
    >>> find_top_nodes(cycle(4), np.array([0.1, 0.4, 0.4, 0.1]), 2)
    [(1, 0.4), (2, 0.4)]
    """
    k = check_integer("k", k, 1, "ask for 1 node or more")
    if scores.ndim > 1:
        resolutions = np.broadcast_to(resolution, len(scores))
        return [find_top_nodes(graph, row, k, each) for row, each in zip(scores, resolutions, strict=True)]
    order = np.argsort(-np.round(scores / resolution) if resolution else -scores, kind="stable")[:k]
    return [(graph.label(int(v)), float(scores[v])) for v in order]


def label_scores(graph: Graph, scores: Float64) -> Any:
    """Return scores by label as a dict; a list of dicts for several rows of scores.

    >>> from curiograph.graph.toys import complete
    >>> label_scores(complete(2), np.array([[0.5, 0.5], [1.0, 0.0]]))
    [{0: 0.5, 1: 0.5}, {0: 1.0, 1: 0.0}]
    """
    if scores.ndim > 1:
        return [label_scores(graph, row) for row in scores]
    return dict(zip(graph.labels, scores.tolist(), strict=True))


def plot_top_scores(graph: Graph, scores: Float64, errors: Float64, alpha: Any, agent: str, ax: Axes | None) -> Axes:
    """Plot the ten highest scores as bars; for several alphas, the ten highest at the last one as curves over alpha.

    `agent` is the name of the agent that biased the walkers, empty for plain PageRank.
    """
    from curiograph.plotting import plot_curves, plot_ranking

    if scores.ndim > 1 + np.ndim(alpha):
        raise SettingError(f"the result has scores of {len(scores)} histories; compute one history to plot it.")
    best = np.argsort(-np.atleast_2d(scores)[-1], kind="stable")[:_NUM_PLOTTED]
    labels = [str(graph.label(int(v))) for v in best]
    title = f"PageRank walked by {agent}" if agent else "PageRank"
    if np.ndim(alpha) == 0:
        ax = plot_ranking(labels, scores[best], errors[best], agent or "pagerank", ax)
        ax.set_title(f"{title}, alpha {alpha:g}", fontsize=10)
        return ax
    ax = plot_curves(np.asarray(alpha), labels, scores[:, best], errors[:, best], ax)
    ax.set_xlabel("alpha")
    ax.set_ylabel("score")
    ax.set_title(title, fontsize=10)
    return ax
