"""What a task gives back: arrays and plain values by name, and the bytes that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

Result = Mapping[str, Any]
"""Arrays, and anything else that JSON can hold, by name."""

_PLAIN = "plain values"


def packed(result: Result) -> bytes:
    """A result as bytes; the same result gives the same bytes.

    >>> unpacked(packed({"scores": np.array([0.5, 1.0]), "walks": 3}))
    {'walks': 3, 'scores': array([0.5, 1. ])}
    """
    from safetensors.numpy import save

    arrays = {name: np.asarray(value, order="C") for name, value in result.items() if isinstance(value, np.ndarray)}
    plain = {name: value for name, value in result.items() if name not in arrays}
    arrays[_PLAIN] = np.frombuffer(json.dumps(plain).encode(), np.uint8)
    return save(arrays)


def unpacked(data: bytes) -> dict[str, Any]:
    """The result that some bytes hold."""
    from safetensors.numpy import load

    arrays = load(data)
    plain: dict[str, Any] = json.loads(arrays.pop(_PLAIN).tobytes())
    return plain | {name: arrays[name] for name in sorted(arrays)}
