"""Similarity of nodes, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

import curiograph as cg
from curiograph.graph.similarity import split_words

TITLES = ["Roman_Empire", "The_Roman_Republic", "%C3%89ire", "éire", "Jazz", "Jazz jazz guitar", "...", "C", "C++"]
GRAPH = cg.Graph.from_edges([(i, j) for i in range(9) for j in range(i)])
EVERY = np.repeat(np.arange(9), 9), np.tile(np.arange(9), 9)


def test_texts_equal_sklearn():
    found = cg.Similarity.from_texts(GRAPH, TITLES).compute_pairs(*EVERY).reshape(9, 9)
    wanted = cosine_similarity(TfidfVectorizer(analyzer=split_words).fit_transform(TITLES))
    assert found == pytest.approx(wanted, abs=1e-12)
    assert found[2, 3] == pytest.approx(1.0)
    assert not found[6].any()  # a text without words is similar to nothing, not even to itself


def test_mapping_by_label():
    texts = {label: text for label, text in enumerate(TITLES) if label != 4} | {"other": "jazz"}
    listed = [*TITLES[:4], "", *TITLES[5:]]
    found, wanted = cg.Similarity.from_texts(GRAPH, texts), cg.Similarity.from_texts(GRAPH, listed)
    assert np.array_equal(found.compute_pairs(*EVERY), wanted.compute_pairs(*EVERY))
    assert found.fingerprint == wanted.fingerprint != cg.Similarity.from_texts(GRAPH, TITLES).fingerprint


@settings(max_examples=50, deadline=None)
@given(arrays(np.float64, (9, 4), elements=st.floats(-1e6, 1e6).map(lambda x: 0.0 if abs(x) < 1e-6 else x)))
def test_embeddings_equal_sklearn(matrix):
    if not matrix.any():
        return
    wanted = np.clip(cosine_similarity(matrix), 0, 1).ravel()
    for given_as in (matrix, scipy.sparse.csr_array(matrix), scipy.sparse.coo_matrix(matrix), dict(enumerate(matrix))):
        found = cg.Similarity.from_embeddings(GRAPH, given_as).compute_pairs(*EVERY)
        assert found == pytest.approx(wanted, abs=1e-12)


def test_single_precision_is_summed_in_double_precision():
    matrix = np.random.default_rng(0).normal(size=(9, 300)).astype(np.float32)
    similarity = cg.Similarity.from_embeddings(GRAPH, matrix)
    assert similarity.vectors is matrix
    wanted = np.clip(cosine_similarity(matrix.astype(np.float64)), 0, 1).ravel()
    assert similarity.compute_pairs(*EVERY) == pytest.approx(wanted, abs=1e-12)
    whole = cg.Similarity.from_embeddings(GRAPH, np.arange(27).reshape(9, 3))
    assert whole.compute_pairs([0], [1]) == pytest.approx(14 / np.sqrt(5 * 50), abs=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_weigh(directed):
    graph = cg.Graph.from_edges([(0, 1), (1, 2), (2, 2), (2, 3), (6, 6)], directed=directed, nodes=range(9))
    similarity = cg.Similarity.from_texts(graph, TITLES)
    weighted = similarity.weigh(graph)
    assert weighted.directed == directed
    assert np.array_equal(weighted.indices, graph.indices)
    dense = weighted.to_scipy().toarray()
    pairs = similarity.compute_pairs([0, 1, 2], [1, 2, 3])
    assert dense[[0, 1, 2], [1, 2, 3]] == pytest.approx(pairs)
    assert weighted.loops.tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    floored = similarity.weigh(graph, floor=0.25)
    assert floored.weights.tolist() == np.maximum(weighted.weights, 0.25).tolist()
    assert floored.loops[6] == 0.25
    assert similarity.weigh(weighted) == weighted
    assert cg.pagerank(weighted).scores.sum() == pytest.approx(1.0)  # nodes without similar neighbors are dangling


def test_skeleton_weights_are_the_larger_of_both_directions():
    rng = np.random.default_rng(0)
    matrix = np.where(rng.random((8, 8)) < 0.4, rng.random((8, 8)), 0.0)
    np.fill_diagonal(matrix, 0.0)
    graph = cg.Graph.from_scipy(matrix, directed=True)
    found = cg.Graph(graph.skeleton.indptr, graph.skeleton.indices, graph.skeleton_weights)
    assert np.array_equal(found.to_scipy().toarray(), np.maximum(matrix, matrix.T))
    assert cg.toys.cycle(3).skeleton_weights.tolist() == [1.0] * 6


@pytest.mark.parametrize("texts", ["apple", 5, ["a"], {"x": "apple"}, {}, [None] * 9, ["..."] * 9])
def test_bad_texts(texts):
    with pytest.raises(cg.GraphError):
        cg.Similarity.from_texts(GRAPH, texts)


@pytest.mark.parametrize(
    "matrix",
    [np.ones((3, 2)), np.ones(9), np.zeros((9, 2)), np.full((9, 2), np.nan), np.full((9, 2), 1e200), [["a"]] * 9,
     {0: [1, 2], 1: [1]}, {0: 1.0}, {"x": [1.0]}, {}, None],
)  # fmt: skip
def test_bad_embeddings(matrix):
    with pytest.raises(cg.GraphError):
        cg.Similarity.from_embeddings(GRAPH, matrix)


def test_bad_use():
    similarity = cg.Similarity.from_texts(GRAPH, pd.Series(TITLES))
    for first, second in (([0], [9]), ([-1], [0]), ([0, 1], [0])):
        with pytest.raises(cg.SettingError, match="below 9"):
            similarity.compute_pairs(first, second)
    with pytest.raises(cg.SettingError, match="floor is 2"):
        similarity.weigh(GRAPH, floor=2)
    with pytest.raises(cg.GraphError, match="other nodes"):
        similarity.weigh(cg.toys.cycle(4))
    assert similarity.compute_pairs([], []).tolist() == []
