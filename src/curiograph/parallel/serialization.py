"""Results of tasks as bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from curiograph.errors import SettingError
from curiograph.messages import get_type_name, quote_value
from curiograph.tensors import pack_tensors, unpack_tensors

Result = Mapping[str, Any]
"""Arrays and JSON values by name."""

_PLAIN = "plain values"


def pack_result(result: Result) -> bytes:
    """Return a result as bytes; equal results give equal bytes.

    >>> unpack_result(pack_result({"scores": np.array([0.5, 1.0]), "walks": 3}))
    {'walks': 3, 'scores': array([0.5, 1. ])}
    """
    arrays = {name: value for name, value in result.items() if isinstance(value, np.ndarray)}
    plain = {name: value for name, value in result.items() if name not in arrays}
    arrays[_PLAIN] = np.frombuffer(json.dumps(plain).encode(), np.uint8)
    return pack_tensors(arrays)


def unpack_result(data: bytes) -> dict[str, Any]:
    """Return the result that `pack_result` turned into bytes."""
    arrays = unpack_tensors(data)
    plain: dict[str, Any] = json.loads(arrays.pop(_PLAIN).tobytes())
    return plain | {name: arrays[name] for name in sorted(arrays)}


def count_bytes(result: Result) -> int:
    """Return the size of the arrays of a result.

    >>> count_bytes({"scores": np.zeros(3), "walks": 3})
    24
    """
    return sum(value.nbytes for value in result.values() if isinstance(value, np.ndarray))


def check_result(result: Any) -> None:
    """Raise SettingError for a result that `pack_result` cannot restore.

    >>> check_result({"scores": np.array([0.5, 1.0]), "best": (3, 4)})
    Traceback (most recent call last):
    curiograph.errors.SettingError: its result['best'] is (3, 4), of type tuple, which JSON does not restore; ...
    """
    if not isinstance(result, Mapping):
        raise SettingError(f"its result is {quote_value(result)}; return arrays and plain values by name, in a dict.")
    for name, value in result.items():
        if isinstance(value, np.ndarray) and isinstance(name, str) and name != _PLAIN:
            if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8 or not value.dtype.isnative:
                raise SettingError(
                    f"its result[{quote_value(name)}] is an array of {value.dtype}; return arrays of numbers."
                )
        else:
            _check_plain({name: value}, "its result")


def _check_plain(value: Any, path: str) -> None:
    """Raise SettingError for a value that JSON changes or cannot hold."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise SettingError(
                    f"{path} has the key {quote_value(key)}, which is not a string; JSON keys are strings."
                )
            _check_plain(inner, f"{path}[{quote_value(key)}]")
    elif isinstance(value, list):
        for inner in value:
            _check_plain(inner, path)
    elif value is not None and not isinstance(value, bool | int | float | str):
        raise SettingError(
            f"{path} is {quote_value(value)}, of type {get_type_name(value)}, which JSON does not restore; return "
            "arrays, lists, dicts, strings, Python numbers or None."
        )
