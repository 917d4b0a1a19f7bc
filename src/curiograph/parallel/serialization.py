"""What a task gives back: arrays and plain values by name, and the bytes that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from curiograph.errors import SettingError
from curiograph.messages import get_type_name, quote_value

Result = Mapping[str, Any]
"""Arrays, and anything else that JSON can hold, by name."""

_PLAIN = "plain values"


def pack_result(result: Result) -> bytes:
    """A result as bytes; the same result gives the same bytes.

    >>> unpack_result(pack_result({"scores": np.array([0.5, 1.0]), "walks": 3}))
    {'walks': 3, 'scores': array([0.5, 1. ])}
    """
    from safetensors.numpy import save

    arrays = {name: np.asarray(value, order="C") for name, value in result.items() if isinstance(value, np.ndarray)}
    plain = {name: value for name, value in result.items() if name not in arrays}
    arrays[_PLAIN] = np.frombuffer(json.dumps(plain).encode(), np.uint8)
    return save(arrays)


def check_result(result: Any) -> None:
    """Raise SettingError for a result that would come back from a file as another, or not at all.

    >>> check_result({"scores": np.array([0.5, 1.0]), "best": (3, 4)})
    Traceback (most recent call last):
    curiograph.errors.SettingError: its result['best'] is (3, 4), of type tuple, which JSON does not give back; ...
    """
    if not isinstance(result, Mapping):
        raise SettingError(
            f"its result is {quote_value(result)}; a task gives arrays and plain values by name, in a dict."
        )
    for name, value in result.items():
        if isinstance(value, np.ndarray) and isinstance(name, str) and name != _PLAIN:
            if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8 or not value.dtype.isnative:
                raise SettingError(
                    f"its result[{quote_value(name)}] is an array of {value.dtype}; give arrays of numbers."
                )
        else:
            _check_plain({name: value}, "its result")


def _check_plain(value: Any, place: str) -> None:
    """Raise for a value that JSON would turn into another, or cannot hold."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise SettingError(
                    f"{place} has the key {quote_value(key)}, which is no text; JSON keeps texts as keys."
                )
            _check_plain(inner, f"{place}[{quote_value(key)}]")
    elif isinstance(value, list):
        for inner in value:
            _check_plain(inner, place)
    elif value is not None and not isinstance(value, bool | int | float | str):
        raise SettingError(
            f"{place} is {quote_value(value)}, of type {get_type_name(value)}, which JSON does not give back; give arrays, "
            "lists, dicts, texts, numbers of Python or None."
        )


def unpack_result(data: bytes) -> dict[str, Any]:
    """The result that some bytes hold."""
    from safetensors.numpy import load

    arrays = load(data)
    plain: dict[str, Any] = json.loads(arrays.pop(_PLAIN).tobytes())
    return plain | {name: arrays[name] for name in sorted(arrays)}
