"""Maximal marginal relevance, as it is defined."""

from __future__ import annotations

import curiograph as cg


def select_by_marginal_relevance(graph: cg.Graph, pool: list, diversity: float, k: int) -> list:
    """Select k of (label, score) pairs, best first, by relevance minus similarity to those selected before."""
    around = {label: set(graph.skeleton.neighbors(label)) | {label} for label in graph.labels}
    low, high = min(score for _, score in pool), max(score for _, score in pool)
    rest, selected = list(pool), []
    while rest and len(selected) < k:

        def value(pair):
            u = around[pair[0]]
            similar = max((len(u & around[v]) / len(u | around[v]) for v, _ in selected), default=0.0)
            return (1 - diversity) * (pair[1] - low) / (high - low) - diversity * similar

        best = max(rest, key=value)
        selected.append(best)
        rest.remove(best)
    return selected
