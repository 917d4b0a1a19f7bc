"""`NodeScores`: the base class of scores over the nodes of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import SettingError
from curiograph.graph.graph import Graph
from curiograph.results import Table
from curiograph.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NUM_PLOTTED = 10


class NodeScores(Table):
    """Scores of all nodes, with axes for several histories and several alphas in front; a row per score."""

    graph: Graph
    alpha: Any
    scores: Float64

    def columns(self) -> dict[str, Any]:
        axes: dict[str, Any] = {}
        if self.scores.ndim > 1 + np.ndim(self.alpha):
            axes["history"] = range(len(self.scores))
        if np.ndim(self.alpha):
            axes["alpha"] = self.alpha
        axes["node"] = self.graph.labels
        places = np.indices(self.scores.shape).reshape(self.scores.ndim, -1).tolist()
        rows = {name: [values[i] for i in each] for (name, values), each in zip(axes.items(), places, strict=True)}
        return rows | {"score": self.scores.ravel()}

    def top(self, k: int = 10) -> Any:
        """Return the `k` best nodes as (label, score), best first, ties in node order; nested lists for several rows.

        Scores that differ by no more than the precision of the result are ties.
        """
        k = check_integer("k", k, 1, "ask for 1 node or more")
        resolution = np.broadcast_to(self._get_resolution(), self.scores.shape[:-1])
        found = [self._find_top(self.scores[row], k, float(resolution[row])) for row in np.ndindex(resolution.shape)]
        for size in resolution.shape[:0:-1]:
            found = [found[first : first + size] for first in range(0, len(found), size)]
        return found if resolution.ndim else found[0]

    def _get_resolution(self) -> Any:
        return 0.0

    def _find_top(self, scores: Float64, k: int, resolution: float) -> Any:
        order = np.argsort(-np.round(scores / resolution) if resolution else -scores, kind="stable")[:k]
        return [(self.graph.label(int(v)), float(scores[v])) for v in order]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the ten highest scores as bars, with standard errors; for several alphas, as curves over alpha."""
        from curiograph.plotting import plot_curves, plot_ranking

        if self.scores.ndim > 1 + np.ndim(self.alpha):
            raise SettingError(f"the result has scores of {len(self.scores)} histories; compute one to plot it.")
        agent = getattr(self, "agent", "")
        best = np.argsort(-np.atleast_2d(self.scores)[-1], kind="stable")[:_NUM_PLOTTED]
        labels = [str(self.graph.label(int(v))) for v in best]
        scores = self.scores[..., best]
        errors = self.stderr[..., best] if hasattr(self, "stderr") else np.zeros_like(scores)
        if np.ndim(self.alpha) == 0:
            ax = plot_ranking(labels, scores, errors, agent or "pagerank", ax)
        else:
            ax = plot_curves(np.asarray(self.alpha), labels, scores, errors, ax)
            ax.set_xlabel("alpha")
            ax.set_ylabel("score")
        title = f"PageRank walked by {agent}" if agent else "PageRank"
        ax.set_title(title if np.ndim(self.alpha) else f"{title}, alpha {self.alpha:g}", fontsize=10)
        return ax
