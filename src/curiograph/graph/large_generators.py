"""Graphs of millions of nodes, drawn with arrays alone.

=====  ===================  ==========================================================================
name   model                degrees
=====  ===================  ==========================================================================
ws     Watts-Strogatz       a ring where each node knows its next neighbours, every tenth link rewired
rg     random geometric     points on a torus, linked where they are near: Poisson around the mean
pl     power law            a tail of exponent 2.5 up to a given highest degree, in small communities
=====  ===================  ==========================================================================

Degrees and clustering do not depend on the number of nodes, so that costs at different sizes can be compared. Unlike
the families of `generate`, these graphs are not drawn again until they are connected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import GraphError, SettingError, UnknownNameError
from curiograph.graph.csr import concatenate_ranges, symmetrize_csr
from curiograph.graph.graph import Graph
from curiograph.graph.labels import RangeLabels
from curiograph.messages import format_bytes
from curiograph.validation import check_integer, check_seed

_MOST_ENDS = 2**31 - 1  # of edges: scipy counts them in 32 bits
_REWIRED = 0.1
_EXPONENT = 2.5
_COMMUNITY = 2  # nodes of a community, in units of the mean degree
_AT_ONCE = 2**22  # pairs looked at together: bounds the memory
_EDGE, _NODE, _PAIR = 42, 50, 24  # bytes at the peak, as measured; of pairs looked at together only on the torus


def generate_large(kind: str, nodes: int, *, mean_degree: int = 20, max_degree: int = 1000, seed: int = 0) -> Graph:
    """A random graph of up to tens of millions of nodes whose degrees do not depend on its size.

    A million nodes of mean degree 20 take seconds and less than a gigabyte.

    Parameters
    ----------
    kind : "ws", a ring with shortcuts; "rg", points on a torus; or "pl", communities with a power law of degrees.
    mean_degree : neighbours of a node on average, nearly: an even number.
    max_degree : of "pl": the highest degree that is drawn.

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
    most = check_integer(
        "max_degree", max_degree, 2 * mean, f"give a whole number, twice the mean degree ({2 * mean}) or more"
    )
    if size * mean > _MOST_ENDS:
        raise SettingError(f"{size} nodes of mean degree {mean} are too many edges; at most {_MOST_ENDS // 2} fit.")
    rng = np.random.default_rng(np.random.SeedSequence(check_seed(seed)))
    try:
        return _from_keys(LARGE_KINDS[kind](size, mean, min(most, size - 1), rng), size)
    except MemoryError:
        raise GraphError(
            f"{size:,} nodes of mean degree {mean} need about {format_bytes(estimate_large_bytes(kind, size, mean))} of memory, "
            "which is not there; draw fewer nodes, or a lower mean_degree."
        ) from None


def estimate_large_bytes(kind: str, nodes: int, mean_degree: int) -> int:
    """Bytes of memory that `generate_large` takes at most, nearly.

    >>> estimate_large_bytes("ws", 10_000_000, 20) / 1e9
    4.7
    """
    pairs = _AT_ONCE if kind == "rg" else 0
    return nodes * mean_degree // 2 * _EDGE + nodes * _NODE + pairs * _PAIR


def _from_keys(keys: Int64, size: int) -> Graph:
    """The graph of edges given as `lower * size + higher`; repeated ones count once, loops (below zero) not at all."""
    keys.sort()
    keys = keys[np.searchsorted(keys, 0) :]
    first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    keys = keys[first]
    indptr = np.searchsorted(keys, np.arange(size + 1, dtype=np.int64) * size)
    indices = np.empty(len(keys), np.int32)
    for a in range(0, len(keys), _AT_ONCE):
        indices[a : a + _AT_ONCE] = keys[a : a + _AT_ONCE] % size
    del keys, first
    indptr, indices, _ = symmetrize_csr(indptr, indices, None)
    return Graph(indptr, indices, names=RangeLabels(size))


def _keys(u: NDArray[np.integer], v: NDArray[np.integer], size: int) -> Int64:
    """Edges as single numbers, -1 for loops."""
    u, v = u.astype(np.int64), v.astype(np.int64)
    keys: Int64 = np.minimum(u, v) * size + np.maximum(u, v)
    keys[u == v] = -1
    return keys


def _ring(size: int, mean: int, most: int, rng: np.random.Generator) -> Int64:
    keys = np.empty((mean // 2, size), np.int64)
    u = np.arange(size)
    for step, row in enumerate(keys, start=1):
        v = (u + step) % size
        rewired = rng.random(size) < _REWIRED
        v[rewired] = rng.integers(0, size, np.count_nonzero(rewired))
        row[:] = _keys(u, v, size)
    return keys.ravel()


def _torus(size: int, mean: int, most: int, rng: np.random.Generator) -> Int64:
    """Points in the unit square, in the order of square cells no smaller than the radius: pairs of neighbours lie in
    one cell or in two that touch."""
    radius = math.sqrt(mean / (math.pi * size))
    side = int(1 / radius)
    places = rng.random((size, 2))
    cells = (places * side).astype(np.int64) @ np.array([side, 1])
    order = np.argsort(cells, kind="stable")
    places, cells = places[order], cells[order]
    begins = np.searchsorted(cells, np.arange(side * side + 1))
    found = [_near(places, u, v, radius, size) for u, v in _pairs(cells, begins, side)]
    return np.concatenate(found)


def _pairs(cells: Int64, begins: Int64, side: int) -> Iterator[tuple[Int64, Int64]]:
    """Every pair of points of one cell, and of a cell with four of the eight around it, a part at a time."""
    at_once = max(1, _AT_ONCE * side * side // max(1, len(cells)))
    for first in range(0, len(cells), at_once):
        points = np.arange(first, min(first + at_once, len(cells)))
        row, column = np.divmod(cells[points], side)
        for down, right in ((0, 0), (0, 1), (1, -1), (1, 0), (1, 1)):
            other = (row + down) % side * side + (column + right) % side
            begin = points + 1 if down == right == 0 else begins[other]
            counts = begins[other + 1] - begin
            u = np.repeat(points, counts)
            yield u, concatenate_ranges(begin, counts)


def _near(places: Float64, u: Int64, v: Int64, radius: float, size: int) -> Int64:
    """Of some pairs of points those that are within the radius, around the edges of the square too."""
    apart = np.abs(places[u] - places[v])
    apart = np.minimum(apart, 1 - apart)
    near = np.einsum("ij,ij->i", apart, apart) < radius**2
    return _keys(u[near], v[near], size)


def _power_law(size: int, mean: int, most: int, rng: np.random.Generator) -> Int64:
    """Each node has as many ends of edges as its degree, up to half the mean of them for its community, and ends are
    paired at random: those of a community with each other, the rest with any."""
    degrees = _degrees(size, mean, most, rng)
    near = np.minimum(degrees // 2, mean // 2)
    nodes = np.arange(size, dtype=np.int32)
    anywhere = np.repeat(nodes, degrees - near)
    rng.shuffle(anywhere)
    keys = [_paired(anywhere, size)]
    del anywhere
    step = _COMMUNITY * mean
    for first in range(0, size, step * (_AT_ONCE // (step * mean) + 1)):
        some = slice(first, first + step * (_AT_ONCE // (step * mean) + 1))
        ends = np.repeat(nodes[some], near[some])
        order = np.argsort(ends // step + rng.random(len(ends)), kind="stable")
        keys.append(_paired(ends[order], size))
    return np.concatenate(keys)


def _paired(ends: Int32, size: int) -> Int64:
    last = len(ends) // 2 * 2
    return _keys(ends[:last:2], ends[1:last:2], size)


def _degrees(size: int, mean: int, most: int, rng: np.random.Generator) -> Int64:
    """Whole numbers, on average those of a power law between a least value, which gives the mean, and the most."""
    low, high = 0.1, float(mean)
    for _ in range(60):
        least = (low + high) / 2
        low, high = (least, high) if _mean_above(least, most) < mean else (low, least)
    tail = 1 - _EXPONENT
    drawn = (low**tail + rng.random(size) * (most**tail - low**tail)) ** (1 / tail)
    return np.asarray(np.floor(drawn + rng.random(size)), np.int64)


def _mean_above(least: float, most: int) -> float:
    """The mean of a power law between two values."""
    tail, heavy = 1 - _EXPONENT, 2 - _EXPONENT
    return float((most**heavy - least**heavy) / heavy * tail / (most**tail - least**tail))


LARGE_KINDS: dict[str, Callable[[int, int, int, np.random.Generator], Int64]] = {
    "ws": _ring,
    "rg": _torus,
    "pl": _power_law,
}
