"""Conversion to and from networkx, igraph and scipy; keeps labels, node order, direction, weights and self-loops."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.errors import GraphError, MissingExtraError
from curiograph.graph.edges import as_label, check_iterable, parse_weight
from curiograph.graph.graph import Graph
from curiograph.graph.labels import Labels, RangeLabels, as_labels
from curiograph.messages import get_type_name

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

_CHUNK = 2**16


def get_edge_arrays(graph: Graph) -> tuple[Int64, Int64, Float64 | None]:
    """Return the positions of both ends of every edge, and the weights; undirected edges once, lower position first.

    Self-loops are included.

    >>> source, target, _ = get_edge_arrays(Graph.from_edges([(0, 1), (2, 1), (1, 1)]))
    >>> source.tolist(), target.tolist()
    ([0, 1, 1], [1, 1, 2])
    """
    indptr, indices, weights = graph.transition.out_rows
    source = np.repeat(np.arange(graph.num_nodes, dtype=np.int64), np.diff(indptr))
    target = indices.astype(np.int64)
    if graph.directed:
        return source, target, weights
    once = source <= target
    return source[once], target[once], None if weights is None else weights[once]


def chunk_edges(graph: Graph) -> Iterator[Iterable[tuple[int, int, float | None]]]:
    """Yield both ends and the weight, or None, of some edges at a time: a list of all would need much memory."""
    source, target, weights = get_edge_arrays(graph)
    for first in range(0, len(source), _CHUNK):
        part = slice(first, first + _CHUNK)
        values = repeat(None) if weights is None else weights[part].tolist()
        yield zip(source[part].tolist(), target[part].tolist(), values, strict=False)


def iterate_edges(graph: Graph) -> Iterator[tuple[int, int, float | None]]:
    """Yield the positions of both ends of every edge, and its weight or None, in the order of `get_edge_arrays`."""
    return chain.from_iterable(chunk_edges(graph))


def get_text_labels(graph: Graph, kind: str) -> list[str]:
    """Return labels as text; raise GraphError for labels that are neither text nor integers, or equal as text."""
    texts: dict[str, Hashable] = {}
    for label in graph.names:
        if type(label) not in (str, int):
            raise GraphError(
                f"the label {label!r} is neither text nor a whole number, which is all that {kind} can hold; "
                "save the graph as .npz."
            )
        text = str(label)
        if text in texts:
            raise GraphError(
                f"the labels {texts[text]!r} and {label!r} are the same in {kind}; save the graph as .npz."
            )
        texts[text] = label
    return list(texts)


def from_networkx(graph: networkx.Graph, *, weight: str | None = "weight") -> Graph:
    """Convert a networkx graph, see `Graph.from_networkx`."""
    import networkx

    if not isinstance(graph, networkx.Graph):
        raise GraphError(f"from_networkx was given a {get_type_name(graph)}; give a networkx Graph or DiGraph.")
    labels = _check_labels(graph)
    position = {label: number for number, label in enumerate(labels)}
    edges = [(u, v, None if weight is None else data.get(weight)) for u, v, data in graph.edges(data=True)]
    if weight not in (None, "weight") and edges and all(value is None for _, _, value in edges):
        found = sorted({str(name) for _, _, data in graph.edges(data=True) for name in data})
        raise GraphError(
            f"no edge has the attribute {weight!r}; the attributes of edges are {', '.join(found) or 'none'}. Give one "
            "of them as weight, or None for an unweighted graph."
        )
    pairs = [(position[u], position[v]) for u, v, _ in edges]
    return _from_pairs(pairs, [value for _, _, value in edges], labels, directed=graph.is_directed())


def to_networkx(graph: Graph) -> networkx.Graph:
    """Convert to a networkx graph, see `Graph.to_networkx`."""
    import networkx

    out = networkx.DiGraph() if graph.directed else networkx.Graph()
    labels = graph.labels
    if None in graph:
        raise GraphError("networkx cannot hold the label None; rename that node.")
    out.add_nodes_from(labels)
    edges = iterate_edges(graph)
    out.add_edges_from((labels[u], labels[v], {} if w is None else {"weight": w}) for u, v, w in edges)
    return out


def from_igraph(graph: Any) -> Graph:
    """Convert an igraph graph, see `Graph.from_igraph`."""
    igraph = _import_igraph()
    if not isinstance(graph, igraph.Graph):
        raise GraphError(f"from_igraph was given a {get_type_name(graph)}; give an igraph Graph.")
    named = "name" in graph.vs.attributes()
    labels = _check_labels(graph.vs["name"] if named else range(graph.vcount()))
    pairs = graph.get_edgelist()
    weights = graph.es["weight"] if "weight" in graph.es.attributes() else [None] * len(pairs)
    return _from_pairs(pairs, weights, labels, directed=graph.is_directed())


def to_igraph(graph: Graph) -> Any:
    """Convert to an igraph graph, see `Graph.to_igraph`."""
    igraph = _import_igraph()
    edges = list(iterate_edges(graph))
    out = igraph.Graph(n=graph.num_nodes, edges=[(u, v) for u, v, _ in edges], directed=graph.directed)
    out.vs["name"] = graph.labels
    if graph.weights is not None:
        out.es["weight"] = [weight for _, _, weight in edges]
    return out


def from_scipy(matrix: Any, *, directed: bool | None = None, nodes: Iterable[Hashable] | None = None) -> Graph:
    """Convert an adjacency matrix, see `Graph.from_scipy`."""
    sparse = _as_sparse(matrix)
    names: Labels = RangeLabels(sparse.shape[0])
    if nodes is not None:
        labels = _check_labels(check_iterable(nodes, "nodes", "a list of labels"))
        if len(labels) != sparse.shape[0]:
            raise GraphError(
                f"nodes holds {len(labels)} labels for a matrix of {sparse.shape[0]} rows; give one per row."
            )
        names = as_labels(labels)
    transpose = sparse.T.tocsr()
    unequal = sparse != transpose
    if directed is None:
        directed = unequal.nnz > 0
    if not directed and unequal.nnz:
        clash = unequal.multiply(sparse.astype(bool)).multiply(transpose.astype(bool)).tocoo()
        if clash.nnz:
            row, column = int(clash.coords[0][0]), int(clash.coords[1][0])
            there, back = float(sparse[row, column]), float(sparse[column, row])
            raise GraphError(
                f"the matrix holds {there} at ({row}, {column}) but {back} at ({column}, {row}), so it is not "
                "undirected; leave directed out, or make it symmetric."
            )
        sparse = sparse.maximum(transpose)
    entries = sparse.tocoo()
    row, column = (axis.astype(np.int64) for axis in entries.coords)
    keep = np.ones(len(row), bool) if directed else row <= column
    row, column, data = row[keep], column[keep], entries.data[keep]
    weighted = bool(np.any(data != 1))
    return Graph.from_arrays(row, column, data if weighted else None, directed=directed, names=names)


def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """Return the adjacency matrix, see `Graph.to_scipy`."""
    import scipy.sparse

    indptr, indices, weights = graph.transition.out_rows
    data = np.ones(len(indices)) if weights is None else weights.copy()
    size = graph.num_nodes
    # copied because the arrays of a graph are read-only, and in-place operations of scipy would fail
    return scipy.sparse.csr_array((data, indices.copy(), indptr.copy()), shape=(size, size))


def _from_pairs(
    pairs: Sequence[tuple[int, int]], weights: Sequence[Any], labels: list[Hashable], *, directed: bool
) -> Graph:
    """Build a graph from pairs of positions and weights, None for an edge without weight."""
    ends = np.asarray(pairs, np.int64).reshape(-1, 2)
    weight_array = None
    if any(weight is not None for weight in weights):
        weight_array = np.empty(len(pairs))
        for number, (weight, (u, v)) in enumerate(zip(weights, pairs, strict=True)):
            edge = f"the edge from {labels[u]!r} to {labels[v]!r}"
            if weight is None:
                raise GraphError(f"{edge} has no weight but others do; give all edges a weight or none.")
            weight_array[number] = parse_weight(weight, edge)
    return Graph.from_arrays(ends[:, 0], ends[:, 1], weight_array, directed=directed, names=as_labels(labels))


def _check_labels(given: Iterable[Any]) -> list[Hashable]:
    """Return the labels as a list; raise GraphError if one cannot be a label or occurs twice."""
    labels = [as_label(label) for label in given]
    if len(set(labels)) < len(labels):
        seen: set[Hashable] = set()
        twice = next(label for label in labels if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise GraphError(f"two nodes are called {twice!r}; give each node a name of its own.")
    return labels


def _as_sparse(matrix: Any) -> scipy.sparse.csr_array:
    """Return a copy of a matrix with float64 entries, duplicates summed and zeros removed; check its entries."""
    import scipy.sparse

    try:
        sparse = scipy.sparse.csr_array(matrix, copy=True)
        if np.issubdtype(sparse.dtype, np.complexfloating):
            raise TypeError("complex values")
        sparse = sparse.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise GraphError(f"this is not an adjacency matrix of numbers ({error}); give a square matrix.") from None
    if sparse.ndim != 2 or sparse.shape[0] != sparse.shape[1]:
        shape = " x ".join(map(str, sparse.shape))
        raise GraphError(f"the matrix has shape {shape}; an adjacency matrix is square, one row per node.")
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    bad = np.flatnonzero(~(np.isfinite(sparse.data) & (sparse.data >= 0)))
    if len(bad):
        slot = bad[0]
        row = int(np.searchsorted(sparse.indptr, slot, side="right")) - 1
        raise GraphError(
            f"the matrix holds {float(sparse.data[slot])} at ({row}, {int(sparse.indices[slot])}); "
            "weights must be finite numbers, zero or above."
        )
    return sparse


def _import_igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise MissingExtraError("this needs the package igraph: pip install igraph.") from None
    return igraph
