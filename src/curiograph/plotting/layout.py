"""Where to put nodes so that distances on the page follow distances in the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64
from curiograph.graph.graph import Graph

_ROUNDS = 200
_WORK = 30_000_000  # pairs looked at over all rounds: bounds the time for hundreds of nodes
_MANY = 600  # nodes beyond which only distances to some count
_PIVOTS, _FEW_ROUNDS = 60, 40  # how many those are, and how often all nodes move


def compute_layout(graph: Graph) -> Float64:
    """Coordinates of every node in [-1, 1], by majorising stress, which is what Kamada and Kawai minimise; parts that
    are not connected stand side by side. Of large graphs only the distances to some nodes count, and links. The same
    graph is always laid out alike.

    >>> from curiograph.graph.toys import cycle
    >>> places = compute_layout(cycle(6))
    >>> bool(np.ptp(np.hypot(*places.T)) < 0.1)  # a ring is drawn round
    True
    """
    if graph.num_nodes < 2:
        return np.zeros((graph.num_nodes, 2))
    places = _few_distances(graph) if graph.num_nodes > _MANY else _all_distances(graph)
    centred: Float64 = places - (places.max(axis=0) + places.min(axis=0)) / 2
    return centred / max(float(np.abs(centred).max()), 1e-9)


def _all_distances(graph: Graph) -> NDArray[Any]:
    """Places by the distances between every two nodes."""
    wanted = _distances(graph)
    np.fill_diagonal(wanted, 1.0)
    weights = wanted**-2
    np.fill_diagonal(weights, 0.0)
    back = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    places = _start(wanted)
    for _ in range(min(_ROUNDS, _WORK // len(wanted) ** 2)):
        apart = np.hypot(*(np.subtract.outer(along, along) for along in places.T))
        pull = -weights * wanted / np.maximum(apart, 1e-9)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        places = back @ (pull @ places)
    return places


def _few_distances(graph: Graph) -> NDArray[Any]:
    """Places by the distances to some nodes, and by links: every node goes where these would have it on average."""
    rows, count = graph.skeleton, graph.num_nodes
    pivots = np.unique(np.linspace(0, count - 1, _PIVOTS).astype(int))
    wanted = _distances(graph, pivots)
    squares = wanted**2
    middled = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    wide, sizes, _ = np.linalg.svd(-middled / 2, full_matrices=False)
    places: NDArray[Any] = wide[:, :2] * np.sqrt(sizes[:2]) + 0.1 * _ring(count)
    ends = np.repeat(np.arange(count), np.diff(rows.indptr)), rows.indices
    weights = np.maximum(wanted, 1.0) ** -2
    for _ in range(_FEW_ROUNDS):
        far = places[:, None] - places[None, pivots]
        there = places[None, pivots] + far * (wanted / np.maximum(np.hypot(*far.T).T, 1e-9))[:, :, None]
        moved = (weights[:, :, None] * there).sum(axis=1)
        near = places[ends[0]] - places[ends[1]]
        beside = places[ends[1]] + near / np.maximum(np.hypot(*near.T), 1e-9)[:, None]
        np.add.at(moved, ends[0], beside)
        places = moved / (weights.sum(axis=1) + np.diff(rows.indptr))[:, None]
    return places


def _distances(graph: Graph, pivots: NDArray[Any] | None = None) -> NDArray[Any]:
    """Links from every node to every other, or to some; parts that are not connected stand one link further apart than
    anything else."""
    from scipy.sparse.csgraph import shortest_path

    found: NDArray[Any] = shortest_path(graph.skeleton.to_scipy(), unweighted=True, directed=False, indices=pivots).T
    apart = np.isinf(found)
    found[apart] = found[~apart].max() + 1
    return found


def _start(wanted: NDArray[Any]) -> NDArray[Any]:
    """The two widest directions of the distances, and a little of a ring, which parts nodes that would coincide."""
    count = len(wanted)
    centre = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-centre @ wanted**2 @ centre / 2)
    wide: NDArray[Any] = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    return wide + 0.1 * _ring(count)


def _ring(count: int) -> NDArray[Any]:
    turn = 2 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(turn), np.sin(turn)])
