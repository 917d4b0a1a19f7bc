"""The contract that every ranker keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32
from curiograph.errors import RankerError
from curiograph.exploration.mdp import Candidates
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.graph.toys import grid, library
from curiograph.recommendation.rankers import Ranker, score_candidates
from curiograph.recommendation.recommender import RankerLike, as_ranker, find_candidates
from curiograph.validation import check_seed

_CLOSE = 1e-6  # relative to the largest score: rankers may compute in single precision


def check_ranker(ranker: RankerLike, graph: Graph | None = None, *, seed: int = 0) -> None:
    """Raise `RankerError` unless a ranker keeps its contract: run this on your own.

    On `graph` (two toys, one of them directed, by default) it must give one finite number per candidate; the same when
    asked twice, for a user alone as among others, for a candidate alone as among others, and joined from its parts;
    and it must leave histories and candidates as they were.

    >>> check_ranker("pagerank")
    """
    made = as_ranker(ranker)
    rng = np.random.default_rng(check_seed(seed))
    for g in [as_graph(graph)] if graph is not None else [library(), _one_way(grid(3, 3))]:
        require_edges(g)
        starts = np.flatnonzero(g.degrees > 0)
        histories = [
            rng.permutation(starts)[: int(rng.integers(1, min(4, len(starts)) + 1))].astype(np.int32) for _ in range(4)
        ]
        for which in ("last", "history", "all"):
            _check(made, g, histories, find_candidates(g, histories, which))


def _check(ranker: Ranker, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> None:
    given: list[NDArray[Any]] = [*histories, candidates.offsets, candidates.nodes]
    before = [array.copy() for array in given]
    scores = score_candidates(ranker, graph, histories, candidates)
    if not all(np.array_equal(a, b) for a, b in zip(before, given, strict=True)):
        raise RankerError(f"ranker {ranker.name!r} writes into what it is given; it must leave that as it was.")
    if not np.array_equal(scores, score_candidates(ranker, graph, histories, candidates)):
        raise RankerError(f"ranker {ranker.name!r} changes its mind: asked twice, it scores the same differently.")
    parts = {name: score_candidates(part, graph, histories, candidates) for name, part in ranker.parts().items()}
    if not _close(np.asarray(ranker.joined(parts)), scores):
        raise RankerError(f"ranker {ranker.name!r} joins the scores of its parts to others than its own.")
    for user, history in enumerate(histories):
        mine = slice(candidates.offsets[user], candidates.offsets[user + 1])
        nodes = candidates.nodes[mine]
        if not _close(_alone(ranker, graph, history, nodes), scores[mine]):
            raise RankerError(f"ranker {ranker.name!r} scores user {user} differently alone than among others.")
        if not _close(_alone(ranker, graph, history, nodes[::2]), scores[mine][::2]):
            raise RankerError(
                f"ranker {ranker.name!r} scores candidates of user {user} differently when there are fewer of them."
            )


def _alone(ranker: Ranker, graph: Graph, history: Int32, nodes: Int32) -> Float64:
    return score_candidates(ranker, graph, [history], Candidates(np.array([0, len(nodes)]), nodes))


def _close(some: Float64, others: Float64) -> bool:
    return some.shape == others.shape and bool(
        np.allclose(some, others, rtol=0, atol=_CLOSE * max(1e-300, np.abs(others).max(initial=0)))
    )


def _one_way(graph: Graph) -> Graph:
    """A directed graph with dead ends: every edge leads to the node that comes later."""
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    forward = graph.indices > rows
    return Graph.from_arrays(rows[forward], graph.indices[forward], directed=True, names=graph.names)
