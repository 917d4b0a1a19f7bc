"""Co-occurrence graphs against a reference that counts with dictionaries, and dense cores."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from curiograph.errors import SettingError, UnknownNameError, WalkError
from curiograph.graph.labels import RangeLabels
from curiograph.human.data.cooccurrence import cooccurrence_graph, core
from curiograph.human.trajectories import Trajectories
from curiograph.recommendation import incidence as incidence_module

ITEMS = 7
USERS = 9
visits = st.lists(
    st.tuples(st.integers(0, USERS - 1), st.lists(st.integers(0, ITEMS - 1), max_size=8)), min_size=8, max_size=20
)
graph_settings = st.fixed_dictionaries(
    {
        "similarity": st.sampled_from(["cosine", "pmi"]),
        "keep": st.sampled_from(["highest", "nearest"]),
        "mean_degree": st.sampled_from([0.7, 1, 1.5, 2, 3]),
        "fewest": st.integers(1, 4),
    }
)


def make_walks(pairs):
    """Return walks over numbered items from pairs of user and items."""
    lengths = [len(walk) for _, walk in pairs]
    return Trajectories.from_arrays(
        np.array([item for _, walk in pairs for item in walk], np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        RangeLabels(ITEMS),
        np.array([user for user, _ in pairs], np.int64),
        RangeLabels(USERS),
    )


def build_or_none(walks, settings):
    """Return the graph, or None if there are too few pairs."""
    try:
        return cooccurrence_graph(walks, **settings)
    except SettingError:
        return None


def rank_pairs(walks, similarity, mean_degree, fewest, keep):
    """Return items and pairs, best first, by counting."""
    held = {}
    for number, user in enumerate(walks.users.tolist()):
        held.setdefault(user, set()).update(walks.walk(number).tolist())
    single = Counter(item for items in held.values() for item in items)
    both = Counter(pair for items in held.values() for pair in combinations(sorted(items), 2))
    items = sorted(item for item, users in single.items() if users >= fewest)
    value = {}
    for (a, b), users in both.items():
        product = single[a] * single[b]
        positive = similarity == "cosine" or users * len(held) > product
        if a in items and b in items and users >= 3 and positive:
            value[a, b] = Fraction(users**2 if similarity == "cosine" else users, product)
    if keep == "highest":
        return items, sorted(value, key=lambda pair: (-value[pair], pair))
    rank = {}
    for item in items:
        mine = sorted((-value[pair], sum(pair) - item, pair) for pair in value if item in pair)
        for place, (_, _, pair) in enumerate(mine[: int(np.ceil(mean_degree))]):
            rank[pair] = min(place, rank.get(pair, place))
    return items, sorted(rank, key=lambda pair: (rank[pair], -value[pair], pair))


def build_slowly(walks, settings):
    """Return nodes and edges by networkx, or None if there are too few pairs."""
    items, pairs = rank_pairs(walks, **settings)
    wanted = round(settings["mean_degree"] * len(items) / 2)
    if len(pairs) < max(wanted, 1):
        return None
    count = wanted
    while True:
        g = nx.Graph()
        g.add_nodes_from(items)
        g.add_edges_from(pairs[:count])
        inside = max(nx.connected_components(g), key=lambda nodes: (len(nodes), -min(nodes)))
        edges = sorted(tuple(sorted(edge)) for edge in g.subgraph(inside).edges)
        surplus = len(edges) - round(settings["mean_degree"] * len(inside) / 2)
        if surplus <= 0:
            return sorted(inside), edges
        count -= surplus


@given(visits, graph_settings)
def test_graph_against_reference(pairs, settings):
    walks = make_walks(pairs)
    found = build_or_none(walks, settings)
    expected = build_slowly(walks, settings)
    assert (found is None) == (expected is None)
    if found is not None:
        edges = [(a, b) for a in found.labels for b in found.neighbors(a) if a < b]
        assert (found.labels, edges) == expected


@given(visits, graph_settings, st.randoms(use_true_random=False))
def test_order_of_walks_and_user_numbers_are_irrelevant(pairs, settings, random):
    walks = make_walks(pairs)
    shuffled = list(range(len(walks)))
    random.shuffle(shuffled)
    renamed = make_walks([(USERS - 1 - user, walk) for user, walk in pairs])
    assert (
        build_or_none(walks.rows(shuffled), settings)
        == build_or_none(walks, settings)
        == build_or_none(renamed, settings)
    )


def test_only_the_given_walks_count():
    train, _ = make_clustered_walks().split(0.3, seed=1)
    alone = Trajectories.from_arrays(train.nodes, train.offsets, train.names, train.users, train.user_names)
    assert cooccurrence_graph(train, neighbors=4) == cooccurrence_graph(alone, neighbors=4)
    assert cooccurrence_graph(train, neighbors=4) != cooccurrence_graph(make_clustered_walks(), neighbors=4)


def test_block_size_does_not_change_the_graph(monkeypatch):
    whole = [cooccurrence_graph(make_clustered_walks(), mean_degree=6, keep=keep) for keep in ("highest", "nearest")]
    monkeypatch.setattr(incidence_module, "_ENTRIES", 100)
    assert whole == [
        cooccurrence_graph(make_clustered_walks(), mean_degree=6, keep=keep) for keep in ("highest", "nearest")
    ]


def make_clustered_walks(users=60):
    """Return walks of users who each visit items near a preferred one."""
    rng = np.random.default_rng(0)
    near = [(rng.integers(40) + rng.permutation(12)[:8]) % 40 for _ in range(users)]
    return Trajectories.from_walks([walk.tolist() for walk in near])


@pytest.mark.parametrize("keep", ["highest", "nearest"])
@pytest.mark.parametrize("similarity", ["cosine", "pmi"])
def test_mean_degree(similarity, keep):
    g = cooccurrence_graph(make_clustered_walks(200), similarity=similarity, mean_degree=6, keep=keep)
    assert g.degrees.mean() == pytest.approx(6, rel=0.02)
    assert nx.is_connected(g.to_networkx())
    assert not g.directed
    assert g.weights is None


def test_nearest_keeps_items_outside_of_dense_groups():
    clique = [list("abcdefgh")] * 9
    chain = [[f"n{i}", f"n{i + 1}", "a"] for i in range(12) for _ in range(3)]
    walks = Trajectories.from_walks(clique + chain)
    highest, nearest = (
        cooccurrence_graph(walks, mean_degree=2, keep=keep, fewest=3) for keep in ("highest", "nearest")
    )
    assert nearest.num_nodes > highest.num_nodes


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"similarity": "jaccard"}, UnknownNameError, "similarity is 'jaccard'; the choices are cosine, pmi, sequence"),
        ({"keep": "best"}, UnknownNameError, "keep is 'best'; the choices are knn, highest, nearest"),
        ({"keep": "highest", "mean_degree": float("nan")}, SettingError, "mean_degree is nan"),
        ({"keep": "highest", "mean_degree": 0}, SettingError, "mean_degree is 0"),
        ({"keep": "highest", "mean_degree": "16"}, SettingError, "mean_degree is '16'"),
        (
            {"keep": "highest", "mean_degree": 1e300},
            SettingError,
            r"make only .* pairs, a mean degree of .*; give a smaller mean_degree \(--mean-degree\)",
        ),
        ({"mean_degree": 1e9, "keep": "nearest"}, SettingError, "make only .* pairs"),
        ({"fewest": 0}, SettingError, "fewest is 0"),
        ({"fewest": 1000}, SettingError, r"fewest is 1000, but the most visited of the .* items has .*\(--fewest"),
        (
            {"keep": "highest", "fewest": 1000},
            SettingError,
            "the 0 items that 1000 users or more visited make only 0 pairs",
        ),
        ({"mean_degree": 8}, SettingError, r"mean_degree is 8, which is for .*--neighbors.*--item-graph highest"),
        ({"keep": "highest", "neighbors": 8}, SettingError, r"neighbors is 8, which is for .*--item-graph knn"),
        ({"keep": "nearest", "similarity": "sequence"}, SettingError, "similarity is 'sequence', which is for"),
        ({"neighbors": 0}, SettingError, "neighbors is 0"),
        ({"neighbors": 2.5}, SettingError, "neighbors is 2.5"),
        ({"shrinkage": -1}, SettingError, "shrinkage is -1"),
        ({"half_life": 0}, SettingError, "half_life is 0"),
        ({"max_items": 1}, SettingError, "max_items is 1"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        cooccurrence_graph(make_clustered_walks(), **settings)


@pytest.mark.parametrize("keep", ["highest", "nearest"])
@pytest.mark.parametrize("walks", [[], [[]], [["a", "b", "c"]]], ids=["none", "empty", "one user"])
def test_too_few_walks_for_a_graph(walks, keep):
    with pytest.raises(SettingError, match="make only 0 pairs"):
        cooccurrence_graph(Trajectories.from_walks(walks), keep=keep, fewest=1, mean_degree=1)


# ---- dense cores -----------------------------------------------------------------------------------------------------


@given(visits, st.integers(1, 3), st.integers(1, 3))
def test_core_against_reference(pairs, item_users, user_items):
    held = {(user, item) for user, walk in pairs for item in walk}
    while True:
        users, items = Counter(user for user, _ in held), Counter(item for _, item in held)
        kept = {(u, i) for u, i in held if users[u] >= user_items and items[i] >= item_users}
        if kept == held:
            break
        held = kept
    assume(held)
    dense = core(make_walks(pairs), item_users, user_items)
    found = {(int(dense.users[number]), label) for number in range(len(dense)) for label in dense.labels(number)}
    assert found == held
    assert list(dense.names) == sorted({item for _, item in held})


@pytest.mark.parametrize("walks", [[], [["a", "b"]]])
def test_empty_core_is_an_error(walks):
    with pytest.raises(
        WalkError,
        match=r"no items are left that 2 users visited who visited 1 of them; .*--item-users.*--item-graph knn",
    ):
        core(Trajectories.from_walks(walks), item_users=2, user_items=1)


@pytest.mark.parametrize("settings", [{"item_users": 0}, {"user_items": 1.5}])
def test_bad_core_settings(settings):
    with pytest.raises(SettingError, match=next(iter(settings))):
        core(make_clustered_walks(), **settings)
