"""Null models: functions of a graph, walks and a seed that return the graph and the walks to measure.

The null models of the networks of walks return one graph that contains a network for each walk, as separate components.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.exploration.mdp import begin
from curiograph.graph.csr import build_csr, freeze_array
from curiograph.graph.graph import Graph

_SWAPS_PER_EDGE = 10  # attempted swaps when a graph is rewired
_LATTICE_ROUNDS = 10  # swaps per edge when a graph is latticized
_NETWORK_ROUNDS = 50  # both for the networks of walks, as in Patankar et al. 2023
_NUM_DEGREE_GROUPS = 10
_MAX_KEYS = 2**22  # random numbers drawn at a time: bounds the memory, does not change the result

NullDraw = tuple[Graph, Int32]
"""The graph and the walks to measure."""


def rewire_graph(graph: Graph, visits: Int32, seed: int) -> NullDraw:
    """Return a graph with random edges and the same degrees, and the same walks."""
    return _swap_graph_edges(kernels.rewire.swap_edges, graph, _SWAPS_PER_EDGE, seed), visits


def latticize_graph(graph: Graph, visits: Int32, seed: int) -> NullDraw:
    """Return a graph with short edges along a ring of its nodes and the same degrees, and the same walks.

    See `kernels.rewire.latticize_edges`.
    """
    return _swap_graph_edges(kernels.rewire.latticize_edges, graph, _LATTICE_ROUNDS, seed), visits


def rewire_networks(graph: Graph, visits: Int32, seed: int) -> NullDraw:
    """Return the network of each walk with random edges and the same degrees."""
    return _swap_network_edges(kernels.rewire.swap_edges, graph, visits, seed)


def latticize_networks(graph: Graph, visits: Int32, seed: int) -> NullDraw:
    """Return the network of each walk with short edges along a ring of its nodes and the same degrees."""
    return _swap_network_edges(kernels.rewire.latticize_edges, graph, visits, seed)


def grow_constant(graph: Graph, visits: Int32, seed: int) -> NullDraw:
    """Return networks with as many nodes and edges as those of the walks, and edges between random pairs of nodes.

    This is the model with a constant probability of edges, given the number of edges.
    """
    return _draw_pairs(graph, visits, seed, np.ones(visits.shape[1]))


def grow_proportional(graph: Graph, visits: Int32, seed: int) -> NullDraw:
    """Return networks with as many nodes and edges as those of the walks, in which later nodes have more edges.

    Pairs of nodes are drawn one after another, without replacement, with a probability proportional to the number
    1, 2, ... of the later node of the pair.
    """
    return _draw_pairs(graph, visits, seed, np.arange(1.0, visits.shape[1] + 1))


def grow_preferential(graph: Graph, visits: Int32, seed: int) -> NullDraw:
    """Return networks with as many nodes and edges as those of the walks, grown by preferential attachment.

    Every node has, on arrival, links to m or m + 1 earlier nodes, or to all of them if they are fewer. m is the same
    for all nodes of a network, and the nodes with one more are drawn at random. Earlier nodes are drawn one after
    another, without replacement, with a probability proportional to their degree before the arrival; those without any
    edge after all others, in random order.
    """
    walks, size = visits.shape
    rng = np.random.default_rng(seed)
    numbers = share_edges(_count_network_edges(graph, visits), size, rng)
    degrees = np.zeros((walks, size))
    source, target = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for step in range(1, size):
        # the m smallest of the times until nodes would be drawn, if nodes are drawn at rates given by their degrees
        waiting = rng.exponential(size=(walks, step))
        with np.errstate(divide="ignore"):
            order = np.lexsort((waiting, waiting / degrees[:, :step]))
        ranks = np.argsort(order, axis=1)
        walk, earlier = np.nonzero(ranks < numbers[:, [step]])
        degrees[walk, earlier] += 1
        degrees[:, step] = numbers[:, step]
        source.append(walk * size + step)
        target.append(walk * size + earlier)
    return _join_networks(np.concatenate(source), np.concatenate(target), walks, size)


def walk_degree_matched(graph: Graph, visits: Int32, seed: int) -> NullDraw:
    """Return random walks from the same starts to candidates with a degree like that of the visited nodes."""
    return graph, _walk_randomly(graph, visits, seed, group_by_degree(graph))


def walk_unbiased(graph: Graph, visits: Int32, seed: int) -> NullDraw:
    """Return random walks from the same starts to any candidate."""
    return graph, _walk_randomly(graph, visits, seed, np.zeros(graph.num_nodes, np.int64))


def shuffle_walks(graph: Graph, visits: Int32, seed: int) -> NullDraw:
    """Return the same nodes in random order."""
    return graph, np.random.default_rng(seed).permuted(visits, axis=1)


NULL_MODELS: dict[str, Callable[[Graph, Int32, int], NullDraw]] = {
    "rewired": rewire_graph,
    "random-walk": walk_degree_matched,
    "unbiased": walk_unbiased,
    "shuffled": shuffle_walks,
    "latticized": latticize_graph,
    "network-rewired": rewire_networks,
    "network-latticized": latticize_networks,
    "constant": grow_constant,
    "proportional": grow_proportional,
    "preferential": grow_preferential,
}
"""Null models by name: functions of a graph, walks and a seed that return the graph and the walks to measure."""


def group_by_degree(graph: Graph) -> Int64:
    """Return the group of each node, one of ten groups of equal size by degree; nodes of equal degree share a group.

    The degree counts links in both directions.
    """
    degrees = graph.skeleton.degrees
    bounds = np.quantile(degrees, np.arange(1, _NUM_DEGREE_GROUPS) / _NUM_DEGREE_GROUPS)
    return np.searchsorted(bounds, degrees, side="right")


def _walk_randomly(graph: Graph, visits: Int32, seed: int, groups: Int64) -> Int32:
    """Return walks from the same starts to random candidates whose group is nearest to that of the visited node."""
    walks = begin([graph], [visits[:, 0].astype(np.int64)], "igt", visits.shape[1], seed=seed)
    for step in range(1, walks.steps):
        nodes, visited = walks.candidates.nodes, visits[walks.candidates.walks, step]
        walks = walks.step(walks.best(-np.abs(groups[nodes] - groups[visited]).astype(np.float64)))
    return walks.nodes


def share_edges(num_edges: Int64, size: int, rng: np.random.Generator) -> Int64:
    """Return the number of edges of every node on arrival, networks x nodes, with the given sum of each network.

    Node i (from 0) has m or m + 1 edges, with the same m for all nodes of a network, or i if that is less.

    >>> share_edges(np.array([5, 3, 6]), 4, np.random.default_rng(0)).tolist()
    [[0, 1, 2, 2], [0, 1, 1, 1], [0, 1, 2, 3]]
    """
    earlier = np.arange(size)
    sums = np.minimum(earlier[:, None], earlier).sum(axis=1)  # edges of a network by m
    m = np.searchsorted(sums, num_edges, side="right") - 1
    numbers: Int64 = np.minimum(m[:, None], earlier)
    # of the nodes with room for one more edge, a random set gets one
    keys = np.where(earlier > m[:, None], rng.random(numbers.shape), np.inf)
    ranks = np.argsort(np.argsort(keys, axis=1), axis=1)
    numbers += ranks < (num_edges - sums[m])[:, None]
    return numbers


def _draw_pairs(graph: Graph, visits: Int32, seed: int, weights: Float64) -> NullDraw:
    """Draw as many pairs of nodes as the network of each walk has edges, by the weights of the later nodes."""
    walks, size = visits.shape
    earlier, later = np.tril_indices(size, -1)[::-1]
    num_edges = _count_network_edges(graph, visits)
    rng = np.random.default_rng(seed)
    source, target = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    chunk = max(1, _MAX_KEYS // max(1, len(later)))
    for first in range(0, walks, chunk):
        counts = num_edges[first : first + chunk]
        # the smallest of the times until pairs would be drawn, if pairs are drawn at rates given by the weights
        waiting = rng.exponential(size=(len(counts), len(later))) / weights[later]
        ranks = np.argsort(np.argsort(waiting, axis=1), axis=1)
        walk, pair = np.nonzero(ranks < counts[:, None])
        source.append((first + walk) * size + later[pair])
        target.append((first + walk) * size + earlier[pair])
    return _join_networks(np.concatenate(source), np.concatenate(target), walks, size)


def _swap_graph_edges(swap: Callable[..., Int32], graph: Graph, rounds: int, seed: int) -> Graph:
    """Swap edges of a whole graph by a kernel of `kernels.rewire`."""
    rows = graph.skeleton
    bounds, streams = freeze_array(np.array([0, rows.num_nodes])), freeze_array(np.array([seed], np.uint64))
    return Graph(rows.indptr, swap(rows.indptr, rows.indices, bounds, rounds, streams), names=graph.names)


def _swap_network_edges(swap: Callable[..., Int32], graph: Graph, visits: Int32, seed: int) -> NullDraw:
    """Swap edges within the network of each walk by a kernel of `kernels.rewire`."""
    indptr, indices = _build_networks(graph, visits)
    walks, size = visits.shape
    bounds = freeze_array(np.arange(walks + 1) * size)
    streams = freeze_array(kernels.random.make_streams(np.uint64(seed), 0, walks))
    swapped = swap(freeze_array(indptr), freeze_array(indices), bounds, _NETWORK_ROUNDS, streams)
    return Graph(indptr, swapped), _number_visits(walks, size)


def _build_networks(graph: Graph, visits: Int32) -> tuple[Int64, Int32]:
    """Return the rows of a graph with the visited subgraph of every walk, its nodes in order of visit."""
    rows = graph.skeleton
    found: tuple[Int64, Int32] = kernels.subgraphs.build_walk_networks(rows.indptr, rows.indices, freeze_array(visits))
    return found


def _count_network_edges(graph: Graph, visits: Int32) -> Int64:
    """Return the number of edges of the visited subgraph of every walk."""
    return np.diff(_build_networks(graph, visits)[0][:: visits.shape[1]]) // 2


def _join_networks(source: Int64, target: Int64, walks: int, size: int) -> NullDraw:
    """Return one graph with the edges of all networks, and walks over the nodes of each in order."""
    indptr, indices, _ = build_csr(
        np.concatenate([source, target]), np.concatenate([target, source]), None, walks * size
    )
    return Graph(indptr, indices), _number_visits(walks, size)


def _number_visits(walks: int, size: int) -> Int32:
    return np.arange(walks * size, dtype=np.int32).reshape(walks, size)
