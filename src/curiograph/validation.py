"""Checks of settings that many functions share: what was given, and what it must be."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from curiograph.errors import SettingError


def is_number(value: Any) -> bool:
    """Whether a value is a number, Python's or numpy's, and not a truth value.

    >>> is_number(0.5), is_number(True), is_number("1")
    (True, False, False)
    """
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_integer(name: str, value: Any, least: int, meaning: str, most: int | None = None) -> int:
    """`value` as an int, or a sentence with what was given and what is meant.

    >>> check_integer("steps", 0, 1, "a walk visits 1 node or more")
    Traceback (most recent call last):
    curiograph.errors.SettingError: steps is 0; a walk visits 1 node or more.
    """
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        raise SettingError(f"{name} is {value!r}; {meaning}.")
    return int(value)


def check_seed(seed: Any) -> int:
    """A seed: a whole number of up to 64 bits."""
    return check_integer("seed", seed, 0, "a seed is a whole number, zero or above, below 2**64", most=2**64 - 1)


def resolve_workers(workers: Any) -> int:
    """Threads or processes to use: as many as asked for, or one per processor that this process may use."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return check_integer("workers", workers, 1, "give a whole number of workers, 1 or more, or None for all processors")
