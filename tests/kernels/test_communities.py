"""Communities of small graphs, compared with all divisions and with networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np

from curiograph.kernels.communities import ORDERS, find_communities


def find(graph: nx.Graph) -> tuple[list[set[int]], float]:
    matrix = nx.to_scipy_sparse_array(graph, nodelist=range(len(graph)), format="csr")
    member, modularity = find_communities(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), ORDERS)
    return [set(np.flatnonzero(member == name).tolist()) for name in range(member.max() + 1)], modularity


def list_divisions(nodes: list[int]) -> list[list[set[int]]]:
    """All divisions of nodes into communities."""
    if not nodes:
        return [[]]
    found = []
    for division in list_divisions(nodes[1:]):
        found.append([{nodes[0]}, *division])
        for number, part in enumerate(division):
            found.append([*division[:number], part | {nodes[0]}, *division[number + 1 :]])
    return found


def test_no_division_of_a_tiny_graph_is_better():
    divisions = list_divisions(list(range(7)))
    missed = 0
    for seed in range(40):
        graph = nx.gnm_random_graph(7, 4 + seed % 9, seed=seed)  # some with isolated nodes
        parts, modularity = find(graph)
        assert set().union(*parts) == set(graph)
        assert abs(modularity - nx.community.modularity(graph, parts)) < 1e-12
        best = max(nx.community.modularity(graph, division) for division in divisions)
        missed += modularity < best - 1e-12
    assert missed <= 1


def test_paths_are_divided_as_well_as_can_be():
    """Ties between both neighbors of a node must not be broken in the same way in all orders."""
    for size in range(4, 12):
        graph = nx.path_graph(size)
        best = max(
            nx.community.modularity(graph, [set(part.tolist()) for part in np.split(np.arange(size), cuts)])
            for cuts in list_cuts(size)
        )
        assert find(graph)[1] >= best - 1e-12


def list_cuts(size: int) -> list[list[int]]:
    return [[k for k in range(1, size) if code >> (k - 1) & 1] for code in range(2 ** (size - 1))]


def test_modularity_is_at_least_that_of_networkx():
    """Over many subgraphs of walks, on average and in nearly all of them, although theirs may be lucky."""
    differences = []
    for seed in range(120):
        whole = [
            nx.barabasi_albert_graph(150, 3, seed=seed),
            nx.gnm_random_graph(150, 900, seed=seed),
            nx.watts_strogatz_graph(150, 6, 0.1, seed=seed),
        ][seed % 3]
        nodes = np.random.default_rng(seed).choice(150, [8, 15, 30, 60][seed % 4], replace=False).tolist()
        graph = nx.convert_node_labels_to_integers(whole.subgraph(nodes))
        if graph.number_of_edges():
            theirs = nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=seed))
            differences.append(find(graph)[1] - theirs)
    assert np.mean(differences) > 0.003
    assert np.mean(np.array(differences) < -1e-9) < 0.03
    assert min(differences) > -0.03
