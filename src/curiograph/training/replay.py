"""What was lived through, to learn from again: rows of arrays in a ring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]


class Replay:
    """A ring of rows, each with the same columns; when it is full the oldest are overwritten.

    >>> replay = Replay(3, {"value": ((), np.float32)})
    >>> for value in range(4):
    ...     replay.add({"value": np.array([value], np.float32)})
    >>> replay.columns["value"].tolist(), len(replay)
    ([3.0, 1.0, 2.0], 3)
    """

    def __init__(self, capacity: int, columns: Mapping[str, tuple[tuple[int, ...], Any]]) -> None:
        self.capacity = capacity
        self.added = 0
        self.columns: Columns = {name: np.zeros((capacity, *shape), kind) for name, (shape, kind) in columns.items()}

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, rows: Mapping[str, NDArray[Any]]) -> None:
        """Append rows; at most as many as the ring holds."""
        count = len(next(iter(rows.values())))
        places = (self.added + np.arange(count)) % self.capacity
        for name, column in self.columns.items():
            column[places] = rows[name]
        self.added += count

    def rows(self, places: NDArray[Any]) -> Columns:
        """Some of the rows."""
        return {name: column[places] for name, column in self.columns.items()}
