"""`Table`: the base class of results that have rows; `Skipped`: what was dropped when data was read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.errors import SettingError

if TYPE_CHECKING:
    import pandas as pd

_MAX_ROWS = 10  # rows that a notebook shows


class Table:
    """A result with rows: a subclass gives `columns()`, and `__repr__` if one line can say more; the rest derives.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, eq=False, repr=False)
    ... class Squares(Table):
    ...     count: int
    ...     def columns(self):
    ...         return {"number": range(self.count), "square": np.arange(self.count) ** 2}
    >>> Squares(3)
    Squares(3 rows)
    >>> Squares(2).to_dict()
    {'count': 2, 'rows': [{'number': 0, 'square': 0}, {'number': 1, 'square': 1}]}
    """

    def columns(self) -> Mapping[str, Any]:
        """Return the rows by column: a sequence or an array of one length for each name."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(dict(self.columns()))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: the facts of the result (its fields that are not tables or arrays), and its rows."""
        columns = {name: to_plain(values) for name, values in self.columns().items()}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {**self.list_facts(), "rows": rows}

    def list_facts(self) -> dict[str, Any]:
        """Return the fields of a dataclass that hold one plain value, or a small record with `to_dict`."""
        facts: dict[str, Any] = {}
        named: Any = self
        for each in fields(named):
            value = getattr(self, each.name)
            is_record = hasattr(value, "to_dict") and not hasattr(value, "columns")
            if not each.name.startswith("_") and (is_record or isinstance(value, str | bool | int | float | None)):
                facts[each.name] = to_plain(value)
        return facts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(next(iter(self.columns().values()), ())):,} rows)"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p><b>{escape(repr(self))}</b></p>{self.to_frame().to_html(max_rows=_MAX_ROWS, index=False)}"


def join_columns(columns: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns of a log and of a result together; raise SettingError if one of each has the same name."""
    for name in columns:
        if name in others:
            raise SettingError(f"the column {name!r} of the log is also a column of this table; rename it.")
    return {**columns, **others}


def to_plain(value: Any) -> Any:
    """Return a value as JSON holds it: arrays as lists, tables and records as dicts, NaN and infinity as None.

    >>> to_plain({"mean": np.float64("nan"), "steps": np.arange(2)})
    {'mean': None, 'steps': [0, 1]}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if hasattr(value, "to_dict") and not hasattr(value, "columns"):
        return to_plain(value.to_dict())
    if isinstance(value, Table):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: to_plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    try:
        return [to_plain(item) for item in value]
    except TypeError:
        return str(value)


JsonLabel = str | int | float
_MAX_INTEGER = 2**53  # that every JSON reader represents exactly


def encode_label(label: Any) -> JsonLabel:
    """Return a label as a JSON value: text and numbers unchanged, larger integers and other labels as text.

    >>> encode_label(np.int64(3)), encode_label((0, 1))
    (3, '(0, 1)')
    """
    if isinstance(label, str):
        return label if label.isascii() else label.encode("utf-8", "replace").decode()
    if hasattr(label, "__array__"):  # a scalar of numpy or a tensor
        label = np.asarray(label).tolist()
    if isinstance(label, float) and math.isfinite(label):
        return label
    if isinstance(label, int) and not isinstance(label, bool) and abs(label) <= _MAX_INTEGER:
        return label
    return str(label)


def get_version() -> str:
    """Return the version of this package, for records and methods paragraphs."""
    import curiograph

    return curiograph.__version__


OUTSIDE = "outside the graph"
"""Reason of visits whose node is not in the graph."""
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
    """File, line and problem of the first dropped row of each reason."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Number of dropped rows and visits by reason; the numbers sum to `count`."""
    repeats: int = 0
    """Number of visits merged with the visit before because they are of the same node; they are not in `count`."""

    @classmethod
    def count_problems(cls, problems: Sequence[Problem]) -> Skipped:
        """Count dropped rows by reason, and describe the first one of each."""
        reasons = Counter(reason for reason, _ in problems)
        first = dict(reversed(problems))
        return cls(len(problems), tuple(first[reason] for reason in reasons), dict(reasons))

    def __add__(self, other: Skipped) -> Skipped:
        names = dict.fromkeys([*self.reasons, *other.reasons])
        return Skipped(
            count=self.count + other.count,
            first=(*self.first, *other.first),
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
