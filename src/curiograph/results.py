"""`Table`: the base class of results that have rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

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
        for field in fields(named):
            value = getattr(self, field.name)
            is_record = hasattr(value, "to_dict") and not hasattr(value, "columns")
            if not field.name.startswith("_") and (is_record or isinstance(value, str | bool | int | float | None)):
                facts[field.name] = to_plain(value)
        return facts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(next(iter(self.columns().values()), ())):,} rows)"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p><b>{escape(repr(self))}</b></p>{self.to_frame().to_html(max_rows=_MAX_ROWS, index=False)}"


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
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    try:
        return [to_plain(item) for item in value]
    except TypeError:
        return str(value)
