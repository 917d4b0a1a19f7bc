"""PageRank, exactly, for one or many histories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int32
from curiograph.centrality.history import Teleport, check_alpha, make_teleport, make_teleports, make_uniform_teleport
from curiograph.errors import ConvergenceError, SettingError, quote_value
from curiograph.graph.graph import Graph, as_graph, require_nodes
from curiograph.plotting import Axes, plot_curves, plot_ranking
from curiograph.results import Table
from curiograph.validation import check_integer, is_number, resolve_workers

TOLERANCE = 1e-12
MAX_ITERATIONS = 10_000

_NUM_PLOTTED = 10
_STARTS_TOGETHER = 64  # nodes from which PageRank is solved at a time; bounds the memory
_ROUNDING = 1e-15  # scores this close may differ by the order of summation
_SORTED_ENTRIES = 2_000_000  # up to this size, sorting rows by length pays off; beyond, memory bandwidth dominates

# Batches of histories are solved in single precision, with iterative refinement in double precision.
_BLOCK_COLUMNS = 32  # histories per block: a row of single-precision numbers is then two cache lines
_MIN_COLUMNS = 4  # smaller blocks are slower than one history at a time
_SINGLE_TOLERANCE = 3e-6  # smallest relative change that single precision resolves
_MAX_SWEEPS = 60  # per round; slower convergence is left to the double-precision solver
_MAX_ROUNDS = 6  # of refinement
_TINY = 1e-300  # avoids division by zero for columns that are solved


class NodeScores(Table):
    """Scores of all nodes, with axes for several histories and several alphas in front; a row per score."""

    graph: Graph
    alpha: Any
    scores: Float64

    def columns(self) -> dict[str, Any]:
        axes: dict[str, Any] = {}
        if self.scores.ndim > 1 + np.ndim(self.alpha):
            axes["history"] = range(len(self.scores))
        if np.ndim(self.alpha):
            axes["alpha"] = self.alpha
        axes["node"] = self.graph.labels
        places = np.indices(self.scores.shape).reshape(self.scores.ndim, -1).tolist()
        rows = {name: [values[i] for i in each] for (name, values), each in zip(axes.items(), places, strict=True)}
        return rows | {"score": self.scores.ravel()}

    def top(self, k: int = 10) -> Any:
        """Return the `k` best nodes as (label, score), best first, ties in node order; nested lists for several rows.

        Scores that differ by no more than the precision of the result are ties.
        """
        k = check_integer("k", k, 1, "ask for 1 node or more")

        def find(scores: Float64, resolution: Any) -> list[Any]:
            if scores.ndim > 1:
                return [find(*row) for row in zip(scores, resolution, strict=True)]
            order = np.argsort(-np.round(scores / resolution) if resolution else -scores, kind="stable")[:k]
            return [(self.graph.label(int(v)), float(scores[v])) for v in order]

        return find(self.scores, np.broadcast_to(self._get_resolution(), self.scores.shape[:-1]))

    def _get_resolution(self) -> Any:
        return 0.0

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the ten highest scores as bars, with standard errors; for several alphas, as curves over alpha."""
        if self.scores.ndim > 1 + np.ndim(self.alpha):
            raise SettingError(f"the result has scores of {len(self.scores)} histories; compute one to plot it.")
        agent = getattr(self, "agent", "")
        best = np.argsort(-np.atleast_2d(self.scores)[-1], kind="stable")[:_NUM_PLOTTED]
        labels = [self.graph.title(int(v)) for v in best]
        scores = self.scores[..., best]
        errors = self.stderr[..., best] if hasattr(self, "stderr") else np.zeros_like(scores)
        if np.ndim(self.alpha) == 0:
            ax = plot_ranking(labels, scores, errors, agent or "pagerank", ax)
        else:
            ax = plot_curves(np.asarray(self.alpha), labels, scores, errors, ax)
            ax.set_xlabel("alpha")
            ax.set_ylabel("score")
        title = f"PageRank walked by {agent}" if agent else "PageRank"
        ax.set_title(title if np.ndim(self.alpha) else f"{title}, alpha {self.alpha:g}", fontsize=10)
        return ax


@dataclass(frozen=True, eq=False, repr=False)
class PageRank(NodeScores):
    """PageRank of all nodes for one history, or for several."""

    graph: Graph
    """Graph of the nodes."""
    alpha: float
    """Probability to follow a link instead of teleporting."""
    scores: Float64
    """One score per node, which sum to 1; one row per history for several."""
    residual: Any
    """Sum over the nodes of |eta - (1 - alpha) q - alpha P^T eta| at `scores`; an array for several histories."""
    iterations: Any
    """Number of passes over all edges; an array for several histories."""

    def __repr__(self) -> str:
        return f"PageRank(alpha {self.alpha}, scores {self.scores.shape}, residual {np.max(self.residual):.1g})"

    def _get_resolution(self) -> Any:
        return np.maximum(self.residual, _ROUNDING)


def pagerank(
    graph: Graph,
    alpha: float = 0.85,
    history: Any = None,
    *,
    dangling: Any = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> PageRank:
    """Compute PageRank: eta = (1 - alpha) (I - alpha P^T)^-1 q.

    P holds the transition probabilities of a random walk, which follows links and self-loops in proportion to their
    weights, and q is uniform on the history. A walker at a node without out-links teleports to q.

    Parameters
    ----------
    graph : Graph
        Graph with at least one node. Without edges, the result is q.
    alpha : float
        Probability to follow a link instead of teleporting, in [0, 1).
    history : list or mapping, optional
        Labels of visited nodes, the targets of teleports; a mapping from labels to weights for a non-uniform q.
        Default: all nodes. A list of lists or mappings is a batch of histories, which is several times faster than one
        call per history.
    dangling : list or mapping, optional
        Labels to which walkers at nodes without out-links move, or a mapping from labels to weights. Default: q.
    tolerance : float
        Maximum residual of the result.
    max_iterations : int
        Maximum number of passes over all edges per history.

    Returns
    -------
    PageRank
        Scores with their residual.

    Raises
    ------
    ConvergenceError
        If the residual exceeds the tolerance after `max_iterations`.

    Examples
    --------
    >>> import curiograph as cg
    >>> cg.pagerank(cg.toys.cycle(4), alpha=0.5, history=[0]).scores.round(4).tolist()
    [0.5833, 0.1667, 0.0833, 0.1667]
    """
    graph = as_graph(graph)
    require_nodes(graph)
    alpha = check_alpha(alpha)
    tolerance = check_positive("tolerance", tolerance)
    max_iterations = check_integer("max_iterations", max_iterations, 1, "give 1 or more")
    teleports, is_batch = make_teleports(graph, history)
    if dangling is not None:
        target = make_teleport(graph, dangling)
        rows = _solve_dangling(graph, alpha, teleports, target, tolerance, max_iterations)
    elif is_batch:
        rows = _solve_batch(graph, alpha, teleports, tolerance, max_iterations)
    else:
        return PageRank(graph, alpha, *_solve_one(graph, alpha, teleports[0], tolerance, max_iterations))
    if is_batch:
        return PageRank(graph, alpha, *rows)
    return PageRank(graph, alpha, rows[0][0], float(rows[1][0]), int(rows[2][0]))


def compute_pagerank_rows(graph: Graph, alpha: float, teleports: Sequence[Teleport]) -> Float64:
    """Return the scores for several teleport distributions, one row for each."""
    return _solve_batch(graph, alpha, teleports, TOLERANCE, MAX_ITERATIONS)[0]


def compute_flow_scales(graph: Graph, alpha: float, rows: NDArray[Any]) -> Any:
    """Return the factors that turn PageRanks from single nodes (rows) into expected visits before the first teleport.

    Expected visits, unlike PageRank, are additive over the nodes of a history. They sum to 1 / (1 - alpha), or less if
    walkers reach dead ends.
    """
    return 1 / (1 - alpha + alpha * rows[:, graph.transition.share == 0].sum(axis=1))


def iterate_visits(graph: Graph, alpha: float, nodes: Sequence[int] | Int32) -> Iterator[tuple[Float64, float]]:
    """Yield the expected visits of all nodes before the first teleport, and their sum, for each start in `nodes`."""
    for first in range(0, len(nodes), _STARTS_TOGETHER):
        starts = np.asarray(nodes[first : first + _STARTS_TOGETHER], np.int32)
        rows = compute_pagerank_rows(graph, alpha, [make_uniform_teleport(start) for start in starts[:, None]])
        sums = compute_flow_scales(graph, alpha, rows)
        rows *= sums[:, None]
        yield from zip(rows, sums.tolist(), strict=True)


def check_positive(name: str, value: Any) -> float:
    """Return a number above zero."""
    if not is_number(value) or not 0 < value < np.inf:
        raise SettingError(f"{name} is {quote_value(value)}; give a number above zero.")
    return float(value)


def _solve_one(
    graph: Graph, alpha: float, teleport: Teleport, tolerance: float, max_iterations: int
) -> tuple[Float64, float, int]:
    """Solve y = q + alpha P^T y with iterative refinement; return normalized scores, residual and iterations."""
    transition = graph.transition
    rows, share, order = transition.rows, transition.share, None
    q = np.zeros(graph.num_nodes)
    q[teleport.nodes] = teleport.probabilities
    if len(graph.indices) <= _SORTED_ENTRIES:
        rows, share, order = transition.sorted_by_length
        q = q[order]
    y, shortfall = np.zeros(len(q)), q
    iterations, best, relative_tolerance = 0, np.inf, tolerance
    while True:
        change, taken = kernels.pagerank_single.solve_gauss_seidel(
            *rows, share, alpha, shortfall, relative_tolerance, max(1.0, y.sum()), max_iterations - iterations
        )
        relative_tolerance *= 0.1
        y += change
        iterations += taken
        scores = np.maximum(y, 0.0)  # rounding errors may be negative
        scores /= scores.sum()
        residual = float(kernels.pagerank_single.compute_definition_residual(*rows, share, alpha, q, scores))
        if residual <= tolerance:
            break
        if iterations >= max_iterations or not residual < 0.5 * best:  # out of iterations, or at machine precision
            raise ConvergenceError(
                f"PageRank at alpha {alpha} reached a residual of {min(residual, best):.2g} in {iterations} "
                f"iterations, not {tolerance:.2g}; raise max_iterations or tolerance, or lower alpha."
            )
        best = residual
        shortfall = kernels.pagerank_single.compute_residual(*rows, share, alpha, q, y)
    if order is not None:
        scores[order] = scores.copy()
    return scores, residual, iterations


def _solve_dangling(
    graph: Graph, alpha: float, teleports: Sequence[Teleport], dangling: Teleport, tolerance: float, max_iterations: int
) -> tuple[Float64, Float64, NDArray[np.int64]]:
    """Solve for walkers that move from nodes without out-links to the distribution d (`dangling`) instead of to q.

    With A = (I - alpha P^T)^-1, where rows of P without out-links are zero, and m the score of the nodes without
    out-links, eta = (1 - alpha) A q + alpha m A d. Both terms are PageRanks, up to the factors of
    `compute_flow_scales`, and m follows from the sum over these nodes.
    """
    solved = _solve_batch(graph, alpha, [*teleports, dangling], 0.5 * tolerance, max_iterations)
    visits = solved[0] * compute_flow_scales(graph, alpha, solved[0])[:, None]
    held = visits[:, graph.transition.share == 0].sum(axis=1)
    mass = (1 - alpha) * held[:-1] / (1 - alpha * held[-1])
    scores = (1 - alpha) * visits[:-1] + (alpha * mass)[:, None] * visits[-1]
    return scores / scores.sum(axis=1, keepdims=True), solved[1][:-1] + solved[1][-1], solved[2][:-1] + solved[2][-1]


class _Workspace:
    """Arrays, nodes x histories, that consecutive blocks reuse, since allocation takes time."""

    def __init__(self, graph: Graph, columns: int) -> None:
        shape = (graph.num_nodes, columns)
        self.q, self.y, self.scratch, self.shortfall = (np.zeros(shape) for _ in range(4))
        self.scaled, self.change, self.flow = (np.zeros(shape, np.float32) for _ in range(3))
        self.recent = [np.zeros((kernels.pagerank_single.WINDOW, *shape), np.float32) for _ in range(2)]


def _solve_batch(
    graph: Graph, alpha: float, teleports: Sequence[Teleport], tolerance: float, max_iterations: int
) -> tuple[Float64, Float64, NDArray[np.int64]]:
    """Solve blocks of histories on all processors, then those that did not converge one at a time."""
    count = len(teleports)
    scores = np.empty((count, graph.num_nodes))
    residual, iterations = np.full(count, np.inf), np.zeros(count, np.int64)
    firsts = range(0, count - _MIN_COLUMNS + 1, _BLOCK_COLUMNS)
    blocks = [slice(first, min(first + _BLOCK_COLUMNS, count)) for first in firsts]

    def solve(some: Sequence[slice]) -> None:
        work: _Workspace | None = None
        for block in some:
            if work is None or work.q.shape[1] != block.stop - block.start:
                work = _Workspace(graph, block.stop - block.start)
            iterations[block] = _solve_block(graph, alpha, teleports[block], tolerance, max_iterations, work)
            residual[block] = kernels.pagerank_batch.normalize_scores(work.q, work.y, work.shortfall, scores[block])

    workers = min(resolve_workers(None), len(blocks))
    if workers > 1:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(solve, [blocks[i::workers] for i in range(workers)]))
    else:
        solve(blocks)
    for number in np.flatnonzero(~(residual <= tolerance) | (iterations > max_iterations)).tolist():
        try:
            result = _solve_one(graph, alpha, teleports[number], tolerance, max_iterations)
        except ConvergenceError as error:
            raise ConvergenceError(f"history {number}: {error}") from None
        scores[number], residual[number], iterations[number] = result
    return scores, residual, iterations


def _solve_block(
    graph: Graph, alpha: float, teleports: Sequence[Teleport], tolerance: float, max_iterations: int, work: _Workspace
) -> int:
    """Solve a block into `work.y`, with single-precision corrections; return the number of passes over the edges."""
    indptr, indices, weights = graph.transition.rows
    share = graph.transition.share
    if weights is None:
        single_weights, single_share = None, share.astype(np.float32)
    else:  # probabilities instead of weights, which may exceed the range of single precision
        single_weights, single_share = (weights * share[indices]).astype(np.float32), (share > 0).astype(np.float32)
    q, y, shortfall = work.q, work.y, work.shortfall
    q[:], y[:] = 0.0, 0.0
    for column, teleport in enumerate(teleports):
        q[teleport.nodes, column] = teleport.probabilities
    shortfall[:] = q
    errors, totals, iterations = np.ones(len(teleports)), np.ones(len(teleports)), 0
    for _ in range(_MAX_ROUNDS):
        scale = np.maximum(errors, _TINY)
        np.divide(shortfall, scale, out=work.scaled, casting="same_kind")
        tolerances = np.clip(0.3 * tolerance * totals / scale, _SINGLE_TOLERANCE, 1.0).astype(np.float32)
        iterations += kernels.pagerank_batch.solve_gauss_seidel(
            indptr, indices, single_weights, single_share, np.float32(alpha), work.scaled, work.change, work.flow,
            *work.recent, tolerances, _MAX_SWEEPS,
        )  # fmt: skip
        y += work.change * scale
        errors, totals = kernels.pagerank_batch.compute_residuals(
            indptr, indices, weights, share, alpha, q, y, work.scratch, shortfall
        )
        if iterations >= max_iterations or np.all(errors <= 0.5 * tolerance * totals):
            break
    return iterations
