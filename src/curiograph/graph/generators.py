"""Random graphs: the paper's four families, and large graphs of up to tens of millions of nodes.

The families of `generate` and `generate_split`:

=====  ==================  ===============================  ========================================
name   model               at 50 nodes (paper)              at another size n
=====  ==================  ===============================  ========================================
rg     random geometric    radius 0.25 in the unit square   the radius that keeps the mean degree
ws     Watts-Strogatz      k = 4, p = 0.1                   the same
ba     Barabasi-Albert     m = 4                            the same
er     Erdos-Renyi         p = 0.2                          p = 9.8 / (n - 1), at most 1
=====  ==================  ===============================  ========================================

Graphs are redrawn until they are connected. A large random geometric graph of constant mean degree is almost never
connected; above 100 nodes, only the points outside its largest component are redrawn until the graph is connected.

The kinds of `generate_large`; these graphs are drawn with array operations and are not necessarily connected:

=====  ===================  ============================================================================
name   model                structure
=====  ===================  ============================================================================
ws     Watts-Strogatz       ring of nodes linked to the nearest ones; edges rewired with probability 0.1
rg     random geometric     points on a torus, linked within a radius; Poisson degrees
pl     power law            degrees with a tail of exponent 2.5 up to `max_degree`; small communities
=====  ===================  ============================================================================

Their degrees and clustering do not depend on the number of nodes, so that run times at different sizes can be
compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int32, Int64
from curiograph.errors import GraphError, SettingError, UnknownNameError
from curiograph.graph.csr import concatenate_ranges, symmetrize_csr
from curiograph.graph.graph import Graph
from curiograph.graph.labels import RangeLabels
from curiograph.graph.splits import Split
from curiograph.messages import format_bytes
from curiograph.validation import check_integer, check_seed

_SIZE = 50  # nodes of the paper's graphs
_RADIUS = 0.25  # of "rg" at 50 nodes
_MAX_FULL_REDRAW = 100  # nodes; in larger "rg" graphs only points outside the largest component are redrawn
_MIN_NODES, _MAX_NODES = 5, 5_000

_MAX_EDGE_ENDS = 2**31 - 1  # scipy.sparse indexes the entries of the adjacency matrix with 32 bits
_REWIRED = 0.1  # probability that an edge of "ws" is rewired
_EXPONENT = 2.5  # of the degree distribution of "pl"
_COMMUNITY = 2  # size of a community, in units of the mean degree
_CHUNK = 2**22  # pairs processed together: bounds the memory
_EDGE_BYTES, _NODE_BYTES, _PAIR_BYTES = 42, 50, 24  # measured per item at the memory peak; pairs only for "rg"


def generate(family: str, nodes: int = 50, *, seed: int = 0) -> Graph:
    """Draw a connected random graph of one of the paper's families.

    Parameters
    ----------
    family : {"rg", "ws", "ba", "er"}
        "rg" (random geometric), "ws" (Watts-Strogatz), "ba" (Barabasi-Albert) or "er" (Erdos-Renyi).
    nodes : int
        Number of nodes, 5 to 5,000.
    seed : int
        The same seed gives the same graph.

    Returns
    -------
    Graph
        An undirected, unweighted graph with labels 0 to nodes - 1.

    Examples
    --------
    >>> generate("ws", nodes=50, seed=0)
    Graph(50 nodes, 100 edges, undirected)
    """
    return _draw(family, nodes, np.random.SeedSequence(check_seed(seed)))


def generate_split(
    family: str, nodes: int = 50, *, train: int = 100, val: int = 10, test: int = 10, seed: int = 0
) -> Split:
    """Draw training, validation and test graphs of a family.

    Parameters
    ----------
    family, nodes
        As for `generate`.
    train, val, test : int
        Number of graphs of each part.
    seed : int
        The same seed gives the same graphs; graph i of a part is the same for any number of graphs.

    Returns
    -------
    Split
        The graphs, as the lists `train`, `val` and `test`.

    Examples
    --------
    >>> sets = generate_split("ba", nodes=20, train=3, val=1, test=1, seed=0)
    >>> len(sets.train), sets.test[0]
    (3, Graph(20 nodes, 64 edges, undirected))
    """
    parts: dict[str, list[Graph]] = {}
    for part, (name, count) in enumerate({"train": train, "val": val, "test": test}.items()):
        number = check_integer(name, count, 0, "give a whole number of graphs, 0 or more")
        sequences = [np.random.SeedSequence(check_seed(seed), spawn_key=(part, i)) for i in range(number)]
        parts[name] = [_draw(family, nodes, sequence) for sequence in sequences]
    sizes = f"nodes={nodes}, train={train}, val={val}, test={test}, seed={seed}"
    return Split(**parts, origin=f"cg.generate_split({family!r}, {sizes})")


def generate_large(kind: str, nodes: int, *, mean_degree: int = 20, max_degree: int = 1000, seed: int = 0) -> Graph:
    """Draw a random graph of up to tens of millions of nodes whose degrees do not depend on its size.

    A million nodes of mean degree 20 take seconds and less than a gigabyte.

    Parameters
    ----------
    kind : {"ws", "rg", "pl"}
        "ws" (a ring with shortcuts), "rg" (points on a torus) or "pl" (communities with a power law of degrees).
    nodes : int
        Number of nodes, at least ten times the mean degree.
    mean_degree : int
        Approximate mean number of neighbors, an even number.
    max_degree : int
        Maximum degree of "pl", at least twice the mean degree; ignored by the other kinds.
    seed : int
        The same seed gives the same graph.

    Returns
    -------
    Graph
        An undirected, unweighted graph with labels 0 to nodes - 1, not necessarily connected.

    Examples
    --------
    >>> generate_large("ws", 10_000, mean_degree=10, seed=0)
    Graph(10000 nodes, 49996 edges, undirected)
    """
    if not isinstance(kind, str) or kind not in LARGE_KINDS:
        raise UnknownNameError(f"there is no large graph {kind!r}; the kinds are {', '.join(LARGE_KINDS)}.")
    mean = check_integer("mean_degree", mean_degree, 2, "give an even number, 2 or more")
    if mean % 2:
        raise SettingError(f"mean_degree is {mean}; give an even number, 2 or more.")
    size = check_integer(
        "nodes", nodes, 10 * mean, f"give a whole number, ten times the mean degree ({10 * mean}) or more"
    )
    if kind == "pl":
        check_integer(
            "max_degree", max_degree, 2 * mean, f"give a whole number, twice the mean degree ({2 * mean}) or more"
        )
    if size * mean > _MAX_EDGE_ENDS:
        raise SettingError(
            f"{size:,} nodes of mean degree {mean} have too many edges, above {_MAX_EDGE_ENDS // 2:,}; lower nodes or "
            "mean_degree."
        )
    rng = np.random.default_rng(np.random.SeedSequence(check_seed(seed)))
    try:
        return _build_from_keys(LARGE_KINDS[kind](size, mean, min(max_degree, size - 1), rng), size)
    except MemoryError:
        needed = format_bytes(estimate_large_bytes(kind, size, mean))
        raise GraphError(
            f"{size:,} nodes of mean degree {mean} need about {needed} of memory, which is not available; draw fewer "
            "nodes, or a lower mean_degree."
        ) from None


def estimate_large_bytes(kind: str, nodes: int, mean_degree: int) -> int:
    """Estimate the peak memory of `generate_large` in bytes.

    >>> estimate_large_bytes("ws", 10_000_000, 20) / 1e9
    4.7
    """
    pairs = _CHUNK if kind == "rg" else 0
    return nodes * mean_degree // 2 * _EDGE_BYTES + nodes * _NODE_BYTES + pairs * _PAIR_BYTES


# ---- families -------------------------------------------------------------------------------------------------------


def _draw(family: str, nodes: int, sequence: np.random.SeedSequence) -> Graph:
    if not isinstance(family, str) or family not in FAMILIES:
        raise UnknownNameError(f"there is no family {family!r}; the families are {', '.join(FAMILIES)}.")
    limits = f"give a whole number from {_MIN_NODES} to {_MAX_NODES}, or use cg.generate_large for larger graphs"
    size = check_integer("nodes", nodes, _MIN_NODES, limits, _MAX_NODES)
    return FAMILIES[family].draw(size, np.random.default_rng(sequence))


def _draw_connected(model: str, nodes: int, *parameters: float, rng: np.random.Generator) -> Graph:
    """Draw graphs by a generator of networkx until one is connected."""
    import networkx

    while True:
        graph = getattr(networkx, model)(nodes, *parameters, seed=rng)
        if networkx.is_connected(graph):
            edges = np.asarray(graph.edges, np.int64).reshape(-1, 2)
            return Graph.from_arrays(edges[:, 0], edges[:, 1], names=RangeLabels(len(graph)))


def _draw_erdos_renyi(nodes: int, rng: np.random.Generator) -> Graph:
    p = min(1.0, 0.2 * (_SIZE - 1) / (nodes - 1))
    return _draw_connected("fast_gnp_random_graph", nodes, p, rng=rng)


def _draw_random_geometric(nodes: int, rng: np.random.Generator) -> Graph:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    radius = _find_radius(nodes)
    points = rng.random((nodes, 2))
    while True:
        edges = cKDTree(points).query_pairs(radius, output_type="ndarray").astype(np.int64)
        matrix = coo_array((np.ones(len(edges), np.int8), (edges[:, 0], edges[:, 1])), shape=(nodes, nodes))
        count, component = connected_components(matrix, directed=False)
        if count == 1:
            return Graph.from_arrays(edges[:, 0], edges[:, 1], names=RangeLabels(nodes))
        outside = component != np.argmax(np.bincount(component))
        redrawn = outside if nodes > _MAX_FULL_REDRAW else np.ones(nodes, bool)
        points[redrawn] = rng.random((int(redrawn.sum()), 2))


def _find_radius(nodes: int) -> float:
    """Find the radius at which a graph of this size has the mean degree of 50 nodes at radius 0.25.

    Two random points of the unit square are within r <= 1 with probability pi r^2 - 8 r^3 / 3 + r^4 / 2.
    """

    def compute_probability(r: float) -> float:
        return math.pi * r**2 - 8 * r**3 / 3 + r**4 / 2

    if nodes == _SIZE:
        return _RADIUS
    target = min(0.97, compute_probability(_RADIUS) * (_SIZE - 1) / (nodes - 1))  # at r = 1 the probability is 0.975
    return _bisect(compute_probability, target, 0.0, 1.0)


def _bisect(function: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Return the x at which an increasing function equals `target`, by bisection."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < target else (low, middle)
    return low


@dataclass(frozen=True)
class Family:
    """A family of random graphs."""

    title: str
    """Name of the model."""
    draw: Callable[[int, np.random.Generator], Graph]
    """Function that draws a graph, given the number of nodes and a random generator."""


FAMILIES = {
    "rg": Family(title="random geometric", draw=_draw_random_geometric),
    "ws": Family(
        title="Watts-Strogatz",
        draw=lambda nodes, rng: _draw_connected("watts_strogatz_graph", nodes, 4, 0.1, rng=rng),
    ),
    "ba": Family(
        title="Barabasi-Albert", draw=lambda nodes, rng: _draw_connected("barabasi_albert_graph", nodes, 4, rng=rng)
    ),
    "er": Family(title="Erdos-Renyi", draw=_draw_erdos_renyi),
}
"""The paper's families by name."""


# ---- large graphs ---------------------------------------------------------------------------------------------------


def _build_from_keys(keys: Int64, size: int) -> Graph:
    """Build a graph from edges encoded by `_encode_edges`; merge repeated edges and drop self-loops."""
    keys.sort()
    keys = keys[np.searchsorted(keys, 0) :]
    first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    keys = keys[first]
    indptr = np.searchsorted(keys, np.arange(size + 1, dtype=np.int64) * size)
    indices = np.empty(len(keys), np.int32)
    for a in range(0, len(keys), _CHUNK):
        indices[a : a + _CHUNK] = keys[a : a + _CHUNK] % size
    del keys, first
    indptr, indices, _ = symmetrize_csr(indptr, indices, None)
    return Graph(indptr, indices, names=RangeLabels(size))


def _encode_edges(u: NDArray[np.integer], v: NDArray[np.integer], size: int) -> Int64:
    """Encode edges as `lower * size + higher`, self-loops as -1."""
    u, v = u.astype(np.int64), v.astype(np.int64)
    keys: Int64 = np.minimum(u, v) * size + np.maximum(u, v)
    keys[u == v] = -1
    return keys


def _draw_ring(size: int, mean: int, highest: int, rng: np.random.Generator) -> Int64:
    keys = np.empty((mean // 2, size), np.int64)
    u = np.arange(size)
    for step, row in enumerate(keys, start=1):
        v = (u + step) % size
        rewired = rng.random(size) < _REWIRED
        v[rewired] = rng.integers(0, size, np.count_nonzero(rewired))
        row[:] = _encode_edges(u, v, size)
    return keys.ravel()


def _draw_torus(size: int, mean: int, highest: int, rng: np.random.Generator) -> Int64:
    """Draw points of the unit square and link those within a radius, across its borders too.

    Points are ordered by square cells no smaller than the radius: neighbors are in the same cell or in adjacent ones.
    """
    radius = math.sqrt(mean / (math.pi * size))
    side = int(1 / radius)
    points = rng.random((size, 2))
    cells = (points * side).astype(np.int64) @ np.array([side, 1])
    order = np.argsort(cells, kind="stable")
    points, cells = points[order], cells[order]
    begins = np.searchsorted(cells, np.arange(side * side + 1))
    found = []
    for u, v in _iterate_near_pairs(cells, begins, side):
        apart = np.abs(points[u] - points[v])
        apart = np.minimum(apart, 1 - apart)
        near = np.einsum("ij,ij->i", apart, apart) < radius**2
        found.append(_encode_edges(u[near], v[near], size))
    return np.concatenate(found)


def _iterate_near_pairs(cells: Int64, begins: Int64, side: int) -> Iterator[tuple[Int64, Int64]]:
    """Yield all pairs of points in the same or adjacent cells once, in chunks: a cell reads four of its neighbors."""
    step = max(1, _CHUNK * side * side // max(1, len(cells)))
    for first in range(0, len(cells), step):
        points = np.arange(first, min(first + step, len(cells)))
        row, column = np.divmod(cells[points], side)
        for down, right in ((0, 0), (0, 1), (1, -1), (1, 0), (1, 1)):
            other = (row + down) % side * side + (column + right) % side
            begin = points + 1 if down == right == 0 else begins[other]
            counts = begins[other + 1] - begin
            yield np.repeat(points, counts), concatenate_ranges(begin, counts)


def _draw_power_law(size: int, mean: int, highest: int, rng: np.random.Generator) -> Int64:
    """Draw a configuration model with communities: pair the stubs (edge ends) of all nodes at random.

    A node has as many stubs as its degree. Half of them, but at most half the mean degree, are paired within its
    community, and the rest with any node.
    """
    degrees = _draw_degrees(size, mean, highest, rng)
    near = np.minimum(degrees // 2, mean // 2)
    nodes = np.arange(size, dtype=np.int32)
    anywhere = np.repeat(nodes, degrees - near)
    rng.shuffle(anywhere)
    keys = [_pair_ends(anywhere, size)]
    del anywhere
    community = _COMMUNITY * mean
    step = community * (_CHUNK // (community * mean) + 1)  # whole communities
    for first in range(0, size, step):
        part = slice(first, first + step)
        ends = np.repeat(nodes[part], near[part])
        order = np.argsort(ends // community + rng.random(len(ends)), kind="stable")
        keys.append(_pair_ends(ends[order], size))
    return np.concatenate(keys)


def _pair_ends(ends: Int32, size: int) -> Int64:
    """Link consecutive stubs in pairs; an odd last one is dropped."""
    last = len(ends) // 2 * 2
    return _encode_edges(ends[:last:2], ends[1:last:2], size)


def _draw_degrees(size: int, mean: int, highest: int, rng: np.random.Generator) -> Int64:
    """Draw degrees from a power law up to `highest`, rounded at random; its lower bound is chosen to give the mean."""
    tail, heavy = 1 - _EXPONENT, 2 - _EXPONENT  # exponents of the integrals of the density and of the mean

    def compute_mean(least: float) -> float:
        return float((highest**heavy - least**heavy) / heavy * tail / (highest**tail - least**tail))

    low = _bisect(compute_mean, mean, 0.1, mean)
    drawn = (low**tail + rng.random(size) * (highest**tail - low**tail)) ** (1 / tail)
    return np.asarray(np.floor(drawn + rng.random(size)), np.int64)


LARGE_KINDS: dict[str, Callable[[int, int, int, np.random.Generator], Int64]] = {
    "ws": _draw_ring,
    "rg": _draw_torus,
    "pl": _draw_power_law,
}
"""Generator of each kind of large graph: (nodes, mean degree, maximum degree, rng) -> encoded edges."""
