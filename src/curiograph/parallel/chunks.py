"""Division of work into chunks that depend on the work alone, not on the number of workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def split_by_size(sizes: NDArray[Any], max_size: float) -> Iterator[tuple[int, int]]:
    """Yield bounds of consecutive chunks whose sizes sum to at most `max_size`; a larger item is a chunk of its own.

    >>> list(split_by_size(np.array([3, 3, 3, 9, 1]), max_size=6))
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    totals = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        limit = max_size + (totals[first - 1] if first else 0)
        last = max(first + 1, int(np.searchsorted(totals, limit, side="right")))
        yield first, last
        first = last
