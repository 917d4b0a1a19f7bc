"""How far a graph can be compressed: the rate-distortion curve of a random walk on it, and the area above."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.errors import GraphError, UnknownNameError
from curiograph.graph.graph import Graph, as_graph
from curiograph.rewards.cpt import build_entropy_table
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Pairs = Literal["all", "random", "edges", "joint", "stationary"]

_MOST_NODES = 20_000  # a dense matrix of more would not fit in memory


class Clusterings(Sequence[list[list[Hashable]]]):
    """The clustering at every point of a curve, rebuilt from the merges when asked for.

    >>> from curiograph.graph.toys import complete
    >>> rate_distortion(complete(3)).clusters[1]
    [[0, 1], [2]]
    """

    def __init__(self, graph: Graph, merges: Int64) -> None:
        self._graph = graph
        self._merges = merges

    def __len__(self) -> int:
        return self._graph.num_nodes

    def __getitem__(self, point: Any) -> Any:
        if isinstance(point, slice):
            return [self[i] for i in range(*point.indices(len(self)))]
        if not -len(self) <= point < len(self):
            raise IndexError(point)
        members = {i: [i] for i in range(len(self))}
        for a, b in self._merges[: point % len(self)]:
            members[int(a)] += members.pop(int(b))
        return [[self._graph.label(i) for i in sorted(cluster)] for cluster in members.values()]

    def __iter__(self) -> Iterator[list[list[Hashable]]]:
        return (self[i] for i in range(len(self)))


@dataclass(frozen=True, eq=False)
class RateDistortion:
    """The rate-distortion curve of a graph, from one cluster per node (scale 1/n) to a single one (scale 1)."""

    scale: Float64
    """s = 1 - (clusters - 1) / n."""
    upper: Float64
    """R(s) in bits: the information rate of the clustered walk if it were Markovian. The curve of the paper."""
    lower: Float64
    """Entropy in bits of the next cluster given the present node: the rate cannot be lower."""
    clusters: Clusterings
    """The clustering at every scale, as lists of labels."""

    @property
    def entropy(self) -> float:
        """H: bits per step of the walk itself."""
        return float(self.upper[0])

    @property
    def compressibility(self) -> float:
        """C = H - mean R: the area above the curve."""
        return float(np.mean(self.upper[0] - self.upper))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve with its bounds."""
        from curiograph.plotting import plot_rate_distortion

        return plot_rate_distortion(self.scale, self.upper, self.lower, ax)


def compressibility(
    graph: Graph, *, self_loops: bool = True, pairs: Pairs = "all", num_pairs: int = 100, seed: int = 0
) -> float:
    """Network compressibility in bits: how much the information rate of a random walk falls, averaged over all scales.

    Direction and weights count where the graph has them. `self_loops` puts a loop of weight 1 on every node, as the
    published figures need. See `rate_distortion` for `pairs`.

    >>> from curiograph.graph.toys import complete, cycle
    >>> round(compressibility(complete(6)), 3), round(compressibility(cycle(6)), 3)
    (1.163, 0.579)
    """
    return rate_distortion(graph, self_loops=self_loops, pairs=pairs, num_pairs=num_pairs, seed=seed).compressibility


def rate_distortion(
    graph: Graph, *, self_loops: bool = True, pairs: Pairs = "all", num_pairs: int = 100, seed: int = 0
) -> RateDistortion:
    """The rate-distortion curve of a graph by greedy pairwise merging.

    Parameters
    ----------
    pairs : which pairs of clusters are tried at every merge: "all" of them; or, for large graphs, `num_pairs` at
        "random", those joined by "edges", the `num_pairs` with the largest "joint" transition probability, or with
        the largest combined "stationary" probability.

    >>> from curiograph.graph.toys import complete
    >>> rate_distortion(complete(3)).upper.round(3)
    array([1.585, 0.918, 0.   ])
    """
    _check(graph, pairs, num_pairs, seed)
    if pairs == "all" and not graph.directed and graph.weights is None:
        upper, merges = _by_counts(graph, self_loops)
        joint, stationary = compute_joint_distribution(graph, self_loops)
    else:
        joint, stationary = compute_joint_distribution(graph, self_loops)
        upper, merges = _by_probabilities(joint.copy(), stationary.copy(), pairs, num_pairs, seed)
    size = graph.num_nodes
    lower = np.zeros(size)
    kernels.rate_distortion.compute_lower_rates(joint, stationary, merges, lower)
    upper[-1] = lower[-1] = 0.0
    return RateDistortion(np.arange(1, size + 1) / size, upper, lower, Clusterings(graph, merges[: size - 1]))


def _by_probabilities(w: Float64, p: Float64, pairs: Pairs, num_pairs: int, seed: int) -> tuple[Float64, Int64]:
    """The curve of any joint distribution `w` with marginals `p`, both destroyed."""
    size = len(w)
    rng = np.random.default_rng(seed)
    upper = np.zeros(size)
    upper[0] = kernels.rate_distortion.compute_rate(w, p)
    merges = np.empty((size, 2), np.int64)
    alive = np.arange(size)
    for k in range(size - 1):
        first, second = pairs_to_try(w, p, alive, pairs, num_pairs, rng)
        a, b, cost = kernels.rate_distortion.find_best_merge(first, second, alive, w, p)
        upper[k + 1] = upper[k] + cost
        merges[k] = a, b
        alive = alive[alive != b]
        kernels.rate_distortion.merge_clusters(a, b, alive, w, p)
    return upper, merges


def pairs_to_try(
    w: Float64, p: Float64, alive: Int64, pairs: Pairs, num_pairs: int, rng: np.random.Generator
) -> tuple[Int64, Int64]:
    """The pairs of clusters that a heuristic offers, lower name first; all of them where it offers none."""
    size = len(alive)
    if pairs == "random":
        total = size * (size - 1) // 2
        numbers = np.sort(rng.choice(total, min(num_pairs, total), replace=False))
        second = ((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
        return alive[numbers - second * (second - 1) // 2], alive[second]
    if pairs == "stationary":
        top = np.sort(alive[np.argsort(-p[alive], kind="stable")[: num_pairs + 1]])
        rows, columns = np.triu_indices(len(top), 1)
        best = np.sort(np.argsort(-(p[top[rows]] + p[top[columns]]), kind="stable")[:num_pairs])
        return top[rows[best]], top[columns[best]]
    if pairs in ("edges", "joint"):
        first, second, strength = kernels.rate_distortion.find_linked_pairs(alive, w)
        if pairs == "joint":
            kept = np.argsort(-strength, kind="stable")[:num_pairs]
            first, second = first[kept], second[kept]
        if len(first):
            return first, second
    rows, columns = np.triu_indices(size, 1)
    return alive[rows], alive[columns]


def compute_joint_distribution(graph: Graph, self_loops: bool) -> tuple[Float64, Float64]:
    """Probability of every step i to j of the stationary walk, and of being at i.

    Without a unique stationary distribution (several places that a directed walk cannot leave) it is that of a walk
    that started anywhere with equal chance.
    """
    matrix: Float64 = graph.to_scipy().toarray().astype(np.float64)
    if self_loops:
        matrix[np.diag_indices_from(matrix)] = 1.0
    out = matrix.sum(axis=1)
    if not graph.directed:
        total = out.sum()
        return (matrix / total, out / total) if total > 0 else (matrix, out)
    stuck = out == 0
    matrix[stuck, stuck] = out[stuck] = 1.0
    steps = matrix / out[:, None]
    stationary = _stationary(steps)
    return steps * stationary[:, None], stationary


def _stationary(steps: Float64) -> Float64:
    """Long-run share of time at each node from a uniform start: closed classes weighted by the mass they absorb."""
    from scipy.sparse.csgraph import connected_components

    size = len(steps)
    count, member = connected_components(steps > 0, directed=True, connection="strong")
    leaves = np.zeros(count, bool)
    rows, columns = np.nonzero(steps)
    leaves[member[rows[member[rows] != member[columns]]]] = True
    transient = leaves[member]
    arriving = np.full(size, 1.0 / size)
    if transient.any():
        inner = steps[np.ix_(transient, transient)]
        visits = np.linalg.solve((np.eye(len(inner)) - inner).T, arriving[transient])
        arriving = np.where(transient, 0.0, arriving + visits @ steps[transient])
    stationary = np.zeros(size)
    for closed in np.flatnonzero(~leaves):
        inside = member == closed
        block = steps[np.ix_(inside, inside)]
        system = np.vstack([block.T - np.eye(len(block)), np.ones(len(block))])
        share = np.linalg.lstsq(system, np.append(np.zeros(len(block)), 1.0), rcond=None)[0]
        stationary[inside] = np.maximum(share, 0.0) * arriving[inside].sum()
    return stationary


def _by_counts(graph: Graph, self_loops: bool) -> tuple[Float64, Int64]:
    """The exact curve of an unweighted, undirected graph, on whole numbers."""
    size = graph.num_nodes
    table, unit = build_entropy_table(size + len(graph.indices))
    work = kernels.compressibility.allocate_workspace(size)
    work[0][:] = graph.to_scipy().toarray()
    if self_loops:
        np.fill_diagonal(work[0], 1)
    rates = np.empty(size, np.int64)
    merges = np.empty((size, 2), np.int64)
    total = kernels.compressibility.compute_curve(size, table, work, rates, merges)
    return rates * (unit / max(total, 1)), merges


def _check(graph: Graph, pairs: str, num_pairs: int, seed: int) -> None:
    if as_graph(graph).num_nodes == 0:
        raise GraphError("the graph is empty: it has no nodes, so there is nothing to compress.")
    if graph.num_nodes > _MOST_NODES:
        raise GraphError(
            f"compressibility of {graph.num_nodes} nodes at once needs a dense matrix; take a subgraph of at most "
            f"{_MOST_NODES} nodes."
        )
    if pairs not in get_args(Pairs):
        raise UnknownNameError(f"pairs is {pairs!r}; the choices are {', '.join(get_args(Pairs))}.")
    check_integer("num_pairs", num_pairs, 1, "try a whole number of pairs per merge, 1 or more")
    check_seed(seed)
