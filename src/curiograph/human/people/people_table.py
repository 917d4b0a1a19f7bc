"""Tables of people: rows of walks, averaged per person, with a group or a score of each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Int64
from curiograph.errors import SettingError, UnknownNameError, quote_value
from curiograph.growth.first_visits import list_people
from curiograph.human.trajectories import Trajectories, sort_users
from curiograph.results import Skipped, Table, join_columns

if TYPE_CHECKING:
    import pandas as pd

BY = "(by)"
"""Column of the group or score in a frame of `read_table`."""
_IDENTITY = ("user", "session", "walk")  # columns that are no measures
_VISITS = {"step", "node"}  # columns of tables with several rows per walk


@dataclass(frozen=True, eq=False, repr=False)
class WalkTable(Table):
    """Measures of walks: a table with one row per walk."""

    walks: Trajectories
    """The walks, sorted by user."""
    measures: dict[str, NDArray[Any]]
    """Values of each walk by measure; NaN where a measure is not defined."""

    @property
    def skipped(self) -> Skipped:
        """What was dropped when the walks were read and matched with a graph."""
        return self.walks.skipped

    def columns(self) -> dict[str, Any]:
        """Return one row per walk: user, session, further columns of the log, and all measures."""
        return join_columns(list_people(self.walks), self.measures)


def number_people(users: Sequence[Hashable]) -> tuple[list[Hashable], Int64]:
    """Return the distinct users, sorted, and the number of the user of each row among them."""
    names = sort_users(users)
    number = {user: place for place, user in enumerate(names)}
    return names, np.array([number[user] for user in users])


def average_people(frame: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """Return one row per user, sorted: number of walks, means of measures, and the first value of other columns."""
    users, person = number_people(frame["user"].tolist())
    rows = frame.groupby(person, sort=True)
    others = [name for name in frame.columns if name not in ("user", "session", "walk", *measures)]
    people = rows[others].first()
    people.insert(0, "user", users)
    return people.assign(**{"walks": rows.size()} | {name: rows[name].mean() for name in measures})


def read_table(
    table: Any, by: str | Sequence[Any], measures: Sequence[str] | None, covariates: Sequence[str] = ()
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of a table, with the group or score in the column `BY`, and the names of the measures.

    `table` is a `Profile`, another result with one row per walk or person, or a data frame; it has a column `user`.
    """
    frame = table.to_frame() if isinstance(table, Table) else table
    if not hasattr(frame, "groupby") or "user" not in frame or _VISITS & set(frame):
        raise SettingError(
            f"the table is {quote_value(table)}; give the result of profile(graph, walks), or a data frame with one "
            "row per person or walk and a column user."
        )
    for name in [*([by] if isinstance(by, str) else []), *covariates]:
        if name not in frame:
            raise UnknownNameError(
                f"there is no column {quote_value(name)}; the columns are {', '.join(map(str, frame.columns))}. Keep a "
                "column when the log is read."
            )
    numbers = frame.select_dtypes(["number", "bool"])
    for name in covariates:
        if name not in numbers:
            raise SettingError(f"the covariate {quote_value(name)} has no numbers; code it, such as by 0 and 1.")
    others = {*_IDENTITY, *covariates, by if isinstance(by, str) else None}
    known = [name for name in numbers if name not in others]
    of_table = getattr(table, "measures", ()) if isinstance(table, Table) else ()
    selected = [name for name in of_table if name in known] or known
    if measures is not None:
        if isinstance(measures, str) or not isinstance(measures, Sequence) or not measures:
            raise SettingError(f"measures is {quote_value(measures)}; give a list of measures, at least one.")
        for name in measures:
            if name not in known:
                raise UnknownNameError(f"there is no measure {quote_value(name)}; the measures are {', '.join(known)}.")
        selected = list(dict.fromkeys(measures))
    try:
        values = frame[by].tolist() if isinstance(by, str) else list(by)
    except TypeError:
        values = []
    if len(values) != len(frame):
        raise SettingError(f"by is {quote_value(by)}; give a column, or a value for each of {len(frame)} rows.")
    return frame.reset_index(drop=True).assign(**{BY: values}), selected


def clean_groups(groups: pd.Series) -> pd.Series:
    """Return groups as texts; NaN if they are missing or blank. Whole numbers are written without a point."""
    if groups.dtype.kind == "f" and (groups.dropna() % 1 == 0).all():
        groups = groups.astype("Int64")
    texts = groups.astype(object).where(groups.notna(), "").astype(str).str.strip()
    return texts.mask(texts == "")


def check_single(frame: pd.DataFrame, fix: str) -> None:
    """Raise SettingError if a person has several groups or scores."""
    several = frame.groupby("user", sort=False)[BY].nunique()
    if (several > 1).any():
        raise SettingError(f"the user {quote_value(several.idxmax())} has several values; {fix}.")
