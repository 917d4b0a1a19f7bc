"""Where to put nodes so that distances on the page follow distances in the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.graph.container import Graph
from curiograph.graph.rows import Float64

_ROUNDS = 200
_WORK = 30_000_000  # pairs looked at over all rounds: bounds the time for many hundreds of nodes


def layout(graph: Graph) -> Float64:
    """Coordinates of every node in [-1, 1], by majorising stress, which is what Kamada and Kawai minimise; parts that
    are not connected stand side by side. The same graph is always laid out alike.

    >>> from curiograph.graph.toys import cycle
    >>> places = layout(cycle(6))
    >>> bool(np.ptp(np.hypot(*places.T)) < 0.1)  # a ring is drawn round
    True
    """
    if graph.num_nodes < 2:
        return np.zeros((graph.num_nodes, 2))
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
    centred: Float64 = places - (places.max(axis=0) + places.min(axis=0)) / 2
    return centred / max(float(np.abs(centred).max()), 1e-9)


def _distances(graph: Graph) -> NDArray[Any]:
    """Links between every two nodes; parts that are not connected stand one link further apart than anything else."""
    from scipy.sparse.csgraph import shortest_path

    found: NDArray[Any] = shortest_path(graph.skeleton.to_scipy(), unweighted=True, directed=False)
    apart = np.isinf(found)
    found[apart] = found[~apart].max() + 1
    return found


def _start(wanted: NDArray[Any]) -> NDArray[Any]:
    """The two widest directions of the distances, and a little of a ring, which parts nodes that would coincide."""
    count = len(wanted)
    centre = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-centre @ wanted**2 @ centre / 2)
    turn = 2 * np.pi * np.arange(count) / count
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    wide: NDArray[Any] = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    return wide + 0.1 * ring
