"""Count-based baselines against slow reference implementations, and the ranker contract."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.errors import RankerError, WalkError
from curiograph.graph.toys import grid, library
from curiograph.human.trajectories import Trajectories
from curiograph.recommendation import incidence as incidence_module
from curiograph.recommendation.count_rankers import ItemKnn, Markov, Popularity
from support.rankers import make_walks, random_walks, score_all_nodes

SIZE = 6
RING = cg.Graph.from_edges([(i, (i + 1) % SIZE) for i in range(SIZE)])
ONE_WAY = cg.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (4, 0)], directed=True)
BASELINES = (Popularity, Markov, ItemKnn)


# ---- contract -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BASELINES)
@pytest.mark.parametrize("graph", [library(), grid(3, 3), ONE_WAY], ids=["library", "grid", "one way"])
def test_baselines_pass_check_ranker(kind, graph):
    cg.check_ranker(kind.from_walks(graph, random_walks(graph)), graph)
    cg.check_ranker(kind.from_walks(graph, make_walks(graph, [])), graph)


@pytest.mark.parametrize("kind", BASELINES)
def test_scoring_on_another_graph_raises(kind):
    ranker = kind.from_walks(RING, random_walks(RING))
    with pytest.raises(RankerError, match="was fitted on a graph of 6 nodes and the given graph has 5"):
        cg.check_ranker(ranker, ONE_WAY)


@pytest.mark.parametrize("kind", BASELINES)
def test_fitting_to_walks_on_another_graph_raises(kind):
    elsewhere = Trajectories.from_walks([[1, 0, 2, 3, 4, 5]])
    with pytest.raises(WalkError, match=r"fit on walks.on\(graph\)"):
        kind.from_walks(RING, elsewhere)
    kind.from_walks(RING, elsewhere.on(RING))


@pytest.mark.parametrize("kind", BASELINES)
def test_nodes_without_visits_score_zero(kind):
    scores = score_all_nodes(kind.from_walks(RING, make_walks(RING, [[0, 1, 2], [1, 2, 0]])), RING, [[0], [1, 2]])
    assert np.all(scores[:, 3:] == 0)


@pytest.mark.parametrize("kind", BASELINES)
def test_block_size_does_not_change_scores(kind, monkeypatch):
    graph = library()
    histories = [[i, i + 1] for i in range(graph.num_nodes - 1)]
    walks = random_walks(graph)
    before = score_all_nodes(kind.from_walks(graph, walks), graph, histories)
    monkeypatch.setattr(incidence_module, "_ENTRIES", 3 * graph.num_nodes)
    assert np.array_equal(before, score_all_nodes(kind.from_walks(graph, walks), graph, histories))
