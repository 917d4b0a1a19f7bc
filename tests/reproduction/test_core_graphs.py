"""Graphs of the most similar pairs, and dense cores, against references that count with dictionaries."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import WalkError
from reproduction.core_graphs import core, link_highest
from support.item_logs import LOGS, SIMILARITIES, build_or_none, list_edges, list_histories, make_walks


def build_highest_slowly(walks, similarity, mean_degree, fewest):
    """Return nodes and edges by counting and networkx, or None if there are too few pairs."""
    held = {user: {item for walk in history for item in walk} for user, history in list_histories(walks).items()}
    single = Counter(item for items in held.values() for item in items)
    position = {item: number for number, item in enumerate(walks.names)}
    both = Counter(pair for items in held.values() for pair in combinations(sorted(items, key=position.get), 2))
    items = sorted((item for item, users in single.items() if users >= fewest), key=position.get)
    value = {}
    for (a, b), users in both.items():
        product = single[a] * single[b]
        positive = similarity == "cosine" or users * len(held) > product
        if a in items and b in items and users >= 3 and positive:
            value[a, b] = Fraction(users**2 if similarity == "cosine" else users, product)
    pairs = sorted(value, key=lambda pair: (-value[pair], position[pair[0]], position[pair[1]]))
    count = round(mean_degree * len(items) / 2)
    if len(pairs) < max(count, 1):
        return None
    while True:
        g = nx.Graph()
        g.add_nodes_from(items)
        g.add_edges_from(pairs[:count])
        inside = max(nx.connected_components(g), key=lambda nodes: (len(nodes), -min(map(position.get, nodes))))
        edges = {tuple(sorted(edge)) for edge in g.subgraph(inside).edges}
        surplus = len(edges) - round(mean_degree * len(inside) / 2)
        if surplus <= 0:
            return sorted(inside, key=position.get), edges
        count -= surplus


@given(LOGS, SIMILARITIES, st.sampled_from([0.7, 1, 1.5, 2, 3]), st.integers(1, 4), st.randoms(use_true_random=False))
def test_highest_pairs_against_reference(log, similarity, mean_degree, fewest, rng):
    walks = make_walks(log)
    settings = {"similarity": similarity, "mean_degree": mean_degree, "fewest": fewest}
    found = build_or_none(link_highest, walks, **settings)
    expected = build_highest_slowly(walks, **settings)
    assert (found is None) == (expected is None)
    if found is not None:
        assert (found.labels, list_edges(found)) == expected
    shuffled = walks[rng.sample(range(len(walks)), len(walks))]
    assert build_or_none(link_highest, shuffled, **settings) == found


@given(LOGS, st.integers(1, 3), st.integers(1, 3))
def test_core_against_reference(log, item_users, user_items):
    held = {(user, item) for user, walk in log for item in walk}
    while True:
        users, items = Counter(user for user, _ in held), Counter(item for _, item in held)
        kept = {(u, i) for u, i in held if users[u] >= user_items and items[i] >= item_users}
        if kept == held:
            break
        held = kept
    if not held:
        with pytest.raises(WalkError, match=f"{item_users} users visited"):
            core(make_walks(log), item_users, user_items)
        return
    dense = core(make_walks(log), item_users, user_items)
    assert {(dense.user(number), label) for number, walk in enumerate(dense) for label in walk} == held
    assert set(dense.names) == {item for _, item in held}
