"""Nearest items of a log by their definition, with dictionaries and fractions."""

from __future__ import annotations

from collections import defaultdict
from math import log2, sqrt


def list_similarities(histories, similarity, shrinkage=0.0, half_life=2.0):
    """Return the number of users of each item, and the similarities and counts of ordered pairs of items.

    `histories` has for each user a list of walks, each a list of items.
    """
    num_users, common = defaultdict(int), defaultdict(float)
    for walks in histories.values():
        items = {item for walk in walks for item in walk}
        for item in items:
            num_users[item] += 1
        gaps: dict = {}
        for walk in walks:
            for i, a in enumerate(walk):
                for j, b in enumerate(walk):
                    if a != b:
                        gaps[a, b] = min(gaps.get((a, b), len(walk)), abs(i - j))
        for a in items:
            for b in items - {a}:
                if similarity != "sequence":
                    common[a, b] += 1
                elif gaps.get((a, b), 10**9) <= 1 + 6 * half_life:
                    common[a, b] += round(2**20 * 0.5 ** ((gaps[a, b] - 1) / half_life)) / 2**20
    similar = {}
    for (a, b), shared in common.items():
        product = num_users[a] * num_users[b]
        value = log2(shared * len(histories) / product) if similarity == "pmi" else sqrt(shared**2 / product)
        similar[a, b] = value * shared / (shared + shrinkage) if value > 0 else value
    return dict(num_users), similar, common


def build_knn_graph(histories, similarity, neighbors, fewest, shrinkage=0.0, half_life=2.0):
    """Return the edges as a set of sorted pairs."""
    num_users, similar, common = list_similarities(histories, similarity, shrinkage, half_life)
    items = sorted(num_users, key=str)
    position = {item: place for place, item in enumerate(items)}
    edges = set()
    for item in items:
        others = [other for other in items if (item, other) in similar]
        supported = [other for other in others if num_users[other] >= fewest]
        is_rare = num_users[item] < fewest or not supported
        count, scores = (min(neighbors, 3), {}) if is_rare else (neighbors, similar)
        if is_rare:
            scores = {pair: value * value / (value + shrinkage) for pair, value in common.items()}
        ranked = sorted(
            supported or others,
            key=lambda other: (-scores[item, other], (position[other] - position[item]) * 2654435761 % 2**32),
        )
        edges |= {tuple(sorted((item, other), key=str)) for other in ranked[:count]}
    return edges
