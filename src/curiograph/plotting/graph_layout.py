"""Layout of graphs by stress majorization: distances on the page approximate distances in the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64
from curiograph.graph.graph import Graph

_ITERATIONS = 200
_MAX_PAIRS = 30_000_000  # pairs of nodes over all iterations: limits the time for graphs of hundreds of nodes
_MAX_NODES = 600  # larger graphs are drawn by networkx


def compute_layout(graph: Graph) -> Float64:
    """Compute coordinates of every node in [-1, 1], minimizing the stress of Kamada and Kawai.

    Components are placed next to each other. Graphs of more than 600 nodes are placed by springs. The layout is
    deterministic.

    >>> from curiograph.graph.toys import cycle
    >>> places = compute_layout(cycle(6))
    >>> bool(np.ptp(np.hypot(*places.T)) < 0.1)  # a cycle is drawn as a circle
    True
    """
    if graph.num_nodes < 2:
        return np.zeros((graph.num_nodes, 2))
    if graph.num_nodes > _MAX_NODES:
        import networkx as nx

        springs = nx.spring_layout(nx.from_scipy_sparse_array(graph.skeleton.to_scipy()), seed=0)
        places = np.array([springs[node] for node in range(graph.num_nodes)])
    else:
        places = minimize_stress(graph)
    centered: Float64 = places - (places.max(axis=0) + places.min(axis=0)) / 2
    return centered / max(float(np.abs(centered).max()), 1e-9)


def minimize_stress(graph: Graph) -> NDArray[Any]:
    """Minimize the stress over all pairs of nodes, starting from classical scaling."""
    from scipy.sparse.csgraph import shortest_path

    target: NDArray[Any] = shortest_path(graph.skeleton.to_scipy(), unweighted=True, directed=False)
    unreachable = np.isinf(target)
    target[unreachable] = target[~unreachable].max() + 1
    np.fill_diagonal(target, 1.0)
    size = len(target)
    center = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(-center @ target**2 @ center / 2)
    angles = 2 * np.pi * np.arange(size) / size  # a small circle separates nodes that would otherwise coincide
    places: NDArray[Any] = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    places = places + 0.1 * np.column_stack([np.cos(angles), np.sin(angles)])
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
