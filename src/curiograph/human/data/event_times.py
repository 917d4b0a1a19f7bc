"""Times of events: dates in the formats of logs and spreadsheets, and numbers in several units."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd

from curiograph.arrays import Float64
from curiograph.errors import FileFormatError, WalkError, quote_value

_EPOCH_UNITS = {1e3: (1e11, 5e12), 1e6: (1e14, 5e15), 1e9: (1e17, 5e18)}  # 1973 to 2128 in ms, us and ns
_SERIAL_DATES = (20_000, 80_000)  # 1954 to 2119, in days since 1900, as spreadsheets store dates
_SERIAL_1970 = 25_569
_LOCAL_DATE = (  # such as 31.05.2026 14:30:15, 5/31/26 2:30 PM, 31-05-2026 14:30 +02:00
    r"^(?P<first>\d{1,2})[./-](?P<second>\d{1,2})(?:[./-](?P<year>\d{4})|[./](?P<short_year>\d{2}))"
    r"(?:[ T,]+(?P<hours>\d{1,2}):(?P<minutes>\d{2})(?::(?P<seconds>\d{2}(?:[.,]\d+)?))?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)? ?(?:Z|UTC|GMT|(?P<zone>[+-]\d{2}):?(?P<zone_minutes>\d{2})?)?)?$"
)
_WITH_ZONE = r":\d\d.*(?:Z|UTC|GMT|[+-]\d\d:?(?:\d\d)?)$"
_THOUSANDS = r"[+-]?\d{1,3},\d{3}"  # or a decimal comma


def parse_times(
    column: pd.Series, decimal: str | None = None, dayfirst: bool | None = None, where: str = "the frame"
) -> tuple[Float64, bool]:
    """Return dates in seconds since 1970 or numbers as they are, NaN for bad ones, and whether they are dates.

    Dates without a time zone count as UTC.

    >>> parse_times(pd.Series(["1970-01-02", "1970-01-01 00:01:30", "01.01.1970 01:00", "soon"]))
    (array([86400.,    90.,  3600.,    nan]), True)
    """
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(np.float64, na_value=np.nan), False
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return _to_seconds(pd.to_datetime(column, utc=True)), True
    texts = column.astype(str).str.strip()
    numbers = parse_numbers(texts, decimal).to_numpy(np.float64)
    if np.isfinite(numbers).all():
        return numbers, False
    times = _parse_iso(texts)
    if (rest := np.isnan(times)).any():  # the zone UTC or GMT, and a decimal comma in the seconds
        variants = texts[rest].str.replace(" ?(?:UTC|GMT)$", "Z", regex=True).str.replace(",", ".")
        times[rest] = _parse_iso(variants)
    if (rest := np.isnan(times)).any():
        times[rest] = parse_local_dates(texts[rest], dayfirst, where)
    is_known = np.isfinite(times)
    if is_known.sum() <= np.isfinite(numbers).sum():
        return numbers, False
    without_zone = int(np.sum(is_known & ~texts.str.contains(_WITH_ZONE).to_numpy(bool)))
    if 0 < without_zone < is_known.sum():
        warnings.warn(
            f"{where}: {without_zone:,} of {is_known.sum():,} times have no time zone and count as UTC, while others "
            "have one; add the zone, as in 2026-05-31 14:30+02:00, if they are not UTC.",
            stacklevel=5,
        )
    return times, True


def _parse_iso(texts: pd.Series) -> Float64:
    return _to_seconds(pd.to_datetime(texts, errors="coerce", format="ISO8601", utc=True))


def _to_seconds(dates: pd.Series) -> Float64:
    moments = dates.dt.tz_localize(None).to_numpy("datetime64[us]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 1e6)


def parse_local_dates(texts: pd.Series, dayfirst: bool | None, where: str = "the frame") -> Float64:
    """Return dates such as 31.05.2026 14:30 and 5/31/2026 2:30 PM in seconds since 1970, NaN for other texts.

    Without `dayfirst`, a day above 12 decides the order for all dates, and dates with dots begin with the day; raise
    FileFormatError if the order remains unknown or differs between rows.

    >>> parse_local_dates(pd.Series(["1/2/1970", "1/13/1970 1:00 AM"]), None).tolist()
    [86400.0, 1040400.0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = pc.extract_regex(pa.array(texts, pa.string()), pattern=_LOCAL_DATE)  # ten times as fast as pandas

    def get_numbers(name: str) -> Float64:
        part = pc.replace_substring(pc.replace_substring(pc.struct_field(parts, name), ",", "."), "+", "")
        numbers: Float64 = pc.if_else(pc.equal(part, ""), None, part).cast(pa.float64()).to_numpy(zero_copy_only=False)
        return numbers

    first, second, year, short_year = map(get_numbers, ("first", "second", "year", "short_year"))
    hours, minutes, seconds, zone, zone_minutes = (
        np.nan_to_num(get_numbers(name)) for name in ("hours", "minutes", "seconds", "zone", "zone_minutes")
    )
    is_short = np.isfinite(short_year)
    if len(np.unique(short_year[is_short])) > len(np.unique(first[is_short])):  # rather the day
        shown = quote_value(texts[is_short].iloc[0])
        raise FileFormatError(f"{where}: the year in dates such as {shown} is not clear; write it with four digits.")
    if dayfirst is None:
        late_first, late_second = first > 12, second > 12
        is_open = np.isfinite(first) & (first != second) & (texts.str.count("[/-]") > 0).to_numpy(bool)
        if is_open.any() and not late_first.any() and not late_second.any():
            raise FileFormatError(
                f"{where}: dates such as {quote_value(texts[is_open].iloc[0])} may begin with the day or with the "
                "month; give dayfirst=True or dayfirst=False, or write them as 2026-05-31."
            )
        if late_first.any() and late_second.any():
            shown = " and ".join(quote_value(texts[late].iloc[0]) for late in (late_first, late_second))
            raise FileFormatError(
                f"{where}: the day and the month are in different order in {shown}; give dayfirst= to drop the others, "
                "or write all dates as 2026-05-31."
            )
        dayfirst = not late_second.any()
    day, month = (first, second) if dayfirst else (second, first)
    half = np.asarray(pc.struct_field(parts, "half").to_numpy(zero_copy_only=False), str)
    hours = np.where(np.isin(half, [*"aApP"]), hours % 12 + 12 * np.isin(half, [*"pP"]), hours)
    year = np.where(is_short, short_year + np.where(short_year < 69, 2000, 1900), year)
    is_valid = (month >= 1) & (month <= 12) & (day >= 1) & (hours < 24) & (minutes < 60) & (seconds < 61)
    months = np.where(is_valid, (year - 1970) * 12 + month - 1, 0).astype(np.int64).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(is_valid, day - 1, 0).astype(np.int64)
    is_valid &= days.astype("datetime64[M]") == months
    offset = zone * 60 + np.copysign(zone_minutes, zone)
    clock = hours * 3600 + (minutes - offset) * 60 + seconds
    return np.where(is_valid, days.astype(np.int64) * 86_400 + clock, np.nan)


def parse_numbers(texts: pd.Series, decimal: str | None = None) -> pd.Series:
    """Return texts as numbers, NaN for others; a comma is the decimal mark unless it may separate thousands.

    >>> parse_numbers(pd.Series(["45123,52", "7", "x"])).tolist(), parse_numbers(pd.Series(["1,500"])).tolist()
    ([45123.52, 7.0, nan], [nan])
    """
    numbers = pd.to_numeric(texts, errors="coerce")
    if decimal != "." and numbers.isna().any():
        has_comma = texts.str.contains(",", regex=False)
        if decimal == "," or not texts[has_comma].str.fullmatch(_THOUSANDS).all():
            numbers = numbers.fillna(pd.to_numeric(texts[has_comma].str.replace(",", "."), errors="coerce"))
    return numbers


def convert_serial_dates(times: Float64, where: str) -> tuple[Float64, bool]:
    """Return the dates of a spreadsheet, such as 45123.52, in seconds since 1970; other numbers as they are."""
    known = times[np.isfinite(times)]
    low, high = _SERIAL_DATES
    if not len(known) or known.min() < low or known.max() > high or np.all(known % 1 == 0):
        return times, False
    dates = np.round((times - _SERIAL_1970) * 86_400, 3)
    begin, end = (np.datetime64(int(day), "D") for day in (known.min() - _SERIAL_1970, known.max() - _SERIAL_1970))
    warnings.warn(
        f"{where}: times such as {known[0]:.15g} are read as the dates of a spreadsheet (days since 1900), {begin} to "
        f"{end}; if they are not, subtract the first time from all.",
        stacklevel=4,
    )
    return dates, True


def scale_to_seconds(times: Float64) -> Float64:
    """Return numbers as seconds: as they are below 1e11, and divided if all are epoch times in ms, us or ns.

    Raise WalkError for numbers whose unit is not clear, such as dates written as 20260531 or as days since 1900.

    >>> scale_to_seconds(np.array([1.7e12, 1.8e12])).tolist()
    [1700000000.0, 1800000000.0]
    """
    low, high = float(times.min(initial=math.inf)), float(times.max(initial=-math.inf))
    month, day = times // 100 % 100, times % 100
    is_date = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31) & (times >= 1900_01_01) & (times <= 2100_12_31)
    is_date |= (times >= _SERIAL_DATES[0]) & (times <= _SERIAL_DATES[1])
    if low > -1e11 and high < 1e11 and not (is_date & (times % 1 == 0)).all():
        return times
    for unit, (first, last) in _EPOCH_UNITS.items():
        if first <= low and high <= last:
            return times / unit
    raise WalkError(
        f"the times range from {low:.15g} to {high:.15g}, which are not seconds; to split sessions by a gap, write "
        "times as epoch seconds or as dates such as 2026-05-31 14:30."
    )
