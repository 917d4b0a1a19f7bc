"""What the networks of trained agents are made of when they act: a dense layer in numpy, on one thread."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from curiograph import kernels
from curiograph.errors import AgentError
from curiograph.graph.features import Float32

Weights = Mapping[str, Float32]

SCORE_TOLERANCE = 5e-6
"""Scores that differ by less, relative to the largest of a walk, are the same: single precision says no more."""


def apply_dense(weights: Weights, name: str, inputs: Float32) -> Float32:
    """A layer of a network: inputs times weights, plus bias, negative numbers made zero."""
    out: Float32 = inputs @ weights[f"{name}.weight"].T
    kernels.subgraphs.add_bias_relu(out, weights[f"{name}.bias"])
    return out


def check_network(agent: str, shapes: Mapping[str, tuple[int, ...]], weights: Weights) -> None:
    """Raise where a network does not read what its agent gives it.

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
    """Matrix products on one thread: at this size a second one costs more than it gives, most on a busy machine."""
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
