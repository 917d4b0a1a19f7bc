"""Work in parts of about the same size, which depend on the work alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def split_by_size(sizes: NDArray[Any], most: float) -> Iterator[tuple[int, int]]:
    """Bounds of runs of neighbours whose sizes add up to at most `most`; one that is larger stands alone.

    >>> list(split_by_size(np.array([3, 3, 3, 9, 1]), most=6))
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    totals = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        limit = most + (totals[first - 1] if first else 0)
        last = max(first + 1, int(np.searchsorted(totals, limit, side="right")))
        yield first, last
        first = last
