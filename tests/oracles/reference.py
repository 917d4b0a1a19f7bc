"""Reference implementations of the kernels: each follows the paper's definition in plain Python, numpy or gudhi.

They use no code under test except the edges of a graph (`build_adjacency`) and the columns of the flags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import mean, pstdev
from typing import NamedTuple

import gudhi
import networkx as nx
import numpy as np

from curiograph import Graph

TIE = 1e-11  # merges closer than this are equal


# ---- graphs ---------------------------------------------------------------------------------------------------------


def build_adjacency(graph: Graph) -> np.ndarray:
    """Return A with A[i, j] = weight of the edge from position i to position j."""
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    for u in range(graph.num_nodes):
        for slot in range(graph.indptr[u], graph.indptr[u + 1]):
            matrix[u, graph.indices[slot]] = 1.0 if graph.weights is None else graph.weights[slot]
    return matrix


def build_skeleton(graph: Graph) -> np.ndarray:
    """Return a matrix of the pairs of nodes that are linked in either direction."""
    matrix = build_adjacency(graph) if graph.weights is None else build_adjacency(drop_weights(graph))
    return (matrix + matrix.T) > 0


def drop_weights(graph: Graph) -> Graph:
    """Return the same edges without weights: an edge of weight zero is an edge."""
    return Graph(graph.indptr, graph.indices, directed=graph.directed)


def draw_graph(rng: np.random.Generator, nodes: int, chance: float, *, directed: bool = False) -> Graph:
    """Draw a graph with every edge of the same probability and at least one edge; labels are positions."""
    drawn = rng.random((nodes, nodes)) < chance
    drawn[0, 1] = True
    pairs = [(int(u), int(v)) for u, v in zip(*np.nonzero(drawn), strict=True) if (directed and u != v) or u < v]
    return Graph.from_edges(pairs, directed=directed, nodes=range(nodes))


# ---- topology -------------------------------------------------------------------------------------------------------


def compute_rank_gf2(columns: Iterable[int]) -> int:
    """Return the rank over GF(2) of columns given as the bits of integers."""
    pivots: dict[int, int] = {}
    for column in columns:
        while column and (top := column.bit_length()) in pivots:
            column ^= pivots[top]
        if column:
            pivots[column.bit_length()] = column
    return len(pivots)


def compute_betti(joined: np.ndarray) -> tuple[int, int]:
    """Return beta_0 and beta_1 of the clique complex, from the ranks of its boundary matrices over GF(2)."""
    size = len(joined)
    edges = [(u, v) for u, v in combinations(range(size), 2) if joined[u, v]]
    number = {edge: i for i, edge in enumerate(edges)}
    first = compute_rank_gf2((1 << u) | (1 << v) for u, v in edges)
    second = compute_rank_gf2(
        (1 << number[u, v]) | (1 << number[u, w]) | (1 << number[v, w])
        for u, v, w in combinations(range(size), 3)
        if joined[u, v] and joined[u, w] and joined[v, w]
    )
    return size - first, len(edges) - first - second


def count_independent_loops(joined: np.ndarray, loops: Sequence[Sequence[int]]) -> int:
    """Return the rank in H_1 over GF(2) of loops of nodes: by how much they increase the rank of the triangles."""
    size = len(joined)
    edges = [(u, v) for u, v in combinations(range(size), 2) if joined[u, v]]
    number = {frozenset(edge): 1 << i for i, edge in enumerate(edges)}
    triangles = [
        number[frozenset((u, v))] | number[frozenset((u, w))] | number[frozenset((v, w))]
        for u, v, w in combinations(range(size), 3)
        if joined[u, v] and joined[u, w] and joined[v, w]
    ]
    around = [sum(number[frozenset(pair)] for pair in zip(loop, [*loop[1:], loop[0]], strict=True)) for loop in loops]
    return compute_rank_gf2([*triangles, *around]) - compute_rank_gf2(triangles)


def find_shortest_lengths(joined: np.ndarray) -> list[int]:
    """Return the lengths of the loops of a minimal basis of H_1 over GF(2), of all loops of a small graph."""
    size = len(joined)
    loops = sorted(nx.simple_cycles(nx.from_numpy_array(joined)), key=len)
    lengths: list[int] = []
    pivots: dict[int, int] = {}
    for loop in loops:  # triangles are first, and do not count
        column = sum(1 << (min(u, v) * size + max(u, v)) for u, v in zip(loop, [*loop[1:], loop[0]], strict=True))
        while column and (top := column.bit_length()) in pivots:
            column ^= pivots[top]
        if column:
            pivots[column.bit_length()] = column
            lengths += [len(loop)] if len(loop) > 3 else []
    return lengths


class PersistencePairs(NamedTuple):
    """Persistence pairs of the node-order filtration: (opened, closed), closed = inf for open gaps."""

    steps: int
    by_dim: list[np.ndarray]

    def curve(self, dim: int) -> np.ndarray:
        """Return the Betti number after every step."""
        opened, closed = self.by_dim[dim].T
        steps = np.arange(self.steps)[:, None]
        return ((opened <= steps) & (steps < closed)).sum(axis=1)

    def sorted(self, dim: int) -> list[tuple[float, float]]:
        """Return the pairs of a dimension, sorted."""
        return sorted(map(tuple, self.by_dim[dim].tolist()))


def compute_gudhi_pairs(graph: Graph, order: Sequence[int], top: int = 1) -> PersistencePairs:
    """Return the persistence of the walk `order`: node t enters at step t with its edges and cliques."""
    step = {int(node): t for t, node in enumerate(order)}
    tree = gudhi.SimplexTree()
    for node, t in step.items():
        tree.insert([t], t)
        for neighbor in graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist():
            s = step.get(neighbor, t)
            if s != t:
                tree.insert([s, t], max(s, t))
    tree.expansion(top + 1)
    tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
    found = [tree.persistence_intervals_in_dimension(dim) for dim in range(top + 1)]
    return PersistencePairs(len(step), [pairs.reshape(-1, 2) for pairs in found])


def compute_gudhi_betti(graph: Graph, nodes: Sequence[int], dim: int = 1) -> int:
    """Return a Betti number of the subgraph on `nodes`."""
    return int(compute_gudhi_pairs(graph, nodes, max(dim, 1)).curve(dim)[-1])


# ---- compressibility ------------------------------------------------------------------------------------------------


class Curve(NamedTuple):
    """A rate-distortion curve: rates and clusterings from one cluster per node down to one cluster."""

    upper: np.ndarray
    lower: np.ndarray
    clusters: list[list[list[int]]]

    @property
    def compressibility(self) -> float:
        """C = H - mean of R over all scales."""
        return float(self.upper[0] - self.upper.mean())


def build_transition(matrix: np.ndarray, self_loops: bool) -> np.ndarray:
    """Return P_ij = M_ij / sum_j M_ij; a dangling node stays."""
    matrix = matrix.copy()
    if self_loops:
        np.fill_diagonal(matrix, 1.0)
    for i in range(len(matrix)):
        if matrix[i].sum() == 0:
            matrix[i, i] = 1.0
    return matrix / matrix.sum(axis=1, keepdims=True)


def compute_stationary(matrix: np.ndarray, self_loops: bool, directed: bool) -> np.ndarray:
    """Return pi: the share of the strength if undirected, else the limit of the lazy walk from a uniform start."""
    if not directed:
        strength = matrix.sum(axis=1) + self_loops
        return strength / strength.sum() if strength.sum() > 0 else strength
    lazy = (build_transition(matrix, self_loops) + np.eye(len(matrix))) / 2
    for _ in range(60):  # 2^60 steps
        lazy = lazy @ lazy
        lazy /= lazy.sum(axis=1, keepdims=True)
    return lazy.mean(axis=0)


def compute_joint_steps(matrix: np.ndarray, self_loops: bool = True, directed: bool = False) -> np.ndarray:
    """Return pi_i P_ij: the probability of a step from i to j."""
    return compute_stationary(matrix, self_loops, directed)[:, None] * build_transition(matrix, self_loops)


def compute_information_rate(joint: np.ndarray) -> float:
    """Return -sum_i pi_i sum_j P_ij log2 P_ij, with pi and P from the joint probabilities."""
    pi = joint.sum(axis=1)
    used = joint > 0
    return float(-(joint[used] * np.log2((joint / np.where(pi > 0, pi, 1.0)[:, None])[used])).sum())


def merge_clusters(joint: np.ndarray, clusters: list[list[int]]) -> np.ndarray:
    """Return the joint probabilities of steps between clusters."""
    return np.array([[joint[np.ix_(a, b)].sum() for b in clusters] for a in clusters])


def compute_upper_rate(joint: np.ndarray, clusters: list[list[int]]) -> float:
    """Return the information rate of the coarse-grained walk, treated as a Markov chain."""
    return compute_information_rate(merge_clusters(joint, clusters))


def compute_lower_rate(joint: np.ndarray, clusters: list[list[int]]) -> float:
    """Return the entropy of the next cluster given the node."""
    return compute_information_rate(np.column_stack([joint[:, cluster].sum(axis=1) for cluster in clusters]))


AllowedPairs = Callable[[np.ndarray], Iterable[tuple[int, int]]]


def compute_rate_distortion(joint: np.ndarray, allowed: AllowedPairs | None = None) -> Curve:
    """Merge clusters greedily: at every scale merge the pair with the lowest rate, of equal ones the lowest pair.

    `allowed` selects the pairs to try from the joint probabilities of the clusters; all pairs by default. Clusters are
    in the order of their lowest node.
    """
    clusters = [[i] for i in range(len(joint))]
    history = [clusters]
    merged = joint
    while len(clusters) > 1:
        pairs = sorted(allowed(merged)) if allowed else list(combinations(range(len(clusters)), 2))
        rates = np.array([compute_information_rate(_merge_pair(merged, a, b)) for a, b in pairs])
        a, b = pairs[int(np.flatnonzero(rates <= rates.min() + TIE)[0])]
        merged = np.delete(np.delete(_merge_pair(merged, a, b), b, axis=0), b, axis=1)
        clusters = [sorted(c + clusters[b]) if k == a else c for k, c in enumerate(clusters) if k != b]
        history.append(clusters)
    upper = np.array([compute_upper_rate(joint, c) for c in history[:-1]] + [0.0])
    lower = np.array([compute_lower_rate(joint, c) for c in history[:-1]] + [0.0])
    return Curve(upper, lower, history)


def _merge_pair(joint: np.ndarray, a: int, b: int) -> np.ndarray:
    """Return the joint probabilities after the merge of cluster b into a, which leaves b empty."""
    out = joint.copy()
    out[a] += out[b]
    out[:, a] += out[:, b]
    out[b] = 0.0
    out[:, b] = 0.0
    return out


def compute_compressibility(matrix: np.ndarray, self_loops: bool = True, directed: bool = False) -> float:
    """Return C = H - mean R of the walk on an adjacency matrix; R at one cluster is zero."""
    if len(matrix) == 1:
        return 0.0
    return compute_rate_distortion(compute_joint_steps(matrix, self_loops, directed)).compressibility


# ---- exploration ----------------------------------------------------------------------------------------------------


def find_candidates(graph: Graph, walk: Sequence[int], fallback: str) -> list[int]:
    """Return A(S) by definition, ascending."""

    def unvisited_from(u: int) -> set[int]:
        return set(graph.indices[graph.indptr[u] : graph.indptr[u + 1]].tolist()) - set(walk)

    found = unvisited_from(walk[-1])
    if not found and fallback == "frontier":
        found = set().union(*map(unvisited_from, walk))
    elif not found:
        found = set(range(graph.num_nodes)) - set(walk)
    return sorted(found)


def list_walks(graph: Graph, start: int, steps: int, fallback: str) -> Iterator[list[int]]:
    """Yield every walk of `steps` nodes from `start`, shorter if there are no candidates."""

    def extend(walk: list[int]) -> Iterator[list[int]]:
        following = find_candidates(graph, walk, fallback) if len(walk) < steps else []
        if not following:
            yield walk
        for v in following:
            yield from extend([*walk, v])

    yield from extend([start])


def compute_igt(graph: Graph, nodes: Iterable[int]) -> float:
    """Return beta_1 of the subgraph on `nodes`."""
    nodes = sorted(nodes)
    return float(compute_betti(build_skeleton(graph)[np.ix_(nodes, nodes)])[1])


def compute_cpt(graph: Graph, nodes: Iterable[int]) -> float:
    """Return the compressibility of the subgraph on `nodes`, with self-loops, undirected and unweighted.

    Of equal merges, that of the nodes visited first is taken.
    """
    nodes = list(nodes)
    return compute_compressibility(build_skeleton(graph)[np.ix_(nodes, nodes)].astype(float))


REWARDS: dict[str, Callable[[Graph, Iterable[int]], float]] = {"igt": compute_igt, "cpt": compute_cpt}


def compute_return(graph: Graph, walk: Sequence[int], reward: str) -> float:
    """Return F(S_2) + F(S_3) + F(S_4) + ..."""
    return sum(REWARDS[reward](graph, walk[:t]) for t in range(2, len(walk) + 1))


def find_best_return(graph: Graph, start: int, steps: int, reward: str, fallback: str = "frontier") -> float:
    """Return the highest return of any walk, by enumeration."""
    known: dict[tuple[int, ...], float] = {}

    def value(nodes: Sequence[int]) -> float:
        key = tuple(nodes)
        if key not in known:
            known[key] = REWARDS[reward](graph, key)
        return known[key]

    walks = list_walks(graph, start, steps, fallback)
    return max(sum(value(walk[:t]) for t in range(2, len(walk) + 1)) for walk in walks)


# ---- input of trained agents ----------------------------------------------------------------------------------------


def to_undirected(graph: Graph) -> nx.Graph:
    """Return the undirected graph of positions."""
    joined = nx.Graph(zip(*(axis.tolist() for axis in np.nonzero(build_skeleton(graph))), strict=True))
    joined.add_nodes_from(range(graph.num_nodes))
    return joined


def compute_degree_profile(graph: Graph) -> np.ndarray:
    """Return degree; minimum, maximum, mean, population standard deviation of neighbors' degrees; zeros if isolated."""
    joined = to_undirected(graph)
    profile = np.zeros((graph.num_nodes, 5))
    for v in range(graph.num_nodes):
        if around := [joined.degree(u) for u in joined[v]]:
            profile[v] = len(around), min(around), max(around), mean(around), pstdev(around)
    return profile


# ---- trained agents -------------------------------------------------------------------------------------------------

Weights = Mapping[str, np.ndarray]


def draw_weights(shapes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, np.ndarray]:
    """Draw weights of about the scale of initial weights in training."""
    rng = np.random.default_rng(seed)
    return {name: (rng.normal(size=size) / np.sqrt(size[-1])).astype(np.float32) for name, size in shapes.items()}


def apply_dense(weights: Weights, name: str, inputs: np.ndarray) -> np.ndarray:
    """Return W x + b, in double precision."""
    bias = weights.get(f"{name}.bias", np.zeros(1)).astype(float)
    return weights[f"{name}.weight"].astype(float) @ inputs + bias


def apply_relu(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, 0.0)


def compute_gnn_value(
    graph: Graph,
    nodes: Sequence[int],
    weights: Weights,
    *,
    log_features: bool,
    inner_degree: bool,
    inner_triangles: bool,
    aggregation: str,
) -> float:
    """Return net(S + v) of the subgraph on `nodes`: three GraphSAGE layers, a sum over nodes, two dense layers."""
    inner, profile = to_undirected(graph).subgraph(nodes), compute_degree_profile(graph)
    states = {}
    for v in nodes:
        state = [*profile[v]]
        state += [inner.degree(v)] if inner_degree else []
        state += [nx.triangles(inner, v)] if inner_triangles else []
        states[v] = np.log1p(state) if log_features else np.array(state)
    for layer in range(3):
        means = {}
        for v in nodes:
            total = sum((states[u] for u in inner[v]), np.zeros_like(states[v]))
            means[v] = total / max(1, inner.degree(v)) if aggregation == "mean" else total
        states = {
            v: apply_relu(apply_dense(weights, f"layers.{layer}", np.concatenate([states[v], means[v]]))) for v in nodes
        }
    pooled = sum(states.values())
    return float(
        apply_dense(weights, "output", apply_relu(apply_dense(weights, "hidden", pooled)))[0] * weights["scale"][0]
    )


# ---- PageRank -------------------------------------------------------------------------------------------------------


def compute_pagerank(graph: Graph, alpha: float, q: np.ndarray) -> np.ndarray:
    """Return eta = (1 - alpha) (I - alpha P^T)^-1 q with a dense P whose dangling rows are q."""
    matrix = build_adjacency(graph)
    strength = matrix.sum(axis=1)
    steps = np.array([row / total if total > 0 else q for row, total in zip(matrix, strength, strict=True)])
    return np.linalg.solve(np.eye(graph.num_nodes) - alpha * steps.T, (1 - alpha) * q)
