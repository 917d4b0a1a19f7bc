"""Conformational change by its definition: sets of nodes and edges after every step, and a search over dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np


class Flexibility(NamedTuple):
    """State of a walk after one step."""

    dimension: int
    freedom: int
    conformable: int


def follow_walk(joined: np.ndarray, walk: Sequence[int]) -> list[Flexibility]:
    """Return the state of a walk after every step; `joined[u, v]` tells whether u and v are neighbors."""
    dimension, states = 1, []
    for length in range(1, len(walk) + 1):
        edges = [(u, v) for u, v in combinations(walk[:length], 2) if joined[u, v]]
        nodes = {u for edge in edges for u in edge}
        n, e = len(nodes), len(edges)
        if n == 0:
            states.append(Flexibility(dimension=dimension, freedom=0, conformable=0))
            continue
        dimension = next(d for d in range(dimension, n + 1) if d * n - e - d * (d + 1) / 2 >= 0)
        freedom = dimension * n - e
        states.append(Flexibility(dimension, freedom, freedom - dimension * (dimension + 1) // 2))
    return states
