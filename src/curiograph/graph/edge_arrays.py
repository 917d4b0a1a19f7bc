"""Conversion of edges to arrays of positions: from pairs or triples of labels, other libraries' graphs, matrices."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int64
from curiograph.errors import GraphError, quote_value, shorten_text
from curiograph.graph.labels import Labels, RangeLabels, as_labels, as_plain

_MAX_TITLE = 500  # characters
EdgeArrays = tuple[Int64, Int64, Float64 | None, Labels]
"""Positions of the sources and the targets of edges, the weights if any, and the label of every position."""


def index_edges(edges: Any, nodes: Iterable[Hashable] | None) -> EdgeArrays:
    """Assign positions to the labels of `nodes`, then of `edges`, in order of appearance.

    Without `nodes`, integers 0 to n - 1 keep their natural order.

    >>> source, target, weights, names = index_edges([("b", "a")], nodes=["a"])
    >>> source, target, list(names)
    (array([1]), array([0]), ['a', 'b'])
    """
    if hasattr(edges, "__array__") and np.ndim(edges) != 1:  # one dimension: a series of pairs
        array, values = read_array(edges)
        is_number = array.dtype.kind in "iu" and len(array) > 0 and nodes is None
        if is_number and array.min() >= 0 and array.max() < 2 * array.size:
            source_array, target_array = array.astype(np.int64).T
            if np.bincount(np.concatenate([source_array, target_array])).all():  # 0 to n - 1
                return source_array, target_array, values, RangeLabels(int(array.max()) + 1)
        columns = [*array.T.tolist(), *([] if values is None else [values.tolist()])]
        edges = zip(*columns, strict=True)
    positions: dict[Hashable, int] = {}
    if nodes is not None:
        positions = {label: number for number, label in enumerate(check_labels(nodes))}
    given = len(positions)
    source: list[int] = []
    target: list[int] = []
    weights: list[float] = []
    for number, edge in enumerate(check_iterable(edges, "edges", "pairs (u, v) or triples (u, v, weight)")):
        try:  # characters of a text, members of a set and keys of a dictionary are not the two ends of an edge
            parts = () if isinstance(edge, (str, bytes, set, frozenset, dict)) else tuple(edge)
        except TypeError:
            parts = ()
        if len(parts) not in (2, 3):
            raise GraphError(f"edge {number} is {quote_value(edge)}; give pairs (u, v) or triples (u, v, weight).")
        source.append(positions.setdefault(as_label(parts[0]), len(positions)))
        target.append(positions.setdefault(as_label(parts[1]), len(positions)))
        weights.append(parse_weight(parts[2], f"edge {number}") if len(parts) == 3 else math.nan)
    labels: list[Hashable] = list(positions)
    source_array, target_array = np.asarray(source, np.int64), np.asarray(target, np.int64)
    if given == 0 and all(type(label) is int for label in labels) and set(labels) == set(range(len(labels))):
        order = np.asarray(labels, np.int64)
        source_array, target_array = order[source_array], order[target_array]
        labels = list(range(len(labels)))
    weight_array = np.asarray(weights, np.float64)
    missing = np.flatnonzero(np.isnan(weight_array))  # NaN: no weight was given
    if 0 < len(missing) < len(weights):
        parse_weight(None, f"edge {missing[0]}")  # raises
    weighted = len(weights) > 0 and len(missing) == 0
    return source_array, target_array, weight_array if weighted else None, as_labels(labels)


def read_array(edges: Any) -> tuple[NDArray[Any], Float64 | None]:
    """Return the ends of edges given as an array, a tensor or a data frame, edges x 2, and the weights, if any."""
    try:
        array = np.asarray(edges)
    except (TypeError, ValueError, RuntimeError) as error:  # a tensor with a gradient, or on another device
        raise GraphError(f"a {get_type_name(edges)} of edges cannot be read ({error}); give a numpy array.") from None
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        fix = "give a row (u, v) or (u, v, weight) for each edge, so transpose an edge_index"
        raise GraphError(f"the array of edges has shape {array.shape}; {fix}.")
    ends, values = array[:, :2], None
    if array.shape[1] == 3:
        values = np.array([parse_weight(weight, f"edge {k}") for k, weight in enumerate(array[:, 2].tolist())], float)
    if array.dtype.kind == "f" and np.array_equal(ends, np.trunc(ends)) and np.all(np.abs(ends) < 2.0**53):
        ends = ends.astype(np.int64)
    if ends.dtype.kind not in "iuOUS":
        shown = quote_value(ends[0].tolist() if len(ends) else [])
        raise GraphError(f"an array of edges of type {array.dtype} starts with {shown}; give whole numbers or text.")
    return ends, values


def index_networkx(graph: Any, weight: str | None) -> EdgeArrays:
    """Return the edges of a networkx graph, with the weights of an edge attribute; any but `weight` must occur."""
    import networkx

    if not isinstance(graph, networkx.Graph):
        raise GraphError(f"from_networkx was given a {get_type_name(graph)}; give a networkx Graph or DiGraph.")
    labels = check_labels(graph)
    position = {label: number for number, label in enumerate(labels)}
    edges = graph.edges(data=True)
    weights = [None if weight is None else data.get(weight) for _, _, data in edges]
    if weight not in (None, "weight") and weights and not any(value is not None for value in weights):
        found = ", ".join(sorted({str(name) for _, _, data in edges for name in data}))
        raise GraphError(f"no edge has the attribute {weight!r}; the attributes of edges are {found or 'none'}.")
    titles = find_titles(labels, graph.nodes.values())
    return index_pairs([(position[u], position[v]) for u, v, _ in edges], weights, labels, titles)


def index_igraph(graph: Any) -> EdgeArrays:
    """Return the edges of an igraph graph, with its edge attribute `weight` and its vertex names."""
    if not all(hasattr(graph, name) for name in ("vs", "es", "get_edgelist")):
        raise GraphError(f"from_igraph was given a {get_type_name(graph)}; give an igraph Graph.")
    labels = check_labels(graph.vs["name"] if "name" in graph.vs.attributes() else range(graph.vcount()))
    pairs = graph.get_edgelist()
    weights = graph.es["weight"] if "weight" in graph.es.attributes() else [None] * len(pairs)
    return index_pairs(pairs, weights, labels)


def index_pyg(data: Any, directed: Any) -> tuple[EdgeArrays, bool]:
    """Return the edges of a PyTorch Geometric `Data`, each undirected one once, and whether the graph is directed."""
    if getattr(data, "edge_index", None) is None or getattr(data, "num_nodes", None) is None:
        raise GraphError(f"from_pyg was given a {get_type_name(data)}; give a torch_geometric Data with an edge_index.")
    ends, size = np.asarray(data.edge_index), int(data.num_nodes)
    legal = ends.ndim == 2 and len(ends) == 2 and ends.dtype.kind in "iu"
    if not legal or ends.min(initial=0) < 0 or ends.max(initial=-1) >= size:
        fix = f"give two rows of positions from 0 to {size - 1}"
        raise GraphError(f"edge_index is {quote_value(ends.tolist())}; {fix}.")
    source, target = ends.astype(np.int64)
    weights: Float64 | None = None
    for name in ("edge_weight", "edge_attr"):
        values = getattr(data, name, None)
        if weights is None and values is not None and math.prod(values.shape) == len(source):
            weights = np.asarray(values.detach() if hasattr(values, "detach") else values, np.float64).reshape(-1)
        elif name == "edge_weight" and values is not None:
            raise GraphError(f"edge_weight has shape {tuple(values.shape)} for {len(source)} edges; give one per edge.")
    given = np.zeros(len(source)) if weights is None else weights
    forward, back = (np.lexsort((given, ends)) for ends in (source * size + target, target * size + source))
    columns = ((source, target), (target, source), (given, given))
    symmetric = all(np.array_equal(a[forward], b[back]) for a, b in columns)
    directed = not symmetric if directed is None else as_flag(directed)
    if not directed:
        if symmetric:
            once = np.flatnonzero(source <= target)
        else:
            low, high = np.minimum(source, target), np.maximum(source, target)
            once = np.unique(np.stack([low, high, given]), axis=1, return_index=True)[1]
        source, target, weights = source[once], target[once], None if weights is None else weights[once]
    labels = getattr(data, "node_labels", None)
    names = RangeLabels(size) if labels is None else as_labels(check_labels(labels))
    if len(names) != size:
        raise GraphError(f"node_labels holds {len(names)} labels for {size} nodes; give one per node.")
    return (source, target, weights, names), directed


def find_titles(labels: Iterable[Hashable], attributes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the `label`, `title` or `name` among the attributes of each node as a line of text; else its label.

    >>> find_titles(["n1", "n2"], [{"label": "Tea"}, {"title": 5}])
    ['Tea', 'n2']
    """
    titles = []
    for label, given in zip(labels, attributes, strict=True):
        found = (given.get(name) for name in ("label", "title", "name"))
        texts = (shorten_text(text, _MAX_TITLE) for text in found if isinstance(text, str) and text.strip())
        titles.append(next(texts, str(label)))
    return titles


def index_pairs(
    pairs: Sequence[tuple[int, int]], weights: Sequence[Any], labels: list[Hashable], titles: list[str] | None = None
) -> EdgeArrays:
    """Return edges given as pairs of positions, with weights that are None for an edge without one."""
    ends = np.asarray(pairs, np.int64).reshape(-1, 2)
    values = None
    if any(weight is not None for weight in weights):
        values = np.empty(len(pairs))
        for number, (weight, (u, v)) in enumerate(zip(weights, pairs, strict=True)):
            values[number] = parse_weight(weight, f"the edge from {labels[u]!r} to {labels[v]!r}")
    return ends[:, 0], ends[:, 1], values, as_labels(labels, titles)


def index_matrix(matrix: Any, directed: Any, nodes: Iterable[Hashable] | None) -> tuple[EdgeArrays, bool]:
    """Return the edges of an adjacency matrix, each undirected one once, and whether the graph is directed."""
    import scipy.sparse

    try:
        sparse = scipy.sparse.csr_array(matrix, copy=True)
        if sparse.ndim != 2 or sparse.shape[0] != sparse.shape[1] or np.iscomplexobj(sparse):
            raise ValueError(f"it has shape {sparse.shape} and type {sparse.dtype}")
        sparse = sparse.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise GraphError(f"this is no square matrix of numbers ({error}); give one row per node.") from None
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    size = sparse.shape[0]
    labels = RangeLabels(size) if nodes is None else as_labels(check_labels(nodes))
    if len(labels) != size:
        raise GraphError(f"nodes holds {len(labels)} labels for a matrix of {size} rows; give one per row.")
    transpose = sparse.T.tocsr()
    unequal = sparse != transpose
    directed = unequal.nnz > 0 if directed is None else as_flag(directed)
    if not directed:
        clash = unequal.multiply(sparse.astype(bool)).multiply(transpose.astype(bool)).tocoo()
        if clash.nnz:
            row, column = int(clash.coords[0][0]), int(clash.coords[1][0])
            there, back = float(sparse[row, column]), float(sparse[column, row])
            clash = f"the matrix holds {there} at ({row}, {column}) but {back} at ({column}, {row})"
            raise GraphError(f"{clash}, so it is not undirected; leave directed out, or make it symmetric.")
        sparse = scipy.sparse.triu(sparse.maximum(transpose))
    entries = sparse.tocoo()
    row, column = (axis.astype(np.int64) for axis in entries.coords)
    weights = entries.data if np.any(entries.data != 1) else None
    return (row, column, weights, labels), directed


def parse_weight(value: Any, edge: str) -> float:
    """Return a weight as a float; raise GraphError, naming the edge, unless it is finite and zero or above."""
    if value is None:
        raise GraphError(f"{edge} has no weight but others do; give all edges a weight or none.")
    try:
        weight = float(value)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if not (math.isfinite(weight) and weight >= 0):
        raise GraphError(f"{edge} has weight {quote_value(value)}; weights must be finite numbers, zero or above.")
    return weight


def check_labels(labels: Iterable[Any]) -> list[Hashable]:
    """Return the labels of nodes as a list; raise GraphError if one cannot be a label or occurs twice."""
    listed = [as_label(label) for label in check_iterable(labels, "nodes", "a list of labels")]
    if len(set(listed)) < len(listed):
        twice = Counter(listed).most_common(1)[0][0]
        raise GraphError(f"node {twice!r} is listed twice; give each node a name of its own.")
    return listed


def check_iterable(values: Iterable[Any], what: str, expected: str) -> Iterator[Any]:
    """Return an iterator over `values`; raise GraphError if it is not iterable."""
    try:
        return iter(values)
    except TypeError:
        raise GraphError(f"{what} is {quote_value(values)}; give {expected}.") from None


def as_label(label: Any) -> Hashable:
    """Return `label` with scalars of numpy and tensors converted; raise GraphError if it cannot be a label."""
    if type(label) in (int, str):
        return label  # type: ignore[no-any-return]
    label = as_plain(label)
    try:
        hash(label)
    except TypeError:
        fix = "labels must be hashable (text, numbers, tuples)"
        raise GraphError(f"node {label!r} cannot be a label: {fix}.") from None
    if label != label:
        raise GraphError("nan cannot be a label: it is not equal to itself.")
    return label  # type: ignore[no-any-return]


def get_type_name(value: object) -> str:
    """Return the type of a value with its module, which distinguishes a networkx Graph from ours."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def as_flag(directed: object) -> bool:
    """Return `directed` as a bool; raise GraphError unless it is True or False."""
    if isinstance(directed, (bool, np.bool_)):
        return bool(directed)
    raise GraphError(f"directed is {quote_value(directed)}; give True or False.")
