"""Graphs of items visited by the same people, against a twin of dicts; cores."""

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
from curiograph.human.data import incidence as incidence_module
from curiograph.human.data.cooccurrence import cooccurrence_graph, core
from curiograph.human.trajectories import Trajectories

ITEMS = 7
USERS = 9
visits = st.lists(
    st.tuples(st.integers(0, USERS - 1), st.lists(st.integers(0, ITEMS - 1), max_size=8)), min_size=8, max_size=20
)
settings_of_graphs = st.fixed_dictionaries(
    {
        "similarity": st.sampled_from(["cosine", "pmi"]),
        "keep": st.sampled_from(["highest", "nearest"]),
        "mean_degree": st.sampled_from([0.7, 1, 1.5, 2, 3]),
        "fewest": st.integers(1, 4),
    }
)


def walks_of(pairs):
    """Walks over numbered items, each by the user in front of it."""
    lengths = [len(walk) for _, walk in pairs]
    return Trajectories.from_arrays(
        np.array([item for _, walk in pairs for item in walk], np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        RangeLabels(ITEMS),
        np.array([user for user, _ in pairs], np.int64),
        RangeLabels(USERS),
    )


def made(walks, settings):
    """The graph, or None where there are too few pairs for one."""
    try:
        return cooccurrence_graph(walks, **settings)
    except SettingError:
        return None


def ordered_pairs(walks, similarity, mean_degree, fewest, keep):
    """Items and pairs, best first, by counting."""
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


def twin(walks, settings):
    """The graph by networkx, or None where there are too few pairs for one."""
    items, pairs = ordered_pairs(walks, **settings)
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


@given(visits, settings_of_graphs)
def test_the_same_as_by_counting(pairs, settings):
    walks = walks_of(pairs)
    found = made(walks, settings)
    expected = twin(walks, settings)
    assert (found is None) == (expected is None)
    if found is not None:
        edges = [(a, b) for a in found.labels for b in found.neighbors(a) if a < b]
        assert (found.labels, edges) == expected


@given(visits, settings_of_graphs, st.randoms(use_true_random=False))
def test_the_order_of_walks_and_the_numbers_of_users_do_not_matter(pairs, settings, random):
    walks = walks_of(pairs)
    shuffled = list(range(len(walks)))
    random.shuffle(shuffled)
    renamed = walks_of([(USERS - 1 - user, walk) for user, walk in pairs])
    assert made(walks.rows(shuffled), settings) == made(walks, settings) == made(renamed, settings)


def test_walks_that_are_not_given_do_not_count():
    train, _ = groups().split(0.3, seed=1)
    alone = Trajectories.from_arrays(train.nodes, train.offsets, train.names, train.users, train.user_names)
    assert cooccurrence_graph(train, mean_degree=4) == cooccurrence_graph(alone, mean_degree=4)
    assert cooccurrence_graph(train, mean_degree=4) != cooccurrence_graph(groups(), mean_degree=4)


def test_blocks_do_not_change_the_graph(monkeypatch):
    whole = [cooccurrence_graph(groups(), mean_degree=6, keep=keep) for keep in ("highest", "nearest")]
    monkeypatch.setattr(incidence_module, "_ENTRIES", 100)
    assert whole == [cooccurrence_graph(groups(), mean_degree=6, keep=keep) for keep in ("highest", "nearest")]


def groups(users=60):
    """Users who each visit items around one of their own, so that near items share many."""
    rng = np.random.default_rng(0)
    near = [(rng.integers(40) + rng.permutation(12)[:8]) % 40 for _ in range(users)]
    return Trajectories.from_walks([walk.tolist() for walk in near])


@pytest.mark.parametrize("keep", ["highest", "nearest"])
@pytest.mark.parametrize("similarity", ["cosine", "pmi"])
def test_the_mean_degree_is_the_wanted_one(similarity, keep):
    g = cooccurrence_graph(groups(200), similarity=similarity, mean_degree=6, keep=keep)
    assert g.degrees.mean() == pytest.approx(6, rel=0.02)
    assert nx.is_connected(g.to_networkx())
    assert not g.directed
    assert g.weights is None


def test_nearest_keeps_the_items_that_a_dense_group_would_push_out():
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
        ({"similarity": "jaccard"}, UnknownNameError, "similarity is 'jaccard'; give cosine or pmi"),
        ({"keep": "best"}, UnknownNameError, "keep is 'best'; give highest or nearest"),
        ({"mean_degree": float("nan")}, SettingError, "mean_degree is nan"),
        ({"mean_degree": 0}, SettingError, "mean_degree is 0"),
        ({"mean_degree": "16"}, SettingError, "mean_degree is '16'"),
        ({"mean_degree": 1e300}, SettingError, "make only .* pairs, a mean degree of .*; ask for less"),
        ({"mean_degree": 1e9, "keep": "nearest"}, SettingError, "make only .* pairs"),
        ({"fewest": 0}, SettingError, "fewest is 0"),
        ({"fewest": 1000}, SettingError, "the 0 items that 1000 users or more visited make only 0 pairs"),
    ],
)
def test_bad_settings_are_named(settings, error, message):
    with pytest.raises(error, match=message):
        cooccurrence_graph(groups(), **settings)


@pytest.mark.parametrize("keep", ["highest", "nearest"])
@pytest.mark.parametrize("walks", [[], [[]], [["a", "b", "c"]]], ids=["none", "empty", "one user"])
def test_too_little_to_make_a_graph_of(walks, keep):
    with pytest.raises(SettingError, match="make only 0 pairs"):
        cooccurrence_graph(Trajectories.from_walks(walks), keep=keep, fewest=1, mean_degree=1)


# ---- cores ----------------------------------------------------------------------------------------------------------


@given(visits, st.integers(1, 3), st.integers(1, 3))
def test_the_core_is_the_largest_set_that_keeps_both_rules(pairs, item_users, user_items):
    held = {(user, item) for user, walk in pairs for item in walk}
    while True:
        users, items = Counter(user for user, _ in held), Counter(item for _, item in held)
        kept = {(u, i) for u, i in held if users[u] >= user_items and items[i] >= item_users}
        if kept == held:
            break
        held = kept
    assume(held)
    dense = core(walks_of(pairs), item_users, user_items)
    found = {(int(dense.users[number]), label) for number in range(len(dense)) for label in dense.labels(number)}
    assert found == held
    assert list(dense.names) == sorted({item for _, item in held})


@pytest.mark.parametrize("walks", [[], [["a", "b"]]])
def test_an_empty_core_is_an_error(walks):
    with pytest.raises(WalkError, match="no items are left that 2 users visited who visited 1 of them"):
        core(Trajectories.from_walks(walks), item_users=2, user_items=1)


@pytest.mark.parametrize("settings", [{"item_users": 0}, {"user_items": 1.5}])
def test_bad_settings_of_a_core_are_named(settings):
    with pytest.raises(SettingError, match=next(iter(settings))):
        core(groups(), **settings)
