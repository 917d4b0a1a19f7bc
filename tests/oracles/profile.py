"""Measures of profiles by their definitions, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


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
