"""The Graph: immutable CSR arrays with node labels, optionally directed, optionally weighted."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curiograph.arrays import Float32, Float64, Int32, Int64
from curiograph.errors import GraphError, UnknownNodeError, import_optional, quote_value
from curiograph.graph import csr, edge_arrays
from curiograph.graph.csr import concatenate_ranges, freeze_array
from curiograph.graph.labels import Labels, RangeLabels, as_labels, as_plain, find_label, make_unknown_node_error
from curiograph.graph.transition import Transition
from curiograph.validation import is_integer

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

_MAX_NODES = 2**31 - 1
PROFILE_SIZE = 5
"""Number of values of a local degree profile."""
_CHUNK = 2**17  # nodes whose features are computed together: bounds the memory


@dataclass(frozen=True)
class Cleaning:
    """Counts of the self-loops, parallel edges and edges in both directions that a graph was built from."""

    self_loops: int = 0
    """Number of edges from a node to itself. They are kept in `Graph.loops`, for random walks only."""
    parallel_edges: int = 0
    """Number of repeated edges, which are merged into the first; see `Graph` for their weights."""
    both_ways: int = 0
    """Number of edges of an undirected graph that were given in both directions."""


class Graph:
    """An immutable graph: its attributes cannot be set and its arrays are read-only.

    A node has a position (0 to n - 1, used in the arrays) and a label (any hashable, used everywhere else); it may have
    a title, which tables, reasons and pictures show. Build a graph with `from_edges`, `from_networkx`, `from_igraph`,
    `from_scipy`, `from_pyg` or `read_graph`; the constructor takes arrays and does not check them.

    Parallel edges are merged. Their weights are summed; without weights, the graph becomes weighted by the number of
    parallel edges, unless all edges are repeated equally often. An edge of an undirected graph that is given in both
    directions counts once, unless it has weights, which are summed. Self-loops are kept apart, in `loops`, and only
    random walks follow them (`transition`: PageRank, unbiased walkers). A self-loop of an undirected graph counts once,
    as in networkx (twice in igraph). Rows, `degrees`, `num_edges`, `neighbors` and `skeleton`, and so candidates,
    rewards and agents, do not contain them.

    Parameters
    ----------
    indptr, indices : rows of out-neighbors in CSR format, sorted; an undirected edge is in both rows.
    weights : weight of every entry of `indices`; None for an unweighted graph.
    directed : whether edges have a direction.
    names : labels by position, and titles if they have any; 0 to n - 1 by default.
    cleaning : counts of the self-loops and parallel edges that the graph was built from.
    skeleton : the undirected, unweighted version of the graph, if known.
    loops : weight of the self-loop of every node, 0 for none and 1 in an unweighted graph; None if no node has one.
    visitors : number of people who visited every node, for recommendations; or None.

    Examples
    --------
    >>> g = Graph.from_edges([("a", "b"), ("b", "c"), ("b", "b")])
    >>> g
    Graph(3 nodes, 2 edges, undirected)
    >>> g.neighbors("b")
    ['a', 'c']
    >>> g.loops.tolist(), g.cleaning
    ([0.0, 1.0, 0.0], Cleaning(self_loops=1, parallel_edges=0, both_ways=0))
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
        loops: Float64 | None = None,
        visitors: NDArray[Any] | None = None,
    ) -> None:
        self.indptr: Int64 = freeze_array(indptr)
        self.indices: Int32 = freeze_array(indices)
        self.weights: Float64 | None = None if weights is None else freeze_array(weights)
        self.loops: Float64 | None = None if loops is None else freeze_array(loops)
        self.visitors: Int64 | None = None if visitors is None else freeze_array(np.asarray(visitors, np.int64))
        self.directed = directed
        self.names: Labels = RangeLabels(len(indptr) - 1) if names is None else names
        if skeleton is not None:
            self._skeleton = skeleton
        self.cleaning = cleaning or Cleaning()  # last: from here on `__setattr__` raises

    def __setattr__(self, name: str, value: object) -> None:
        if "cleaning" in self.__dict__:
            raise AttributeError(f"{name!r} cannot be set: a graph is immutable; build a new one.")
        super().__setattr__(name, value)

    # ---- construction -------------------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Sequence[Any]] | ArrayLike,
        *,
        directed: bool = False,
        nodes: Iterable[Hashable] | None = None,
    ) -> Graph:
        """Build a graph from pairs `(u, v)` or triples `(u, v, weight)`.

        Parameters
        ----------
        edges : pairs or triples of labels; or an array, a tensor or a frame with two columns, or three with weights.
        directed : whether edges have a direction.
        nodes : labels of the first nodes, in this order, with or without edges. All other nodes are in order of first
            appearance, except that without `nodes` the integers 0 to n - 1 keep their natural order.

        Returns
        -------
        Graph
            Parallel edges are merged and self-loops kept apart, see `Graph`; `cleaning` counts both.

        Examples
        --------
        >>> Graph.from_edges([("b", "a", 2.0), ("c", "a", 0.5)], nodes=["a", "b", "c", "alone"]).labels
        ['a', 'b', 'c', 'alone']
        >>> Graph.from_edges([(0, 1), (1, 2), (1, 2)]).weights.tolist()
        [1.0, 1.0, 2.0, 2.0]
        """
        return cls.from_arrays(*edge_arrays.index_edges(edges, nodes), directed=directed)

    @classmethod
    def from_arrays(
        cls,
        source: NDArray[Any],
        target: NDArray[Any],
        weights: NDArray[Any] | None = None,
        names: Labels | None = None,
        *,
        directed: bool = False,
        visitors: NDArray[Any] | None = None,
    ) -> Graph:
        """Build a graph from positions: set self-loops apart, merge parallel edges, sort rows.

        `source` and `target` are the positions of both ends of every edge, and `names` the labels by position, 0 to the
        largest position by default.
        """
        directed = edge_arrays.as_flag(directed)
        if names is None:
            names = RangeLabels(int(max(source.max(initial=-1), target.max(initial=-1))) + 1)
        size = len(names)
        if size > _MAX_NODES:
            raise GraphError(f"a graph of {size} nodes is too large; at most {_MAX_NODES} nodes fit.")
        if weights is not None and not np.all(np.isfinite(weights) & (weights >= 0)):
            number = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
            edge_arrays.parse_weight(float(weights[number]), f"edge {number}")  # raises
        is_loop = source == target
        self_loops = int(np.count_nonzero(is_loop))
        loops: Float64 | None = None
        if self_loops:
            loops = np.bincount(source[is_loop], None if weights is None else weights[is_loop], size).astype(np.float64)
            if not np.all(np.isfinite(loops)):
                raise GraphError("the weights of a node's self-loops add up to more than a number can hold.")
            loops = loops if loops.any() else None
            source, target = source[~is_loop], target[~is_loop]
            weights = None if weights is None else weights[~is_loop]
        given, both_ways = len(source), 0
        if not directed:
            source, target, both_ways = csr.merge_directions(source, target, size, drop=weights is None)
        indptr, indices, merged = csr.build_csr(source, target, weights, size, count=weights is None)
        cleaning = Cleaning(self_loops, given - len(indices), both_ways)
        is_repeated = len(source) > len(indices) or (loops is not None and loops.max() > 1)
        if weights is None and (not is_repeated or (loops is None and np.ptp(np.asarray(merged)) == 0)):
            merged = None  # all probabilities are the same without counts
        if not directed:
            indptr, indices, merged = csr.symmetrize_csr(indptr, indices, merged)
        settings: Any = {"names": names, "cleaning": cleaning, "loops": loops, "visitors": visitors}
        return cls(indptr, indices, merged, directed=directed, **settings)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, *, weight: str | None = "weight") -> Graph:
        """Convert a networkx graph; keep labels, node order, direction and the weights of edges.

        The node attribute `label`, `title` or `name`, if it is text, is the title of the node. Others are ignored.

        Parameters
        ----------
        graph : networkx Graph, DiGraph, MultiGraph or MultiDiGraph.
        weight : edge attribute with the weight. None for an unweighted graph. Any name but the default must occur.

        Examples
        --------
        >>> import networkx
        >>> Graph.from_networkx(networkx.path_graph(["a", "b", "c"])).labels
        ['a', 'b', 'c']
        """
        return cls.from_arrays(*edge_arrays.index_networkx(graph, weight), directed=graph.is_directed())

    @classmethod
    def from_igraph(cls, graph: Any) -> Graph:
        """Convert an igraph graph; keep vertex names as labels, direction and the edge attribute `weight`.

        Without vertex names, labels are 0 to n - 1.
        """
        return cls.from_arrays(*edge_arrays.index_igraph(graph), directed=graph.is_directed())

    @classmethod
    def from_scipy(cls, matrix: Any, *, directed: bool | None = None, nodes: Iterable[Hashable] | None = None) -> Graph:
        """Convert a square sparse or dense adjacency matrix; row u, column v is the edge from u to v.

        Parameters
        ----------
        matrix : a sparse or dense matrix of numbers. Zeros are no edges, stored or not. The graph is weighted unless
            all values are 1. The diagonal contains the self-loops.
        directed : by default, whether the matrix is not symmetric. With False, an edge may be in one triangle or in
            both with the same value.
        nodes : labels of the rows, 0 to n - 1 by default.

        Examples
        --------
        >>> Graph.from_scipy([[0, 2], [2, 0]], nodes=["a", "b"])
        Graph(2 nodes, 1 edges, undirected, weighted)
        """
        edges, is_directed = edge_arrays.index_matrix(matrix, directed, nodes)
        return cls.from_arrays(*edges, directed=is_directed)

    @classmethod
    def from_pyg(cls, data: Any, *, directed: bool | None = None) -> Graph:
        """Convert a PyTorch Geometric `Data`; keep `num_nodes`, weights and the labels that `to_pyg` stores.

        Parameters
        ----------
        data : torch_geometric.data.Data
            Its weights are `edge_weight` or an `edge_attr` of one number per edge. Other attributes are ignored.
        directed : by default, whether some edge is not given in both directions. With False, an edge that is given in
            both directions with the same weight counts once.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> Graph.from_pyg(SimpleNamespace(edge_index=np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=4))
        Graph(4 nodes, 2 edges, undirected)
        """
        edges, is_directed = edge_arrays.index_pyg(data, directed)
        return cls.from_arrays(*edges, directed=is_directed)

    def to_pyg(self) -> Any:
        """Convert to a PyTorch Geometric `Data` with `edge_index` and `num_nodes`; requires `curiograph[pyg]`.

        Undirected edges are in `edge_index` in both directions, and self-loops once. Weights become `edge_weight`, in
        single precision, and labels other than 0 to n - 1 the list `node_labels`.
        """
        pyg = import_optional("torch_geometric.data", "pyg", "Graphs of PyTorch Geometric")
        import torch

        indptr, indices, weights = self.transition.out_rows
        source = np.repeat(np.arange(self.num_nodes), np.diff(indptr))
        data = pyg.Data(edge_index=torch.from_numpy(np.stack([source, indices])), num_nodes=self.num_nodes)
        if weights is not None:
            data.edge_weight = torch.from_numpy(weights.astype(np.float32))
        if not isinstance(self.names, RangeLabels):
            data.node_labels = self.labels
        return data

    def to_networkx(self) -> networkx.Graph:
        """Convert to a networkx `Graph` or `DiGraph` with self-loops.

        Weights become the edge attribute `weight`, and titles the node attribute `label`.

        >>> Graph.from_edges([("a", "b", 2.0)]).to_networkx().edges(data=True)
        EdgeDataView([('a', 'b', {'weight': 2.0})])
        """
        import networkx

        if None in self:
            raise GraphError("networkx cannot hold the label None; rename that node.")
        graph = networkx.DiGraph() if self.directed else networkx.Graph()
        labels = self.labels
        graph.add_nodes_from(labels)
        networkx.set_node_attributes(graph, dict(zip(labels, self.titles or (), strict=False)), "label")
        source, target, weights = self.get_edges()
        pairs = [(labels[u], labels[v]) for u, v in zip(source.tolist(), target.tolist(), strict=True)]
        if weights is None:
            graph.add_edges_from(pairs)
        else:
            graph.add_weighted_edges_from((*pair, w) for pair, w in zip(pairs, weights.tolist(), strict=True))
        return graph

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Convert to the adjacency matrix, a scipy `csr_array` of ones or of the weights.

        An edge of weight 0 is a stored zero. Self-loops are on the diagonal.

        >>> Graph.from_edges([(0, 1)]).to_scipy().toarray()
        array([[0., 1.],
               [1., 0.]])
        """
        import scipy.sparse

        indptr, indices, weights = self.transition.out_rows
        data = np.ones(len(indices)) if weights is None else weights.copy()
        # copied because the arrays of a graph are read-only, and in-place operations of scipy would fail
        return scipy.sparse.csr_array((data, indices.copy(), indptr.copy()), shape=(self.num_nodes, self.num_nodes))

    def get_edges(self) -> tuple[Int64, Int64, Float64 | None]:
        """Return the positions of both ends of every edge, self-loops included, and the weights.

        An undirected edge is returned once, the lower position first.

        >>> source, target, _ = Graph.from_edges([(0, 1), (2, 1), (1, 1)]).get_edges()
        >>> source.tolist(), target.tolist()
        ([0, 1, 1], [1, 1, 2])
        """
        indptr, indices, weights = self.transition.out_rows
        source = np.repeat(np.arange(self.num_nodes, dtype=np.int64), np.diff(indptr))
        target = indices.astype(np.int64)
        if self.directed:
            return source, target, weights
        once = source <= target
        return source[once], target[once], None if weights is None else weights[once]

    # ---- size and labels ----------------------------------------------------------------------------------------

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Number of pairs of different nodes that an edge joins; an undirected or a repeated edge counts once."""
        return len(self.indices) if self.directed else len(self.indices) // 2

    @property
    def labels(self) -> list[Hashable]:
        """All labels, in node order."""
        return list(self.names)

    def __len__(self) -> int:
        return self.num_nodes

    def __contains__(self, label: object) -> bool:
        return find_label(self.names, label) is not None

    def label(self, position: int) -> Hashable:
        """Label of the node at `position`."""
        if not is_integer(position) or not 0 <= position < self.num_nodes:
            missing = f"the graph has no node at position {quote_value(position)}"
            raise UnknownNodeError(f"{missing}; it has {self.num_nodes} nodes, and positions start at 0.")
        return self.names[int(position)]

    @property
    def titles(self) -> tuple[str, ...] | None:
        """Names that are shown in place of the labels, in node order; None if the labels are shown."""
        return self.names.titles

    def title(self, position: int) -> str:
        """Name of the node at `position` that is shown: its title, or else its label as text.

        >>> import networkx
        >>> notes = networkx.Graph([("n1", "n2")])
        >>> notes.nodes["n1"]["label"] = "Tea"
        >>> g = Graph.from_networkx(notes)
        >>> g.labels, g.title(0), g.title(1)
        (['n1', 'n2'], 'Tea', 'n2')
        """
        label = self.label(position)
        return str(label) if self.titles is None else self.titles[position]

    def position(self, label: Hashable) -> int:
        """Position of the node with this label.

        >>> Graph.from_edges([("apple", "pear")]).position("aple")
        Traceback (most recent call last):
        curiograph.errors.UnknownNodeError: the graph has no node 'aple'; the nearest names are 'apple'.
        """
        try:
            return self.names.index(as_plain(label))
        except (KeyError, TypeError):
            raise make_unknown_node_error(label, self.names) from None

    def positions(self, labels: Iterable[Hashable]) -> Int32:
        """Positions of several labels."""
        listed = list(edge_arrays.check_iterable(labels, "labels", "a list of labels"))
        try:
            return self.names.indices(listed)
        except (KeyError, TypeError):  # one by one, for the error that names the label
            return np.asarray([self.position(label) for label in listed], np.int32)

    # ---- structure ----------------------------------------------------------------------------------------------

    @cached_property
    def degrees(self) -> Int64:
        """Number of neighbors of every node (out-neighbors in a directed graph), without the node itself."""
        return freeze_array(np.diff(self.indptr))

    @cached_property
    def degree_profile(self) -> Float32:
        """Local degree profile of every node of the skeleton, see `compute_degree_profile`."""
        rows = self.skeleton
        parts = [
            compute_degree_profile(rows.indptr, rows.indices, np.arange(a, min(a + _CHUNK, self.num_nodes)))
            for a in range(0, max(1, self.num_nodes), _CHUNK)
        ]
        return freeze_array(np.concatenate(parts))

    @cached_property
    def transition(self) -> Transition:
        """Transition probabilities of random walks on this graph."""
        return Transition((self.indptr, self.indices, self.weights, self.loops), self.directed)

    def neighbors(self, label: Hashable) -> list[Hashable]:
        """Labels of the (out-)neighbors of a node."""
        row = self.position(label)
        return [self.names[int(v)] for v in self.indices[self.indptr[row] : self.indptr[row + 1]]]

    @property
    def skeleton(self) -> Graph:
        """The graph without direction, weights and self-loops, of which the subgraph of a walk is a part.

        >>> Graph.from_edges([(0, 1), (1, 0)], directed=True).skeleton
        Graph(2 nodes, 1 edges, undirected)
        """
        if not self.directed and self.weights is None and self.loops is None:
            return self
        return self._skeleton

    @cached_property
    def _skeleton(self) -> Graph:
        if not self.directed:
            return Graph(self.indptr, self.indices, names=self.names)
        rows = np.repeat(np.arange(self.num_nodes, dtype=np.int64), self.degrees)
        low, high = np.minimum(rows, self.indices), np.maximum(rows, self.indices)
        indptr, indices, _ = csr.symmetrize_csr(*csr.build_csr(low, high, None, self.num_nodes))
        return Graph(indptr, indices, names=self.names)

    @cached_property
    def skeleton_weights(self) -> Float64:
        """Weight of every entry of `skeleton.indices`: the larger one of both directions; 1 without weights.

        >>> Graph.from_edges([(0, 1, 0.5), (1, 0, 0.75), (1, 2, 0.25)], directed=True).skeleton_weights.tolist()
        [0.75, 0.75, 0.25, 0.25]
        """
        rows = self.skeleton
        if self.weights is None:
            return freeze_array(np.ones(len(rows.indices)))
        if not self.directed:
            return self.weights
        size = self.num_nodes
        keys = np.repeat(np.arange(size, dtype=np.int64), rows.degrees) * size + rows.indices
        source = np.repeat(np.arange(size, dtype=np.int64), self.degrees)
        weights = np.zeros(len(keys))
        for slots in (source * size + self.indices, self.indices.astype(np.int64) * size + source):
            places = np.searchsorted(keys, slots)  # each entry once, so that the assignment is well defined
            weights[places] = np.maximum(weights[places], self.weights)
        return freeze_array(weights)

    def find_weights(self, first: NDArray[Any], second: NDArray[Any]) -> Float64:
        """Weights of the links between pairs of positions, the larger one of both directions; 0 without a link.

        >>> g = Graph.from_edges([(0, 1, 0.5), (1, 0, 0.75)], directed=True)
        >>> g.find_weights(np.array([0, 1]), np.array([1, 1]))
        array([0.75, 0.  ])
        """
        rows, size = self.skeleton, self.num_nodes
        keys = np.repeat(np.arange(size, dtype=np.int64), rows.degrees) * size + rows.indices
        wanted = np.asarray(first, np.int64) * size + second
        places = np.searchsorted(keys, wanted)
        found = np.append(keys, -1)[places] == wanted
        return np.where(found, np.append(self.skeleton_weights, 0.0)[places], 0.0)

    def subgraph(self, labels: Iterable[Hashable]) -> Graph:
        """The subgraph induced by some nodes, in the order of this graph.

        >>> Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).subgraph([2, 0, 1])
        Graph(3 nodes, 3 edges, undirected)
        """
        return self.induced(np.unique(self.positions(labels)))

    def induced(self, positions: NDArray[Any]) -> Graph:
        """The subgraph induced by nodes given as sorted, distinct positions."""
        counts = self.indptr[positions + 1] - self.indptr[positions]
        slots = concatenate_ranges(self.indptr[positions], counts)
        rows = np.repeat(np.arange(len(positions)), counts)
        columns = self.indices[slots]
        place = np.searchsorted(positions, columns)
        keep = positions[np.minimum(place, len(positions) - 1)] == columns if len(columns) else np.empty(0, bool)
        indptr = np.zeros(len(positions) + 1, np.int64)
        np.cumsum(np.bincount(rows[keep], minlength=len(positions)), out=indptr[1:])
        loops = None if self.loops is None else self.loops[positions]
        nodes = positions.tolist()
        return Graph(
            indptr,
            place[keep].astype(np.int32),
            None if self.weights is None else self.weights[slots[keep]],
            directed=self.directed,
            names=as_labels([self.names[v] for v in nodes], self.titles and [self.titles[v] for v in nodes]),
            loops=loops if loops is not None and np.any(loops > 0) else None,
            visitors=None if self.visitors is None else self.visitors[positions],
        )

    # ---- comparison and display ---------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Graph):
            return NotImplemented
        names = ("directed", "indptr", "indices", "weights", "loops", "visitors")
        ours, theirs = ([getattr(each, name) for name in names] for each in (self, other))
        if self.titles != other.titles or not all(map(np.array_equal, ours, theirs)):
            return False
        ranges = isinstance(self.names, RangeLabels) and isinstance(other.names, RangeLabels)
        return ranges or all(a == b for a, b in zip(self.names, other.names, strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        # unpickled arrays are writable; the constructor makes them read-only again
        skeleton = self.__dict__.get("_skeleton") if self.directed else None
        kept = ("directed", "names", "cleaning", "loops", "visitors")
        settings: Any = {name: getattr(self, name) for name in kept}
        return partial(Graph, skeleton=skeleton, **settings), (self.indptr, self.indices, self.weights)

    def __hash__(self) -> int:
        return hash((self.num_nodes, self.num_edges, self.directed))

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weighted = "" if self.weights is None else ", weighted"
        return f"Graph({self.num_nodes} nodes, {self.num_edges} edges, {kind}{weighted})"


def compute_degree_profile(indptr: Int64, indices: Int32, nodes: NDArray[Any]) -> Float32:
    """Compute the local degree profiles of nodes.

    A profile is the degree, and the minimum, maximum, mean and population standard deviation of the neighbors' degrees.
    A node without neighbors has zeros.

    Row i is the profile of `nodes[i]`, on the graph of the CSR arrays `indptr` and `indices`.

    >>> from curiograph.graph.toys import cycle
    >>> g = cycle(4)
    >>> compute_degree_profile(g.indptr, g.indices, np.array([1])).tolist()
    [[2.0, 2.0, 2.0, 2.0, 0.0]]
    """
    degrees = indptr[nodes + 1] - indptr[nodes]
    profile = np.zeros((len(degrees), PROFILE_SIZE), np.float32)
    profile[:, 0] = degrees
    linked = np.flatnonzero(degrees > 0)  # reduceat needs groups that are not empty
    if len(linked) == 0:
        return profile
    neighbors = indices[concatenate_ranges(indptr[nodes], degrees)]
    neighbor_degrees = (indptr[neighbors + 1] - indptr[neighbors]).astype(np.float64)
    counts = degrees[linked]
    starts = np.cumsum(counts) - counts
    mean = np.add.reduceat(neighbor_degrees, starts) / counts
    squares = (neighbor_degrees - np.repeat(mean, counts)) ** 2
    profile[linked, 1] = np.minimum.reduceat(neighbor_degrees, starts)
    profile[linked, 2] = np.maximum.reduceat(neighbor_degrees, starts)
    profile[linked, 3] = mean
    profile[linked, 4] = np.sqrt(np.add.reduceat(squares, starts) / counts)
    return profile


def as_graph(value: object) -> Graph:
    """Return `value` if it is a Graph; otherwise raise GraphError with the way to build one.

    >>> as_graph([(0, 1)])
    Traceback (most recent call last):
    curiograph.errors.GraphError: [(0, 1)] is a list, not a curiograph Graph; make one with cg.Graph.from_edges(...).
    """
    if isinstance(value, Graph):
        return value
    packages = {base.__module__.partition(".")[0] for base in type(value).__mro__}  # the class may be derived
    way = "cg.read_graph(path)" if isinstance(value, str | os.PathLike) else "cg.Graph.from_edges(...)"
    for package in packages & {"networkx", "igraph", "scipy"}:
        way = f"cg.Graph.from_{package}(...)"
    kind = edge_arrays.get_type_name(value)
    raise GraphError(f"{quote_value(value)} is a {kind}, not a curiograph Graph; make one with {way}.")


def require_nodes(graph: Graph) -> None:
    """Raise GraphError if the graph has no nodes."""
    if graph.num_nodes == 0:
        raise GraphError("the graph is empty: it has no nodes; check the file or the edges it was built from.")


def require_edges(graph: Graph) -> None:
    """Raise GraphError if the graph has no nodes, or no edges between different nodes."""
    require_nodes(graph)
    if graph.num_edges == 0:
        nodes = f"the graph has {graph.num_nodes} nodes"
        raise GraphError(f"{nodes} but no edges between different nodes, so there is nowhere to walk.")
