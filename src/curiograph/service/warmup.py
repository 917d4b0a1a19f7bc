"""Warm-up: compile or load every kernel that requests use, before the service is ready."""

from __future__ import annotations

from curiograph.centrality.pagerank import pagerank
from curiograph.graph.toys import library
from curiograph.growth.gap_loops import gap_loops
from curiograph.growth.measure import measure
from curiograph.recommendation.recommender import recommend
from curiograph.service.graph_store import GraphStore
from curiograph.service.step_view import view_step

_WALK = ["music", "physics", "chemistry"]


def warm_up(graphs: GraphStore) -> None:
    """Compile the kernels, or load the compiled ones; then read the graph that the page shows first.

    >>> warm_up(GraphStore())
    """
    graph = library()
    for agent in ("greedy", "beam:2", "horizon", "igt-er"):
        for reward in ("igt", "cpt"):
            view_step(graph, _WALK, agent, reward)
    measure(graph, _WALK)
    gap_loops(graph, _WALK)
    pagerank(graph, history=_WALK)
    recommend(graph, [_WALK, _WALK[:1]], 3)[0].to_dict()
    graphs.remove_upload(graphs.add_upload("links.csv", b"a,b\nb,c\n").id)
    graphs.open(graphs.default_id)
