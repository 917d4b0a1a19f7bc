"""Tables of events: columns by name, times, sessions, and what is dropped."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError, SettingError, WalkError
from curiograph.human.data import events as events_module
from curiograph.human.data.times import parse_duration, scale_to_seconds
from curiograph.human.data.trajectory_file import read_trajectories


def write_file(folder, text, name="log.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def list_walks(walks):
    return [(walks.user(i), walks.session(i), walks.labels(i)) for i in range(len(walks))]


# ---- columns --------------------------------------------------------------------------------------------------------

ANN = [("ann", 1, ["a", "b"])]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Participant,Article,Date", "ann,{},{}"),
        ("id,title,timestamp", "ann,{},{}"),
        ("ID;Page Title;Timestamp", "ann;{};{}"),
        ("subject_id\tconcept\tdatetime", "ann\t{}\t{}"),
        ('"User"\t"Page"\t"Time"', '"ann"\t"{}"\t{}'),
        ("id,user,title,item_id,step,time", "7,ann,x,{},9,{}"),
        ("user_id:token\titem_id:token\trating:float\ttimestamp:float", "ann\t{}\t5\t{}"),
        ("Reader,url,step", "ann,{},{}"),
    ],
)
def test_columns_are_guessed(tmp_path, header, row):
    text = "\n".join([header, row.format("b", 2), row.format("a", 1)])
    assert list_walks(read_trajectories(write_file(tmp_path, text)).walks) == ANN


def test_columns_are_chosen(tmp_path):
    file = write_file(tmp_path, "who,What,when,Page,user\nann,b,2,x,z\nann,a,1,y,z\n")
    walks = read_trajectories(file, user="who", item="what", time="WHEN").walks
    assert list_walks(walks) == ANN
    assert read_trajectories(file, item="What").walks.user(0) == "z"
    with pytest.raises(FileFormatError, match="has no column 'whom'; the columns are who, What, when, Page, user"):
        read_trajectories(file, user="whom")
    with pytest.raises(SettingError, match="a column is named 3; give its name as text"):
        read_trajectories(file, user=3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "who,what,when\nann,Paris,5\nbob,Rome,6\n",
            r"line 1: looks like the header of a table, but its columns 'who, ",
        ),
        (
            "who,what,when\nann,Paris,2026-01-05\n",
            r"expected are user \(or participant, .* time= \(--user, --item, --time\)",
        ),
        ("who,page\nann,Paris\nbob,Rome\n", r"'who, page' are not understood"),
        ("user,book,time\nann,x,1\n", r"'user,book,time' has no column for the item; expected are .*item= \(--item\)"),
        (
            "page,page_id,user\na,1,b\n",
            r"two columns for the item \('page', 'page_id'\); choose one with item= \(--item\)",
        ),
        ("user,page,date,time\nann,a,1,2\n", "two columns for the time"),
    ],
)
def test_headers_that_are_not_understood_are_named(tmp_path, text, message):
    """Before, the first three were read as walks."""
    with pytest.raises(FileFormatError, match=message):
        read_trajectories(write_file(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "Zulu,Africa\nOslo,Rome\n",
        "1,2,3\n4,5,6\n",
        "a,1\nb,c\n",
        "Time,Oslo\nOslo,Rome\n",
        "Time,Oslo,Rome\nBonn,Kiel\n",
    ],
)
def test_walks_without_a_header_are_read(tmp_path, text):
    walks = read_trajectories(write_file(tmp_path, text)).walks
    assert [walks.labels(i) for i in range(len(walks))] == [line.split(",") for line in text.split()]


def test_first_line_can_be_declared_a_walk(tmp_path):
    file = write_file(tmp_path, "Time,Clock\nOslo,Rome\n")
    with pytest.raises(FileFormatError, match=r"if this line is a walk, give header=False \(--no-header\)"):
        read_trajectories(file)
    assert read_trajectories(file, header=False).walks.labels(0) == ["Time", "Clock"]


def test_options_of_tables_are_refused_for_lists(tmp_path):
    file = write_file(tmp_path, "a,b\nc\n")
    with pytest.raises(SettingError, match="is not a table of events, so that session_gap = 1800"):
        read_trajectories(file, session_gap="30min")


def test_quotes_between_semicolons(tmp_path):
    text = 'user;page\nann;"Paris; Texas"\nann;"Weird Al" Yankovic\nann;"Rome"\n'
    walks = read_trajectories(write_file(tmp_path, text)).walks
    assert walks.labels(0) == ["Paris; Texas", '"Weird Al" Yankovic', "Rome"]


# ---- layouts of others ----------------------------------------------------------------------------------------------


def test_knot_layout_has_one_row_per_click(tmp_path):
    """A source that is not the page of the click before is a visit of its own."""
    text = "ID,TimeOrder,SourceName,TargetName\n2,1,NA,x\n1,2,b,c\n1,1,a,b\n1,3,q,d\n1,4,d,e\n"
    data = read_trajectories(write_file(tmp_path, text))
    assert list_walks(data.walks) == [("2", 1, ["x"]), ("1", 1, ["a", "b", "c", "q", "d", "e"])]
    assert not data.skipped
    with pytest.raises(SettingError, match="has only the order of events"):
        read_trajectories(write_file(tmp_path, text), session_gap=60)


def test_recbole_interactions(tmp_path):
    text = "user_id:token\titem_id:token\tsession_id:token\ttimestamp:float\n1\tb\ts\t2.5\n1\ta\ts\t1.5\n1\tc\tr\t0\n"
    walks = read_trajectories(write_file(tmp_path, text, "m.inter")).walks
    assert list_walks(walks) == [("1", "r", ["c"]), ("1", "s", ["a", "b"])]


# ---- times and sessions ---------------------------------------------------------------------------------------------

MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1))
FORMATS = {
    "T": lambda when: when.isoformat(),
    "space": lambda when: when.isoformat(" "),
    "utc": lambda when: when.isoformat() + "Z",
    "offset": lambda when: (when + timedelta(hours=2)).isoformat() + "+02:00",
    "seconds": lambda when: repr(when.replace(tzinfo=UTC).timestamp()),
}


@given(st.lists(st.tuples(st.sampled_from("ab"), MOMENTS), min_size=1, max_size=20), st.sampled_from(sorted(FORMATS)))
def test_sessions_end_at_gaps(tmp_path_factory, moments, how):
    """Every format of time gives the sessions of the definition."""
    rows = [(user, f"p{number}", when.replace(microsecond=0)) for number, (user, when) in enumerate(moments)]
    text = io.StringIO()
    csv.writer(text).writerows([("user", "page", "time"), *((u, p, FORMATS[how](t)) for u, p, t in rows)])
    file = write_file(tmp_path_factory.mktemp("any"), text.getvalue())
    walks = read_trajectories(file, session_gap="365d").walks
    assert list_walks(walks) == split_slowly(rows, timedelta(days=365))


def split_slowly(rows, gap):
    """Reference: the events of each user by time, cut where the next one comes later than the gap."""
    found = []
    for user in dict.fromkeys(user for user, _, _ in rows):
        events = sorted((row for row in rows if row[0] == user), key=lambda row: row[2])
        session, last = 0, None
        for _, page, when in events:
            if last is None or when - last > gap:
                session += 1
                found.append((user, session, []))
            found[-1][2].append(page)
            last = when
    return found


def test_date_without_time_and_epoch_milliseconds(tmp_path):
    text = "user,page,date\nann,b,2026-05-31\nann,a,2026-05-30\nann,c,2026-05-31 00:20\n"
    walks = read_trajectories(write_file(tmp_path, text), session_gap="30min").walks
    assert [walks.labels(i) for i in range(2)] == [["a"], ["b", "c"]]
    text = "user,page,time\nann,b,1780185600000\nann,a,1780100000000\nann,c,1780185660000\n"
    walks = read_trajectories(write_file(tmp_path, text), session_gap="30min").walks
    assert [walks.labels(i) for i in range(2)] == [["a"], ["b", "c"]]


@pytest.mark.parametrize(
    "times", [[20260531, 20260601], [20260531101500, 20260531101600], [1.7e9, 1.7e12], [1e20, 2e20]]
)
def test_numbers_of_unknown_unit_are_refused_for_gaps(tmp_path, times):
    text = "user,page,time\n" + "".join(f"ann,p{time},{time:.0f}\n" for time in times)
    file = write_file(tmp_path, text)
    assert len(read_trajectories(file).walks) == 1
    with pytest.raises(WalkError, match="which are not seconds; to split sessions by a gap"):
        read_trajectories(file, session_gap="30min")


def test_times_of_two_kinds_are_bad_rows(tmp_path):
    text = "user,page,time\nann,a,2026-05-31\nann,b,5\nann,c,2026-05-31T10:00Z\n"
    data = read_trajectories(write_file(tmp_path, text), lenient=True)
    assert data.skipped.reasons == {"bad time": 2}
    assert "the time '5' is one of numbers, but earlier times are dates without a time zone" in data.skipped.first[0]
    assert "is one of dates with a time zone" in data.skipped.first[1]


def test_given_sessions_are_walks_in_order_of_time(tmp_path):
    text = "user,session,page,time\nann,late,c,9\nann,early,b,2\nbob,late,x,5\nann,late,d,10\nann,early,a,1\n"
    file = write_file(tmp_path, text)
    expected = [("ann", "early", ["a", "b"]), ("ann", "late", ["c", "d"]), ("bob", "late", ["x"])]
    assert list_walks(read_trajectories(file).walks) == expected
    by_gap = [("ann", 1, ["a", "b"]), ("ann", 2, ["c", "d"]), ("bob", 1, ["x"])]
    assert list_walks(read_trajectories(file, session_gap=5).walks) == by_gap
    with pytest.raises(SettingError, match="session and session_gap are both given"):
        read_trajectories(file, session="session", session_gap=5)
    untimed = write_file(tmp_path, "user,session,page\nann,2,c\nann,1,a\nann,2,d\n", "untimed.csv")
    assert list_walks(read_trajectories(untimed).walks) == [("ann", "2", ["c", "d"]), ("ann", "1", ["a"])]
    with pytest.raises(
        SettingError,
        match=r"needs a time column; none of user, session, page was recognized. Name it with time= \(--time\)",
    ):
        read_trajectories(untimed, session_gap=5)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("30min", 1800), ("2h", 7200), ("45s", 45), ("1d", 86400), ("90", 90), (1.5, 1.5), (timedelta(hours=1), 3600)],
)
def test_durations(given, seconds):
    assert parse_duration("session_gap", given) == seconds


@pytest.mark.parametrize(
    "given", ["", "min", "30 fortnights", "-5min", 0, -1, float("nan"), True, None, "1e999d", [30]]
)
def test_bad_durations(given):
    with pytest.raises(SettingError, match=r"session_gap is .*; give a duration such as 30min, 2h, 45s or 1d"):
        parse_duration("session_gap", given)


def test_units_of_epoch_times():
    now = 1.78e9
    for unit in (1, 1e3, 1e6, 1e9):
        assert scale_to_seconds(np.array([now, now + 60]) * unit).tolist() == pytest.approx([now, now + 60], abs=1e-3)


# ---- columns to keep ------------------------------------------------------------------------------------------------


def test_columns_are_kept_per_user(tmp_path):
    text = "user,page,Group,age,score\nann,a,x,31,1.5\nbob,b,,40,\nann,c,x,,1.5\nbob,d,y,40,2\n"
    file = write_file(tmp_path, text)
    walks = read_trajectories(file, keep=["group", "age", "score"]).walks
    assert walks.user_columns == {"group": ["x", "y"], "age": [31, 40], "score": [1.5, 2.0]}
    assert read_trajectories(file).walks.user_columns == {}
    with pytest.raises(SettingError, match=r"keep is 'group'; give a list of columns, as in \['group'\]"):
        read_trajectories(file, keep="group")


def test_two_values_of_a_user_are_an_error(tmp_path):
    file = write_file(tmp_path, "user,page,group\nann,a,x\nbob,b,x\nann,c,y\n")
    message = r"line 4: the column 'group' has the value 'y' for the user 'ann' and 'x' in an earlier row"
    with pytest.raises(FileFormatError, match=message):
        read_trajectories(file, keep=["group"], lenient=True)


# ---- what is dropped ------------------------------------------------------------------------------------------------

MESSY = "user,page,time\nann,a,1\nann,,2\nann,b,soon\n,c,3\nann,b\nann,c,4\nann,c,5\nann,d,6\n"


def test_dropped_rows_are_counted_by_reason(tmp_path):
    data = read_trajectories(write_file(tmp_path, MESSY), lenient=True)
    assert data.walks.labels(0) == ["a", "c", "d"]
    assert data.skipped.reasons == {"no item": 1, "bad time": 1, "no user": 1, "wrong number of columns": 1}
    assert (data.skipped.count, data.skipped.repeats) == (4, 1)
    assert [line.split(", ")[1][:6] for line in data.skipped.first] == ["line 3", "line 4", "line 5"]
    with pytest.raises(FileFormatError, match=r"^4 bad rows: .*line 3: has no item; .*line 4: .*line 5: has no user"):
        read_trajectories(write_file(tmp_path, MESSY))


@pytest.mark.parametrize("missing", ["NaN", "nan", "<NA>", "null"])
def test_missing_values_of_other_tools_are_no_items(tmp_path, missing):
    file = write_file(tmp_path, f"user,item\nann,a\nann,{missing}\nann,b\n")
    with pytest.raises(FileFormatError, match=rf"line 3: has no item \({missing}\)"):
        read_trajectories(file)
    assert read_trajectories(file, lenient=True).walks.labels(0) == ["a", "b"]


ROWS = st.lists(
    st.tuples(st.sampled_from(["ann", "bob", " ann", ""]), st.sampled_from(["a", "b", '"c, d"', " "]),
              st.sampled_from(["1", "2.5", "3", "never"])),
    min_size=1,
)  # fmt: skip


@given(ROWS, st.booleans())
def test_chunks_do_not_matter(tmp_path_factory, rows, ragged):
    """Rows that are read together or one by one give the same walks and the same record."""
    lines = [",".join(row) for row in rows] + (["ann,a"] if ragged else []) + ["ann,a,1"]
    file = write_file(tmp_path_factory.mktemp("any"), "user,page,time\n" + "\n".join(lines))
    found = []
    for chunk in (1, 2, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(events_module, "CHUNK", chunk)
            data = read_trajectories(file, lenient=True)
        found.append((list_walks(data.walks), data.skipped))
    assert found[0] == found[1] == found[2]


# ---- doubtful columns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "title", ["When", "ts", "created_at", "Visit Time", "Timestamp (UTC)", "event_datetime", "server-timestamp"]
)
def test_names_of_time_columns(tmp_path, title, recwarn):
    text = f"Participant,Article,{title}\nann,b,2026-01-02 10:00\nann,a,2026-01-01 10:00\n"
    assert list_walks(read_trajectories(write_file(tmp_path, text)).walks) == [("ann", 1, ["a", "b"])]
    assert not recwarn.list


def test_several_time_columns_are_refused(tmp_path):
    file = write_file(tmp_path, "user,page,created_at,Timestamp (UTC)\nann,a,1,2\n")
    with pytest.raises(
        FileFormatError, match=r"two columns for the time \('created_at', 'Timestamp \(UTC\)'\); choose"
    ):
        read_trajectories(file)
    file = write_file(tmp_path, "user,page,ts,time,when\nann,a,1,2,3\n")
    with pytest.raises(FileFormatError, match=r"3 columns for the time \('ts', 'time', 'when'\)"):
        read_trajectories(file)
    assert len(read_trajectories(file, time="ts").walks) == 1


def test_unused_columns_without_a_time_are_a_warning(tmp_path, recwarn):
    file = write_file(tmp_path, "Participant,Article,Gelesen,Group\nann,b,2026-01-02,x\nann,a,2026-01-01,x\n")
    with pytest.warns(UserWarning, match=r"log.csv: no time column was recognized.*unused columns: Gelesen; .*--time"):
        walks = read_trajectories(file, keep=["Group"]).walks
    assert list_walks(walks) == [("ann", 1, ["b", "a"])]
    recwarn.clear()
    assert list_walks(read_trajectories(file, time="Gelesen").walks) == [("ann", 1, ["a", "b"])]
    read_trajectories(write_file(tmp_path, "user,page\nann,a\n"))
    assert not recwarn.list


def test_all_rows_left_out(tmp_path):
    file = write_file(tmp_path, "user,page,time\nann,a,03/01/2026 10:00\nann,b,04/01/2026 10:00\n")
    words = (
        r"all 2 rows were left out: bad time: 2; the first: .*log.csv, line 2: the time '03/01/2026 10:00' is neither"
    )
    with pytest.raises(FileFormatError, match=words):
        read_trajectories(file, lenient=True)


def test_a_guessed_id_with_one_event_each_is_a_warning(tmp_path, recwarn):
    file = write_file(tmp_path, "id,page,time,name\n1,a,1,ann\n2,b,2,ann\n")
    with pytest.warns(UserWarning, match=r"every user has one event; is 'id' a row number\? .*--user"):
        read_trajectories(file)
    recwarn.clear()
    read_trajectories(file, user="id")
    read_trajectories(write_file(tmp_path, "id,page,time\n1,a,1\n1,b,2\n2,b,2\n"))
    assert not recwarn.list
