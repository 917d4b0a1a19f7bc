"""Rate-distortion curve of the random walk on a graph, and compressibility, the area above it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
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

_MAX_NODES = 20_000  # the dense matrix of a larger graph would not fit in memory


class Clusterings(Sequence[list[list[Hashable]]]):
    """The clustering at every point of a curve, rebuilt from the merges on access.

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
        points: Any = range(len(self))[point]  # raises IndexError
        if isinstance(point, slice):
            return [self[i] for i in points]
        members = {i: [i] for i in range(len(self))}
        for a, b in self._merges[:points]:
            members[int(a)] += members.pop(int(b))
        return [[self._graph.label(i) for i in sorted(cluster)] for cluster in members.values()]


@dataclass(frozen=True, eq=False)
class RateDistortion:
    """The rate-distortion curve of a graph, from one cluster per node (scale 1/n) to a single cluster (scale 1).

    Examples
    --------
    >>> from curiograph.graph.toys import complete
    >>> curve = rate_distortion(complete(3))
    >>> curve.scale.round(2), round(curve.compressibility, 4)
    (array([0.33, 0.67, 1.  ]), 0.7505)
    """

    scale: Float64
    """Scale of description s = 1 - (clusters - 1) / n."""
    upper: Float64
    """Rate R(s) in bits, the information rate of the clustered walk if it were Markovian: the curve of the paper."""
    lower: Float64
    """Lower bound of the rate in bits: the entropy of the next cluster given the current node."""
    clusters: Clusterings
    """The clustering at every scale, as lists of labels."""

    @property
    def entropy(self) -> float:
        """Entropy rate H of the random walk, in bits per step."""
        return float(self.upper[0])

    @property
    def compressibility(self) -> float:
        """Compressibility C = H - mean R: the area above the curve."""
        return float(np.mean(self.upper[0] - self.upper))

    def __repr__(self) -> str:
        size = f"{len(self.scale):,} nodes"
        return (
            f"RateDistortion({size}, entropy {self.entropy:.4g} bits, compressibility {self.compressibility:.4g} bits)"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curve with its lower bound; on new axes if `ax` is None."""
        from curiograph.plotting import plot_rate_distortion

        return plot_rate_distortion(self.scale, self.upper, self.lower, ax)


def compressibility(
    graph: Graph, *, self_loops: bool = True, pairs: Pairs = "all", num_pairs: int = 100, seed: int = 0
) -> float:
    """Compute the compressibility of a graph in bits.

    It is the decrease of the information rate of a random walk by clustering nodes, averaged over all scales. The
    direction and the weights of edges count.

    Parameters
    ----------
    graph : Graph
        A graph of at most 20,000 nodes.
    self_loops : bool
        Add a self-loop of weight 1 to every node, as the published figures require.
    pairs, num_pairs, seed
        See `rate_distortion`.

    Returns
    -------
    float
        Compressibility in bits.

    Examples
    --------
    >>> from curiograph.graph.toys import complete, cycle
    >>> round(compressibility(complete(6)), 3), round(compressibility(cycle(6)), 3)
    (1.163, 0.579)
    """
    return rate_distortion(graph, self_loops=self_loops, pairs=pairs, num_pairs=num_pairs, seed=seed).compressibility


def rate_distortion(
    graph: Graph, *, self_loops: bool = True, pairs: Pairs = "all", num_pairs: int = 100, seed: int = 0
) -> RateDistortion:
    """Compute the rate-distortion curve of a graph by greedy pairwise merging of clusters.

    Parameters
    ----------
    graph : Graph
        A graph of at most 20,000 nodes.
    self_loops : bool
        Add a self-loop of weight 1 to every node, as the published figures require.
    pairs : {"all", "random", "edges", "joint", "stationary"}
        Pairs of clusters evaluated at every merge: all of them; or, for large graphs, `num_pairs` random ones, those
        joined by edges, the `num_pairs` with the largest joint transition probability, or the `num_pairs` with the
        largest total stationary probability.
    num_pairs : int
        Number of pairs evaluated at every merge, where `pairs` limits it.
    seed : int
        Seed of the random pairs.

    Returns
    -------
    RateDistortion
        The curve with its lower bound and the clustering at every scale.

    Examples
    --------
    >>> from curiograph.graph.toys import complete
    >>> rate_distortion(complete(3)).upper.round(3)
    array([1.585, 0.918, 0.   ])
    """
    if as_graph(graph).num_nodes == 0:
        raise GraphError("the graph is empty: it has no nodes, so there is nothing to compress.")
    if graph.num_nodes > _MAX_NODES:
        raise GraphError(
            f"compressibility of {graph.num_nodes} nodes at once needs a dense matrix; take a subgraph of at most "
            f"{_MAX_NODES} nodes."
        )
    if pairs not in get_args(Pairs):
        raise UnknownNameError(f"pairs is {pairs!r}; the choices are {', '.join(get_args(Pairs))}.")
    check_integer("num_pairs", num_pairs, 1, "try a whole number of pairs per merge, 1 or more")
    check_seed(seed)
    joint, stationary = compute_joint_distribution(graph, self_loops)
    if pairs == "all" and not graph.directed and graph.weights is None:
        upper, merges = _merge_exactly(graph, self_loops)
    else:
        upper, merges = _merge_heuristically(joint.copy(), stationary.copy(), pairs, num_pairs, seed)
    size = graph.num_nodes
    lower = np.zeros(size)
    kernels.rate_distortion.compute_lower_rates(joint, stationary, merges, lower)
    upper[-1] = lower[-1] = 0.0
    return RateDistortion(np.arange(1, size + 1) / size, upper, lower, Clusterings(graph, merges[: size - 1]))


def _merge_exactly(graph: Graph, self_loops: bool) -> tuple[Float64, Int64]:
    """Return the rates and merges of an unweighted, undirected graph, computed in integer arithmetic."""
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


def _merge_heuristically(w: Float64, p: Float64, pairs: Pairs, num_pairs: int, seed: int) -> tuple[Float64, Int64]:
    """Return the rates and merges for a joint distribution `w` with marginals `p`; both arrays are overwritten."""
    size = len(w)
    rng = np.random.default_rng(seed)
    upper = np.zeros(size)
    upper[0] = kernels.rate_distortion.compute_rate(w, p)
    merges = np.empty((size, 2), np.int64)
    clusters = np.arange(size)
    for k in range(size - 1):
        first, second = _select_pairs(w, p, clusters, pairs, num_pairs, rng)
        a, b, cost = kernels.rate_distortion.find_best_merge(first, second, clusters, w, p)
        upper[k + 1] = upper[k] + cost
        merges[k] = a, b
        clusters = clusters[clusters != b]
        kernels.rate_distortion.merge_clusters(a, b, clusters, w, p)
    return upper, merges


def _select_pairs(
    w: Float64, p: Float64, clusters: Int64, pairs: Pairs, num_pairs: int, rng: np.random.Generator
) -> tuple[Int64, Int64]:
    """Return the pairs of clusters to evaluate, lower index first; all pairs if the heuristic selects none."""
    size = len(clusters)
    if pairs == "random":
        total = size * (size - 1) // 2
        numbers = np.sort(rng.choice(total, min(num_pairs, total), replace=False))
        second = ((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
        return clusters[numbers - second * (second - 1) // 2], clusters[second]
    if pairs == "stationary":
        top = np.sort(clusters[np.argsort(-p[clusters], kind="stable")[: num_pairs + 1]])
        rows, columns = np.triu_indices(len(top), 1)
        best = np.sort(np.argsort(-(p[top[rows]] + p[top[columns]]), kind="stable")[:num_pairs])
        return top[rows[best]], top[columns[best]]
    if pairs in ("edges", "joint"):
        first, second, strength = kernels.rate_distortion.find_linked_pairs(clusters, w)
        if pairs == "joint":
            strongest = np.argsort(-strength, kind="stable")[:num_pairs]
            first, second = first[strongest], second[strongest]
        if len(first):
            return first, second
    rows, columns = np.triu_indices(size, 1)
    return clusters[rows], clusters[columns]


def compute_joint_distribution(graph: Graph, self_loops: bool) -> tuple[Float64, Float64]:
    """Return the probability of every step i to j of the stationary walk, and the stationary distribution.

    If the stationary distribution is not unique (several closed classes of a directed graph), it is the limit of a
    walk with a uniform start.
    """
    matrix: Float64 = graph.to_scipy().toarray().astype(np.float64)
    if self_loops:
        matrix[np.diag_indices_from(matrix)] = 1.0
    out = matrix.sum(axis=1)
    if not graph.directed:
        total = out.sum()
        return (matrix / total, out / total) if total > 0 else (matrix, out)
    sinks = out == 0
    matrix[sinks, sinks] = out[sinks] = 1.0
    transition = matrix / out[:, None]
    stationary = _compute_stationary(transition)
    return transition * stationary[:, None], stationary


def _compute_stationary(transition: Float64) -> Float64:
    """Return the limit distribution from a uniform start: closed classes weighted by the mass they absorb."""
    from scipy.sparse.csgraph import connected_components

    size = len(transition)
    count, member = connected_components(transition > 0, directed=True, connection="strong")
    is_left = np.zeros(count, bool)
    rows, columns = np.nonzero(transition)
    is_left[member[rows[member[rows] != member[columns]]]] = True
    transient = is_left[member]
    arriving = np.full(size, 1.0 / size)
    if transient.any():
        inner = transition[np.ix_(transient, transient)]
        visits = np.linalg.solve((np.eye(len(inner)) - inner).T, arriving[transient])
        arriving = np.where(transient, 0.0, arriving + visits @ transition[transient])
    stationary = np.zeros(size)
    for closed in np.flatnonzero(~is_left):
        inside = member == closed
        block = transition[np.ix_(inside, inside)]
        system = np.vstack([block.T - np.eye(len(block)), np.ones(len(block))])
        share = np.linalg.lstsq(system, np.append(np.zeros(len(block)), 1.0), rcond=None)[0]
        stationary[inside] = np.maximum(share, 0.0) * arriving[inside].sum()
    return stationary
