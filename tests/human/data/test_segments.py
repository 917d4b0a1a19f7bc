"""segment_network: links against brute force, Betti numbers of every prefix against networkx and gudhi."""

from __future__ import annotations

import sys

import gudhi
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

import curiograph as cg
from curiograph.human import segment_network

TEXTS = ["Rain falls on hills.", "Hills feed rivers.", "Rivers reach oceans.", "Oceans make rain.", "Cats sleep."]


def draw_embeddings(seed: int, size: int = 14, width: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(size, width))


def compute_cosines(vectors: np.ndarray) -> list[list[float]]:
    """Return the cosine of every two rows in plain Python, negative ones as 0."""
    lengths = [sum(x * x for x in row) ** 0.5 for row in vectors]
    dots = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in vectors] for a in vectors]
    return [[max(0.0, dots[i][j] / lengths[i] / lengths[j]) for j in range(len(vectors))] for i in range(len(vectors))]


def list_links(network) -> set[tuple[int, int]]:
    return {(min(pair), max(pair)) for pair in network.graph.to_networkx().edges}


def compute_prefix_betti(graph: nx.Graph, size: int) -> tuple[int, int, int]:
    """Return the first three Betti numbers of the clique complex of the segments 1 to `size`."""
    tree = gudhi.SimplexTree()
    for clique in nx.enumerate_all_cliques(graph.subgraph(range(1, size + 1))):
        if len(clique) <= 4:
            tree.insert(clique)
    tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
    numbers = [*tree.betti_numbers(), 0, 0, 0]
    return numbers[0], numbers[1], numbers[2]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rule", [{"threshold": 0.2}, {"threshold": 0.6}, {"k": 3}, {"k": 6}], ids=str)
def test_betti_numbers_of_every_prefix(rule, seed):
    network = segment_network(draw_embeddings(seed), **rule)
    frame = network.measure()
    expected = [compute_prefix_betti(network.graph.to_networkx(), size) for size in range(1, 15)]
    assert frame[["beta0", "beta1", "beta2"]].to_records(index=False).tolist() == expected
    assert frame["segment"].tolist() == network.walk == network.graph.labels == list(range(1, 15))
    assert (frame["opened"] - frame["closed"]).cumsum().tolist() == frame["beta1"].tolist()


def test_a_void_opens_and_closes():
    """The corners of an octahedron, opposite ones in turn, then a segment similar to all of them."""
    corners = [sign * axis for axis in np.eye(3) for sign in (1, -1)]
    vectors = [[*corner, 1] for corner in corners]  # cosines are 1/2, and 0 of opposite corners
    frame = segment_network([*vectors, [0, 0, 0, 1]], threshold=0.5).measure()
    assert frame["beta0"].tolist() == [1, 2, 1, 1, 1, 1, 1]
    assert frame["beta1"].tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert frame["beta2"].tolist() == [0, 0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.9, 1])
def test_threshold_links_pairs_of_at_least_this_cosine(threshold):
    vectors = draw_embeddings(0)
    vectors[5] = 3 * vectors[2]  # a cosine of 1, up to rounding
    cosines = compute_cosines(vectors)
    network = segment_network(vectors, threshold=threshold)
    links = {(i + 1, j + 1) for i in range(14) for j in range(i + 1, 14) if cosines[i][j] >= threshold - 1e-12}
    assert list_links(network) == links
    assert (3, 6) in links
    np.testing.assert_allclose(network.similarity, cosines, atol=1e-9)
    for i, j, data in network.graph.to_networkx().edges(data=True):
        assert data["weight"] == network.similarity[i - 1, j - 1]


def test_texts_are_compared_by_tf_idf():
    network = segment_network(TEXTS, threshold=0.1)
    np.testing.assert_allclose(network.similarity, cosine_similarity(TfidfVectorizer().fit_transform(TEXTS)), atol=1e-9)
    assert list_links(network) == {(1, 2), (2, 3), (3, 4), (1, 4)}
    assert network.measure()["beta0"].tolist() == [1, 1, 1, 1, 2]
    assert network.graph.titles == tuple(TEXTS)
    for given_as in (np.array(TEXTS), pd.Series(TEXTS, index=list("vwxyz")), tuple(TEXTS)):
        assert segment_network(given_as, threshold=0.1).graph == network.graph


def test_titles_are_the_beginnings_of_texts():
    network = segment_network(["word " * 50, "other\nword"], k=1)
    assert [len(title) <= 40 for title in network.graph.titles] == [True, True]
    assert network.graph.title(1) == "other word"
    assert segment_network(np.eye(2), k=1).graph.titles is None


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 12), st.data())
def test_k_links_the_nearest_of_either_segment(seed, size, data):
    vectors = np.random.default_rng(seed).integers(-2, 3, (size, 3)) + 0.5
    k = data.draw(st.integers(1, size - 1))
    network = segment_network(vectors, k=k)
    matrix = network.graph.to_scipy().toarray()
    assert (matrix == matrix.T).all()
    cosines = [[round(value, 12) for value in row] for row in compute_cosines(vectors)]
    links = set()
    for i, row in enumerate(cosines):
        others = sorted((j for j in range(size) if j != i), key=lambda j: (-row[j], j))
        links |= {(min(i, j) + 1, max(i, j) + 1) for j in others[:k] if row[j] > 0}
    assert list_links(network) == links


def test_ratings_join_in_order():
    rows = {"curious": [1, 2, None, 4, 5], "calm": pd.Series([5, 4, 3, 2, 1], index=[9, 8, 7, 6, 5])}
    frame = segment_network(TEXTS, k=2, ratings=rows).measure(compressibility=False)
    assert frame["calm"].tolist() == [5, 4, 3, 2, 1]
    assert frame["curious"].isna().tolist() == [False, False, True, False, False]
    assert frame["compressibility"].isna().all()
    shuffled = pd.DataFrame({"calm": [5, 4, 3, 2, 1]}, index=[4, 3, 2, 1, 0])
    assert segment_network(TEXTS, k=2, ratings=shuffled).measure()["calm"].tolist() == [5, 4, 3, 2, 1]
    assert segment_network(TEXTS, k=2, ratings=range(5)).measure()["rating"].tolist() == [0, 1, 2, 3, 4]


def test_without_gudhi_there_are_no_voids(monkeypatch):
    monkeypatch.setitem(sys.modules, "gudhi", None)
    frame = segment_network(TEXTS, k=1).measure()
    assert "beta2" not in frame
    assert {"segment", "beta0", "beta1", "compressibility"} <= set(frame)


def test_one_segment_and_frames_of_embeddings():
    assert segment_network(["alone"], threshold=0.5).measure()["beta0"].tolist() == [1]
    vectors = draw_embeddings(1)
    assert segment_network(pd.DataFrame(vectors).rename(columns=str), k=2).graph == segment_network(vectors, k=2).graph


@pytest.mark.parametrize(
    ("segments", "settings", "quoted"),
    [
        ([], {"k": 1}, r"\[\]"),
        (np.empty((0, 3)), {"k": 1}, "segments"),
        ("one text", {"k": 1}, "'one text'"),
        (None, {"k": 1}, "None"),
        (["a word", "  "], {"k": 1}, "segment 2 is ' '"),
        (["a word", "..."], {"k": 1}, "segment 2"),
        (["a word", None], {"k": 1}, "segment 2 is None"),
        ([[1.0], [1.0, 2.0]], {"k": 1}, r"segment 1 is \[1.0\]"),
        ([0.5, 0.25], {"k": 1}, "segment 1 is 0.5"),
        (np.zeros((2, 2, 2)), {"k": 1}, "segments"),
        (TEXTS, {}, "threshold is None, k is None"),
        (TEXTS, {"threshold": 0.5, "k": 1}, "threshold is 0.5, k is 1"),
        *((TEXTS, {"threshold": value}, f"threshold is {value}") for value in (0, -0.5, 1.1, np.nan, True)),
        (TEXTS, {"threshold": "high"}, "'high'"),
        *((TEXTS, {"k": value}, f"k is {value}.*less than 5") for value in (0, -1, 5, 1.5, True)),
        (["alone"], {"k": 1}, "k is 1.*less than 1"),
        (TEXTS, {"k": 1, "ratings": [1, 2, 3]}, "'rating' has 3 values for 5 segments"),
        (TEXTS, {"k": 1, "ratings": {"fun": [1] * 6}}, "'fun' has 6 values for 5 segments"),
        (TEXTS, {"k": 1, "ratings": pd.DataFrame({"fun": [1]})}, "'fun' has 1 values for 5 segments"),
        (TEXTS, {"k": 1, "ratings": np.ones((5, 2))}, "'rating' has 10 values for 5 segments"),
        (TEXTS, {"k": 1, "ratings": 3}, "'rating'"),
        (TEXTS, {"k": 1, "ratings": {"beta1": range(5)}}, "'beta1'"),
    ],
)
def test_bad_input(segments, settings, quoted):
    with pytest.raises(cg.SettingError, match=quoted):
        segment_network(segments, **settings)


@pytest.mark.parametrize(
    "vectors", [[[1.0, np.nan], [1, 2]], [[1.0, np.inf], [1, 2]], np.zeros((2, 2)), [["a"], ["b"]]]
)
def test_bad_embeddings(vectors):
    with pytest.raises(cg.GraphError, match="vectors"):
        segment_network(vectors, k=1)
