"""Rate-distortion curve of the random walk on a graph, and compressibility, the area above it."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.errors import GraphError
from curiograph.graph.graph import Graph, as_graph
from curiograph.rewards.cpt import build_entropy_table
from curiograph.rewards.pairs import HEURISTICS, NUM_PAIRS, Pairs, check_pairs, choose_pairs
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_NODES = 20_000  # the dense matrix of a larger graph would not fit in memory
_ROUNDING = 1e-9  # bits


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
    """Rate R(s) in bits, the information rate of the clustered walk if it were Markovian: the curve of the paper. With
    `pairs="best"`, H where that is lower, since clustering cannot add information."""
    lower: Float64
    """Lower bound of the rate in bits: the entropy of the next cluster given the current node."""
    clusters: Clusterings
    """The clustering at every scale, as lists of labels."""
    pairs: str
    """Heuristic that selected the pairs of clusters."""

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
    graph: Graph, *, self_loops: bool = True, pairs: Pairs = "auto", num_pairs: int = NUM_PAIRS, seed: int = 0
) -> float:
    """Compute the compressibility of a graph in bits.

    It is the decrease of the information rate of a random walk by clustering nodes, averaged over all scales. The
    direction and the weights of edges count.

    Parameters
    ----------
    graph : Graph
        A graph of at most 20,000 nodes.
    self_loops : bool
        Add a self-loop of weight 1 to every node, as the published figures require. The graph's own are ignored.
    pairs, num_pairs, seed
        See `rate_distortion`.

    Returns
    -------
    float
        Compressibility in bits. Every heuristic gives a lower bound.

    Warns
    -----
    UserWarning
        If the heuristic gives a negative value; "auto" and "best" do not.

    Examples
    --------
    >>> from curiograph.graph.toys import complete, cycle
    >>> round(compressibility(complete(6)), 3), round(compressibility(cycle(6)), 3)
    (1.163, 0.579)
    """
    return _compute(graph, self_loops, pairs, num_pairs, seed).compressibility


def rate_distortion(
    graph: Graph, *, self_loops: bool = True, pairs: Pairs = "auto", num_pairs: int = NUM_PAIRS, seed: int = 0
) -> RateDistortion:
    """Compute the rate-distortion curve of a graph by greedy pairwise merging of clusters.

    Every choice of pairs gives an upper bound on the lowest rate at each scale, so that of two curves the lower one is
    the better. Evaluating more pairs per merge does not always lower the curve.

    Parameters
    ----------
    graph : Graph
        A graph of at most 20,000 nodes.
    self_loops : bool
        Add a self-loop of weight 1 to every node, as the published figures require. The graph's own are ignored.
    pairs : str
        Pairs of clusters evaluated at every merge (Lynn and Bassett 2021; the number is that of their code):

        - "auto": "all" up to 100 nodes, "best" for larger graphs;
        - "best": the curve of largest compressibility among the heuristics without random numbers, with R(s) = H where
          it would exceed the entropy rate H; all its clusterings are of that one heuristic;
        - "all": all pairs (1), a poor bound for most graphs of several hundred nodes;
        - "edges": the pairs joined by an edge (3);
        - "joint": the `num_pairs` pairs of largest joint transition probability (5);
        - "joint-self": the same with the self-transition probabilities of both clusters added (6);
        - "stationary": the `num_pairs` pairs of largest total stationary probability (7);
        - "single": no choice: one cluster absorbs the nodes in their order, after the last node (8);
        - "random": `num_pairs` random pairs (2);
        - "random-edges": `num_pairs` random pairs joined by an edge (4).

        Of equal pairs and of equal merges those with the lowest nodes are taken, so that the result may depend on the
        order of nodes.
    num_pairs : int
        Number of pairs evaluated at every merge, where `pairs` limits it.
    seed : int
        Seed of the random pairs.

    Returns
    -------
    RateDistortion
        The curve with its lower bound and the clustering at every scale.

    Warns
    -----
    UserWarning
        If the rate exceeds the entropy rate at some scale; "best" never does.

    Examples
    --------
    >>> from curiograph.graph.toys import complete
    >>> rate_distortion(complete(3)).upper.round(3)
    array([1.585, 0.918, 0.   ])
    """
    curve = _compute(graph, self_loops, pairs, num_pairs, seed)
    above = curve.upper - curve.entropy
    if above.max() > _ROUNDING and curve.compressibility >= 0:
        warnings.warn(
            f"pairs={curve.pairs!r} gives rates above the entropy rate H at {np.count_nonzero(above > _ROUNDING)} of "
            f"{len(above)} scales, by up to {above.max():.3g} bits: the bound is poor there; pairs='best' does not "
            "exceed H.",
            stacklevel=2,
        )
    return curve


def _compute(graph: Graph, self_loops: bool, pairs: Pairs, num_pairs: int, seed: int) -> RateDistortion:
    """Check the arguments and compute the curve; warn if the compressibility is negative."""
    if as_graph(graph).num_nodes == 0:
        raise GraphError("the graph is empty: it has no nodes, so there is nothing to compress.")
    if graph.num_nodes > _MAX_NODES:
        raise GraphError(
            f"compressibility of {graph.num_nodes} nodes at once needs a dense matrix; take a subgraph of at most "
            f"{_MAX_NODES} nodes."
        )
    check_pairs(pairs)
    check_integer("num_pairs", num_pairs, 1, "try a whole number of pairs per merge, 1 or more")
    check_seed(seed)
    used = choose_pairs(pairs, graph.num_nodes)
    joint, stationary = compute_joint_distribution(graph, self_loops)
    if used == "best":
        curves = {each: _merge(graph, self_loops, joint, stationary, each, num_pairs, seed) for each in HEURISTICS}
        for upper, _ in curves.values():
            np.minimum(upper, upper[0], out=upper)
        used = min(curves, key=lambda each: curves[each][0].sum())
        upper, merges = curves[used]
    else:
        upper, merges = _merge(graph, self_loops, joint, stationary, used, num_pairs, seed)
    size = graph.num_nodes
    lower = np.zeros(size)
    kernels.rate_distortion.compute_lower_rates(joint, stationary, merges, lower)
    lower[-1] = 0.0
    scale = np.arange(1, size + 1) / size
    curve = RateDistortion(scale, upper, lower, Clusterings(graph, merges[: size - 1]), used)
    if curve.compressibility < -_ROUNDING:
        warnings.warn(
            f"pairs={used!r} gives a negative compressibility of {curve.compressibility:.3g} bits, with rates above "
            "the entropy rate H: a poor bound on the true one, which is not negative; use pairs='best'.",
            stacklevel=3,
        )
    return curve


def _merge(
    graph: Graph, self_loops: bool, joint: Float64, stationary: Float64, pairs: str, num_pairs: int, seed: int
) -> tuple[Float64, Int64]:
    """Return the rates and merges of one heuristic.

    Those of an unweighted, undirected graph are computed in integer arithmetic.
    """
    size = graph.num_nodes
    merges = np.empty((size, 2), np.int64)
    w: NDArray[Any]
    p: NDArray[Any]
    table, unit, transpose = None, 1.0, None
    if graph.directed or graph.weights is not None:
        w, p = joint.copy(), stationary.copy()
        transpose = np.ascontiguousarray(w.T) if graph.directed else None
    else:
        table, unit = build_entropy_table(size + len(graph.indices))
        w = np.zeros((size, size), np.int32)
        w[np.repeat(np.arange(size), graph.degrees), graph.indices] = 1
        np.fill_diagonal(w, int(self_loops))
        p = w.sum(axis=1, dtype=np.int64)
        unit /= max(int(p.sum()), 1)
    rates = np.empty(size, p.dtype)
    if pairs in ("random", "random-edges"):
        rng = np.random.default_rng(seed)
        _merge_random(pairs == "random-edges", num_pairs, rng, table, w, transpose, p, rates, merges)
    else:
        limit = min(num_pairs, size * size)  # fits into a machine integer
        code = HEURISTICS.index(pairs)
        kernels.rate_distortion.compute_curve(code, limit, table, w, transpose, p, rates, merges)
    upper: Float64 = rates * unit if table is not None else rates
    upper[-1] = 0.0
    return upper, merges


def _merge_random(
    only_linked: bool,
    num_pairs: int,
    rng: np.random.Generator,
    table: Int64 | None,
    w: NDArray[Any],
    transpose: NDArray[Any] | None,
    p: NDArray[Any],
    rates: NDArray[Any],
    merges: Int64,
) -> None:
    """Fill `rates` and `merges` as `kernels.rate_distortion.compute_curve` does, with random (linked) pairs."""
    kernel = kernels.clusters
    size = len(p)
    rates[0] = kernel.compute_rate(table, w, p)
    rows, columns = np.empty_like(rates), np.empty_like(rates)
    kernel.sum_rows(table, size, w, rows)
    kernel.sum_rows(table, size, w if transpose is None else transpose, columns)
    clusters = np.arange(size)
    for k in range(size - 1):
        first, second = (
            kernels.rate_distortion.find_linked_pairs(size, w) if only_linked else (clusters[:0], clusters[:0])
        )
        if len(first):
            chosen = np.sort(rng.choice(len(first), min(num_pairs, len(first)), replace=False))
            first, second = first[chosen], second[chosen]
        elif only_linked:  # no cluster is linked to another, so that every merge costs nothing
            first, second = clusters[:1], clusters[1:2]
        else:
            total = len(clusters) * (len(clusters) - 1) // 2
            numbers = np.sort(rng.choice(total, min(num_pairs, total), replace=False))
            high = ((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
            first, second = clusters[numbers - high * (high - 1) // 2], clusters[high]
        a, b = kernel.find_best_merge(table, len(first), first, second, size, w, transpose, p, rows, columns)
        rates[k + 1] = rates[k] + kernel.compute_merge_cost(table, a, b, size, w, p)
        merges[k] = a, b
        kernel.merge_clusters(table, a, b, size, w, transpose, p, rows, columns)
        clusters = clusters[clusters != b]


def compute_joint_distribution(graph: Graph, self_loops: bool) -> tuple[Float64, Float64]:
    """Return the probability of every step i to j of the stationary walk, and the stationary distribution.

    If the stationary distribution is not unique (several closed classes of a directed graph), it is the limit of a
    walk with a uniform start.
    """
    matrix: Float64 = graph.to_scipy().toarray().astype(np.float64)
    np.fill_diagonal(matrix, float(self_loops))  # also in place of the graph's own self-loops
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
