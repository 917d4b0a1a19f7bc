"""Measures of profiles by their definitions, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def find_communities(joined: np.ndarray) -> list[int]:
    """Merge the communities of the largest positive gain of modularity; of equal gains, the lowest first nodes."""
    degrees = joined.sum(axis=0).astype(int)
    total = int(degrees.sum())
    member = list(range(len(joined)))
    while True:
        names = sorted(set(member))
        gains = {}
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                inside = [[v for v, name in enumerate(member) if name == c] for c in (a, b)]
                edges = int(joined[np.ix_(*inside)].sum())
                gains[a, b] = total * edges - int(degrees[inside[0]].sum()) * int(degrees[inside[1]].sum())
        a, b = min(gains, key=lambda pair: (-gains[pair], pair), default=(0, 0))
        if not gains or gains[a, b] <= 0:
            return member
        member = [a if name == b else name for name in member]


def compute_entropy_rate(walk: Sequence[int]) -> float:
    """Return the Lempel-Ziv estimate of the entropy rate, with runs of visits as text."""
    if len(walk) < 2:
        return math.nan
    text = "".join(chr(65 + v) for v in walk)
    total = 0
    for t in range(len(text)):
        length = 1
        while t + length <= len(text) and text[t : t + length] in text[:t]:
            length += 1
        total += length
    return len(text) * math.log2(len(text)) / total


def compute_forward_flow(similarity: np.ndarray, walk: Sequence[int]) -> float:
    """Return the mean over visits of the mean distance to all earlier visits."""
    if len(walk) < 2:
        return math.nan
    distance = 1 - similarity
    np.fill_diagonal(distance, 0.0)
    return float(np.mean([np.mean([distance[walk[i], walk[t]] for i in range(t)]) for t in range(1, len(walk))]))


def cut_walk(walk: list[int], size: int) -> list[list[int]]:
    """Return the shortest blocks with `size` distinct nodes, one after the other."""
    blocks, block = [], []
    for node in walk:
        block.append(node)
        if len(set(block)) == size:
            blocks.append(block)
            block = []
    return blocks
