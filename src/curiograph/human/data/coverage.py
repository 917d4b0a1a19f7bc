"""Which share of a log's items and events a graph covers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from curiograph.graph.graph import Graph, as_graph
from curiograph.graph.label_reader import LabelReader
from curiograph.human.trajectories import Trajectories
from curiograph.recommendation.incidence import build_incidence
from curiograph.validation import check_integer


@dataclass(frozen=True)
class GraphCoverage:
    """Items and events of a log, and how many of them are on a graph.

    Examples
    --------
    >>> coverage = GraphCoverage(
    ...     items=4, covered_items=3, fewest=2, supported_items=2, covered_supported_items=2, events=10,
    ...     covered_events=9, nodes=3, edges=2, mean_degree=1.3, max_degree=2, components=1, largest_component=3)
    >>> print(coverage)
    3 of 4 items (75.0 %), 2 of 2 items with 2 or more users (100.0 %), 9 of 10 events (90.0 %)
    """

    items: int
    """Number of items in the log."""
    covered_items: int
    """Number of items that are nodes of the graph."""
    fewest: int
    """Minimum number of users of a supported item."""
    supported_items: int
    """Number of items with at least `fewest` users."""
    covered_supported_items: int
    """Number of items with at least `fewest` users that are nodes of the graph."""
    events: int
    """Number of visits in the log; immediate repeats count once."""
    covered_events: int
    """Number of visits of nodes of the graph."""
    nodes: int
    """Number of nodes of the graph."""
    edges: int
    """Number of edges of the graph."""
    mean_degree: float
    """Mean degree of the graph."""
    max_degree: int
    """Maximum degree of the graph."""
    components: int
    """Number of components of the graph; the direction of edges does not count."""
    largest_component: int
    """Number of nodes of the largest component."""

    def to_dict(self) -> dict[str, Any]:
        """Return all values by name."""
        return asdict(self)

    def __str__(self) -> str:
        parts = (
            (self.covered_items, self.items, "items"),
            (self.covered_supported_items, self.supported_items, f"items with {self.fewest} or more users"),
            (self.covered_events, self.events, "events"),
        )
        return ", ".join(
            f"{n:,} of {total:,} {what} ({n / max(total, 1):.1%})".replace("%", " %") for n, total, what in parts
        )


def measure_graph_coverage(graph: Graph, walks: Trajectories, *, fewest: int = 5) -> GraphCoverage:
    """Count the items and events of a log that are on a graph.

    Parameters
    ----------
    graph : Graph
        Graph of items, such as a co-occurrence graph.
    walks : Trajectories
        The log.
    fewest : int
        Minimum number of users of a supported item.

    Returns
    -------
    GraphCoverage
        Numbers of items and events, and the size of the graph.

    Examples
    --------
    >>> walks = Trajectories.from_walks([["a", "b"], ["b", "a", "c"]])
    >>> print(measure_graph_coverage(Graph.from_edges([("a", "b")]), walks, fewest=2))
    2 of 3 items (66.7 %), 2 of 2 items with 2 or more users (100.0 %), 4 of 5 events (80.0 %)
    """
    import scipy.sparse
    from scipy.sparse.csgraph import connected_components

    graph = as_graph(graph)
    check_integer("fewest", fewest, 1, "give the minimum number of users of an item, 1 or more")
    num_users = build_incidence(walks, walks.users).sum(axis=0)
    covered = LabelReader(graph).match_names(walks.names, walks.nodes, strict=False) >= 0
    visited, supported = num_users > 0, num_users >= fewest
    links = scipy.sparse.csr_array(
        (np.ones(len(graph.indices), np.int8), graph.indices, graph.indptr), shape=(graph.num_nodes,) * 2
    )
    component = connected_components(links, directed=False)[1]
    sizes = np.bincount(component)
    return GraphCoverage(
        items=int(visited.sum()),
        covered_items=int((covered & visited).sum()),
        fewest=fewest,
        supported_items=int(supported.sum()),
        covered_supported_items=int((covered & supported).sum()),
        events=len(walks.nodes),
        covered_events=int(covered[walks.nodes].sum()),
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        mean_degree=round(float(graph.degrees.mean()), 2) if graph.num_nodes else 0.0,
        max_degree=int(graph.degrees.max(initial=0)),
        components=len(sizes),
        largest_component=int(sizes.max(initial=0)),
    )
