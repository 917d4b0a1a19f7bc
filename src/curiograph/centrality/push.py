"""Top nodes by PageRank through local push, with bounds: only the graph around the history is read."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.history import Teleport, check_alpha, make_teleport
from curiograph.centrality.pagerank import check_positive
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.messages import quote_value
from curiograph.validation import check_integer

TOLERANCE = 1e-4
MAX_EDGES = 50_000


@dataclass(frozen=True, eq=False)
class TopPageRank:
    """Top nodes for a history; every exact score is between `scores` and `scores + bound`.

    Examples
    --------
    >>> import curiograph as cg
    >>> top = cg.pagerank_top(cg.toys.library(), ["music"], k=3)
    >>> top.nodes, top.certain
    (['music', 'mathematics', 'physics'], True)
    """

    graph: Graph
    """Graph of the nodes."""
    alpha: float
    """Probability to follow a link instead of teleporting."""
    nodes: list[Hashable]
    """Labels, highest lower bound first; fewer than k if fewer nodes are reachable."""
    scores: Float64
    """Lower bounds of the scores."""
    bound: Float64
    """Maximum difference between the exact scores and `scores`."""
    certain: bool
    """Whether no other node can have a higher score than any of these."""
    touched: int
    """Number of nodes examined."""

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        best = ", ".join(quote_value(node) for node in self.nodes[:3])
        return f"TopPageRank({len(self)} nodes: {best}{', ...' if len(self) > 3 else ''}; certain: {self.certain})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "alpha": self.alpha,
            "nodes": list(self.nodes),
            "scores": self.scores.tolist(),
            "bound": self.bound.tolist(),
            "certain": self.certain,
            "touched": self.touched,
        }


class PushResult(NamedTuple):
    """Result of a push; the first three arrays have one entry per touched node."""

    nodes: Int32
    """Positions, in order of discovery."""
    scores: Float64
    """Lower bounds of the scores."""
    bound: Float64
    """Maximum difference between the exact scores and `scores`."""
    best: Int64
    """Indices of the best k nodes in these arrays, best first."""
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
    """Find the k nodes with the highest PageRank from the part of the graph around the history.

    Stops when the best k are proven, when their scores are known to a fraction `tolerance` of the k-th score, or after
    reading `max_edges` edges. Time and memory do not depend on the size of the graph, except that the edges of a
    directed graph are read once in advance.

    Parameters
    ----------
    graph : Graph
        Graph with at least one edge.
    history : list
        Labels of visited nodes, the targets of teleports.
    k : int
        Number of nodes to find.
    alpha : float
        Probability to follow a link instead of teleporting, in [0, 1).
    weights : list, optional
        One number per entry of the history, for a non-uniform teleport.
    tolerance : float
        Relative precision of the scores at which the search stops.
    max_edges : int
        Maximum number of edges to read.

    Returns
    -------
    TopPageRank
        Nodes with lower bounds of their scores; `certain` and `bound` give the precision.

    Examples
    --------
    >>> import curiograph as cg
    >>> cg.pagerank_top(cg.toys.grid(100, 100), [(50, 50)], k=1).touched < 100
    True
    """
    graph = as_graph(graph)
    require_edges(graph)
    k = check_integer("k", k, 1, "ask for 1 node or more")
    alpha = check_alpha(alpha)
    result = push_scores(
        graph,
        make_teleport(graph, history, weights),
        alpha,
        min(k, graph.num_nodes),
        tolerance=check_positive("tolerance", tolerance),
        max_edges=check_integer("max_edges", max_edges, 1, "give 1 or more"),
    )
    return TopPageRank(
        graph=graph,
        alpha=alpha,
        nodes=[graph.names[int(v)] for v in result.nodes[result.best]],
        scores=result.scores[result.best],
        bound=result.bound[result.best],
        certain=result.certain,
        touched=len(result.nodes),
    )


def push_scores(
    graph: Graph,
    teleport: Teleport,
    alpha: float,
    k: int,
    *,
    tolerance: float = TOLERANCE,
    max_edges: int = MAX_EDGES,
) -> PushResult:
    """Return scores of the nodes around a history with bounds; stop as `pagerank_top` does.

    >>> from curiograph.graph.toys import cycle
    >>> result = push_scores(cycle(5), make_teleport(cycle(5), [0]), 0.5, 1)
    >>> result.nodes[result.best].tolist(), result.certain
    ([0], True)
    """
    transition = graph.transition
    strengths = None if graph.weights is None else transition.strength
    max_probability = transition.max_in_probability if graph.directed else None
    nodes, low, width, best, held, waiting, certain, _ = kernels.push.push_scores(
        graph.indptr, graph.indices, graph.weights, strengths, max_probability, transition.hubs, alpha,
        teleport.nodes, teleport.probabilities, k, tolerance, max_edges,
    )  # fmt: skip
    # Waiting mass becomes score, except for what reaches dead ends, which is returned in proportion to all scores.
    # Waiting mass of an undirected graph never reaches a dead end.
    most = held + waiting
    least = held + (1 - alpha) * waiting if graph.directed and transition.has_dangling else most
    scores = low / most
    return PushResult(nodes, scores, (low + width) / least - scores, best, bool(certain))
