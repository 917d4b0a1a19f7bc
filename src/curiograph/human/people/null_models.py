"""Null models: functions of a graph, walks, their origins and a seed that return the graph and the walks to measure.

`compare_growth` describes them, and `kernels.matched_walks` the origins of visits.
Those of the networks of walks return one graph that contains a network for each walk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from curiograph import kernels
from curiograph.arrays import Int32, Int64
from curiograph.graph.csr import build_csr, freeze_array
from curiograph.graph.graph import Graph

_GRAPH_ROUNDS = 10  # attempted swaps per edge of a graph
_NETWORK_ROUNDS = 50  # of the networks of walks, as in Patankar et al. 2023
_NEWTON_STEPS = 20  # of the exponent of degrees
_MAX_EXPONENT = 5.0  # if all people always take the candidate of the highest or lowest degree
_MAX_KEYS = 2**22  # random numbers drawn at a time: bounds the memory, does not change the result

NullDraw = tuple[Graph, Int32]
"""The graph and the walks to measure."""


def grow_preferential(graph: Graph, visits: Int32, origins: Int32, seed: int) -> NullDraw:
    """Return networks with as many nodes and edges as those of the walks, grown by preferential attachment.

    Earlier nodes are drawn one after another, without replacement, with a probability proportional to their degree
    before the arrival; those without any edge after all others, in random order.
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


def walk_randomly(graph: Graph, visits: Int32, origins: Int32, seed: int, *, by_degree: bool) -> NullDraw:
    """Return random walks from the same starts, with links and jumps from the same places as in the human walks.

    Candidates have equal chances, or if `by_degree` chances proportional to a power of their degree, whose exponent is
    fitted to all links that people took.
    """
    rows = freeze_array(graph.indptr), freeze_array(graph.indices), freeze_array(visits), freeze_array(origins)
    logs = freeze_array(np.log(np.maximum(graph.skeleton.degrees, 1)))
    exponent = 0.0
    for _ in range(_NEWTON_STEPS if by_degree else 0):
        gradient, curvature = kernels.matched_walks.sum_preferences(*rows, logs, exponent)
        exponent = float(np.clip(exponent + gradient / max(curvature, 1e-9), -_MAX_EXPONENT, _MAX_EXPONENT))
    streams = freeze_array(kernels.random.make_streams(np.uint64(seed), 0, len(visits)))
    preferences = freeze_array(np.exp(exponent * logs))
    return graph, kernels.matched_walks.sample_matched_walks(*rows, preferences, streams)


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


def draw_pairs(graph: Graph, visits: Int32, origins: Int32, seed: int, *, proportional: bool) -> NullDraw:
    """Draw as many pairs of nodes as the network of each walk has edges, without replacement, all with equal chances.

    If `proportional`, the chances are proportional to the number 1, 2, ... of the later node of the pair.
    """
    walks, size = visits.shape
    weights = np.arange(1.0, size + 1) if proportional else np.ones(size)
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


def swap_graph_edges(graph: Graph, visits: Int32, origins: Int32, seed: int, *, kernel: str) -> NullDraw:
    """Swap edges of a whole graph by a kernel of `kernels.rewire`; the walks stay the same."""
    rows = graph.skeleton
    bounds, streams = freeze_array(np.array([0, rows.num_nodes])), freeze_array(np.array([seed], np.uint64))
    indices = getattr(kernels.rewire, kernel)(rows.indptr, rows.indices, bounds, _GRAPH_ROUNDS, streams)
    return Graph(rows.indptr, indices, names=graph.names), visits


def swap_network_edges(graph: Graph, visits: Int32, origins: Int32, seed: int, *, kernel: str) -> NullDraw:
    """Swap edges within the network of each walk by a kernel of `kernels.rewire`."""
    indptr, indices = _build_networks(graph, visits)
    walks, size = visits.shape
    bounds = freeze_array(np.arange(walks + 1) * size)
    streams = freeze_array(kernels.random.make_streams(np.uint64(seed), 0, walks))
    rows = freeze_array(indptr), freeze_array(indices)
    swapped = getattr(kernels.rewire, kernel)(*rows, bounds, _NETWORK_ROUNDS, streams)
    return Graph(indptr, swapped), np.arange(walks * size, dtype=np.int32).reshape(walks, size)


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
    return Graph(indptr, indices), np.arange(walks * size, dtype=np.int32).reshape(walks, size)


NULL_MODELS: dict[str, Callable[[Graph, Int32, Int32, int], NullDraw]] = {
    "rewired": partial(swap_graph_edges, kernel="swap_edges"),
    "random-walk": partial(walk_randomly, by_degree=True),
    "unbiased": partial(walk_randomly, by_degree=False),
    "shuffled": lambda graph, visits, origins, seed: (graph, np.random.default_rng(seed).permuted(visits, axis=1)),
    "latticized": partial(swap_graph_edges, kernel="latticize_edges"),
    "network-rewired": partial(swap_network_edges, kernel="swap_edges"),
    "network-latticized": partial(swap_network_edges, kernel="latticize_edges"),
    "constant": partial(draw_pairs, proportional=False),
    "proportional": partial(draw_pairs, proportional=True),
    "preferential": grow_preferential,
}
"""Null models by name."""
