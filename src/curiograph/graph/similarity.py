"""Similarity of nodes in meaning: cosine of TF-IDF vectors of texts, or of embeddings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64
from curiograph.errors import GraphError, SettingError, import_optional, quote_value
from curiograph.files import hash_chunks
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph, as_graph, require_nodes
from curiograph.graph.labels import Labels
from curiograph.validation import is_number


def split_words(text: str) -> list[str]:
    """Split a title or text into words, runs of letters and digits; decode percent-encoded characters, ignore case.

    >>> split_words("%C3%89ire, 18th_century")
    ['éire', '18th', 'century']
    """
    return re.findall(r"[^\W_]+", unquote(text).lower())


@dataclass(frozen=True, eq=False)
class Similarity:
    """Similarity of the nodes of a graph in meaning, from 0 to 1: the cosine of the angle between their vectors.

    Build one with `from_texts` or `from_embeddings`. A node without a vector (an empty text, or zeros) has similarity 0
    to every node and to itself. Negative cosines count as 0.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.Graph.from_edges([("red apple", "green apple"), ("green apple", "violin")])
    >>> meaning = cg.Similarity.from_texts(g)
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

    @classmethod
    def from_texts(cls, graph: Graph, texts: Mapping[Any, str] | Sequence[str] | None = None) -> Similarity:
        """Compare nodes by their texts: cosine of the TF-IDF vectors of scikit-learn (`curiograph[meaning]`).

        Parameters
        ----------
        graph : Graph
            The graph whose nodes are compared.
        texts : mapping of labels to texts, or sequence of texts, optional
            Texts by label, where nodes without an entry have an empty text; or one text per node, in node order.
            Default: the titles of the nodes, or else their labels.
        """
        shown = as_graph(graph).titles or map(str, graph.names)
        listed = list(shown) if texts is None else _list_values(graph, texts, "")
        wrong = [text for text in listed if not isinstance(text, str)]
        if wrong or not any(map(split_words, listed)):
            found = quote_value(wrong[0]) if wrong else "no word"
            raise GraphError(f"the texts contain {found}; give texts with letters or digits.")
        sklearn_text = import_optional("sklearn.feature_extraction.text", "meaning", "Similarities of texts")
        matrix = sklearn_text.TfidfVectorizer(analyzer=split_words, norm=None).fit_transform(listed)
        return cls.from_embeddings(graph, matrix)

    @classmethod
    def from_embeddings(cls, graph: Graph, matrix: Any) -> Similarity:
        """Compare nodes by vectors that you bring, such as embeddings of a language model.

        Parameters
        ----------
        graph : Graph
            The graph whose nodes are compared.
        matrix : array, scipy sparse matrix, or mapping of labels to vectors
            One row per node, in node order; or one vector per label, where nodes without an entry have no vector.
        """
        import scipy.sparse

        require_nodes(as_graph(graph))
        try:
            if isinstance(matrix, Mapping):
                zeros = np.zeros(len(next(iter(matrix.values()), ())))
                matrix = np.array(_list_values(graph, matrix, zeros))
            vectors: Any = scipy.sparse.csr_array(matrix) if scipy.sparse.issparse(matrix) else np.asarray(matrix)
            vectors = vectors if vectors.dtype in (np.float32, np.float64) else vectors.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise GraphError(f"the vectors are no matrix of numbers ({error}); give one row per node.") from None
        if vectors.ndim != 2 or vectors.shape[0] != graph.num_nodes:
            raise GraphError(f"the vectors have the shape {vectors.shape}; give one row per node, {graph.num_nodes}.")
        if scipy.sparse.issparse(vectors):
            vectors.sum_duplicates()  # sorts the rows too
            lengths = np.sqrt(vectors.astype(np.float64).power(2).sum(axis=1))
        else:
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
        if not np.all(np.isfinite(lengths)) or not lengths.any():
            raise GraphError("the vectors are all zero, or contain numbers that are not finite or very large.")
        return cls(names=graph.names, vectors=vectors, lengths=freeze_array(lengths))

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of the labels and the vectors."""
        dense = isinstance(self.vectors, np.ndarray)
        parts = [self.vectors] if dense else [self.vectors.indptr, self.vectors.indices, self.vectors.data]
        contents = [np.ascontiguousarray(array).reshape(-1).view(np.uint8).data for array in parts]
        return hash_chunks([*(f"{label!r}\n" for label in self.names), str(self.vectors.shape), *contents])[:16]

    def compute_pairs(self, first: Any, second: Any) -> Float64:
        """Compute the similarities, from 0 to 1, of pairs of nodes given by two arrays of positions."""
        a, b = (freeze_array(np.asarray(positions, np.int64)) for positions in (first, second))
        both = np.append(a, b)
        if a.shape != b.shape or (len(both) and not 0 <= both.min() <= both.max() < len(self.lengths)):
            raise SettingError(f"the positions must be as many and below {len(self.lengths)}, the number of nodes.")
        if isinstance(self.vectors, np.ndarray):
            dots = kernels.dot_products.compute_dense_dots(freeze_array(self.vectors), a, b)
        else:
            rows = (self.vectors.indptr.astype(np.int64), self.vectors.indices.astype(np.int32), self.vectors.data)
            dots = kernels.dot_products.compute_sparse_dots(*map(freeze_array, rows), a, b)
        products = self.lengths[a] * self.lengths[b]
        similarities: Float64 = np.divide(dots, products, out=np.zeros(len(a)), where=products > 0)
        return np.clip(similarities, 0.0, 1.0, out=similarities)

    def weigh(self, graph: Graph, *, floor: float = 0.0) -> Graph:
        """Return the same graph with similarities as the weights of its edges, in place of any others.

        An edge of similarity below `floor`, from 0 to 1, gets that weight. Random walks do not follow an edge of weight
        0, and it never enters the filtration of `measure_persistence`. A self-loop has weight 1.
        """
        if not is_number(floor) or not 0 <= floor <= 1:
            raise SettingError(f"floor is {quote_value(floor)}; give a number from 0 to 1.")
        self.check_graph(graph)
        rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
        weights = np.maximum(self.compute_pairs(rows, graph.indices), floor)
        own = np.where(self.lengths > 0, 1.0, float(floor))
        loops = None if graph.loops is None else np.where(graph.loops > 0, own, 0.0)
        skeleton = graph.skeleton if graph.directed else None
        settings: Any = {"names": graph.names, "cleaning": graph.cleaning, "skeleton": skeleton, "loops": loops}
        return Graph(graph.indptr, graph.indices, weights, directed=graph.directed, **settings)

    def check_graph(self, graph: Graph) -> None:
        """Raise GraphError unless a graph has the nodes of this similarity, in the same order."""
        if as_graph(graph).names is not self.names and list(graph.names) != list(self.names):
            raise GraphError("the similarity is of other nodes than those of the graph; build it with this graph.")


def _list_values(graph: Graph, values: Any, missing: Any) -> list[Any]:
    """Return one value per node, in node order, from a mapping (or pandas Series) by label, or a sequence."""
    if hasattr(values, "to_dict"):
        values = values.to_dict()
    if isinstance(values, Mapping):
        if not any(label in values for label in graph.names):
            raise GraphError(f"none of {quote_value(list(values)[:3])} is a node of the graph; give values by label.")
        return [values.get(label, missing) for label in graph.names]
    if isinstance(values, str | bytes) or not hasattr(values, "__len__") or len(values) != graph.num_nodes:
        raise GraphError(f"the values are {quote_value(values)}; give one per node, {graph.num_nodes}, or a mapping.")
    return list(values)
