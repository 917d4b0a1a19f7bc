"""Where the nodes of a growing walk are drawn: each new one near its neighbours, and nobody jumps."""

from __future__ import annotations

import numpy as np

from curiograph.arrays import Float64, Int64

_ROUNDS = 4_000
"""Nodes times rounds of settling per step: keeps a step of a long walk as quick as that of a short one."""

_STRETCHED = 1.5
"""How much more the narrow direction may be stretched than the wide one, to fill the picture."""


def relax_layout(places: Float64, edges: Int64) -> Float64:
    """The places after nodes have pushed each other apart and edges have pulled them together, a little.

    Places are centred and fill the square from -1 to 1. `edges` has a row of two indices for each edge.

    >>> apart = relax_layout(np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]]), np.array([[0, 1], [1, 2]]))
    >>> float(np.abs(apart).max())
    1.0
    """
    count = len(places)
    if count == 1:
        return np.zeros((1, 2))
    ideal = 2.0 / np.sqrt(count)  # distance between neighbours if they filled the square evenly
    places = places.copy()
    rounds = max(6, min(60, _ROUNDS // count))
    for heat in np.linspace(ideal / 2, ideal / 20, rounds):
        pull = _repulsion(places, ideal) + _attraction(places, edges, ideal)
        pull -= 0.3 * places  # parts that nothing links do not drift away
        strength = np.linalg.norm(pull, axis=1, keepdims=True)
        places += pull / np.maximum(strength, 1e-9) * np.minimum(strength, heat)
    places -= (places.max(axis=0) + places.min(axis=0)) / 2
    extent = np.maximum(np.abs(places).max(axis=0), 1e-9)
    filled: Float64 = places / np.maximum(extent, extent.max() / _STRETCHED)
    return filled


def _repulsion(places: Float64, ideal: float) -> Float64:
    """Every node away from every other, the nearer the stronger."""
    lengths = (places**2).sum(axis=1)
    squared = np.maximum(lengths[:, None] + lengths - 2 * (places @ places.T), 1e-4)
    strength = ideal**2 / squared
    pushed: Float64 = places * strength.sum(axis=1, keepdims=True) - strength @ places
    return pushed


def _attraction(places: Float64, edges: Int64, ideal: float) -> Float64:
    """Neighbours towards each other, the further the stronger."""
    towards = places[edges[:, 1]] - places[edges[:, 0]]
    force = towards * np.linalg.norm(towards, axis=1, keepdims=True) / ideal
    count = len(places)
    along = (np.bincount(edges[:, 0], axis, count) - np.bincount(edges[:, 1], axis, count) for axis in force.T)
    return np.column_stack(list(along))


def place_new_node(places: Float64, neighbours: Int64, last: int) -> Float64:
    """A first place for a new node: beside its visited neighbours, or the last node, away from the middle.

    >>> place_new_node(np.array([[0.5, 0.0]]), np.array([0]), 0).round(2).tolist()
    [0.79, 0.12]
    """
    around = places[neighbours] if len(neighbours) else places[last : last + 1]
    centre = around.mean(axis=0)
    angle = 2.399963 * len(places)  # the golden angle: new nodes never fall on each other
    turned = np.array([np.cos(angle), np.sin(angle)])
    outward = centre / max(1e-9, float(np.linalg.norm(centre))) if np.any(centre) else turned
    placed: Float64 = centre + (0.7 * outward + 0.3 * turned) * 1.2 / np.sqrt(len(places) + 3)
    return placed
