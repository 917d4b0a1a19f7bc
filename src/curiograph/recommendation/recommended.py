"""`Recommendations`: what `recommend` returns for one history."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from curiograph.arrays import Float64, Int32
from curiograph.centrality.history import History
from curiograph.graph.graph import Graph
from curiograph.recommendation.ranker import Ranker
from curiograph.recommendation.reasons import Reason, explain_recommendations
from curiograph.results import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Recommendations(list[tuple[Hashable, float]], Table):
    """Recommended nodes as (label, score), best first, with reasons.

    >>> import curiograph as cg
    >>> top = cg.recommend(cg.toys.library(), history=["music", "physics", "chemistry"], k=2)
    >>> len(top), top.components
    (2, ['pagerank', 'igt', 'cpt'])
    """

    def __init__(
        self,
        graph: Graph,
        ranker: Ranker,
        history: History,
        nodes: Int32,
        scores: Float64,
        ranks: Mapping[str, Any],
        candidates: int,
        theory: bool = False,
    ) -> None:
        super().__init__((graph.names[v], s) for v, s in zip(nodes.tolist(), scores.tolist(), strict=True))
        self.graph = graph
        self.candidates = candidates
        """Number of candidates, before any were excluded or filtered out."""
        self.components = list(ranks)
        """Names of the components whose ranks the reasons give."""
        self.skipped: list[Hashable] = []
        """Labels of the history that the graph does not have, which were skipped."""
        self._ranker, self._history, self._nodes, self._ranks = ranker, history, nodes, ranks
        self._theory = theory

    @property
    def history(self) -> list[Hashable]:
        """Distinct labels of the history, in order of first visit."""
        return [self.graph.names[v] for v in self._history.nodes.tolist()]

    @cached_property
    def reasons(self) -> list[Reason]:
        """A reason for each recommendation."""
        given = self.graph, self._ranker, self._history, self._nodes, self._ranks, self.candidates
        return explain_recommendations(*given, theory=self._theory)

    def columns(self) -> dict[str, list[Any]]:
        labels, scores = [label for label, _ in self], [score for _, score in self]
        reasons = [str(reason) for reason in self.reasons]
        return {"node": labels, "score": scores, "reason": reasons}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, including the reasons."""
        return {
            "history": self.history,
            "skipped": self.skipped,
            "candidates": self.candidates,
            "recommendations": [
                {"score": score, **reason.to_dict()} for (_, score), reason in zip(self, self.reasons, strict=True)
            ],
        }

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the history, the recommended nodes and their links; without `ax`, also their ranks by component."""
        from curiograph.plotting import create_figure, plot_places, plot_recommendations

        labels = [label for label, _ in self]
        count = len(self._ranks)
        if ax is None and count > 1 and labels:
            _, (ax, right) = create_figure(7.6 + 1.2 * count, 5.6, columns=2, widths=(6, 1 + count))
            ranks = {"mixture": range(1, len(labels) + 1), **self._ranks}
            plot_places([self.graph.title(int(v)) for v in self._nodes], ranks, right)
        return plot_recommendations(self.graph.skeleton, self.history, labels, ax)
