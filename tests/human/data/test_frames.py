"""Walks from data frames."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from curiograph.errors import FileFormatError, WalkError
from curiograph.human.trajectories import Trajectories

pandas = pytest.importorskip("pandas")
LIBRARIES = ["pandas", "polars"]


@pytest.fixture(params=LIBRARIES)
def make_frame(request):
    return pytest.importorskip(request.param).DataFrame


def list_walks(walks):
    return [(walks.user(i), walks.session(i), walks.labels(i)) for i in range(len(walks))]


@pytest.mark.parametrize(
    "times",
    [
        [2, 1, 3],
        [2.5, 1.5, 3.5],
        ["2026-05-31 10:20", "2026-05-31 10:10", "2026-05-31 10:30"],
        [datetime(2026, 5, 31, 10, minute) for minute in (20, 10, 30)],
        [date(2026, 5, day) for day in (2, 1, 3)],
    ],
)
def test_rows_are_ordered_by_time(make_frame, times):
    frame = make_frame({"reader": ["ann", "ann", "bob"], "page": ["b", "a", "c"], "time": times})
    assert list_walks(Trajectories.from_frame(frame)) == [("ann", 1, ["a", "b"]), ("bob", 1, ["c"])]


def test_columns_are_chosen_and_kept(make_frame):
    frame = make_frame({"who": [1, 1, 2], "what": [10, 20, 10], "when": [2, 1, 0], "group": ["x", "x", "y"]})
    walks = Trajectories.from_frame(frame, user="who", item="what", time="when", keep=["group"])
    assert list_walks(walks) == [(1, 1, [20, 10]), (2, 1, [10])]
    assert walks.user_columns == {"group": ["x", "y"]}
    with pytest.raises(FileFormatError, match="the frame has no column for the user and the item; expected are"):
        Trajectories.from_frame(frame)
    with pytest.raises(FileFormatError, match="the frame has no column 'whom'; the columns are who, what, when, group"):
        Trajectories.from_frame(frame, user="whom")


def test_sessions_by_gap_and_by_column(make_frame):
    times = [datetime(2026, 5, 31, hour) for hour in (8, 9, 20)]
    frame = make_frame({"user": ["ann"] * 3, "page": ["a", "b", "c"], "time": times, "session": ["x", "y", "y"]})
    assert [walk[1:] for walk in list_walks(Trajectories.from_frame(frame))] == [("x", ["a"]), ("y", ["b", "c"])]
    gaps = Trajectories.from_frame(frame, session_gap="2h")
    assert [walk[1:] for walk in list_walks(gaps)] == [(1, ["a", "b"]), (2, ["c"])]


def test_missing_values_are_counted_by_reason(make_frame):
    frame = make_frame(
        {"user": ["ann", None, "ann", "ann", "ann"], "page": ["a", "b", " ", "d", "e"], "time": [1.0, 2, 3, None, 4]}
    )
    with pytest.raises(WalkError, match="3 bad rows: row 1: has no user; row 2: has no item; row 3: has no time"):
        Trajectories.from_frame(frame)
    walks = Trajectories.from_frame(frame, lenient=True)
    assert list_walks(walks) == [("ann", 1, ["a", "e"])]
    assert walks.skipped.reasons == {"no user": 1, "no item": 1, "bad time": 1}


def test_missing_dates_are_bad_times(make_frame):
    frame = make_frame({"user": ["a", "a"], "page": ["x", "y"], "time": [datetime(2026, 5, 31), None]})
    assert Trajectories.from_frame(frame, lenient=True).skipped.reasons == {"bad time": 1}


def test_integers_with_gaps_stay_integers():
    frame = pandas.DataFrame({"user": [1.0, 1.0, float("nan")], "page": [5, 6, 7]})
    assert list_walks(Trajectories.from_frame(frame, lenient=True)) == [(1, 1, [5, 6])]


@pytest.mark.parametrize("given", [[["a", "b"]], "abc", {"user": ["ann"]}, None])
def test_what_is_not_a_frame_is_refused(given):
    with pytest.raises(WalkError, match="give a data frame of pandas or polars"):
        Trajectories.from_frame(given)


def test_time_columns_of_frames(make_frame):
    times = [datetime(2026, 5, 2), datetime(2026, 5, 1)]
    frame = make_frame({"Participant": ["ann", "ann"], "Article": ["b", "a"], "When": times})
    assert list_walks(Trajectories.from_frame(frame)) == [("ann", 1, ["a", "b"])]
    frame = make_frame({"Participant": ["ann", "ann"], "Article": ["b", "a"], "Gelesen": times})
    with pytest.warns(UserWarning, match="the frame: no time column was recognized.*unused columns: Gelesen"):
        assert list_walks(Trajectories.from_frame(frame)) == [("ann", 1, ["b", "a"])]
