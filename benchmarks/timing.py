"""How long a call takes: the median of repeats, several calls taking turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def medians(*functions: Callable[[], Any], repeats: int = 7) -> list[float]:
    """Median time of a call of each function.

    They take turns, so that a machine that slows down for a while slows all of them; short calls are repeated until a
    measurement lasts 20 ms.

    >>> len(medians(lambda: None, lambda: sum(range(10)), repeats=1))
    2
    """
    counts = []
    for function in functions:
        function()
        counts.append(max(1, int(0.02 / max(_seconds_of(function, 1), 1e-7))))
    turns = [[_seconds_of(f, n) for f, n in zip(functions, counts, strict=True)] for _ in range(repeats)]
    return [statistics.median(times) for times in zip(*turns, strict=True)]


def _seconds_of(function: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls
