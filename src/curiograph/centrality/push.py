"""The best nodes by PageRank, found near the history, with bounds: the rest of the graph is not read."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.history import Teleport, check_alpha, make_teleport
from curiograph.centrality.pagerank import check_positive
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.validation import check_integer

TOLERANCE = 1e-4
MAX_EDGES = 50_000


@dataclass(frozen=True, eq=False)
class TopPageRank:
    """The best nodes for a history; every true score lies between `scores` and `scores + bound`.

    >>> from curiograph.graph.toys import library
    >>> top = pagerank_top(library(), ["music"], k=3)
    >>> top.nodes, top.certain
    (['music', 'mathematics', 'physics'], True)
    """

    graph: Graph
    alpha: float
    nodes: list[Hashable]
    """Labels, best lower bound first; fewer than k where fewer nodes can be reached."""
    scores: Float64
    """Lower bounds of their scores."""
    bound: Float64
    """How much higher the true score of each may be."""
    certain: bool
    """Whether it is proven that no other node scores higher than any of these."""
    touched: int
    """How many nodes were looked at."""

    def __len__(self) -> int:
        return len(self.nodes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "alpha": self.alpha,
            "nodes": list(self.nodes),
            "scores": self.scores.tolist(),
            "bound": self.bound.tolist(),
            "certain": self.certain,
            "touched": self.touched,
        }


class PushResult(NamedTuple):
    """What a push found: entries of the first three arrays belong together, one per touched node."""

    nodes: Int32
    """Positions, in order of discovery."""
    scores: Float64
    """Lower bounds."""
    bound: Float64
    """How much higher the true score of each may be."""
    best: Int64
    """Where the best k stand in these arrays, best first."""
    certain: bool
    """Whether the best k are proven to be the best."""


def pagerank_top(
    graph: Graph,
    history: Any,
    k: int = 10,
    alpha: float = 0.85,
    *,
    weights: Any = None,
    tolerance: float = TOLERANCE,
    max_edges: int = MAX_EDGES,
) -> TopPageRank:
    """The k nodes that `pagerank` scores highest, from the part of the graph around the history.

    Ends when it is proven which k are best, or their scores are known to a fraction `tolerance` of the k-th, or
    `max_edges` edges were read; `certain` and `bound` say how far it came. Time and memory do not depend on the size
    of the graph; a directed graph is prepared once, in one reading of its edges.

    Parameters
    ----------
    history : labels of visited nodes, where the walker starts again.
    weights : one number per entry of the history, to make the start uneven.

    >>> from curiograph.graph.toys import grid
    >>> pagerank_top(grid(100, 100), [(50, 50)], k=1).touched < 100
    True
    """
    graph = as_graph(graph)
    require_edges(graph)
    k = check_integer("k", k, 1, "ask for 1 node or more")
    alpha = check_alpha(alpha)
    found = push_scores(
        graph,
        make_teleport(graph, history, weights),
        alpha,
        min(k, graph.num_nodes),
        tolerance=check_positive("tolerance", tolerance),
        max_edges=check_integer("max_edges", max_edges, 1, "give 1 or more"),
    )
    labels = [graph.names[int(v)] for v in found.nodes[found.best]]
    scores, bound = found.scores[found.best], found.bound[found.best]
    return TopPageRank(graph, alpha, labels, scores, bound, found.certain, len(found.nodes))


def push_scores(
    graph: Graph,
    starts: Teleport,
    alpha: float,
    k: int,
    *,
    tolerance: float = TOLERANCE,
    max_edges: int = MAX_EDGES,
) -> PushResult:
    """Scores of the nodes around a history with their bounds; stops as `pagerank_top` does.

    >>> from curiograph.graph.toys import cycle
    >>> found = push_scores(cycle(5), make_teleport(cycle(5), [0]), 0.5, 1)
    >>> found.nodes[found.best].tolist(), found.certain
    ([0], True)
    """
    steps = graph.transition
    strengths = None if graph.weights is None else steps.strength
    reach = steps.max_in_probability if graph.directed else None
    nodes, low, width, best, held, waiting, certain, _ = kernels.push.push_scores(
        graph.indptr, graph.indices, graph.weights, strengths, reach, steps.hubs, alpha,
        starts.nodes, starts.chances, k, tolerance, max_edges,
    )  # fmt: skip
    # What waits ends up as a score but for what dangles on the way, which is given back in proportion to all scores.
    # On an undirected graph nothing that waits can dangle.
    most = held + waiting
    least = held + (1 - alpha) * waiting if graph.directed and steps.has_dangling else most
    scores = low / most
    return PushResult(nodes, scores, (low + width) / least - scores, best, bool(certain))
