"""Null models: functions of a graph, walks, their origins and a seed that return the graph and the walks to measure.

`compare_growth` describes them, and `kernels.matched_walks` the origins of visits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from curiograph import kernels
from curiograph.arrays import Int32
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph

_SWAPS = 10  # attempted swaps per edge
_NEWTON_STEPS = 20  # of the exponent of degrees
_MAX_EXPONENT = 5.0  # if all people always take the candidate of the highest or lowest degree

NullDraw = tuple[Graph, Int32]
"""The graph and the walks to measure."""


def walk_randomly(graph: Graph, visits: Int32, origins: Int32, seed: int, *, by_degree: bool) -> NullDraw:
    """Return random walks from the same starts, with links and jumps from the same places as in the human walks.

    Candidates have equal chances, or if `by_degree` chances proportional to a power of their degree, whose exponent is
    fitted to all links that people took.
    """
    rows = freeze_array(graph.indptr), freeze_array(graph.indices), freeze_array(visits), freeze_array(origins)
    logs = freeze_array(np.log(np.maximum(graph.skeleton.degrees, 1)))
    exponent = 0.0
    for _ in range(_NEWTON_STEPS if by_degree else 0):
        gradient, curvature = kernels.matched_walks.sum_preferences(*rows, logs, exponent)
        exponent = float(np.clip(exponent + gradient / max(curvature, 1e-9), -_MAX_EXPONENT, _MAX_EXPONENT))
    streams = freeze_array(kernels.random.make_streams(np.uint64(seed), 0, len(visits)))
    preferences = freeze_array(np.exp(exponent * logs))
    return graph, kernels.matched_walks.sample_matched_walks(*rows, preferences, streams)


def rewire_graph(graph: Graph, visits: Int32, origins: Int32, seed: int) -> NullDraw:
    """Swap random edges of the graph, so that all nodes keep their degrees; the walks stay the same."""
    rows = graph.skeleton
    bounds, streams = freeze_array(np.array([0, rows.num_nodes])), freeze_array(np.array([seed], np.uint64))
    indices = kernels.rewire.swap_edges(rows.indptr, rows.indices, bounds, _SWAPS, streams)
    return Graph(rows.indptr, indices, names=graph.names), visits


NULL_MODELS: dict[str, Callable[[Graph, Int32, Int32, int], NullDraw]] = {
    "rewired": rewire_graph,
    "unbiased": partial(walk_randomly, by_degree=False),
    "random-walk": partial(walk_randomly, by_degree=True),
    "shuffled": lambda graph, visits, origins, seed: (graph, np.random.default_rng(seed).permuted(visits, axis=1)),
}
"""Null models by name."""
