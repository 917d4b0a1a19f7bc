"""Other ways to compute the rewards, for speed comparisons: other libraries, and a direct implementation of cpt."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from curiograph.arrays import Float64


def find_gap_peers() -> dict[str, Callable[[Float64], int]]:
    """Return the functions that compute beta_1 from an adjacency matrix, of the libraries that are installed."""
    peers: dict[str, Callable[[Float64], int]] = {}
    for name, compute_beta1 in (("ripser", compute_ripser_beta1), ("gudhi", compute_gudhi_beta1)):
        with suppress(ImportError):  # the report lists what is missing
            peers[name] = partial(compute_beta1, import_module(name))
    return peers


def compute_slow_compressibility(adjacency: Float64) -> float:
    """Compute the compressibility of a graph with self-loops from the definition of the information rate."""
    joint = adjacency + np.eye(len(adjacency))
    rates = [_compute_information_rate(joint)]
    while len(joint) > 1:
        options = [_merge_clusters(joint, i, j) for i, j in itertools.combinations(range(len(joint)), 2)]
        option_rates = [_compute_information_rate(option) for option in options]
        best = int(np.argmin(np.round(option_rates, 11)))
        joint = options[best]
        rates.append(option_rates[best])
    return rates[0] - float(np.mean(rates))


def _compute_information_rate(joint: Float64) -> float:
    """Compute - sum_i pi_i sum_j P_ij log2 P_ij."""
    out = joint.sum(axis=1)
    stationary = out / out.sum()
    steps = joint / out[:, None]
    logs = np.log2(steps, where=steps > 0, out=np.zeros_like(steps))
    return float(-np.sum(stationary * np.sum(steps * logs, axis=1)))


def _merge_clusters(joint: Float64, i: int, j: int) -> Float64:
    """Merge cluster j into cluster i < j."""
    joint = joint.copy()
    joint[i] += joint[j]
    joint[:, i] += joint[:, j]
    return np.delete(np.delete(joint, j, axis=0), j, axis=1)


def compute_ripser_beta1(ripser: Any, adjacency: Float64) -> int:
    """Compute beta_1 of a clique complex by ripser."""
    found = ripser.ripser(_get_distances(adjacency), distance_matrix=True, maxdim=1, thresh=1.0)
    return len(found["dgms"][1])


def compute_gudhi_beta1(gudhi: Any, adjacency: Float64) -> int:
    """Compute beta_1 of a clique complex by gudhi, in the fastest way that it offers."""
    tree = gudhi.SimplexTree.create_from_array(_get_distances(adjacency), max_filtration=1.0)
    tree.expansion(2)
    tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
    betti = tree.betti_numbers()
    return int(betti[1]) if len(betti) > 1 else 0


def _get_distances(adjacency: Float64) -> Float64:
    """Return distances of 1 between neighbors, and infinity between others."""
    distances = np.where(adjacency > 0, 1.0, np.inf)
    np.fill_diagonal(distances, 0.0)
    return distances
