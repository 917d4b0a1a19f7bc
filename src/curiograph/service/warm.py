"""Load the kernels before the first request; compile them the first time."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from curiograph.centrality.pagerank import pagerank
from curiograph.graph.io.formats import read_graph
from curiograph.graph.toys import library
from curiograph.growth.measure import measure
from curiograph.recommendation.recommender import recommend
from curiograph.service import picture, schemas
from curiograph.service.places import lay_out_walk
from curiograph.service.step_view import view_step
from curiograph.service.store import OpenGraph


def warm_kernels() -> None:
    """Call the kernels that requests need; they are compiled the first time, which takes half a minute."""
    graph, walk = library(), ["music", "physics", "chemistry"]
    for agent in ("greedy", "beam:2", "planner", "igt-er"):
        for reward in ("igt", "cpt"):
            view_step(graph, walk, agent, reward)
    measure(graph, walk)
    shown = schemas.ViewRequest(graph="toy:library", walk=[*walk], more=True)
    picture.view_walk(OpenGraph(graph), shown)
    lay_out_walk(3, np.array([[0, 1], [1, 2]]), 1)
    pagerank(graph, history=walk)
    recommend(graph, [walk, walk[:1], []], 3, diversity=0.5, theory=True)[0].to_dict()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.csv"
        path.write_text("a,b\nb,c\n")
        read_graph(path)
