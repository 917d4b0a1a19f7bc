"""Graphs of many kinds and sizes, to train agents that work on any graph.

Beside the paper's families: configuration models with power-law degrees, preferential attachment with and without
clustering, stochastic block models, geometric and uniform random graphs of various densities, small worlds, Kleinberg's
grids with long-range links, graphs with a hidden circle (clustered, with unequal degrees, up to very dense), Chung-Lu
graphs, and food webs of the niche model. A quarter of the graphs are directed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from curiograph.graph.generators import FAMILIES, Split, generate
from curiograph.graph.graph import Graph

_MIN_NODES = 20
_MIN_COMPONENT = 12  # nodes of the largest component; smaller ones are redrawn
_DIRECTED_SHARE = 0.25
_PAPER_SHARE = 0.2


def generate_curriculum(train: int = 400, val: int = 40, *, max_nodes: int = 1000, seed: int = 0) -> Split:
    """Draw training and validation graphs of many kinds and sizes.

    A fifth of the graphs are the paper's families, of 50 nodes. The others have 20 to `max_nodes` nodes (log-uniform;
    Kleinberg's grids at most 484), of which the largest component is kept, at least 12 nodes.

    Graph i of a part is the same for any number of graphs.

    >>> len(generate_curriculum(train=3, val=1, max_nodes=60, seed=0).train)
    3
    """

    def draw(part: int, count: int) -> list[Graph]:
        sequences = [np.random.SeedSequence(seed, spawn_key=(part, i)) for i in range(count)]
        return [_draw_graph(max_nodes, np.random.default_rng(sequence)) for sequence in sequences]

    return Split(train=draw(0, train), val=draw(1, val), test=[])


def _draw_graph(max_nodes: int, rng: np.random.Generator) -> Graph:
    """Draw a graph of a random kind and size; redraw it if it falls apart into small components."""
    if rng.random() < _PAPER_SHARE:
        family = list(FAMILIES)[rng.integers(len(FAMILIES))]
        return generate(family, nodes=min(50, max_nodes), seed=int(rng.integers(2**31)))
    while True:
        size = int(_draw_log_uniform(_MIN_NODES, max_nodes, rng))
        drawn = nx.Graph(_KINDS[rng.integers(len(_KINDS))](size, int(rng.integers(2**31)), rng))
        drawn.remove_edges_from(list(nx.selfloop_edges(drawn)))
        largest = max(nx.connected_components(drawn), key=len)
        if len(largest) >= _MIN_COMPONENT:
            edges = np.array(nx.convert_node_labels_to_integers(drawn.subgraph(largest)).edges)
            return _direct_edges(edges, rng) if rng.random() < _DIRECTED_SHARE else Graph.from_edges(edges.tolist())


def _direct_edges(edges: Any, rng: np.random.Generator) -> Graph:
    """Give every edge a random direction; a random share of them is kept in both directions."""
    flipped = rng.random(len(edges)) < 0.5
    edges = np.where(flipped[:, None], edges[:, ::-1], edges)
    mutual = rng.random(len(edges)) < rng.uniform(0.0, 0.8)
    return Graph.from_edges(np.concatenate([edges, edges[mutual, ::-1]]).tolist(), directed=True)


def _draw_log_uniform(low: float, high: float, rng: np.random.Generator) -> float:
    return low * math.exp(rng.random() * math.log(high / low))


def _draw_configuration(size: int, seed: int, rng: np.random.Generator) -> Any:
    exponent, least = rng.uniform(1.9, 2.8), _draw_log_uniform(1.0, 8.0, rng)
    degrees = np.minimum((rng.pareto(exponent - 1, size) + 1) * least, size / 2).astype(int)
    degrees[0] += degrees.sum() % 2
    return nx.configuration_model(degrees.tolist(), seed=seed)


def _draw_blocks(size: int, seed: int, rng: np.random.Generator) -> Any:
    count = int(rng.integers(2, 7))
    block = max(3, size // count)
    inner = min(0.8, _draw_log_uniform(4.0, 30.0, rng) / block)
    outer = inner * rng.uniform(0.01, 0.2)
    probabilities = np.full((count, count), outer) + (inner - outer) * np.eye(count)
    return nx.stochastic_block_model([block] * count, probabilities.tolist(), seed=seed)


def _draw_kleinberg(size: int, seed: int, rng: np.random.Generator) -> Any:
    side = min(22, max(4, math.isqrt(size)))  # drawing takes time proportional to the fourth power of the side
    return nx.navigable_small_world_graph(side, q=int(rng.integers(1, 4)), seed=seed)


def _draw_pairs(probabilities: Any, seed: int) -> Any:
    """Link every pair of nodes i < j independently with probability `probabilities[i, j]`."""
    linked = np.random.default_rng(seed).random(probabilities.shape) < probabilities
    graph = nx.empty_graph(len(linked))
    graph.add_edges_from(np.argwhere(np.triu(linked, 1)).tolist())
    return graph


def _draw_weights(size: int, rng: np.random.Generator) -> Any:
    """Draw expected degrees relative to their mean: lognormal or with a power law, at most a third of all nodes."""
    if rng.random() < 0.5:
        weights = rng.lognormal(0.0, rng.uniform(0.2, 1.2), size)
    else:
        weights = rng.pareto(rng.uniform(1.1, 2.5), size) + 1
    weights = np.minimum(weights, weights.mean() * size / 3)
    return weights / weights.mean()


def _draw_mean_degree(size: int, rng: np.random.Generator) -> float:
    return _draw_log_uniform(4.0, min(40.0, 0.4 * size), rng)


def _draw_hidden_circle(size: int, seed: int, rng: np.random.Generator) -> Any:
    """Draw the S1 model of Serrano, Krioukov and Boguna (2008): similar and popular nodes link."""
    angles, weights, beta = rng.random(size), _draw_weights(size, rng), rng.uniform(1.2, 5.0)
    distances = np.abs(angles[:, None] - angles)
    distances = np.minimum(distances, 1 - distances) * size
    mean_degree = _draw_mean_degree(size, rng)
    scale = beta * math.sin(math.pi / beta) / (2 * math.pi) * mean_degree * np.outer(weights, weights)
    return _draw_pairs(1 / (1 + (distances / scale) ** beta), seed)


def _draw_chung_lu(size: int, seed: int, rng: np.random.Generator) -> Any:
    weights = _draw_weights(size, rng)
    products = np.outer(weights, weights) * _draw_mean_degree(size, rng) / size
    return _draw_pairs(np.minimum(products, 1.0), seed)


def _draw_niches(size: int, seed: int, rng: np.random.Generator) -> Any:
    """Draw the niche model of Williams and Martinez (2000): species eat a range of others below their own niche."""
    niches = np.sort(rng.random(size))
    connectance = _draw_mean_degree(size, rng) / (2 * size)
    ranges = niches * rng.beta(1.0, 1 / (2 * connectance) - 1, size)
    centers = rng.uniform(ranges / 2, niches)
    eats = np.abs(niches[None, :] - centers[:, None]) <= ranges[:, None] / 2
    return _draw_pairs(eats | eats.T, seed)


_KINDS: list[Callable[[int, int, np.random.Generator], Any]] = [
    _draw_configuration,
    lambda size, seed, rng: nx.barabasi_albert_graph(
        size, int(_draw_log_uniform(1.0, min(20.0, size / 4), rng)), seed=seed
    ),
    lambda size, seed, rng: nx.powerlaw_cluster_graph(
        size, int(_draw_log_uniform(1.0, min(16.0, size / 4), rng)), rng.uniform(0.1, 0.95), seed=seed
    ),
    _draw_blocks,
    lambda size, seed, rng: nx.random_geometric_graph(
        size, math.sqrt(_draw_log_uniform(4.0, 25.0, rng) / (math.pi * size)), seed=seed
    ),
    lambda size, seed, rng: nx.gnm_random_graph(
        size, int(size * min(_draw_log_uniform(3.0, 60.0, rng), 0.6 * size) / 2), seed=seed
    ),
    lambda size, seed, rng: nx.watts_strogatz_graph(
        size, 2 * int(rng.integers(1, 8)), rng.uniform(0.01, 0.5), seed=seed
    ),
    _draw_kleinberg,
    _draw_hidden_circle,
    _draw_hidden_circle,
    _draw_chung_lu,
    _draw_niches,
]
"""Functions that draw a graph, given the number of nodes, a seed and a random generator."""
