"""The paper's four graph families, at any size.

=====  ==================  ===============================  ========================================
name   model               at 50 nodes (pinned)             at another size n
=====  ==================  ===============================  ========================================
rg     random geometric    radius 0.25 in the unit square   the radius that keeps the mean degree
ws     Watts-Strogatz      k = 4, p = 0.1                   the same
ba     Barabasi-Albert     m = 4                            the same
er     Erdos-Renyi         p = 0.2                          p = 9.8 / (n - 1), at most 1
=====  ==================  ===============================  ========================================

Graphs are drawn again until they are connected. A large random geometric graph of constant mean degree almost never
is; above 100 nodes only the nodes outside its largest component are drawn again, until none are left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import networkx as nx
import numpy as np

from curiograph.arrays import Int64
from curiograph.errors import UnknownNameError
from curiograph.graph.graph import Graph
from curiograph.graph.labels import RangeLabels
from curiograph.graph.splits import Split
from curiograph.validation import check_integer, check_seed

_SIZE = 50
_RADIUS = 0.25
_WHOLE_REDRAW = 100
_FEWEST, _MOST = 5, 5_000


@dataclass(frozen=True)
class Family:
    """A family of random graphs."""

    name: str
    title: str
    draw: Callable[[int, np.random.Generator], Graph]


def generate(family: str, nodes: int = 50, *, seed: int = 0) -> Graph:
    """A connected random graph of the family `rg`, `ws`, `ba` or `er`.

    >>> generate("ws", nodes=50, seed=0)
    Graph(50 nodes, 100 edges, undirected)
    """
    return _draw(family, nodes, np.random.SeedSequence(check_seed(seed)))


def generate_split(
    family: str, nodes: int = 50, *, train: int = 100, val: int = 10, test: int = 10, seed: int = 0
) -> Split:
    """Seeded training, validation and test graphs of a family; graph i of a part does not depend on the counts.

    >>> sets = generate_split("ba", nodes=20, train=3, val=1, test=1, seed=0)
    >>> len(sets.train), sets.test[0]
    (3, Graph(20 nodes, 64 edges, undirected))
    """
    parts = []
    for part, count in enumerate((train, val, test)):
        number = check_integer("the number of graphs", count, 0, "a split holds whole numbers of graphs, zero or above")
        sequences = [np.random.SeedSequence(check_seed(seed), spawn_key=(part, i)) for i in range(number)]
        parts.append([_draw(family, nodes, sequence) for sequence in sequences])
    return Split(*parts)


def _draw(family: str, nodes: int, sequence: np.random.SeedSequence) -> Graph:
    if not isinstance(family, str) or family not in FAMILIES:
        raise UnknownNameError(f"there is no family {family!r}; the families are {', '.join(FAMILIES)}.")
    size = check_integer(
        "nodes",
        nodes,
        _FEWEST,
        f"a generated graph has {_FEWEST} to {_MOST} nodes, and one of cg.generate_large more",
        _MOST,
    )
    return FAMILIES[family].draw(size, np.random.default_rng(sequence))


def _until_connected(draw: Callable[[np.random.Generator], nx.Graph], rng: np.random.Generator) -> Graph:
    while True:
        graph = draw(rng)
        if nx.is_connected(graph):
            return _as_graph(np.asarray(graph.edges, np.int64).reshape(-1, 2), graph.number_of_nodes())


def _as_graph(edges: Int64, nodes: int) -> Graph:
    return Graph.from_arrays(edges[:, 0], edges[:, 1], names=RangeLabels(nodes))


def _watts_strogatz(nodes: int, rng: np.random.Generator) -> Graph:
    return _until_connected(lambda r: nx.watts_strogatz_graph(nodes, 4, 0.1, seed=r), rng)


def _barabasi_albert(nodes: int, rng: np.random.Generator) -> Graph:
    return _until_connected(lambda r: nx.barabasi_albert_graph(nodes, 4, seed=r), rng)


def _erdos_renyi(nodes: int, rng: np.random.Generator) -> Graph:
    chance = min(1.0, 0.2 * (_SIZE - 1) / (nodes - 1))
    return _until_connected(lambda r: nx.fast_gnp_random_graph(nodes, chance, seed=r), rng)


def _random_geometric(nodes: int, rng: np.random.Generator) -> Graph:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    radius = _radius(nodes)
    places = rng.random((nodes, 2))
    while True:
        edges = cKDTree(places).query_pairs(radius, output_type="ndarray")
        ones = np.ones(len(edges), np.int8)
        matrix = coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(nodes, nodes))
        count, member = connected_components(matrix, directed=False)
        if count == 1:
            return _as_graph(edges.astype(np.int64), nodes)
        stray = member != np.argmax(np.bincount(member))
        again = stray if nodes > _WHOLE_REDRAW else np.ones(nodes, bool)
        places[again] = rng.random((int(again.sum()), 2))


def _radius(nodes: int) -> float:
    """The radius at which a graph of this size has the mean degree of 50 nodes at radius 0.25, edges of the square
    included: two random points of the unit square are within r <= 1 with probability pi r^2 - 8 r^3 / 3 + r^4 / 2."""
    if nodes == _SIZE:
        return _RADIUS
    chance = min(0.97, _within(_RADIUS) * (_SIZE - 1) / (nodes - 1))
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle) < chance else (low, middle)
    return low


def _within(r: float) -> float:
    return math.pi * r**2 - 8 * r**3 / 3 + r**4 / 2


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("rg", "random geometric", _random_geometric),
        Family("ws", "Watts-Strogatz", _watts_strogatz),
        Family("ba", "Barabasi-Albert", _barabasi_albert),
        Family("er", "Erdos-Renyi", _erdos_renyi),
    )
}
