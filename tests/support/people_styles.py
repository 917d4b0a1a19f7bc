"""Walks of simulated hunters and busybodies."""

from __future__ import annotations

import numpy as np

from curiograph.graph.graph import Graph
from curiograph.human.trajectories import Trajectories

_MEMORY = 5  # visits whose neighbors a person may go to


def simulate_styles(graph: Graph, people: int, visits: int, strength: float = 0.5, seed: int = 0) -> Trajectories:
    """Return a walk per person; every other person is a hunter, who stays near the last visits more often.

    Each step goes, with probability (1 + strength) / 2 of a hunter or (1 - strength) / 2 of a busybody, to a neighbor
    of one of the last five visits, and otherwise to any node.
    """
    rng = np.random.default_rng(seed)
    styles = ["hunter" if person % 2 == 0 else "busybody" for person in range(people)]
    walks = []
    for style in styles:
        tightness = (1 + strength) / 2 if style == "hunter" else (1 - strength) / 2
        walk = [int(rng.integers(graph.num_nodes))]
        while len(walk) < visits:
            near = graph.neighbors(graph.label(walk[-1 - int(rng.integers(min(_MEMORY, len(walk))))]))
            stays = rng.random() < tightness and len(near) > 0
            node = graph.position(near[int(rng.integers(len(near)))]) if stays else int(rng.integers(graph.num_nodes))
            if node != walk[-1]:
                walk.append(node)
        walks.append([graph.label(node) for node in walk])
    return Trajectories.from_walks(walks, graph=graph, user_columns={"planted": dict(enumerate(styles))})
