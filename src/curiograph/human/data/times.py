"""Times of events, as numbers or ISO dates, and durations such as `30min`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np

from curiograph.arrays import Float64
from curiograph.errors import SettingError, WalkError
from curiograph.messages import quote_value
from curiograph.validation import is_number

NUMBERS, DATES, ZONED_DATES = "numbers", "dates without a time zone", "dates with a time zone"
"""Kinds of times; all times of a column are of one kind."""

_SECONDS = {"": 1, "s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+) *([a-z]*)")
_EPOCH_UNITS = {1e3: (1e11, 5e12), 1e6: (1e14, 5e15), 1e9: (1e17, 5e18)}  # 1973 to 2128 in ms, us and ns


def parse_number(value: Any) -> float | None:
    """Return a finite number from a number or a text, or None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and not isinstance(value, (bool, np.bool_)) else None


class TimeParser:
    """Parse the times of one column to seconds; all of them must be of the kind of the first one.

    Dates are in ISO format, with or without a time; those without a time zone count as UTC.

    >>> parser = TimeParser()
    >>> parser.parse("1970-01-02"), parser.parse("1970-01-01 00:01:30")
    (86400.0, 90.0)
    >>> parser.parse("90")
    Traceback (most recent call last):
    ValueError: the time '90' is one of numbers, but earlier times are dates without a time zone
    """

    def __init__(self) -> None:
        self.kind: str | None = None

    def parse(self, value: Any) -> float:
        """Return a time in seconds, or raise ValueError with the problem."""
        text = value.strip() if isinstance(value, str) else value
        number = parse_number(text)
        when = None if number is not None else _parse_date(text)
        if number is not None:
            kind = NUMBERS
        elif when is not None:
            kind = DATES if when.tzinfo is None else ZONED_DATES
        elif text is None or text == "":
            raise ValueError("has no time")
        else:
            raise ValueError(f"the time {quote_value(value)} is neither a number nor a date such as 2026-05-31 14:30")
        if self.kind not in (None, kind):
            raise ValueError(f"the time {quote_value(value)} is one of {kind}, but earlier times are {self.kind}")
        self.kind = kind
        if number is not None:
            return number
        assert when is not None
        return (when - datetime(1970, 1, 1, tzinfo=UTC if when.tzinfo else None)).total_seconds()

    def parse_texts(self, texts: Sequence[str]) -> Float64 | None:
        """Return all times in seconds, or None if one of them is bad; `parse` then finds it."""
        try:
            seconds = np.fromiter(map(float, texts), np.float64, len(texts))
            kind = NUMBERS
        except ValueError:
            try:
                dates = list(map(datetime.fromisoformat, texts))
            except ValueError:
                return None
            zoned = sum(when.tzinfo is not None for when in dates)
            if zoned not in (0, len(dates)):
                return None
            kind = ZONED_DATES if zoned else DATES
            epoch = datetime(1970, 1, 1, tzinfo=UTC if zoned else None)
            seconds = np.fromiter(((when - epoch).total_seconds() for when in dates), np.float64, len(dates))
        if self.kind not in (None, kind) or not np.isfinite(seconds).all():
            return None
        self.kind = kind
        return seconds


def _parse_date(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return None if value != value else value  # pandas has a time that is not a time
    if isinstance(value, date):
        return datetime.combine(value, time())
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def parse_duration(name: str, value: Any) -> float:
    """Return a duration in seconds.

    >>> parse_duration("session_gap", "30min"), parse_duration("session_gap", "1.5h"), parse_duration("session_gap", 45)
    (1800.0, 5400.0, 45.0)
    """
    seconds = math.nan
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
    elif is_number(value):
        seconds = float(value)
    elif isinstance(value, str) and (match := _DURATION.fullmatch(value.strip().lower())):
        seconds = float(match[1]) * _SECONDS.get(match[2], math.nan)
    if not 0 < seconds < math.inf:
        raise SettingError(f"{name} is {quote_value(value)}; give a duration such as 30min, 2h, 45s or 1d, above 0.")
    return seconds


def scale_to_seconds(times: Float64) -> Float64:
    """Return numbers as seconds: as they are below 1e11, and divided if all are epoch times in ms, us or ns.

    Raise WalkError for numbers whose unit is not clear, such as dates written as 20260531.

    >>> scale_to_seconds(np.array([1.7e12, 1.8e12])).tolist()
    [1700000000.0, 1800000000.0]
    """
    low, high = float(times.min(initial=math.inf)), float(times.max(initial=-math.inf))
    if low > -1e11 and high < 1e11 and not _are_compact_dates(times):
        return times
    for unit, (first, last) in _EPOCH_UNITS.items():
        if first <= low and high <= last:
            return times / unit
    raise WalkError(
        f"the times range from {low:.15g} to {high:.15g}, which are not seconds; to split sessions by a gap, write "
        "times as epoch seconds or as dates such as 2026-05-31 14:30."
    )


def _are_compact_dates(times: Float64) -> bool:
    """Return whether all numbers are dates of the form 20260531."""
    if not len(times) or times.min() < 1900_01_01 or times.max() > 2100_12_31 or np.any(times % 1):
        return False
    month, day = times // 100 % 100, times % 100
    return bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)))
