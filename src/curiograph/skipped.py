"""`Skipped`: a record of everything that was dropped when data was read or matched with a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

OUTSIDE = "outside the graph"
"""Reason of visits whose node is not in the graph."""
MAX_SHOWN = 3
"""Number of dropped rows that a record describes."""
Problem = tuple[str, str]
"""The reason why a row was dropped, by which it is counted, and its file, line and problem."""


@dataclass(frozen=True)
class Skipped:
    """Rows and visits that were dropped, counted by reason.

    >>> read = Skipped(2, ("log.csv, line 7: has no item",), {"no item": 2}, repeats=5)
    >>> print(read + Skipped(1, reasons={OUTSIDE: 1}))
    no item: 2, outside the graph: 1, immediate repeats merged: 5
    """

    count: int = 0
    """Number of rows and visits that were dropped."""
    first: tuple[str, ...] = ()
    """File, line and problem of the first three dropped rows."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Number of dropped rows and visits by reason; the numbers sum to `count`."""
    repeats: int = 0
    """Number of visits merged with the visit before because they are of the same node; they are not in `count`."""

    @classmethod
    def count_problems(cls, problems: Sequence[Problem]) -> Skipped:
        """Count dropped rows by reason, and describe the first ones."""
        reasons = Counter(reason for reason, _ in problems)
        return cls(len(problems), tuple(text for _, text in problems[:MAX_SHOWN]), dict(reasons))

    def __add__(self, other: Skipped) -> Skipped:
        names = dict.fromkeys([*self.reasons, *other.reasons])
        return Skipped(
            count=self.count + other.count,
            first=(*self.first, *other.first)[:MAX_SHOWN],
            reasons={name: self.reasons.get(name, 0) + other.reasons.get(name, 0) for name in names},
            repeats=self.repeats + other.repeats,
        )

    def __bool__(self) -> bool:
        return bool(self.count or self.repeats)

    def __str__(self) -> str:
        counts = {**self.reasons, "immediate repeats merged": self.repeats}
        return ", ".join(f"{reason}: {number:,}" for reason, number in counts.items() if number) or "nothing"

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values."""
        return {"count": self.count, "reasons": dict(self.reasons), "first": list(self.first), "repeats": self.repeats}
