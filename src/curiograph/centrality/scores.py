"""Reading scores: which nodes are highest."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from curiograph.errors import SettingError
from curiograph.graph.container import Graph
from curiograph.graph.rows import Float64
from curiograph.settings import whole_number


def top_nodes(graph: Graph, scores: Float64, k: int) -> list[tuple[Hashable, float]]:
    """The `k` nodes with the highest scores, best first, equal ones in node order.

    >>> from curiograph.graph.toys import cycle
    >>> top_nodes(cycle(4), np.array([0.1, 0.4, 0.4, 0.1]), 2)
    [(1, 0.4), (2, 0.4)]
    """
    k = whole_number("k", k, 1, "ask for 1 node or more")
    if scores.ndim != 1:
        raise SettingError(f"there are scores of shape {scores.shape}; pick one history and one alpha.")
    order = np.argsort(-scores, kind="stable")[:k]
    return [(graph.label(int(v)), float(scores[v])) for v in order]
