"""Replay buffer: rows of arrays in a ring."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]


class Replay:
    """A ring buffer of rows with named columns; when it is full, new rows overwrite the oldest.

    >>> replay = Replay(3, value=((), np.float32))
    >>> for number in range(4):
    ...     replay.add(value=np.array([number], np.float32))
    >>> replay.columns["value"].tolist(), len(replay)
    ([3.0, 1.0, 2.0], 3)
    """

    def __init__(self, capacity: int, **columns: tuple[tuple[int, ...], Any]) -> None:
        self.capacity = capacity
        self.added = 0
        self.columns: Columns = {name: np.zeros((capacity, *shape), dtype) for name, (shape, dtype) in columns.items()}

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, **rows: NDArray[Any]) -> None:
        """Append rows, at most `capacity` of them."""
        count = len(next(iter(rows.values())))
        places = (self.added + np.arange(count)) % self.capacity
        for name, column in self.columns.items():
            column[places] = rows[name]
        self.added += count

    def rows(self, places: NDArray[Any]) -> Columns:
        """Return the rows at some places."""
        return {name: column[places] for name, column in self.columns.items()}
