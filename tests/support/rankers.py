"""Walks and scores for tests of rankers that count."""

from __future__ import annotations

import numpy as np

from curiograph.exploration.mdp import Candidates
from curiograph.human.trajectories import Trajectories


def make_walks(graph, walks):
    return Trajectories.from_walks(walks, graph=graph)


def random_walks(graph, count=40):
    rng = np.random.default_rng(0)
    return make_walks(
        graph, [[graph.label(int(i)) for i in rng.permutation(graph.num_nodes)[:4]] for _ in range(count)]
    )


def score_all_nodes(ranker, graph, histories):
    """Scores of all nodes for every history."""
    size = graph.num_nodes
    nodes = np.tile(np.arange(size, dtype=np.int32), len(histories))
    candidates = Candidates(np.arange(len(histories) + 1) * size, nodes)
    given_histories = [np.array(history, np.int32) for history in histories]
    return ranker.scores(graph, given_histories, candidates).reshape(len(histories), size)
