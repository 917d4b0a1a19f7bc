"""Timing of calls: medians of repeated measurements, with several calls taking turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def time_call(function: Callable[[], Any], calls: int = 1) -> float:
    """Return the mean seconds of a call."""
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls


def time_medians(*functions: Callable[[], Any], repeats: int = 7) -> list[float]:
    """Return the median seconds of a call of each function.

    The functions take turns, so that a temporary slowdown of the machine affects all of them; short calls are repeated
    until a measurement lasts 20 ms.

    >>> len(time_medians(lambda: None, lambda: sum(range(10)), repeats=1))
    2
    """
    counts = []
    for function in functions:
        function()
        counts.append(max(1, int(0.02 / max(time_call(function), 1e-7))))
    turns = [[time_call(f, n) for f, n in zip(functions, counts, strict=True)] for _ in range(repeats)]
    return [statistics.median(times) for times in zip(*turns, strict=True)]
