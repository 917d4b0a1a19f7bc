"""PageRank: how often a walker is at each node who follows links and now and then starts again from the history."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64
from curiograph.centrality.history import (
    Teleport,
    check_alpha,
    is_history_batch,
    make_teleport_or_uniform,
    make_teleports,
)
from curiograph.centrality.scores import label_scores, plot_top_scores
from curiograph.errors import ConvergenceError, SettingError
from curiograph.graph.features import Float32
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.graph.transition import SortedTransition
from curiograph.messages import quote_value
from curiograph.validation import check_integer, is_number, resolve_workers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOLERANCE = 1e-12
MAX_ITERATIONS = 10_000

_ROUNDING = 1e-15  # scores this close may differ by the order of their sums
_COLUMNS = 32  # histories solved side by side: a row of single-precision numbers is then two cache lines
_FEWEST = 4  # with fewer than this, one at a time is faster
_SINGLE = 3e-6  # relative change of a sweep that single precision can still tell from none
_SWEEPS = 60  # in one round; slower than that, one at a time in double precision is better
_TINY = 1e-300  # keeps a column that is solved from being divided by zero
_GENTLE = 0.9  # alpha up to which sweeps are as fast as conjugate gradients on most undirected graphs
_RENUMBERED = 2_000_000  # entries of rows up to which nodes are renumbered: beyond, memory is what takes time
_ROUNDS = 6  # of single-precision solutions, each correcting the one before


@dataclass(frozen=True, eq=False)
class PageRank:
    """Scores of all nodes for one history, or for several: then `scores`, `residual` and `iterations` gain an axis.

    >>> from curiograph.graph.toys import library
    >>> eta = pagerank(library(), history=["music"])
    >>> [label for label, score in eta.top(3)]
    ['music', 'mathematics', 'physics']
    """

    graph: Graph
    alpha: float
    scores: Float64
    """One score per node, adding up to 1; for several histories, one row for each."""
    residual: Any
    """Sum over the nodes of |eta - (1 - alpha) q - alpha P^T eta|, measured on `scores`; an array for several."""
    iterations: Any
    """How often all edges were read to find them; an array for several."""

    def top(self, k: int = 10) -> Any:
        """The k best nodes as (label, score), best first; a list of such lists for several histories.

        Scores closer than the residual are equal, and equal ones come in node order.
        """
        k = check_integer("k", k, 1, "ask for 1 node or more")
        if self.scores.ndim == 2:
            return [self._best(row, residual, k) for row, residual in zip(self.scores, self.residual, strict=True)]
        return self._best(self.scores, self.residual, k)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, scores by label; a list of them for several histories."""
        return {
            "alpha": self.alpha,
            "scores": label_scores(self.graph, self.scores),
            "residual": np.asarray(self.residual).tolist(),
            "iterations": np.asarray(self.iterations).tolist(),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars of the best scores of one history."""
        return plot_top_scores(self.graph, self.scores, np.zeros_like(self.scores), self.alpha, "", ax)

    def _best(self, scores: Float64, residual: float, k: int) -> list[tuple[Hashable, float]]:
        steps = np.round(scores / max(residual, _ROUNDING))
        best = np.argsort(-steps, kind="stable")[:k]
        return [(self.graph.names[int(v)], float(scores[v])) for v in best]


class _Solved(NamedTuple):
    scores: Float64
    residual: float
    iterations: int


def pagerank(
    graph: Graph,
    alpha: float = 0.85,
    history: Any = None,
    *,
    weights: Any = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> PageRank:
    """eta = (1 - alpha) (I - alpha P^T)^-1 q: P the steps of a random walk, q uniform on the history.

    A walker at a node without a way out starts again from q.

    Parameters
    ----------
    alpha : chance to follow a link rather than to start again, from 0 up to, but not including, 1.
    history : labels of visited nodes, where the walker starts again; all nodes without one. A list of lists is many
        histories at once, which is several times faster than one after the other.
    weights : one number per entry of the history, to make q uneven; one list per history for several.
    tolerance : largest residual of an answer; where it is not reached, ConvergenceError is raised.
    max_iterations : how often the edges may be read for one history.

    >>> from curiograph.graph.toys import cycle
    >>> pagerank(cycle(4), alpha=0.5, history=[0]).scores.round(4).tolist()
    [0.5833, 0.1667, 0.0833, 0.1667]
    """
    graph = as_graph(graph)
    require_edges(graph)
    alpha = check_alpha(alpha)
    tolerance = check_positive("tolerance", tolerance)
    max_iterations = check_integer("max_iterations", max_iterations, 1, "give 1 or more")
    if is_history_batch(graph, history):
        return _many(graph, alpha, make_teleports(graph, history, weights), tolerance, max_iterations)
    found = _one(graph, alpha, make_teleport_or_uniform(graph, history, weights), tolerance, max_iterations)
    return PageRank(graph, alpha, found.scores, found.residual, found.iterations)


def compute_flow_scales(graph: Graph, alpha: float, rows: NDArray[Any]) -> Any:
    """What PageRanks from single nodes have to be multiplied by to be flows, which add up over the nodes of a history.

    A flow is visits before the first teleport; where walkers stop at dead ends and start again, it is less than
    1 / (1 - alpha) in all.

    >>> from curiograph.graph.toys import cycle
    >>> compute_flow_scales(cycle(4), 0.5, np.full((1, 4), 0.25)).tolist()
    [2.0]
    """
    return 1 / (1 - alpha + alpha * rows[:, graph.transition.share == 0].sum(axis=1))


def compute_pagerank_rows(graph: Graph, alpha: float, starts: Sequence[Teleport]) -> Float64:
    """Scores for several histories that are known by position, one row for each.

    >>> from curiograph.graph.toys import cycle
    >>> from curiograph.centrality.history import make_teleport
    >>> compute_pagerank_rows(cycle(4), 0.5, [make_teleport(cycle(4), [0])]).round(4).tolist()
    [[0.5833, 0.1667, 0.0833, 0.1667]]
    """
    return _many(graph, alpha, starts, TOLERANCE, MAX_ITERATIONS).scores


def check_positive(name: str, value: Any) -> float:
    """A number above zero.

    >>> check_positive("tolerance", 0)
    Traceback (most recent call last):
    curiograph.errors.SettingError: tolerance is 0; give a number above zero.
    """
    if not is_number(value) or not 0 < value < np.inf:
        raise SettingError(f"{name} is {quote_value(value)}; give a number above zero.")
    return float(value)


def _one(graph: Graph, alpha: float, starts: Teleport, tolerance: float, most: int) -> _Solved:
    """Solve, measure the residual, and solve again for what is missing until it is small enough."""
    steps = graph.transition
    swept = graph.directed or (alpha <= _GENTLE and len(graph.indices) <= _RENUMBERED)
    renumbered = steps.sorted_by_length if swept and len(graph.indices) <= _RENUMBERED else None
    rows, share = (steps.rows, steps.share) if renumbered is None else (renumbered.rows, renumbered.share)
    q = np.zeros(graph.num_nodes)
    q[starts.nodes] = starts.chances
    q = q if renumbered is None else q[renumbered.order]
    missing = q
    y, iterations, best = np.zeros(len(q)), 0, np.inf
    enough = tolerance
    while True:
        if swept:
            known = max(1.0, y.sum())
            change, taken = kernels.pagerank.solve_gauss_seidel(
                *rows, share, alpha, missing, enough, known, most - iterations
            )
        else:
            change, taken = _conjugate(graph, alpha, missing, enough, y.sum(), most - iterations)
        enough *= 0.1
        y += change
        iterations += taken
        scores = _normal(y)
        residual = float(kernels.pagerank.compute_definition_residual(*rows, share, alpha, q, scores))
        if residual <= tolerance:
            return _Solved(_numbered_back(scores, renumbered), residual, iterations)
        if iterations >= most or not residual < 0.5 * best:  # out of time, or at the end of the numbers' precision
            raise _not_converged(min(residual, best), tolerance, alpha, iterations)
        best = residual
        missing = np.empty(len(q))
        kernels.pagerank.compute_residual(*rows, share, alpha, q, y, missing)


def _conjugate(graph: Graph, alpha: float, q: Float64, enough: float, known: float, most: int) -> tuple[Float64, int]:
    """y = q + alpha P^T y of an undirected graph up to `enough` times its sum, and how often the edges were read."""
    steps = graph.transition
    # no walk on an undirected graph ends, but for those that never begin
    total = max(1.0, known, q[steps.strength > 0].sum() / (1 - alpha))
    close = enough * total / (1 + alpha)  # it may stop at 1 + alpha times what it is asked for
    found = kernels.pagerank.solve_conjugate_gradient(
        *steps.rows, steps.middle, steps.share, steps.strength, alpha, q, close, most
    )
    return found  # type: ignore[no-any-return]


def _numbered_back(scores: Float64, renumbered: SortedTransition | None) -> Float64:
    if renumbered is None:
        return scores
    back = np.empty_like(scores)
    back[renumbered.order] = scores
    return back


def _normal(y: Float64) -> Float64:
    """Scores: rounding may leave a hair below zero."""
    scores = np.maximum(y, 0.0)
    scores /= scores.sum()
    return scores


def _many(graph: Graph, alpha: float, starts: Sequence[Teleport], tolerance: float, most: int) -> PageRank:
    """Blocks of columns side by side, on all processors; what is not close enough then is solved one at a time."""
    scores = np.empty((len(starts), graph.num_nodes))
    residual, iterations = np.full(len(starts), np.inf), np.zeros(len(starts), np.int64)
    firsts = range(0, len(starts), _COLUMNS)
    blocks = [slice(first, min(first + _COLUMNS, len(starts))) for first in firsts]
    wide = [block for block in blocks if block.stop - block.start >= _FEWEST]

    def solve(some: Sequence[slice]) -> None:
        room: _Room | None = None
        for block in some:
            if room is None or room.q.shape[1] != block.stop - block.start:
                room = _Room.of(graph, block.stop - block.start)
            iterations[block] = _side_by_side(graph, alpha, starts[block], tolerance, most, room)
            residual[block] = kernels.pagerank_batch.normalize_scores(room.q, room.y, room.missing, scores[block])

    workers = min(resolve_workers(None), len(wide))
    if workers > 1:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(solve, [wide[i::workers] for i in range(workers)]))
    else:
        solve(wide)
    for number in np.flatnonzero(~(residual <= tolerance) | (iterations > most)).tolist():
        try:
            scores[number], residual[number], iterations[number] = _one(graph, alpha, starts[number], tolerance, most)
        except ConvergenceError as error:
            raise ConvergenceError(f"history {number}: {error}") from None
    return PageRank(graph, alpha, scores, residual, iterations)


class _Room(NamedTuple):
    """Arrays, nodes x histories, that the blocks of a batch work in one after the other: fresh memory costs time."""

    q: Float64
    y: Float64
    z: Float64
    missing: Float64
    single: tuple[Float32, Float32, Float32]
    noted: tuple[Float32, Float32]

    @classmethod
    def of(cls, graph: Graph, columns: int) -> _Room:
        shape = (graph.num_nodes, columns)
        q, y, z, missing = (np.zeros(shape) for _ in range(4))
        single = np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        window = (kernels.pagerank.WINDOW, *shape)
        return cls(q, y, z, missing, single, (np.zeros(window, np.float32), np.zeros(window, np.float32)))


def _side_by_side(
    graph: Graph, alpha: float, starts: Sequence[Teleport], tolerance: float, most: int, room: _Room
) -> int:
    """y of a block, into the room: single-precision solutions, each correcting those before; readings of the edges."""
    indptr, indices, weights = graph.transition.rows
    share = graph.transition.share
    light, light_share = _in_single_precision(graph)
    q, y, z, missing, (lack, found, flow), noted = room
    q[:], y[:] = 0.0, 0.0
    for column, start in enumerate(starts):
        q[start.nodes, column] = start.chances
    missing[:] = q
    lacking, total, iterations = np.ones(len(starts)), np.ones(len(starts)), 0
    for _ in range(_ROUNDS):
        scale = np.maximum(lacking, _TINY)
        np.divide(missing, scale, out=lack, casting="same_kind")
        enough = np.clip(0.3 * tolerance * total / scale, _SINGLE, 1.0).astype(np.float32)
        iterations += kernels.pagerank_batch.solve_gauss_seidel(
            indptr, indices, light, light_share, np.float32(alpha), lack, found, flow, *noted, enough, _SWEEPS
        )
        y += found * scale
        lacking, total = kernels.pagerank_batch.compute_residuals(
            indptr, indices, weights, share, alpha, q, y, z, missing
        )
        if iterations >= most or np.all(lacking <= 0.5 * tolerance * total):
            break
    return iterations


def _in_single_precision(graph: Graph) -> tuple[Float32 | None, Float32]:
    """Weights and shares; weights come as chances, because they themselves may be out of range."""
    steps = graph.transition
    _, indices, weights = steps.rows
    if weights is None:
        return None, steps.share.astype(np.float32)
    return (weights * steps.share[indices]).astype(np.float32), (steps.share > 0).astype(np.float32)


def _not_converged(residual: float, tolerance: float, alpha: float, iterations: int) -> ConvergenceError:
    return ConvergenceError(
        f"PageRank at alpha {alpha} came to a residual of {residual:.2g} in {iterations} iterations, not to "
        f"{tolerance:.2g}; raise max_iterations or tolerance, or lower alpha."
    )
