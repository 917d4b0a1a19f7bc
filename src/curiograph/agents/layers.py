"""Building blocks of the NumPy inference of trained agents."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np

from curiograph.arrays import Float32

Weights = Mapping[str, Float32]


def apply_dense(weights: Weights, name: str, inputs: Float32) -> Float32:
    """Apply a dense layer with ReLU activation."""
    out: Float32 = inputs @ weights[f"{name}.weight"].T
    out += weights[f"{name}.bias"]
    return np.maximum(out, 0, out=out)


def limit_blas_threads() -> AbstractContextManager[Any]:
    """Run matrix products on one thread, which is faster for matrices of this size, most of all on a busy machine."""
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
