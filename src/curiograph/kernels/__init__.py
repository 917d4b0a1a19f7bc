"""Numba functions on arrays: no objects, no input or output, no randomness except from a seed argument.

Importing this package is cheap: each module, and numba with it, is imported on first use.

>>> from curiograph import kernels
>>> kernels.csr.has_edge.__name__
'has_edge'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from curiograph.kernels import (
        all_pairs,
        beam,
        candidates,
        choice_logit,
        clusters,
        compressibility,
        csr,
        diversity,
        flexibility,
        greedy_walkers,
        homology,
        jit,
        lookahead,
        nearest_items,
        neighborhood,
        observation,
        pagerank,
        pagerank_batch,
        parts,
        push,
        random,
        rank_transition,
        rate_distortion,
        resampling,
        rewire,
        sampling,
        sequences,
        shortest_paths,
        similarity,
        subgraph_measures,
        subgraphs,
        text,
        voids,
        weighted,
    )

__all__ = [
    "all_pairs",
    "beam",
    "candidates",
    "choice_logit",
    "clusters",
    "compressibility",
    "csr",
    "diversity",
    "flexibility",
    "greedy_walkers",
    "homology",
    "jit",
    "lookahead",
    "nearest_items",
    "neighborhood",
    "observation",
    "pagerank",
    "pagerank_batch",
    "parts",
    "push",
    "random",
    "rank_transition",
    "rate_distortion",
    "resampling",
    "rewire",
    "sampling",
    "sequences",
    "shortest_paths",
    "similarity",
    "subgraph_measures",
    "subgraphs",
    "text",
    "voids",
    "weighted",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
