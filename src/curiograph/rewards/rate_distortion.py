"""The rate-distortion curve of a random walk on a graph, and its compressibility, the area above it."""

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
from curiograph.graph.graph import Graph, as_graph, require_nodes
from curiograph.results import Table
from curiograph.rewards.cpt import MAX_ALL, build_entropy_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_NODES = 20_000  # the dense matrix of a larger graph would not fit in memory


class Clusterings(Sequence[Any]):
    """The clustering at every point of a curve, rebuilt from the merges on access.

    >>> from curiograph.graph.toys import complete
    >>> rate_distortion(complete(3)).clusters[1]
    [[0, 1], [2]]
    """

    def __init__(self, graph: Graph, merges: Int64) -> None:
        self._graph, self._merges = graph, merges

    def __len__(self) -> int:
        return self._graph.num_nodes

    def __getitem__(self, point: Any) -> list[list[Hashable]]:
        members = {i: [i] for i in range(len(self))}
        for a, b in self._merges[: range(len(self))[point]].tolist():
            members[a] += members.pop(b)
        return [[self._graph.label(i) for i in sorted(cluster)] for cluster in members.values()]


@dataclass(frozen=True, eq=False, repr=False)
class RateDistortion(Table):
    """The rate-distortion curve of a graph, from one cluster per node (scale 1/n) to a single cluster (scale 1)."""

    scale: Float64
    """Scale of description s = 1 - (clusters - 1) / n."""
    upper: Float64
    """Rate R(s) in bits, the information rate of the clustered walk if it were Markovian: the curve of the paper.
    Beyond 100 nodes, H where that is lower, since clustering cannot add information."""
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

    def columns(self) -> dict[str, Float64]:
        return {"scale": self.scale, "upper": self.upper, "lower": self.lower}

    def __repr__(self) -> str:
        bits = f"entropy {self.entropy:.4g} bits, compressibility {self.compressibility:.4g} bits"
        return f"RateDistortion({len(self.scale):,} nodes, {bits})"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curve with its lower bound; on new axes if `ax` is None."""
        from curiograph.plotting import plot_rate_distortion

        return plot_rate_distortion(self.scale, self.upper, self.lower, ax)


def compressibility(graph: Graph, *, self_loops: bool = True) -> float:
    """Compute the compressibility of a graph in bits.

    It is the decrease of the information rate of a random walk by clustering nodes, averaged over all scales. The
    direction and the weights of edges count.

    Parameters
    ----------
    graph, self_loops
        As for `rate_distortion`.

    Returns
    -------
    float
        Compressibility in bits, a lower bound on that of the best clusterings.

    Examples
    --------
    >>> from curiograph.graph.toys import complete, cycle
    >>> round(compressibility(complete(6)), 3), round(compressibility(cycle(6)), 3)
    (1.163, 0.579)
    """
    return rate_distortion(graph, self_loops=self_loops).compressibility


def rate_distortion(graph: Graph, *, self_loops: bool = True) -> RateDistortion:
    """Compute the rate-distortion curve of a graph by greedy pairwise merging of clusters.

    At every merge all pairs of clusters are tried up to 100 nodes, and beyond, where that is often a poor bound, the
    100 pairs of largest joint transition probability (number 5 in the code of Lynn and Bassett), with R(s) = H where it
    would exceed the entropy rate H. The curve is an upper bound on the lowest rate at each scale. Of equal merges the
    one with the lowest nodes is taken, so that the result may depend on their order.

    Parameters
    ----------
    graph : Graph
        A graph of at most 20,000 nodes.
    self_loops : bool
        Add a self-loop of weight 1 to every node, as the published figures require. The graph's own are ignored.

    Returns
    -------
    RateDistortion
        The curve with its lower bound and the clustering at every scale.

    Warns
    -----
    UserWarning
        If the compressibility is negative, a poor bound on the true one; beyond 100 nodes it never is.

    References
    ----------
    Lynn and Bassett, Quantifying the compressibility of complex networks, PNAS 118 (2021).

    Examples
    --------
    >>> from curiograph.graph.toys import complete
    >>> rate_distortion(complete(3)).upper.round(3)
    array([1.585, 0.918, 0.   ])
    """
    require_nodes(as_graph(graph))
    size = graph.num_nodes
    if size > _MAX_NODES:
        raise GraphError(f"a dense matrix of {size} nodes is too large; take a subgraph of at most {_MAX_NODES}.")
    fast = size > MAX_ALL
    joint, stationary = compute_joint_distribution(graph, self_loops)
    w: NDArray[Any]
    p: NDArray[Any]
    table, unit = None, 1.0
    if graph.directed or graph.weights is not None:
        w, p = joint.copy(), stationary.copy()
    else:  # counts instead of probabilities: integer arithmetic
        table, unit = build_entropy_table(size + len(graph.indices))
        w = (joint > 0).astype(np.int32)
        p = w.sum(axis=1, dtype=np.int64)
        unit /= max(int(p.sum()), 1)
    transpose = np.ascontiguousarray(w.T) if graph.directed else None
    rates, merges = np.empty(size, p.dtype), np.empty((size, 2), np.int64)
    kernels.cluster_merging.compute_curve(fast, table, w, transpose, p, rates, merges)
    upper: Float64 = rates * unit
    upper[-1] = 0.0
    if fast:
        upper = np.minimum(upper, upper[0])
    lower = kernels.cluster_merging.compute_lower_rates(joint, stationary, merges)
    curve = RateDistortion(np.arange(1, size + 1) / size, upper, lower, Clusterings(graph, merges[: size - 1]))
    if curve.compressibility < -1e-9:  # more than rounding
        warnings.warn(
            f"greedy merging gives a negative compressibility of {curve.compressibility:.3g} bits, a poor bound on "
            "the true one, which is not negative.",
            stacklevel=2,
        )
    return curve


def compute_joint_distribution(graph: Graph, self_loops: bool) -> tuple[Float64, Float64]:
    """Return the probability of every step i to j of the stationary walk, and the stationary distribution.

    If the stationary distribution is not unique (several closed classes of a directed graph), it is the limit of a
    walk with a uniform start: closed classes weighted by the mass they absorb.
    """
    matrix: Float64 = graph.to_scipy().toarray().astype(np.float64)
    np.fill_diagonal(matrix, float(self_loops))  # also in place of the graph's own self-loops
    out = matrix.sum(axis=1)
    if not graph.directed:
        total = out.sum()
        return (matrix / total, out / total) if total > 0 else (matrix, out)
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import spsolve

    sinks = out == 0
    matrix[sinks, sinks] = out[sinks] = 1.0
    transition = matrix / out[:, None]
    chain = csr_array(transition)  # solved by sparse elimination: threads of dense solvers wait for each other
    count, member = connected_components(chain, directed=True, connection="strong")
    is_left = np.zeros(count, bool)
    rows, columns = chain.nonzero()
    is_left[member[rows[member[rows] != member[columns]]]] = True
    transient = is_left[member]
    stationary: Float64 = np.full(len(out), 1.0 / len(out))
    balance = (eye_array(len(out)) - chain).T.tocsc()
    if transient.any():
        visits = spsolve(balance[transient][:, transient], stationary[transient])
        stationary = np.where(transient, 0.0, stationary + visits @ chain[transient])
    for closed in np.flatnonzero(~is_left & (np.bincount(member) > 1)):
        inside = np.flatnonzero(member == closed)
        rest, last = inside[:-1], inside[-1:]  # the share of the last node is set to 1, then all are scaled
        share = np.append(spsolve(balance[rest][:, rest], -balance[rest][:, last].toarray().ravel()), 1.0)
        stationary[inside] = share / share.sum() * stationary[inside].sum()
    return transition * stationary[:, None], stationary
