"""The graph: immutable, compressed sparse rows, optional names, optionally directed, optionally weighted."""

from __future__ import annotations

import operator
import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import GraphError, UnknownNodeError
from curiograph.graph.csr import build_csr, check_weights, freeze_array, symmetrize_csr
from curiograph.graph.edges import check_iterable, index_edges
from curiograph.graph.features import Float32, compute_degree_profile
from curiograph.graph.labels import Labels, RangeLabels, as_labels
from curiograph.graph.suggestions import make_unknown_node_error
from curiograph.graph.transition import Transition
from curiograph.messages import get_type_name, quote_value

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

_MOST_NODES = 2**31 - 1
_AT_ONCE = 2**17  # nodes whose features are computed together: bounds the memory
_CONVERTERS = {
    "networkx": "cg.Graph.from_networkx(...)",
    "igraph": "cg.Graph.from_igraph(...)",
    "scipy": "cg.Graph.from_scipy(...)",
    "numpy": "cg.Graph.from_scipy(matrix) or cg.Graph.from_edges(pairs)",
}


@dataclass(frozen=True)
class Cleaning:
    """What was left out when a graph was built."""

    self_loops: int = 0
    """Edges from a node to itself, dropped."""
    parallel_edges: int = 0
    """Repeated edges, merged into the first; their weights are summed."""


class Graph:
    """A graph that never changes: its attributes cannot be set and its arrays cannot be written to.

    Nodes have a position (0 to n - 1, what the arrays hold) and a label (what users see; any hashable). Rows are
    sorted. An undirected edge stands in both rows.

    >>> g = Graph.from_edges([("a", "b"), ("b", "c"), ("b", "b")])
    >>> g
    Graph(3 nodes, 2 edges, undirected)
    >>> g.neighbors("b")
    ['a', 'c']
    >>> g.cleaning
    Cleaning(self_loops=1, parallel_edges=0)
    """

    def __init__(
        self,
        indptr: Int64,
        indices: Int32,
        weights: Float64 | None = None,
        *,
        directed: bool = False,
        names: Labels | None = None,
        cleaning: Cleaning | None = None,
        skeleton: Graph | None = None,
    ) -> None:
        self.indptr: Int64 = freeze_array(indptr)
        self.indices: Int32 = freeze_array(indices)
        self.weights: Float64 | None = None if weights is None else freeze_array(weights)
        self.directed = directed
        self.names: Labels = RangeLabels(len(indptr) - 1) if names is None else names
        if skeleton is not None:
            self._skeleton = skeleton
        self.cleaning = cleaning or Cleaning()  # last: from here on `__setattr__` refuses

    def __setattr__(self, name: str, value: object) -> None:
        if "cleaning" in self.__dict__:
            raise AttributeError(
                f"{name!r} cannot be set: a graph never changes; build a new one, as with Graph.from_edges."
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name!r} cannot be deleted: a graph never changes.")

    # ---- construction -------------------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Sequence[Any]] | NDArray[Any],
        *,
        directed: bool = False,
        nodes: Iterable[Hashable] | None = None,
    ) -> Graph:
        """Build a graph from pairs `(u, v)` or triples `(u, v, weight)`.

        Parameters
        ----------
        edges : pairs or triples of labels; or an integer array of shape (edges, 2).
        nodes : labels that come first, in this order, connected or not. Without it nodes are ordered by first
            appearance, except that integers 0 to n - 1 keep their natural order.

        >>> Graph.from_edges([("b", "a", 2.0), ("c", "a", 0.5)], nodes=["a", "b", "c", "alone"]).labels
        ['a', 'b', 'c', 'alone']
        """
        listed = index_edges(edges, nodes)
        return cls.from_arrays(listed.source, listed.target, listed.weights, directed=directed, names=listed.names)

    @classmethod
    def from_arrays(
        cls,
        source: NDArray[Any],
        target: NDArray[Any],
        weights: NDArray[Any] | None = None,
        *,
        directed: bool = False,
        names: Labels,
    ) -> Graph:
        """Build a graph from positions: drop self-loops, merge parallel edges, sort rows.

        >>> from curiograph.graph.labels import RangeLabels
        >>> Graph.from_arrays(np.array([0, 1]), np.array([1, 0]), names=RangeLabels(2)).cleaning.parallel_edges
        1
        """
        directed = as_flag(directed)
        size = len(names)
        if size > _MOST_NODES:
            raise GraphError(f"a graph of {size} nodes is too large; at most {_MOST_NODES} nodes fit.")
        if weights is not None:
            check_weights(weights)
        loops = source == target
        self_loops = int(np.count_nonzero(loops))
        if self_loops:
            keep = ~loops
            source, target = source[keep], target[keep]
            weights = None if weights is None else weights[keep]
        if not directed:
            source, target = np.minimum(source, target), np.maximum(source, target)
        indptr, indices, merged = build_csr(source, target, weights, size)
        parallel = len(source) - len(indices)
        if not directed:
            indptr, indices, merged = symmetrize_csr(indptr, indices, merged)
        return cls(indptr, indices, merged, directed=directed, names=names, cleaning=Cleaning(self_loops, parallel))

    @classmethod
    def from_networkx(cls, graph: networkx.Graph) -> Graph:
        """Convert a networkx graph; labels, node order, direction and the `weight` attribute are kept."""
        from curiograph.graph.convert import from_networkx

        return from_networkx(graph)

    @classmethod
    def from_igraph(cls, graph: Any) -> Graph:
        """Convert an igraph graph; vertex `name`s become labels, the edge attribute `weight` is kept."""
        from curiograph.graph.convert import from_igraph

        return from_igraph(graph)

    @classmethod
    def from_scipy(cls, matrix: Any, *, directed: bool | None = None, nodes: Iterable[Hashable] | None = None) -> Graph:
        """Convert a square sparse or dense matrix; directed unless it is symmetric, weighted unless it is 0/1."""
        from curiograph.graph.convert import from_scipy

        return from_scipy(matrix, directed=directed, nodes=nodes)

    def to_networkx(self) -> networkx.Graph:
        """Convert to a networkx `Graph` or `DiGraph` with the same labels, order and weights."""
        from curiograph.graph.convert import to_networkx

        return to_networkx(self)

    def to_igraph(self) -> Any:
        """Convert to an igraph `Graph`; labels are kept in the vertex attribute `name`."""
        from curiograph.graph.convert import to_igraph

        return to_igraph(self)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """The adjacency matrix as a scipy `csr_array` (ones, or the weights)."""
        from curiograph.graph.convert import to_scipy

        return to_scipy(self)

    # ---- size and labels ----------------------------------------------------------------------------------------

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        return len(self.indices) if self.directed else len(self.indices) // 2

    @property
    def labels(self) -> list[Hashable]:
        """All labels, in node order."""
        return list(self.names)

    def __len__(self) -> int:
        return self.num_nodes

    def __contains__(self, label: object) -> bool:
        try:
            self.names.index(label)
        except (KeyError, TypeError):
            return False
        return True

    def label(self, position: int) -> Hashable:
        """Label of the node at `position`."""
        try:
            return self.names[operator.index(position)]
        except (IndexError, TypeError):
            raise UnknownNodeError(
                f"the graph has no node at position {quote_value(position)}; its {self.num_nodes} nodes stand at whole "
                "numbers from 0 on."
            ) from None

    def position(self, label: Hashable) -> int:
        """Position of the node called `label`.

        >>> Graph.from_edges([("apple", "pear")]).position("aple")
        Traceback (most recent call last):
        curiograph.errors.UnknownNodeError: the graph has no node 'aple'; the nearest names are 'apple'.
        """
        try:
            return self.names.index(label)
        except (KeyError, TypeError):
            raise make_unknown_node_error(label, self.names) from None

    def positions(self, labels: Iterable[Hashable]) -> Int32:
        """Positions of several labels."""
        listed = list(check_iterable(labels, "labels", "a list of labels"))
        try:
            return self.names.indices(listed)
        except (KeyError, TypeError):  # one by one, for the error that says which
            return np.asarray([self.position(label) for label in listed], np.int32)

    # ---- structure ----------------------------------------------------------------------------------------------

    @cached_property
    def degrees(self) -> Int64:
        """Number of neighbours of every node (out-neighbours in a directed graph)."""
        degrees: Int64 = freeze_array(np.diff(self.indptr))
        return degrees

    @cached_property
    def leavable(self) -> Int64:
        """Positions of the nodes that have (out-)neighbours."""
        positions: Int64 = freeze_array(np.flatnonzero(self.indptr[1:] > self.indptr[:-1]))
        return positions

    @cached_property
    def degree_profile(self) -> Float32:
        """Local degree profile of every node: its degree; min, max, mean and spread of its neighbours' degrees.

        A directed graph is read as its skeleton.
        """
        rows = self.skeleton
        parts = [
            compute_degree_profile(rows.indptr, rows.indices, np.arange(a, min(a + _AT_ONCE, self.num_nodes)))
            for a in range(0, max(1, self.num_nodes), _AT_ONCE)
        ]
        profile: Float32 = freeze_array(np.concatenate(parts))
        return profile

    @cached_property
    def transition(self) -> Transition:
        """Random walks on this graph: chances, strengths and in-neighbours."""
        return Transition(self)

    @cached_property
    def log_degree_profile(self) -> Float32:
        """Logarithm of 1 + the local degree profile of every node."""
        profile: Float32 = freeze_array(np.log1p(self.degree_profile))
        return profile

    def neighbors(self, label: Hashable) -> list[Hashable]:
        """Labels of the (out-)neighbours of a node."""
        row = self.position(label)
        return [self.names[int(v)] for v in self.indices[self.indptr[row] : self.indptr[row + 1]]]

    @property
    def skeleton(self) -> Graph:
        """The undirected, unweighted graph underneath: what the subgraph of a walk is taken from.

        >>> Graph.from_edges([(0, 1), (1, 0)], directed=True).skeleton
        Graph(2 nodes, 1 edges, undirected)
        """
        if not self.directed and self.weights is None:
            return self
        return self._skeleton

    @cached_property
    def _skeleton(self) -> Graph:
        if not self.directed:
            return Graph(self.indptr, self.indices, names=self.names)
        rows = np.repeat(np.arange(self.num_nodes, dtype=np.int64), self.degrees)
        return Graph.from_arrays(rows, self.indices.astype(np.int64), names=self.names)

    def subgraph(self, labels: Iterable[Hashable]) -> Graph:
        """The graph induced by some nodes, in the order of this graph.

        >>> Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).subgraph([2, 0, 1])
        Graph(3 nodes, 3 edges, undirected)
        """
        return self.induced(np.unique(self.positions(labels)))

    def induced(self, positions: NDArray[Any]) -> Graph:
        """The graph induced by nodes given as sorted, distinct positions."""
        starts, ends = self.indptr[positions], self.indptr[positions + 1]
        slots = np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)] or [np.empty(0, np.int64)])
        rows = np.repeat(np.arange(len(positions)), ends - starts)
        columns = self.indices[slots]
        place = np.searchsorted(positions, columns)
        keep = positions[np.minimum(place, len(positions) - 1)] == columns if len(columns) else np.empty(0, bool)
        indptr = np.zeros(len(positions) + 1, np.int64)
        np.cumsum(np.bincount(rows[keep], minlength=len(positions)), out=indptr[1:])
        return Graph(
            indptr,
            place[keep].astype(np.int32),
            None if self.weights is None else self.weights[slots[keep]],
            directed=self.directed,
            names=as_labels([self.names[int(p)] for p in positions]),
        )

    def save(self, path: str) -> None:
        """Write to curiograph's own `.npz`, which `read_graph` opens by memory map."""
        from curiograph.graph.io.npz import write_npz

        write_npz(self, path)

    # ---- comparison and display ---------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Graph):
            return NotImplemented
        same_weights = (
            np.array_equal(self.weights, other.weights)
            if self.weights is not None and other.weights is not None
            else self.weights is other.weights
        )
        return (
            self.directed == other.directed
            and same_weights
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and len(self.names) == len(other.names)
            and _same_names(self.names, other.names)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # numpy forgets that an array was read-only; going through the constructor restores it
        known = self.__dict__.get("_skeleton") if self.directed else None
        return _restored, (self.indptr, self.indices, self.weights, self.directed, self.names, self.cleaning, known)

    def __hash__(self) -> int:
        return hash((self.num_nodes, self.num_edges, self.directed))

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weighted = "" if self.weights is None else ", weighted"
        return f"Graph({self.num_nodes} nodes, {self.num_edges} edges, {kind}{weighted})"


def as_graph(value: object) -> Graph:
    """The graph that `value` is; raises GraphError, with the way to make one, for anything else.

    >>> as_graph([(0, 1)])
    Traceback (most recent call last):
    curiograph.errors.GraphError: [(0, 1)] is a list, not a curiograph Graph; make one with cg.Graph.from_edges(...).
    """
    if isinstance(value, Graph):
        return value
    name = get_type_name(value)
    for base in type(value).__mro__:  # a class of one's own may derive from theirs
        package = base.__module__.partition(".")[0]
        if package in _CONVERTERS:
            raise GraphError(f"this is a {name}, not a curiograph Graph; make one with {_CONVERTERS[package]}.")
    way = "cg.read_graph(path)" if isinstance(value, (str, os.PathLike)) else "cg.Graph.from_edges(...)"
    raise GraphError(f"{quote_value(value)} is a {name}, not a curiograph Graph; make one with {way}.")


def _same_names(names: Labels, others: Labels) -> bool:
    if isinstance(names, RangeLabels) and isinstance(others, RangeLabels):
        return True  # of the same length
    return all(a == b for a, b in zip(names, others, strict=True))


def as_flag(directed: object) -> bool:
    """Whether a graph is directed; raises GraphError for anything but True and False."""
    if isinstance(directed, (bool, np.bool_)):
        return bool(directed)
    raise GraphError(f"directed is {quote_value(directed)}; give True or False.")


def require_edges(graph: Graph) -> None:
    """Raise where there is nothing to explore or compress."""
    if graph.num_nodes == 0:
        raise GraphError("the graph is empty: it has no nodes; check the file or the edges it was built from.")
    if graph.num_edges == 0:
        raise GraphError(f"the graph has {graph.num_nodes} nodes but no edges, so there is nowhere to walk.")


def _restored(
    indptr: Int64,
    indices: Int32,
    weights: Float64 | None,
    directed: bool,
    names: Labels,
    cleaning: Cleaning,
    skeleton: Graph | None,
) -> Graph:
    return Graph(indptr, indices, weights, directed=directed, names=names, cleaning=cleaning, skeleton=skeleton)
