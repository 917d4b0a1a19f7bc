"""Building blocks of the NumPy inference of trained agents."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from curiograph import kernels
from curiograph.arrays import Float32
from curiograph.errors import AgentError

Weights = Mapping[str, Float32]

SCORE_TOLERANCE = 5e-6
"""Relative difference below which scores are equal, given the noise of single precision."""


def apply_dense(weights: Weights, name: str, inputs: Float32) -> Float32:
    """Apply a dense layer with ReLU activation."""
    out: Float32 = inputs @ weights[f"{name}.weight"].T
    kernels.subgraphs.add_bias_relu(out, weights[f"{name}.bias"])
    return out


def check_network(agent: str, shapes: Mapping[str, tuple[int, ...]], weights: Weights) -> None:
    """Raise `AgentError` if the weights of a network do not have the shapes that its agent requires.

    >>> import numpy as np
    >>> check_network("gnn", {"output.bias": (1,)}, {"output.bias": np.zeros(2, np.float32)})
    Traceback (most recent call last):
    curiograph.errors.AgentError: agent 'gnn' was trained for other features or another shape: its array ...
    """
    for name, shape in shapes.items():
        found = weights[name].shape if name in weights else "missing"
        if found != shape:
            raise AgentError(
                f"agent {agent!r} was trained for other features or another shape: its array {name!r} is {found}, "
                f"not {shape}; load it with the shape that it was trained with."
            )


def limit_blas_threads() -> AbstractContextManager[Any]:
    """Run matrix products on one thread, which is faster for matrices of this size, most of all on a busy machine."""
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
