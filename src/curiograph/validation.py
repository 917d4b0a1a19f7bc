"""Checks of arguments that many functions share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from curiograph.errors import SettingError, UnknownNameError, quote_value


def is_number(value: Any) -> bool:
    """Return whether a value is a Python or numpy number and not a bool.

    >>> is_number(0.5), is_number(True), is_number("1")
    (True, False, False)
    """
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value is a Python or numpy integer and not a bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_integer(name: str, value: Any, least: int, meaning: str, most: int | None = None) -> int:
    """Return `value` as an int; raise SettingError unless it is an integer from `least` to `most`.

    `meaning` completes the message: it states what the value must be.

    >>> check_integer("steps", 0, 1, "a walk visits 1 node or more")
    Traceback (most recent call last):
    curiograph.errors.SettingError: steps is 0; a walk visits 1 node or more.
    """
    if not is_integer(value) or value < least or (most is not None and value > most):
        raise SettingError(f"{name} is {value!r}; {meaning}.")
    return int(value)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> Any:
    """Return `value`; raise UnknownNameError unless it is one of the choices.

    >>> check_choice("loss", "l1", ["mse", "huber"])
    Traceback (most recent call last):
    curiograph.errors.UnknownNameError: loss is 'l1'; the choices are mse, huber.
    """
    if not isinstance(value, str) or value not in choices:
        raise UnknownNameError(f"{name} is {quote_value(value)}; the choices are {', '.join(choices)}.")
    return value


def check_seed(seed: Any) -> int:
    """Return `seed` as an int; raise SettingError unless it is an unsigned 64-bit integer."""
    return check_integer("seed", seed, 0, "a seed is a whole number, zero or above, below 2**64", most=2**64 - 1)


def resolve_workers(workers: Any) -> int:
    """Return the number of workers; None means one per processor available to this process."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return check_integer("workers", workers, 1, "give a whole number of workers, 1 or more, or None for all processors")
