"""Graphs of items against references that count with dictionaries, and their properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from curiograph.errors import SettingError, UnknownNameError
from curiograph.human.data.cooccurrence import cooccurrence_graph
from curiograph.human.trajectories import Trajectories
from curiograph.recommendation import incidence
from curiograph.recommendation.count_rankers import ItemKnn
from curiograph.recommendation.incidence import build_incidence
from oracles import nearest_items
from support.item_logs import LOGS, SIMILARITIES, build_or_none, list_edges, list_histories, make_walks
from support.rankers import score_all_nodes

# ---- the nearest items of each item ---------------------------------------------------------------------------------


@given(LOGS, SIMILARITIES, st.integers(1, 9), st.integers(1, 4))
def test_knn_graph_against_reference(log, similarity, neighbors, fewest):
    walks = make_walks(log)
    graph = build_or_none(cooccurrence_graph, walks, similarity=similarity, neighbors=neighbors, fewest=fewest)
    histories = list_histories(walks)
    expected = nearest_items.build_knn_graph(histories, similarity, neighbors, fewest)
    if not expected or build_incidence(walks, walks.users).sum(axis=0).max(initial=0) < fewest:
        assert graph is None
        return
    assert list_edges(graph) == set(expected)
    found = {(graph.label(a), graph.label(b)): weight for a, b, weight in zip(*graph.get_edges(), strict=True)}
    assert {tuple(sorted(pair, key=str)): weight for pair, weight in found.items()} == pytest.approx(expected)
    num_users = nearest_items.list_similarities(histories, similarity)[0]
    assert graph.visitors.tolist() == [num_users[label] for label in graph.labels]
    assert list(graph.labels) == sorted({item for edge in expected for item in edge})
    together = {item for pair in nearest_items.list_similarities(histories, similarity)[1] for item in pair}
    assert set(graph.labels) == together  # every item that a user visited together with another one


def make_log(users=300, items=120, seed=0):
    """Return walks with popular and rare items."""
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, items + 1)
    popularity /= popularity.sum()
    sizes = rng.integers(2, 30, users)
    return Trajectories.from_walks([rng.choice(items, size, replace=False, p=popularity).tolist() for size in sizes])


def test_cosine_against_scikit_learn():
    walks = make_log()
    neighbors = 5
    visits = build_incidence(walks, walks.users).astype(float)
    supported = np.asarray(visits.sum(axis=0) >= 5).ravel()
    vectors = visits.T.tocsr()[supported]
    labels = [walks.names[i] for i in np.flatnonzero(supported)]
    distances, _ = NearestNeighbors(n_neighbors=neighbors + 1, metric="cosine").fit(vectors).kneighbors(vectors)
    graph = cooccurrence_graph(walks, neighbors=neighbors)
    dense = 1 - (vectors @ vectors.T).toarray() / np.sqrt(np.outer(vectors.sum(axis=1), vectors.sum(axis=1)))
    place = {label: number for number, label in enumerate(labels)}
    for label in labels:
        own = place[label]
        linked = np.sort([dense[own, place[other]] for other in graph.neighbors(label) if other in place])
        np.testing.assert_allclose(linked[:neighbors], distances[own, 1:], atol=1e-9)  # the nearest k are linked
        for other in graph.neighbors(label):  # and every link is among the nearest k of one end
            if other in place:
                gap = dense[own, place[other]] - 1e-9
                assert gap <= max(distances[own, -1], distances[place[other], -1])


def test_items_with_few_users_are_attached():
    walks = Trajectories.from_walks(
        [["a", "b", "c", "d", "e"]] * 5 + [["rare", "a", "b", "c", "d", "e"], ["x", "y"], ["z"]]
    )
    messages = []
    graph = cooccurrence_graph(walks, neighbors=4, progress=lambda text, share=None: messages.append(share))
    assert len(graph.neighbors("rare")) == 3
    assert graph.neighbors("x") == ["y"]  # no supported item shares a user with it
    assert "z" not in graph.labels
    assert messages
    assert all(0 < share <= 1 for share in messages)


def test_attached_items_do_not_explode_a_degree():
    # most items have one user, who visited the same few popular items as everybody
    rng = np.random.default_rng(0)
    lists = [["p0", *rng.choice(["p1", "p2", "p3"], 2, replace=False), f"r{n}", f"s{n}"] for n in range(400)]
    order = rng.permutation(400)
    graph = cooccurrence_graph(Trajectories.from_walks(lists), neighbors=3)
    assert graph.degrees.max() <= 3 + 20
    assert graph.num_nodes == 4 + 800  # those without room at a popular item are linked with each other
    assert graph == cooccurrence_graph(Trajectories.from_walks([lists[n] for n in order]), neighbors=3)
    only = cooccurrence_graph(Trajectories.from_walks([["p", "q"]] * 5 + [["p", f"r{n}"] for n in range(50)]))
    assert only.degrees[only.position("p")] == 1 + 20  # nothing else to link the others with


def test_long_histories_count_with_their_latest_items():
    robot = [f"i{n}" for n in range(5010)]
    graph = cooccurrence_graph(Trajectories.from_walks([["a", "b"]] * 5 + [["a", *robot]]))
    assert set(graph.labels) == {"a", "b", *robot[-5000:]}
    assert graph.neighbors("a") == ["b"]


def test_block_size_does_not_change_results(monkeypatch):
    def build():
        walks = make_log()
        graph = cooccurrence_graph(walks)
        histories = [[i, i + 1] for i in range(graph.num_nodes - 1)]
        return graph, score_all_nodes(ItemKnn.from_walks(graph, walks.on(graph)), graph, histories)

    before = build()
    monkeypatch.setattr(incidence, "_ENTRIES", 300)
    after = build()
    assert before[0] == after[0]
    assert np.array_equal(before[1], after[1])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"similarity": "jaccard"}, UnknownNameError, "'jaccard'"),
        ({"fewest": 0}, SettingError, "fewest is 0"),
        ({"fewest": 1000}, SettingError, "fewest is 1000, but the most visited"),
        ({"neighbors": 0}, SettingError, "neighbors is 0"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        cooccurrence_graph(make_log(), **settings)
