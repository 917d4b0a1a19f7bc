"""Which candidates are recommended: excluded and allowed labels, unknown labels, cold start, diversity."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.exploration.mdp import Candidates
from curiograph.recommendation.selection import Selection, compute_jaccard, select_best
from oracles.selection import select_by_marginal_relevance
from support.small_graphs import graphs, histories

LIBRARY = cg.toys.library()


def list_labels(top) -> list:
    return [label for label, _ in top]


@pytest.mark.parametrize("which", ["last", "history", "all"])
def test_excluded_labels_are_left_out_and_nothing_else_changes(which):
    g, history = cg.generate("ws", nodes=40, seed=1), [3, 7]
    everything = cg.recommend(g, history, 50, candidates=which, ranker="pagerank")
    excluded = set(list_labels(everything)[::2])
    top = cg.recommend(g, history, 50, candidates=which, ranker="pagerank", exclude=excluded)
    assert top == [pair for pair in everything if pair[0] not in excluded]
    assert top.candidates == everything.candidates
    assert top.reasons == [reason for reason in everything.reasons if reason.node not in excluded]


@given(st.data())
def test_a_filter_keeps_the_order(data):
    g = data.draw(graphs())
    history = data.draw(histories(g))
    allowed = data.draw(st.sets(st.integers(0, g.num_nodes)))
    everything = cg.recommend(g, history, 50, ranker="pagerank")
    wanted = [pair for pair in everything if pair[0] in allowed]
    found = cg.recommend(g, history, 50, ranker="pagerank", filter=allowed)
    assert found[: len(wanted)] == wanted
    assert all(score == 0 for _, score in found[len(wanted) :])  # not reached
    assert {label for label, _ in found} == (allowed & set(g.labels)) - set(history)
    assert cg.recommend(g, history, 50, ranker="pagerank", filter=lambda label: label in allowed) == found
    assert cg.recommend(g, history, 1, ranker="pagerank", filter=allowed) == found[:1]


def test_numbers_and_text_denote_the_same_nodes():
    numbers, text = cg.toys.cycle(8), cg.Graph.from_edges([(str(i), str((i + 1) % 8)) for i in range(8)])
    wanted = cg.recommend(numbers, [3, 4], 4, exclude=[6], ranker="pagerank")
    assert cg.recommend(numbers, ["3", "4"], 4, exclude=["6"], ranker="pagerank") == wanted
    assert cg.recommend(numbers, np.array([3, 4]), 4, exclude=np.array([6]), ranker="pagerank") == wanted
    as_text = [(str(label), score) for label, score in wanted]
    assert sorted(cg.recommend(text, [3, 4], 4, filter=range(6), ranker="pagerank")) == sorted(
        pair for pair in as_text if int(pair[0]) < 6
    )
    both = cg.Graph.from_edges([(7, "7"), ("7", "x"), (7, "y")])
    assert list_labels(cg.recommend(both, ["7"], 1, exclude=[7], candidates="last", ranker="pagerank")) == ["x"]
    assert list_labels(cg.recommend(both, [7], 1, exclude=["7"], candidates="last", ranker="pagerank")) == ["y"]


def test_unknown_labels_are_skipped_and_reported():
    top = cg.recommend(LIBRARY, ["moon", "music", 7], 3, unknown="skip", ranker="pagerank")
    assert top == cg.recommend(LIBRARY, ["music"], 3, ranker="pagerank")
    assert (top.skipped, top.history) == (["moon", 7], ["music"])
    assert top.to_dict()["skipped"] == ["moon", 7]
    with pytest.raises(cg.UnknownNodeError, match="no node 'moon'"):
        cg.recommend(LIBRARY, ["moon", "music"])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("ranker", ["pagerank", "igt"])
def test_an_empty_history_is_ranked_by_pagerank_without_history(directed, ranker):
    g = cg.Graph.from_edges([(0, 1), (1, 2), (2, 0), (3, 0), (4, 0), (4, 3)], directed=directed)
    top = cg.recommend(g, [], 3, ranker=ranker, exclude=[1])
    ranking = nx.pagerank(g.to_networkx(), 0.85, tol=1e-12, max_iter=1000)
    best = sorted((score for label, score in ranking.items() if label != 1), reverse=True)[:3]
    assert 1 not in list_labels(top)
    assert [score for _, score in top] == pytest.approx(best, abs=1e-9)
    assert [ranking[label] for label in list_labels(top)] == pytest.approx(best, abs=1e-9)
    assert top.reasons[0].sentence == "Popular: linked with 4 others."
    assert top.history == []


@given(graphs())
def test_similarity_is_the_jaccard_index_of_closed_neighborhoods(graph):
    g = graph.skeleton
    around = [set(g.indices[g.indptr[v] : g.indptr[v + 1]].tolist()) | {v} for v in range(g.num_nodes)]
    found = compute_jaccard(g, np.arange(g.num_nodes, dtype=np.int32))
    for u, v in combinations(range(g.num_nodes), 2):
        wanted = len(around[u] & around[v]) / len(around[u] | around[v])
        assert found[u, v] == found[v, u] == wanted


@pytest.mark.parametrize("diversity", [0.2, 0.5, 1.0])
def test_diverse_lists_follow_the_definition(diversity):
    g = cg.generate("rg", nodes=50, seed=4)
    for start in range(0, 50, 10):
        pool = cg.recommend(g, [start], 40, ranker="pagerank")
        wanted = select_by_marginal_relevance(g, pool, diversity, 4)
        assert cg.recommend(g, [start], 4, ranker="pagerank", diversity=diversity) == wanted


@given(seed=st.integers(0, 10_000), sizes=st.lists(st.integers(0, 30), min_size=1, max_size=4), k=st.integers(1, 12))
def test_best_scores_are_selected_and_ties_are_in_order(seed, sizes, k):
    rng, graph = np.random.default_rng(seed), cg.toys.cycle(31)
    offsets = np.array([0, *np.cumsum(sizes)])
    nodes = np.concatenate([np.sort(rng.permutation(31)[:size]) for size in sizes]).astype(np.int32)
    scores, offered = rng.integers(0, 6, len(nodes)).astype(float), rng.random(len(nodes)) < 0.8
    found = select_best(graph, Candidates(offsets, nodes), scores, offered, [Selection()] * len(sizes), k)
    for best, first, end in zip(found, offsets, offsets[1:], strict=False):
        expected = sorted((i for i in range(first, end) if offered[i]), key=lambda i: (-scores[i], i))[:k]
        assert best.tolist() == expected
