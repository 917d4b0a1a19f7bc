"""Nearest items of a log by their definition, with dictionaries."""

from __future__ import annotations

from collections import defaultdict
from math import log2, sqrt


def list_similarities(histories, similarity):
    """Return the number of users of each item, and the similarities and cosines of ordered pairs of items.

    `histories` has for each user a list of walks, each a list of items.
    """
    num_users, common = defaultdict(int), defaultdict(int)
    for walks in histories.values():
        items = {item for walk in walks for item in walk}
        for a in items:
            num_users[a] += 1
            for b in items - {a}:
                common[a, b] += 1
    similar, cosines = {}, {}
    for (a, b), shared in common.items():
        product = num_users[a] * num_users[b]
        cosines[a, b] = sqrt(shared**2 / product)
        similar[a, b] = log2(shared * len(histories) / product) if similarity == "pmi" else cosines[a, b]
    return dict(num_users), similar, cosines


def build_knn_graph(histories, similarity, neighbors, fewest):
    """Return the weights of the edges by sorted pair, for logs too small for an item to run out of room."""
    num_users, similar, cosines = list_similarities(histories, similarity)
    items = sorted(num_users, key=str)
    position = {item: place for place, item in enumerate(items)}
    edges = {}
    for item in items:
        others = [other for other in items if (item, other) in similar]
        supported = [other for other in others if num_users[other] >= fewest]
        is_rare = num_users[item] < fewest or not supported
        count, scores = (min(neighbors, 3), cosines) if is_rare else (neighbors, similar)
        ranked = sorted(
            supported or others,
            key=lambda other: (-scores[item, other], (position[other] - position[item]) * 2654435761 % 2**32),
        )
        edges |= {tuple(sorted((item, other), key=str)): cosines[item, other] for other in ranked[:count]}
    return edges
