"""Tests of the distances to the targets of games."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.human.choices.target_distances import target_distances
from oracles import reference as twins


@given(st.integers(0, 10**6))
def test_distances_equal_networkx(seed):
    rng = np.random.default_rng(seed)
    graph = twins.draw_graph(rng, int(rng.integers(2, 12)), 0.2, directed=bool(seed % 2))
    nodes, targets = rng.integers(-1, graph.num_nodes, (2, 20))
    lengths = dict(nx.all_pairs_shortest_path_length(graph.to_networkx()))
    expected = [
        lengths[node].get(target, -1) if min(node, target) >= 0 else -1
        for node, target in zip(nodes.tolist(), targets.tolist(), strict=True)
    ]
    assert target_distances(graph, nodes, targets).tolist() == expected


def test_no_pairs():
    assert target_distances(cg.toys.cycle(4), np.array([], int), np.array([], int)).tolist() == []
