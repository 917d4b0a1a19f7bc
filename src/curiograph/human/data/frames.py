"""Read walks from data frames of pandas, polars and other libraries, through narwhals."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import narwhals as nw
import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import SettingError, WalkError
from curiograph.human.data.columns import ColumnNames, find_columns, warn_doubtful_columns
from curiograph.human.data.events import Events, clean_sources, resolve_sessions
from curiograph.human.data.line_reader import BadRows
from curiograph.human.data.times import DATES, NUMBERS, ZONED_DATES, TimeParser, parse_duration
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value


def read_frame(frame: Any, names: ColumnNames, session_gap: Any, lenient: bool) -> Trajectories:
    """Return the walks of a frame with one row per event; the other arguments are as for `read_trajectories`."""
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise WalkError(
            f"the frame is {quote_value(frame)}; give a data frame of pandas or polars, and lists of walks to "
            "Trajectories.from_walks."
        ) from None
    titles = table.columns
    if not all(isinstance(title, str) for title in titles):
        raise SettingError(f"the frame has columns {quote_value(list(titles))}; name all columns by text.")
    columns = find_columns(titles, names, "the frame")
    gap = None if session_gap is None else parse_duration("session_gap", session_gap)
    columns = resolve_sessions(columns, gap, names)
    bad_rows = BadRows()
    events = Events(None, bad_rows, list(columns.keep))
    events.has_times = columns.time is not None and not columns.is_order

    def get_labels(place: int | None) -> list[Any] | None:
        return None if place is None else _list_labels(table[titles[place]])

    users = get_labels(columns.user) or []
    events.extend(
        range(len(users)),
        users=users,
        items=get_labels(columns.item) or [],
        times=None if columns.time is None else _list_times(table[titles[columns.time]], events.time_parser),
        sessions=get_labels(columns.session),
        sources=clean_sources(get_labels(columns.source)),
        values=[get_labels(place) or [] for place in columns.keep.values()],
    )
    skipped = events.finish(lenient, WalkError)
    warn_doubtful_columns(columns, "the frame", is_one_event_each=events.is_one_each)
    return events.to_trajectories(session_gap=gap).add_skipped(skipped)


def _list_labels(series: nw.Series[Any]) -> list[Any]:
    """Return the values of a column as labels: whole numbers as integers, texts stripped, an empty text if missing."""
    values: list[Any] = ["" if value is None or value != value else value for value in series.to_list()]
    if series.dtype.is_float() and all(value == "" or value.is_integer() for value in values):  # integers with gaps
        return [value if value == "" else int(value) for value in values]
    labels = [value.strip() if isinstance(value, str) else value for value in values]
    wrong = next((label for label in labels if not isinstance(label, Hashable)), None)
    if wrong is not None:
        raise WalkError(f"the column {series.name!r} contains {quote_value(wrong)}; give one label per row.")
    return labels


def _list_times(series: nw.Series[Any], parser: TimeParser) -> Float64 | list[Any]:
    """Return times in seconds, with NaN for missing ones, or texts and other values that are not parsed yet."""
    if series.dtype == nw.Date:
        series = series.cast(nw.Datetime("us"))
    if isinstance(series.dtype, nw.Datetime):
        parser.kind = DATES if series.dtype.time_zone is None else ZONED_DATES
        series, unit = series.dt.timestamp("us"), 1e6
    elif series.dtype.is_numeric():
        parser.kind, unit = NUMBERS, 1
    else:
        return [None if value is None or value != value else value for value in series.to_list()]
    return np.array([np.nan if value is None else float(value) for value in series.to_list()]) / unit
