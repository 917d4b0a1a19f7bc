"""Top nodes by PageRank through local push, with bounds: only the graph around the history is read."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.history import Teleport, check_alpha, make_teleport
from curiograph.centrality.pagerank import check_positive
from curiograph.graph.graph import Graph, as_graph, require_nodes
from curiograph.results import Table
from curiograph.validation import check_integer

TOLERANCE = 1e-4
MAX_EDGES = 50_000


@dataclass(frozen=True, eq=False, repr=False)
class TopPageRank(Table):
    """Top nodes for a history; every exact score is between `scores` and `scores + bound`.

    Examples
    --------
    >>> import curiograph as cg
    >>> top = cg.pagerank_top(cg.toys.library(), ["music"], k=3)
    >>> top.nodes, top.certain
    (['music', 'mathematics', 'physics'], True)
    """

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

    def columns(self) -> dict[str, Any]:
        return {"node": self.nodes, "score": self.scores, "bound": self.bound}


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
        Graph with at least one node.
    history : list or mapping
        Labels of visited nodes, the targets of teleports, or a mapping from labels to weights.
    k : int
        Number of nodes to find.
    alpha : float
        Probability to follow a link instead of teleporting, in [0, 1).
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
    require_nodes(graph)
    k = check_integer("k", k, 1, "ask for 1 node or more")
    alpha = check_alpha(alpha)
    tolerance = check_positive("tolerance", tolerance)
    max_edges = check_integer("max_edges", max_edges, 1, "give 1 or more")
    teleport = make_teleport(graph, history)
    nodes, scores, bound, best, certain = push_scores(
        graph, teleport, alpha, min(k, graph.num_nodes), tolerance=tolerance, max_edges=max_edges
    )
    labels = [graph.names[int(v)] for v in nodes[best]]
    return TopPageRank(alpha, labels, scores[best], bound[best], certain, len(nodes))


def push_scores(
    graph: Graph,
    teleport: Teleport,
    alpha: float,
    k: int,
    *,
    tolerance: float = TOLERANCE,
    max_edges: int = MAX_EDGES,
) -> PushResult:
    """Return scores of the nodes around a history with bounds; stop as `pagerank_top` does."""
    transition = graph.transition
    indptr, indices, weights = transition.out_rows
    strengths = None if weights is None else transition.strength
    max_probability = transition.max_in_probability if graph.directed else None
    nodes, low, width, best, held, waiting, certain = kernels.forward_push.push_scores(
        indptr, indices, weights, strengths, max_probability, transition.hubs, alpha,
        teleport.nodes, teleport.probabilities, k, tolerance, max_edges,
    )  # fmt: skip
    # Waiting mass becomes score, except for what reaches dead ends, which is returned in proportion to all scores.
    # Waiting mass of an undirected graph never reaches a dead end.
    most = held + waiting
    least = held + (1 - alpha) * waiting if graph.directed and transition.has_dangling else most
    scores = low / most
    return PushResult(nodes, scores, (low + width) / least - scores, best, bool(certain))
