"""Pairs of clusters that each heuristic of Lynn and Bassett (2021) evaluates, by their definitions.

Each function takes the joint probabilities of the clusters, in the order of their lowest nodes, and returns pairs.
Values are rounded, so that equal ones are equal; of those the lowest pairs count.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from oracles.reference import AllowedPairs

PairList = list[tuple[int, int]]


def list_all(joint: np.ndarray) -> PairList:
    return list(combinations(range(len(joint)), 2))


def list_edges(joint: np.ndarray) -> PairList:
    """Return the pairs joined by an edge, all pairs if there are none."""
    return [(a, b) for a, b in list_all(joint) if joint[a, b] + joint[b, a] > 0] or list_all(joint)


def list_largest_joint(count: int) -> AllowedPairs:
    def list_pairs(joint: np.ndarray) -> PairList:
        return sorted(list_edges(joint), key=lambda pair: -round(joint[pair] + joint[pair[::-1]], 12))[:count]

    return list_pairs


def list_largest_joint_and_self(count: int) -> AllowedPairs:
    def list_pairs(joint: np.ndarray) -> PairList:
        own = np.diag(joint)
        values = {(a, b): joint[a, b] + joint[b, a] + own[a] + own[b] for a, b in list_all(joint)}
        some = [pair for pair, value in values.items() if value > 0] or list_all(joint)
        return sorted(some, key=lambda pair: -round(values[pair], 12))[:count]

    return list_pairs


def list_largest_stationary(count: int) -> AllowedPairs:
    def list_pairs(joint: np.ndarray) -> PairList:
        pi = joint.sum(axis=1)
        return sorted(list_all(joint), key=lambda pair: -round(pi[pair[0]] + pi[pair[1]], 12))[:count]

    return list_pairs


def list_single(size: int) -> AllowedPairs:
    """One cluster begins with the first and the last of `size` nodes and absorbs the others in order."""

    def list_pairs(joint: np.ndarray) -> PairList:
        return [(0, len(joint) - 1 if len(joint) == size else 1)]

    return list_pairs


def make_heuristics(size: int, count: int) -> dict[str, AllowedPairs]:
    """Return the heuristics without random numbers by name, for a graph of `size` nodes and `count` pairs."""
    return {
        "all": list_all,
        "edges": list_edges,
        "joint": list_largest_joint(count),
        "joint-self": list_largest_joint_and_self(count),
        "stationary": list_largest_stationary(count),
        "single": list_single(size),
    }
