"""Layout of graphs by stress majorization: distances on the page approximate distances in the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64
from curiograph.graph.graph import Graph

_ITERATIONS = 200
_MAX_PAIRS = 30_000_000  # pairs of nodes over all iterations: limits the time for graphs of hundreds of nodes
_MAX_EXACT_NODES = 600  # larger graphs use distances to pivots only
_NUM_PIVOTS, _PIVOT_ITERATIONS = 60, 40


def compute_layout(graph: Graph) -> Float64:
    """Compute coordinates of every node in [-1, 1], minimizing the stress of Kamada and Kawai.

    Components are placed next to each other. Graphs of more than 600 nodes use only edges and the distances to some
    pivot nodes. The layout is deterministic.

    >>> from curiograph.graph.toys import cycle
    >>> places = compute_layout(cycle(6))
    >>> bool(np.ptp(np.hypot(*places.T)) < 0.1)  # a cycle is drawn as a circle
    True
    """
    if graph.num_nodes < 2:
        return np.zeros((graph.num_nodes, 2))
    places = _layout_by_pivots(graph) if graph.num_nodes > _MAX_EXACT_NODES else _layout_exactly(graph)
    centered: Float64 = places - (places.max(axis=0) + places.min(axis=0)) / 2
    return centered / max(float(np.abs(centered).max()), 1e-9)


def _layout_exactly(graph: Graph) -> NDArray[Any]:
    """Minimize the stress over all pairs of nodes, starting from classical scaling."""
    target = _compute_distances(graph)
    np.fill_diagonal(target, 1.0)
    size = len(target)
    center = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(-center @ target**2 @ center / 2)
    scaled: NDArray[Any] = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    places = scaled + 0.1 * _place_on_circle(size)
    weights = target**-2
    np.fill_diagonal(weights, 0.0)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(min(_ITERATIONS, _MAX_PAIRS // size**2)):
        distances = np.hypot(*(np.subtract.outer(along, along) for along in places.T))
        pull = -weights * target / np.maximum(distances, 1e-9)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        places = inverse @ (pull @ places)
    return places


def _layout_by_pivots(graph: Graph) -> NDArray[Any]:
    """Move every node to the mean of the places that the distances to pivots and its edges require."""
    csr, size = graph.skeleton, graph.num_nodes
    pivots = np.unique(np.linspace(0, size - 1, _NUM_PIVOTS).astype(int))
    target = _compute_distances(graph, pivots)
    squares = target**2
    centered = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    vectors, values, _ = np.linalg.svd(-centered / 2, full_matrices=False)
    places: NDArray[Any] = vectors[:, :2] * np.sqrt(values[:2]) + 0.1 * _place_on_circle(size)
    source, destination = np.repeat(np.arange(size), np.diff(csr.indptr)), csr.indices
    weights = np.maximum(target, 1.0) ** -2
    for _ in range(_PIVOT_ITERATIONS):
        offset = places[:, None] - places[None, pivots]
        wanted = places[None, pivots] + offset * (target / np.maximum(np.hypot(*offset.T).T, 1e-9))[:, :, None]
        moved = (weights[:, :, None] * wanted).sum(axis=1)
        edge = places[source] - places[destination]
        np.add.at(moved, source, places[destination] + edge / np.maximum(np.hypot(*edge.T), 1e-9)[:, None])
        places = moved / (weights.sum(axis=1) + np.diff(csr.indptr))[:, None]
    return places


def _compute_distances(graph: Graph, pivots: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return shortest-path lengths from every node to every other node, or to the pivots.

    The distance between components is one more than the largest distance within a component.
    """
    from scipy.sparse.csgraph import shortest_path

    found: NDArray[Any] = shortest_path(graph.skeleton.to_scipy(), unweighted=True, directed=False, indices=pivots).T
    unreachable = np.isinf(found)
    found[unreachable] = found[~unreachable].max() + 1
    return found


def _place_on_circle(count: int) -> NDArray[Any]:
    """Return points on a circle, which separate nodes that would otherwise coincide."""
    angles = 2 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angles), np.sin(angles)])
