"""What others would run instead: peers called per candidate, and a slow twin that follows the paper's definition."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from curiograph.arrays import Float64


def slow_compressibility(adjacency: Float64) -> float:
    """Compressibility of a graph with self-loops, every clustering's information rate taken from its definition."""
    joint = adjacency + np.eye(len(adjacency))
    rates = [_information_rate(joint)]
    while len(joint) > 1:
        options = [_merged(joint, i, j) for i, j in itertools.combinations(range(len(joint)), 2)]
        option_rates = [_information_rate(option) for option in options]
        best = int(np.argmin(np.round(option_rates, 11)))
        joint = options[best]
        rates.append(option_rates[best])
    return rates[0] - float(np.mean(rates))


def _information_rate(joint: Float64) -> float:
    """- sum_i pi_i sum_j P_ij log2 P_ij."""
    out = joint.sum(axis=1)
    stationary = out / out.sum()
    steps = joint / out[:, None]
    logs = np.log2(steps, where=steps > 0, out=np.zeros_like(steps))
    return float(-np.sum(stationary * np.sum(steps * logs, axis=1)))


def _merged(joint: Float64, i: int, j: int) -> Float64:
    """Cluster j joined to cluster i < j."""
    joint = joint.copy()
    joint[i] += joint[j]
    joint[:, i] += joint[:, j]
    return np.delete(np.delete(joint, j, axis=0), j, axis=1)


def ripser_beta1(ripser: Any, adjacency: Float64) -> int:
    """beta_1 of a clique complex by ripser: neighbours at distance 1, all others never."""
    distances = np.where(adjacency > 0, 1.0, np.inf)
    np.fill_diagonal(distances, 0.0)
    diagrams = ripser.ripser(distances, distance_matrix=True, maxdim=1, thresh=1.0)["dgms"]
    return len(diagrams[1])


def gudhi_beta1(gudhi: Any, adjacency: Float64) -> int:
    """beta_1 of a clique complex by gudhi, in the fastest of the ways it offers."""
    distances = np.where(adjacency > 0, 1.0, np.inf)
    np.fill_diagonal(distances, 0.0)
    tree = gudhi.SimplexTree.create_from_array(distances, max_filtration=1.0)
    tree.expansion(2)
    tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
    betti = tree.betti_numbers()
    return int(betti[1]) if len(betti) > 1 else 0
