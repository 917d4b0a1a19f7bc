"""Layout of a growing walk: each new node is placed, and nodes placed before never move.

The layout is a function of the visited subgraph in order of visit, so that a shared link gives the same picture.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curiograph.arrays import Float64

_MAX_CAREFUL = 60
"""Number of nodes up to which links that cross are avoided; longer walks have too many to distinguish."""
_MAX_DISTANCE = 5.0
"""Maximum distance of two nodes that the layout tries to show."""
_MIN_SPACE = 0.75
"""Minimum distance of two nodes where there is room; neighbors are ideally at distance 1."""
_MARGIN = 0.3
"""Minimum distance of visited nodes from the border of the visible area."""
_RING = 0.95
"""Minimum distance of candidates from the last node; it grows with the visible area."""


def extend_layout(coordinates: Float64, edges: Sequence[tuple[int, int]], count: int) -> Float64:
    """Place further nodes of a walk, up to `count`; `edges` are pairs of steps, the earlier first.

    Distances between the new node and the others approximate those in the visited subgraph, so that a gap becomes a
    ring around an empty area.

    >>> square = extend_layout(np.zeros((1, 2)), [(0, 1), (1, 2), (2, 3), (0, 3)], 4)
    >>> square[0].tolist(), len(square)
    ([0.0, 0.0], 4)
    """
    neighbors: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        neighbors[b].append(a)
    placed = np.zeros((count, 2))
    placed[: len(coordinates)] = coordinates
    lines = np.array([edge for edge in edges if edge[1] < len(coordinates)], np.int64).reshape(-1, 2)
    for node in range(max(1, len(coordinates)), count):
        placed[node] = _place_node(placed[:node], neighbors, lines)
        lines = np.vstack([lines, [(other, node) for other in neighbors[node]] or np.empty((0, 2), np.int64)])
    return placed


def _place_node(coordinates: Float64, neighbors: Sequence[Sequence[int]], lines: np.ndarray) -> Float64:
    """Choose the best of many places for the next node."""
    count = len(coordinates)
    distances = _measure_distances(neighbors, count)
    anchors = coordinates[list(neighbors[count]) or [count - 1]]
    careful = count <= _MAX_CAREFUL
    if careful:
        spacing, center = 0.2, anchors.mean(axis=0)
        lowest, highest = center - 2.4, center + 2.4
    else:
        spacing, lowest, highest = 0.5, coordinates.min(axis=0) - 1, coordinates.max(axis=0) + 1
    shift = np.array([0.618034, 0.754878]) * count % 1 * spacing  # places of different nodes are not on one grid
    grid = [np.arange(low, high, spacing) for low, high in zip(lowest + shift, highest, strict=True)]
    places = np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1).reshape(-1, 2)
    apart = np.linalg.norm(places[:, None] - coordinates, axis=2)
    cost = (((apart - distances) / distances) ** 2).mean(axis=1)
    cost += 20 * (np.maximum(0, _MIN_SPACE - apart) ** 2).sum(axis=1)
    cost += 0.01 * (places**2 * [0.6, 1.0]).sum(axis=1)  # walks stay near the center; pictures are wider than high
    if careful and len(lines):
        best = np.argsort(cost, kind="stable")[:150]
        places, cost = places[best], cost[best]
        cost += 0.08 * _count_crossings(places, anchors, coordinates[lines])
        starts, ends = coordinates[lines].transpose(1, 0, 2)
        cost += 0.5 * (_measure_clearance(places[:, None], starts, ends) < 0.28).sum(axis=1)
    if careful:
        links = _measure_clearance(coordinates, places[:, None, None], anchors[:, None])
        cost += 0.3 * (links < 0.2).sum(axis=(1, 2))  # every link is near its own end
    chosen: Float64 = places[np.argmin(cost)]
    return chosen


def _measure_distances(neighbors: Sequence[Sequence[int]], node: int) -> Float64:
    """Measure the distances from a node to the earlier ones by breadth-first search among them."""
    later: list[list[int]] = [[] for _ in range(node)]
    for other in range(node):
        for earlier in neighbors[other]:
            later[earlier].append(other)
    distances = np.full(node, _MAX_DISTANCE)
    ring, reached, distance = list(neighbors[node]) or [node - 1], set[int](), 1.0 if neighbors[node] else 2.0
    while ring and distance < _MAX_DISTANCE:
        distances[ring] = distance
        reached.update(ring)
        ring = list({near for other in ring for near in (*neighbors[other], *later[other])} - reached)
        distance += 1
    return distances


def _count_crossings(places: Float64, anchors: Float64, lines: Float64) -> Float64:
    """Count how many lines the links from each place to the anchors would cross."""

    def turn(a: Float64, b: Float64, c: Float64) -> Float64:
        first, second = b - a, c - a
        product = first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
        direction: Float64 = np.where(np.abs(product) < 1e-9, 0, np.sign(product))  # 0 where links share a node
        return direction

    place, anchor = places[:, None, None], anchors[None, :, None]
    start, end = lines[None, None, :, 0], lines[None, None, :, 1]
    crossed = turn(place, anchor, start) * turn(place, anchor, end) < 0
    crossed &= turn(start, end, place) * turn(start, end, anchor) < 0
    count: Float64 = crossed.sum(axis=(1, 2)).astype(np.float64)
    return count


def _measure_clearance(points: Float64, starts: Float64, ends: Float64) -> Float64:
    """Measure the distances of points to lines; all three broadcast.

    >>> _measure_clearance(np.array([1.0, 2.0]), np.zeros(2), np.array([3.0, 0.0])).tolist()
    2.0
    """
    direction, offset = ends - starts, points - starts
    share = np.clip((offset * direction).sum(axis=-1) / np.maximum((direction**2).sum(axis=-1), 1e-9), 0, 1)
    clearance: Float64 = np.linalg.norm(offset - share[..., None] * direction, axis=-1)
    return clearance


def place_candidates(coordinates: Float64, count: int) -> Float64:
    """Place candidates around the last node, away from each other and from the visited nodes.

    >>> place_candidates(np.zeros((1, 2)), 4).shape
    (4, 2)
    """
    last = coordinates[-1]
    left, top, right, bottom = compute_visible_area(coordinates)
    ring = max(_RING, 0.14 * (right - left), 0.14 * (bottom - top))
    angles = 2 * np.pi * (np.arange(36) + 0.5) / 36
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    places = np.vstack([last + radius * circle for radius in (ring, 1.35 * ring)])
    border = 0.2 * ring
    inside = (places > [left + border, top + border]) & (places < [right - border, bottom - border])
    places = places[inside.all(axis=1)]
    outward = 0.1 * np.linalg.norm(places - coordinates.mean(axis=0), axis=1)
    chosen = np.empty((0, 2))
    for _ in range(count):
        difference = places[:, None] - np.vstack([coordinates, chosen])
        apart = np.linalg.norm(difference * [0.45, 1.0], axis=2)  # names need more room to the side
        apart[:, : len(coordinates)] *= 3  # it matters more that candidates are apart from each other
        free = np.argmax(np.minimum(apart.min(axis=1), 0.45 * ring) + outward)
        chosen = np.vstack([chosen, places[free]])
    return chosen


def compute_visible_area(coordinates: Float64) -> list[float]:
    """Compute the visible area of a walk: left, top, right and bottom.

    It is that of the walk one step before unless the last node would be too near the border; then it grows by more than
    is needed, so that most steps do not change it.

    >>> compute_visible_area(np.zeros((1, 2)))
    [-2.0, -1.6, 2.0, 1.6]
    """
    low, high = np.array([-2.0, -1.6]), np.array([2.0, 1.6])
    for count, place in enumerate(coordinates, start=1):
        is_low, is_high = place - _MARGIN < low, place + _MARGIN > high
        if np.any(is_low | is_high):
            lowest, highest = coordinates[:count].min(axis=0), coordinates[:count].max(axis=0)
            space = 1.1 + 0.2 * (highest - lowest)
            low = np.where(is_low, lowest - space, np.maximum(low, lowest - space))
            high = np.where(is_high, highest + space, np.minimum(high, highest + space))
    return [*low.round(3).tolist(), *high.round(3).tolist()]
