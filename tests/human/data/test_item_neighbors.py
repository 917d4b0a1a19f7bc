"""Nearest-neighbor graphs of items: against a reference, scikit-learn and direct formulas, and their properties."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

import curiograph as cg
from curiograph.errors import SettingError, WalkError
from curiograph.human.data import item_neighbors
from curiograph.human.data.cooccurrence import cooccurrence_graph
from curiograph.human.data.coverage import measure_graph_coverage
from curiograph.human.data.trajectory_file import read_trajectories
from curiograph.human.trajectories import Trajectories
from curiograph.recommendation.incidence import build_incidence
from oracles import nearest_items
from support import people

logs = st.lists(
    st.tuples(st.integers(0, 6), st.lists(st.sampled_from("abcdefgh"), max_size=9)), min_size=1, max_size=16
)
similarities = st.sampled_from(["cosine", "pmi", "sequence"])


def make_walks(log):
    """Return walks from pairs of user and items."""
    return Trajectories.from_walks([walk for _, walk in log], users=[user for user, _ in log])


def list_histories(walks):
    """Return the walks of each user as lists of labels."""
    histories = {}
    for number, user in enumerate(walks.users.tolist()):
        histories.setdefault(user, []).append(walks.labels(number))
    return histories


def list_edges(graph):
    return {(a, b) for a in graph.labels for b in graph.neighbors(a) if str(a) < str(b)}


def build_or_none(walks, **given_settings):
    try:
        return cooccurrence_graph(walks, **given_settings)
    except (SettingError, WalkError):
        return None


@given(
    logs, similarities, st.integers(1, 9), st.integers(1, 4), st.sampled_from([0, 0.5, 3]), st.sampled_from([0.5, 2])
)
def test_graph_against_reference(log, similarity, neighbors, fewest, shrinkage, half_life):
    walks = make_walks(log)
    graph = build_or_none(
        walks, similarity=similarity, neighbors=neighbors, fewest=fewest, shrinkage=shrinkage, half_life=half_life
    )
    expected = nearest_items.build_knn_graph(list_histories(walks), similarity, neighbors, fewest, shrinkage, half_life)
    num_users = build_incidence(walks, walks.users).sum(axis=0)
    if not expected or num_users.max(initial=0) < fewest:
        assert graph is None
    else:
        assert list_edges(graph) == expected
        assert list(graph.labels) == sorted({item for edge in expected for item in edge})


@given(logs, similarities, st.integers(1, 4), st.integers(1, 4))
def test_properties(log, similarity, neighbors, fewest):
    walks = make_walks(log)
    graph = build_or_none(walks, similarity=similarity, neighbors=neighbors, fewest=fewest)
    assume(graph is not None)
    assert not graph.directed
    assert graph.weights is None
    assert graph.degrees.min() >= 1
    assert graph.num_edges <= graph.num_nodes * max(neighbors, 3)
    _, similar, _ = nearest_items.list_similarities(list_histories(walks), similarity)
    partners = {}
    for item, other in similar:
        partners.setdefault(item, set()).add(other)
    assert set(graph.labels) == set(partners)  # every item that a user visited together with another one
    for item in graph.labels:
        found = set(graph.neighbors(item))
        assert found <= partners[item]
        assert all(item in graph.neighbors(other) for other in found)


@given(logs, st.sampled_from(["cosine", "pmi"]), st.integers(1, 3), st.randoms(use_true_random=False))
def test_order_of_rows_is_irrelevant(log, similarity, neighbors, rng):
    events = [(user, item) for user, walk in log for item in walk]
    shuffled = rng.sample(events, len(events))
    graphs = [
        build_or_none(
            Trajectories.from_walks([[item] for _, item in rows], users=[user for user, _ in rows]),
            similarity=similarity,
            neighbors=neighbors,
            fewest=1,
        )
        for rows in (events, shuffled)
        if rows
    ]
    assert len(graphs) == 0 or graphs[0] == graphs[1]


@pytest.mark.parametrize("similarity", ["cosine", "pmi", "sequence"])
def test_rows_of_a_log_with_times_may_be_in_any_order(similarity, tmp_path):
    rows = [f"u{user},i{item},{time}" for time, (user, item, _) in enumerate(people.tastes(users=30, items=25))]
    graphs = []
    for _ in range(2):
        (tmp_path / "log.csv").write_text("\n".join(["user,item,time", *rows]) + "\n")
        graphs.append(cooccurrence_graph(read_trajectories(tmp_path / "log.csv").walks, similarity=similarity))
        random.Random(0).shuffle(rows)
    assert graphs[0] == graphs[1]


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


def test_pmi_against_the_formula():
    walks = make_log(seed=1)
    visits = build_incidence(walks, walks.users).toarray().astype(float)
    supported = np.flatnonzero(visits.sum(axis=0) >= 5)
    chance = visits[:, supported].mean(axis=0)
    together = (visits[:, supported].T @ visits[:, supported]) / len(visits)
    with np.errstate(divide="ignore"):
        pmi = np.log2(together / np.outer(chance, chance))
    np.fill_diagonal(pmi, -np.inf)
    graph = cooccurrence_graph(walks, similarity="pmi", neighbors=4)
    for row, item in enumerate(supported):
        linked = {walks.names.index(other) for other in graph.neighbors(walks.names[int(item)])}
        others = [column for column, other in enumerate(supported) if int(other) in linked]
        best = np.sort(pmi[row])[::-1][:4]
        np.testing.assert_allclose(np.sort(pmi[row, others])[::-1][:4], best, atol=1e-9)


def test_rare_items_make_popular_items_central():
    rng = np.random.default_rng(0)
    popular, medium = [f"popular {i}" for i in range(20)], [f"medium {i}" for i in range(100)]
    walks = Trajectories.from_walks(
        [
            [*rng.choice(popular, 10, replace=False), *rng.choice(medium, 5, replace=False), f"rare {user}"]
            for user in range(200)
        ]
    )
    graph = cooccurrence_graph(walks)
    attached = [label for rare in graph.labels if rare.startswith("rare") for label in graph.neighbors(rare)]
    assert sum(label.startswith("popular") for label in attached) > len(attached) / 2
    assert all(label.startswith("popular") for label, _ in cg.recommend(graph, [], 10))  # cold start


def test_items_with_few_users_are_attached():
    walks = Trajectories.from_walks(
        [["a", "b", "c", "d", "e"]] * 5 + [["rare", "a", "b", "c", "d", "e"], ["x", "y"], ["z"]]
    )
    graph = cooccurrence_graph(walks, neighbors=4, fewest=5)
    assert len(graph.neighbors("rare")) == item_neighbors.ATTACHED
    assert graph.neighbors("x") == ["y"]  # no supported item shares a user with it
    assert "z" not in graph.labels
    coverage = measure_graph_coverage(graph, walks)
    assert (coverage.items, coverage.covered_items) == (9, 8)
    assert (coverage.supported_items, coverage.covered_supported_items) == (5, 5)
    assert (coverage.events, coverage.covered_events) == (34, 33)
    assert (coverage.components, coverage.largest_component) == (2, 6)
    assert str(coverage).startswith("8 of 9 items (88.9 %), 5 of 5 items with 5 or more users (100.0 %)")


def test_long_histories_count_with_their_latest_items():
    robot = [f"i{n}" for n in range(50)]
    walks = Trajectories.from_walks([["a", "b"]] * 5 + [["a", *robot]])
    graph = cooccurrence_graph(walks, fewest=1, max_items=10)
    assert set(graph.labels) == {"a", "b", *robot[-10:]}
    assert graph.neighbors("a") == ["b"]
    assert cooccurrence_graph(walks, fewest=1, max_items=51) == cooccurrence_graph(walks, fewest=1)


def test_a_robot_with_many_items_costs_no_more_than_the_limit():
    walks = Trajectories.from_walks([list(range(200_000)), *[[0, 1]] * 5])
    graph = cooccurrence_graph(walks, max_items=100)
    assert graph.neighbors(0) == [1]
    assert graph.num_nodes == 102


def test_sequence_prefers_items_visited_soon_after_each_other():
    walks = Trajectories.from_walks([["a", "b", *(f"x{user}{n}" for n in range(5)), "c"] for user in range(5)])
    assert cooccurrence_graph(walks, similarity="sequence", neighbors=1).neighbors("a") == ["b"]
    near = cooccurrence_graph(walks, similarity="sequence", neighbors=1, half_life=0.5)
    assert "c" not in near.neighbors("a")


def test_blocks_do_not_change_the_graph(monkeypatch):
    walks = make_log(seed=2)
    graphs = [cooccurrence_graph(walks, similarity=similarity) for similarity in ("cosine", "sequence")]
    monkeypatch.setattr(item_neighbors, "_PAIRS", 40)
    monkeypatch.setattr(item_neighbors, "_ROWS", 7)
    messages = []
    again = [
        cooccurrence_graph(
            walks, similarity=similarity, progress=lambda text, share=None: messages.append((text, share))
        )
        for similarity in ("cosine", "sequence")
    ]
    assert graphs == again
    assert {text for text, _ in messages} == {"finding the nearest items", "counting successive visits"}
    assert all(0 < share <= 1 for _, share in messages)


@settings(max_examples=20)
@given(st.permutations(["b", "a", 2, 1, "10", (1, 2)]))
def test_labels_of_any_type(labels):
    graph = cooccurrence_graph(Trajectories.from_walks([list(labels)] * 2), fewest=1, neighbors=2)
    assert list(graph.labels) == sorted(labels, key=str)


@pytest.mark.parametrize("walks", [[["a"], ["b"]], [["a", "a"]]], ids=["one item each", "one item"])
def test_a_log_without_pairs_is_an_error(walks):
    with pytest.raises(WalkError, match=r"no two of the . items were visited by the same user.*--user, --item"):
        cooccurrence_graph(Trajectories.from_walks(walks), fewest=1)


@pytest.mark.parametrize("walks", [[], [[]]])
def test_an_empty_log_is_an_error(walks):
    with pytest.raises(WalkError, match="no two of the 0 items"):
        cooccurrence_graph(Trajectories.from_walks(walks))
