"""Similarity of nodes in meaning: cosine of TF-IDF vectors of texts, or of embeddings."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.arrays import Float64
from curiograph.errors import GraphError, SettingError
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph, as_graph, require_nodes
from curiograph.graph.labels import Labels
from curiograph.hashing import hash_chunks
from curiograph.messages import get_type_name, quote_value
from curiograph.optional import import_optional
from curiograph.validation import is_number

_WORD = re.compile(r"[^\W_]+")
_CHUNK = 2**14  # rows whose lengths are computed at a time: bounds the memory
_MAX_LENGTH = 1e150  # the product of two longer vectors would exceed the largest number


def split_words(text: str) -> list[str]:
    """Split a title or text into words: percent-encoded characters are decoded, and case is ignored.

    Words are maximal runs of letters and digits, so that underscores, dots, hyphens and other punctuation separate
    them. Words are not stemmed, and no stop words are dropped.

    >>> split_words("%C3%89ire, 18th_century")
    ['éire', '18th', 'century']
    """
    return _WORD.findall(unquote(text).lower())


@dataclass(frozen=True, eq=False)
class Similarity:
    """Similarity of the nodes of a graph in meaning, from 0 to 1: the cosine of the angle between their vectors.

    Build one with `from_texts` or `from_embeddings`; the constructor does not check its arguments. A node without a
    vector (an empty text, or zeros) has similarity 0 to every node and to itself. Negative cosines count as 0.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.Graph.from_edges([("red apple", "green apple"), ("green apple", "violin")])
    >>> meaning = cg.Similarity.from_texts(g)
    >>> meaning
    Similarity(3 nodes, 4 dimensions, 0 nodes without a vector)
    >>> meaning.compute_pairs([0, 1], [1, 2]).round(3).tolist()
    [0.366, 0.0]
    >>> meaning.weigh(g)
    Graph(3 nodes, 2 edges, undirected, weighted)
    """

    names: Labels
    """Labels of the nodes by position."""
    vectors: Any
    """One row per node: an array of float32 or float64, or a scipy `csr_array` with sorted rows."""
    lengths: Float64
    """Euclidean length of every row."""

    # ---- construction -------------------------------------------------------------------------------------------

    @classmethod
    def from_texts(cls, graph: Graph, texts: Mapping[Any, str] | Sequence[str] | None = None) -> Similarity:
        """Compare nodes by their texts: cosine of TF-IDF vectors, computed by scikit-learn.

        The vector of a text contains, for each word, its number of occurrences times ln((1 + n) / (1 + d)) + 1, where d
        of n texts contain the word (the defaults of scikit-learn's `TfidfVectorizer`). Words are those of
        `split_words`.

        Parameters
        ----------
        graph : Graph
            The graph whose nodes are compared.
        texts : mapping of labels to texts, pandas Series, or sequence of texts, optional
            Texts by label (of a Series, by its index), where nodes without an entry have an empty text and entries
            without a node are ignored; or one text per node, in node order. Default: the labels themselves, as titles.

        Returns
        -------
        Similarity
            Needs scikit-learn (`pip install curiograph[meaning]`).

        Examples
        --------
        >>> g = Graph.from_edges([(0, 1), (1, 2)])
        >>> same = Similarity.from_texts(g, {0: "Roman_Empire", 1: "the roman empire", 2: "jazz"})
        >>> same.compute_pairs([0, 0], [1, 2]).round(2).tolist()
        [0.73, 0.0]
        """
        require_nodes(as_graph(graph))
        if texts is not None and hasattr(texts, "index") and hasattr(texts, "to_numpy"):  # a pandas Series
            texts = _list_labeled(texts, texts.to_numpy())
        listed = _list_values(graph, texts, "text", "")
        for position, text in enumerate(listed):
            if not isinstance(text, str):
                raise GraphError(
                    f"the text of node {quote_value(graph.label(position))} is {quote_value(text)}; give text."
                )
        sklearn_text = import_optional("sklearn.feature_extraction.text", "meaning", "Similarities of texts")
        if not any(split_words(text) for text in listed):
            raise GraphError(f"none of the {len(listed)} texts contains a word; give texts with letters or digits.")
        matrix = sklearn_text.TfidfVectorizer(analyzer=split_words, norm=None).fit_transform(listed)
        return cls._from_matrix(graph, matrix)

    @classmethod
    def from_embeddings(cls, graph: Graph, matrix: Any) -> Similarity:
        """Compare nodes by vectors that you bring, such as embeddings of a language model.

        Parameters
        ----------
        graph : Graph
            The graph whose nodes are compared.
        matrix : array, scipy sparse matrix, pandas DataFrame, or mapping of labels to vectors
            One row per node, in node order; or one vector per label (of a DataFrame, by its index), where nodes
            without an entry have no vector and entries without a node are ignored. Arrays of float32 and
            float64 are not copied.

        Returns
        -------
        Similarity
            The lengths of the vectors do not matter.

        Examples
        --------
        >>> g = Graph.from_edges([("a", "b"), ("b", "c")])
        >>> Similarity.from_embeddings(g, [[1, 0], [1, 1], [-1, 0]]).compute_pairs([0, 0], [1, 2]).round(3).tolist()
        [0.707, 0.0]
        """
        require_nodes(as_graph(graph))
        if hasattr(matrix, "index") and hasattr(matrix, "to_numpy"):  # a pandas DataFrame
            matrix = _list_labeled(matrix, matrix.to_numpy())
        if isinstance(matrix, Mapping):
            listed = _list_values(graph, matrix, "vector", None)
            given = [np.asarray(vector) for vector in listed if vector is not None]
            sizes = {vector.shape for vector in given}
            if len(sizes) > 1 or len(next(iter(sizes))) != 1:
                shown = " and ".join(str(size) for size in sorted(sizes, key=str)[:2])
                raise GraphError(f"the vectors have the shapes {shown}; give flat vectors of the same length.")
            matrix = [np.zeros(given[0].shape) if vector is None else vector for vector in listed]
        return cls._from_matrix(graph, matrix)

    @classmethod
    def _from_matrix(cls, graph: Graph, matrix: Any) -> Similarity:
        """Check a matrix with one row per node and compute the lengths of its rows."""
        import scipy.sparse

        try:
            if scipy.sparse.issparse(matrix):
                vectors = scipy.sparse.csr_array(matrix)
                if not vectors.has_canonical_format:
                    vectors = vectors.copy()
                    vectors.sum_duplicates()  # sorts the rows too
            else:
                vectors = np.asarray(matrix)
            if vectors.dtype not in (np.float32, np.float64):
                vectors = vectors.astype(np.float64)
        except (TypeError, ValueError):
            raise GraphError(
                f"the vectors are a {get_type_name(matrix)} that is no matrix of numbers; give a numpy array or a "
                "scipy sparse matrix with one row per node."
            ) from None
        if vectors.ndim != 2 or vectors.shape[0] != graph.num_nodes:
            raise GraphError(
                f"the matrix has the shape {vectors.shape}; give one row for each of the {graph.num_nodes} nodes, in "
                "node order, or a mapping from labels to vectors."
            )
        is_sparse = scipy.sparse.issparse(vectors)
        lengths = np.empty(graph.num_nodes)
        for first in range(0, graph.num_nodes, _CHUNK):
            some = vectors[first : first + _CHUNK].astype(np.float64)
            with np.errstate(over="ignore"):
                squares = some.multiply(some).sum(axis=1) if is_sparse else np.einsum("ij,ij->i", some, some)
            lengths[first : first + _CHUNK] = np.sqrt(squares)
        bad = np.flatnonzero(~((lengths == 0) | ((lengths > 1 / _MAX_LENGTH) & (lengths < _MAX_LENGTH))))
        if len(bad):
            label = quote_value(graph.label(int(bad[0])))
            raise GraphError(
                f"the vector of node {label} has the length {lengths[bad[0]]:g}; its numbers must be finite and of "
                "moderate size."
            )
        if not lengths.any():
            raise GraphError("all vectors are zero, so that no node is similar to another; check the vectors.")
        return cls(names=graph.names, vectors=vectors, lengths=freeze_array(lengths))

    # ---- use ----------------------------------------------------------------------------------------------------

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.lengths)

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of the labels and the vectors."""
        arrays = [self.vectors] if isinstance(self.vectors, np.ndarray) else [self.vectors.indptr, self.vectors.indices]
        arrays += [] if isinstance(self.vectors, np.ndarray) else [self.vectors.data]
        contents = [np.ascontiguousarray(array).reshape(-1).view(np.uint8).data for array in arrays]
        return hash_chunks([*(f"{label!r}\n" for label in self.names), str(self.vectors.shape), *contents])[:16]

    def compute_pairs(self, first: Any, second: Any) -> Float64:
        """Compute the similarities of pairs of nodes given by position.

        Parameters
        ----------
        first, second : arrays of int
            Positions of both nodes of every pair.

        Returns
        -------
        array of float64
            Similarities from 0 to 1. The memory needed is that of the result.
        """
        a, b = (self._check_positions(values) for values in (first, second))
        if len(a) != len(b):
            raise SettingError(f"there are {len(a)} first nodes and {len(b)} second nodes; give pairs of nodes.")
        if isinstance(self.vectors, np.ndarray):
            dots = kernels.similarity.compute_dense_dots(freeze_array(self.vectors), a, b)
        else:
            rows = (self.vectors.indptr.astype(np.int64), self.vectors.indices.astype(np.int32), self.vectors.data)
            dots = kernels.similarity.compute_sparse_dots(*map(freeze_array, rows), a, b)
        products = self.lengths[a] * self.lengths[b]
        similarities: Float64 = np.divide(dots, products, out=np.zeros(len(a)), where=products > 0)
        return np.clip(similarities, 0.0, 1.0, out=similarities)

    def _check_positions(self, positions: Any) -> NDArray[Any]:
        array = np.asarray(positions)
        if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
            raise SettingError(f"the nodes are {quote_value(positions)}; give a list of positions, whole numbers.")
        outside = array[(array < 0) | (array >= self.num_nodes)]
        if len(outside):
            raise SettingError(f"there is no node at position {outside[0]}; there are {self.num_nodes} nodes.")
        return freeze_array(array.astype(np.int64))

    def weigh(self, graph: Graph, *, floor: float = 0.0) -> Graph:
        """Return the same graph with similarities as the weights of its edges, in place of any others.

        Parameters
        ----------
        graph : Graph
            A graph with the nodes of this similarity.
        floor : float
            Smallest weight, from 0 to 1, which edges of lower similarity get. With the default 0, an edge between
            nodes without a common word has weight 0: random walks do not follow it, compressibility ignores it, and
            it never enters the filtration of `measure_persistence`.

        Returns
        -------
        Graph
            Self-loops get the similarity of a node with itself: 1, or the floor for a node without a vector.
        """
        if not is_number(floor) or not 0 <= floor <= 1:
            raise SettingError(f"floor is {quote_value(floor)}; give a number from 0 to 1.")
        self.check_graph(graph)
        rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
        weights = np.maximum(self.compute_pairs(rows, graph.indices), floor)
        own = np.where(self.lengths > 0, 1.0, float(floor))
        return Graph(
            graph.indptr,
            graph.indices,
            weights,
            directed=graph.directed,
            names=graph.names,
            cleaning=graph.cleaning,
            skeleton=graph.skeleton if graph.directed else None,
            loops=None if graph.loops is None else np.where(graph.loops > 0, own, 0.0),
        )

    def check_graph(self, graph: Graph) -> None:
        """Raise GraphError unless a graph has the nodes of this similarity, in the same order."""
        names = as_graph(graph).names
        if names is not self.names and not (
            len(names) == len(self.names) and all(a == b for a, b in zip(names, self.names, strict=True))
        ):
            raise GraphError(
                f"the similarity is of {len(self.names)} nodes that are not the {len(names)} nodes of the graph; build "
                "it with this graph, as in Similarity.from_texts(graph, texts)."
            )

    def __repr__(self) -> str:
        missing = int(np.count_nonzero(self.lengths == 0))
        size = f"{self.num_nodes:,} nodes, {self.vectors.shape[1]:,} dimensions"
        return f"Similarity({size}, {missing:,} nodes without a vector)"


def _list_labeled(table: Any, rows: Any) -> dict[Hashable, Any]:
    """Return the rows of a pandas object by the labels of its index; raise GraphError for a label that occurs twice."""
    labels = table.index.tolist()
    found = dict(zip(labels, rows, strict=True))
    if len(found) < len(labels):
        twice = labels[int(np.argmax(table.index.duplicated()))]
        raise GraphError(f"the index has the label {quote_value(twice)} more than once; give one row per label.")
    return found


def _list_values(graph: Graph, values: Any, what: str, missing: Any) -> list[Any]:
    """Return one value per node, in node order, from a mapping or a sequence; without values, the labels as texts."""
    if values is None and what == "text":
        return [str(label) for label in graph.names]
    if isinstance(values, Mapping):
        if not values:
            raise GraphError(f"the mapping from labels to {what}s is empty; give the {what}s of nodes.")
        listed = [values.get(label, missing) for label in graph.names]
        if not any(label in values for label in graph.names):
            example: Hashable = next(iter(values), None)
            raise GraphError(
                f"none of the {len(values)} {what}s is for a node of the graph; the first is for {quote_value(example)}"
                f", and the first node is {quote_value(graph.label(0))}."
            )
        return listed
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray)):
        raise GraphError(f"the {what}s are {quote_value(values)}; give a mapping from labels to {what}s, or a list.")
    if len(values) != graph.num_nodes:
        raise GraphError(
            f"there are {len(values)} {what}s for {graph.num_nodes} nodes; give one per node, in node order, or a "
            f"mapping from labels to {what}s."
        )
    return list(values)
