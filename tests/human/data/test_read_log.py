"""Walks from files and data frames: columns by name, times, sessions, and what is dropped."""

from __future__ import annotations

import csv
import gzip
import io
from datetime import UTC, date, datetime, timedelta

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError, SettingError, WalkError
from curiograph.human.data.events import parse_duration
from curiograph.human.data.log_reader import read_log
from curiograph.human.trajectories import Trajectories

ANN = [("ann", 1, ["a", "b"])]


def write_file(folder, text, name="log.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def list_walks(walks):
    return [(walks.user(number), walks.session(number), walk) for number, walk in enumerate(walks)]


# ---- columns --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Participant,Article,Date", "ann,{},{}"),
        ("id,title,timestamp", "ann,{},{}"),
        ("# a remark\n\nID;Page Title;Timestamp (UTC)", "ann;{};{}"),
        ("subject_id\tconcept\tevent_datetime", "ann\t{}\t{}"),
        ('"User"\t"Page"\t"Time"', '"ann"\t"{}"\t{}'),
        ("id,user,title,item_id,step,created_at", "7,ann,x,{},9,{}"),
        ("user_id:token\titem_id:token\trating:float\ttimestamp:float", "ann\t{}\t5\t{}"),
        ("Reader,url,step", "ann,{},{}"),
        ("\ufeffuser, item, time\r", ' "ann" , {} , {}\r\n\r'),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_columns_are_guessed(tmp_path, header, row, pack):
    text = "\n".join([header, row.format("b", 2), row.format("a", 1)])
    walks = read_log(write_file(tmp_path, pack(text.encode())))
    assert list_walks(walks) == ANN
    assert walks.skipped.count == 0


def test_columns_are_chosen(tmp_path):
    file = write_file(tmp_path, "who,What,when,Page,user\nann,b,2,x,z\nann,a,1,y,z\n")
    assert list_walks(read_log(file, user="who", item="what", time="WHEN")) == ANN
    assert read_log(file, item="What").user(0) == "z"
    with pytest.raises(FileFormatError, match="'whom'"):
        read_log(file, user="whom")
    with pytest.raises(SettingError, match="3"):
        read_log(file, user=3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("who,what,when\nann,Paris,5\nbob,Rome,6\n", "line 1: .*'who, what, when'"),
        ("who,what,when\nann,Paris,2026-01-05\n", "--user, --item, --time"),
        ("who,page\nann,Paris\nbob,Rome\n", "'who, page'"),
        ("user,book,time\nann,x,1\n", r"'user,book,time' has no column for the item.*\(--item\)"),
        ("page,page_id,user\na,1,b\n", r"2 columns for the item \('page', 'page_id'\)"),
        ("user,page,ts,time,when\nann,a,1,2,3\n", r"3 columns for the time \('ts', 'time', 'when'\)"),
    ],
)
def test_headers_that_are_not_understood_are_named(tmp_path, text, message):
    with pytest.raises(FileFormatError, match=message):
        read_log(write_file(tmp_path, text))


def test_knot_layout_has_one_row_per_click(tmp_path):
    """A source that is not the page of the click before is a visit of its own."""
    text = "ID,TimeOrder,SourceName,TargetName\n2,1,NA,x\n1,2,b,c\n1,1,a,b\n1,3,q,d\n1,4,d,e\n"
    walks = read_log(write_file(tmp_path, text))
    assert list_walks(walks) == [("2", 1, ["x"]), ("1", 1, ["a", "b", "c", "q", "d", "e"])]
    assert not walks.skipped
    with pytest.raises(SettingError, match="TimeOrder"):
        read_log(write_file(tmp_path, text), session_gap=60)


def test_columns_are_kept_per_user(tmp_path):
    text = "user,page,Group,age,score\nann,a,x,31,1.5\nbob,b,,40,\nann,c,x,,1.5\nbob,d,y,40,2\ncid,a,z,,\n"
    file = write_file(tmp_path, text)
    walks = read_log(file, keep=["group", "age", "score"])
    assert walks.user_columns == {"group": ["x", "y", "z"], "age": [31, 40, None], "score": [1.5, 2.0, None]}
    assert isinstance(walks.user_columns["age"][0], int)
    assert walks.to_frame()["group"].tolist() == ["x", "x", "y", "y", "z"]
    with pytest.raises(SettingError, match="'group'"):
        read_log(file, keep="group")
    file = write_file(tmp_path, "user,page,group\nann,a,x\nbob,b,x\nann,c,y\n")
    with pytest.raises(FileFormatError, match=r"line 4: .*'group' has the value 'y' for the user 'ann' and 'x'"):
        read_log(file, keep=["group"])


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
    walks = read_log(write_file(tmp_path_factory.mktemp("any"), text.getvalue()), session_gap="365d")
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


NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="\ufffd"), min_size=1, max_size=5
).filter(lambda name: name.lower() not in ("nan", "null", "<na>"))
EVENTS = st.lists(st.tuples(st.sampled_from("abc"), NAMES, st.integers(0, 3)), min_size=1)


@given(EVENTS)
def test_events_are_ordered_by_time_then_by_line(tmp_path_factory, events):
    text = io.StringIO()
    csv.writer(text).writerows([("user", "item", "time"), *events])
    walks = read_log(write_file(tmp_path_factory.mktemp("any"), text.getvalue()))
    expected: dict[str, list[str]] = {}
    for user, item, _ in sorted(dict.fromkeys(events), key=lambda event: event[2]):  # duplicates count once
        walk = expected.setdefault(user, [])
        if walk[-1:] != [item]:
            walk.append(item)
    assert {walks.user(number): walk for number, walk in enumerate(walks)} == expected


@pytest.mark.parametrize(
    "times", [("2026-05-31", "2026-05-30", "2026-05-31 00:20"), (1780185600000, 1780100000000, 1780185660000)]
)
def test_dates_without_time_and_epoch_milliseconds(tmp_path, times):
    text = "user,page,date\nann,b,{}\nann,a,{}\nann,c,{}\n".format(*times)
    assert list(read_log(write_file(tmp_path, text), session_gap="30min")) == [["a"], ["b", "c"]]


@pytest.mark.parametrize(
    "times", [[20260531, 20260601], [20260531101500, 20260531101600], [1.7e9, 1.7e12], [1e20, 2e20]]
)
def test_numbers_of_unknown_unit_are_refused_for_gaps(tmp_path, times):
    text = "user,page,time\n" + "".join(f"ann,p{time},{time:.0f}\n" for time in times)
    file = write_file(tmp_path, text)
    assert len(read_log(file)) == 1
    with pytest.raises(WalkError, match="not seconds"):
        read_log(file, session_gap="30min")


def test_given_sessions_are_walks_in_order_of_time(tmp_path):
    text = "user,session,page,time\nann,late,c,9\nann,early,b,2\nbob,late,x,5\nann,late,d,10\nann,early,a,1\n"
    file = write_file(tmp_path, text)
    expected = [("ann", "early", ["a", "b"]), ("ann", "late", ["c", "d"]), ("bob", "late", ["x"])]
    assert list_walks(read_log(file)) == expected
    assert list_walks(read_log(file, session_gap=5)) == [(user, 1 + (s == "late" and user == "ann"), w)
                                                          for user, s, w in expected]  # fmt: skip
    with pytest.raises(SettingError, match="both given"):
        read_log(file, session="session", session_gap=5)
    untimed = write_file(tmp_path, "user,session,page\nann,2,c\nann,1,a\nann,2,d\n", "untimed.csv")
    assert list_walks(read_log(untimed)) == [("ann", "2", ["c", "d"]), ("ann", "1", ["a"])]
    with pytest.raises(SettingError, match=r"user, session, page .*\(--time\)"):
        read_log(untimed, session_gap=5)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("30min", 1800), ("2h", 7200), ("45s", 45), ("1d", 86400), ("90", 90), (1.5, 1.5), (timedelta(hours=1), 3600)],
)
def test_durations(given, seconds):
    assert parse_duration("session_gap", given) == seconds


# ---- rows that are dropped ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "reason", "fault"),
    [
        ("ann,x", "bad time", "bad time ''"),
        ("ann,x,1,2", "wrong number of columns", ""),
        ("ann,x,1,2,3,4", "wrong number of columns", "wrong number of columns (6, not 3)"),
        (",x,1", "no user", ""),
        ("ann, ,1", "no item", ""),
        ("ann,NaN,1", "no item", ""),
        ("ann,null,1", "no item", ""),
        ("ann,x,soon", "bad time", "bad time 'soon'"),
        ("ann,x,nan", "bad time", "bad time 'nan'"),
        ("ann,x,1e999", "bad time", "bad time 'inf'"),
        ("ann,x,2026-05-31", "bad time", "bad time '2026-05-31'"),
        ("ann,\udce9,1", "bad encoding", ""),
    ],
)
def test_bad_rows_are_dropped_and_counted(tmp_path, row, reason, fault):
    """The line is that of the file, also after a comment, a blank line and a field of several lines."""
    text = f'# remärk\nuser,item,time\n\nann,"a\nb",1\n{row}\n' + "".join(f"ann,c,{time}\n" for time in range(3, 44))
    file = write_file(tmp_path, text.encode(errors="surrogateescape"))
    walks = read_log(file)
    assert list(walks) == [["a\nb", "c"]]
    assert (walks.skipped.count, walks.skipped.reasons, walks.skipped.repeats) == (1, {reason: 1}, 40)
    assert f"{file}, line 6: {fault}" in walks.skipped.first[0]


def test_many_dropped_rows_are_a_warning(tmp_path):
    file = write_file(tmp_path, "user,page,time\nann,a,1\nann,,2\nann,b,soon\n,c,3\nann,c,4\n")
    with pytest.warns(UserWarning, match=r"3 of 5 rows .*no item: 1, bad time: 1, no user: 1; .*line 3: no item"):
        walks = read_log(file)
    assert list(walks) == [["a", "c"]]
    assert [line.split(", ")[1][:6] for line in walks.skipped.first] == ["line 3", "line 4", "line 5"]


HEAD = "user,item,time\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD, "no rows"),
        (
            HEAD + "ann,a,Monday\nann,b,Tuesday\n",
            "all 2 rows .*bad time: 2; .*line 2: .*'Monday'",
        ),
        (HEAD + 'ann,"a,1\n', "EOF inside string"),
        ("# nothing\n", "no walks"),
        (",,\n", "no walks"),
        ("", "empty|no text"),
        (b"\x89PNG\r\n", "a picture"),
        (b"user,item\nann,\0\n", "binary"),
        (gzip.compress(b"", mtime=0), "no text"),
        (gzip.compress(b"user,item\nann,x\n" * 9, mtime=0)[:-10], "cannot be read"),
        (b"\x1f\x8bnonsense", "cannot be read"),
    ],
)
def test_files_that_are_rejected(tmp_path, monkeypatch, content, message):
    file = write_file(tmp_path, content)
    with pytest.raises(FileFormatError, match=message):
        read_log(file)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    with pytest.raises(FileFormatError, match=f"^stdin.*({message})"):
        read_log("-")


# ---- one walk per line ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n# remark\n\nc\n", [["a", "b"], ["c"]]),
        ("a;b\nc;\n", [["a", "b"], ["c"]]),
        ("# only; a remark\n a , b \n c\n", [["a", "b"], ["c"]]),
        ('"a, c", b\nc\n', [["a, c", "b"], ["c"]]),
        ("Rome, Italy\tPisa\nOslo, Norway\n", [["Rome, Italy", "Pisa"], ["Oslo, Norway"]]),
        ("1,2,3\n4,5,6\n", [["1", "2", "3"], ["4", "5", "6"]]),
        ("Time,Oslo\nOslo,Rome\n", [["Time", "Oslo"], ["Oslo", "Rome"]]),
        ("Time,Oslo,Rome\nBonn,Kiel\n", [["Time", "Oslo", "Rome"], ["Bonn", "Kiel"]]),
    ],
)
def test_one_walk_per_line(tmp_path, text, expected):
    file = write_file(tmp_path, text, "walks.txt")
    assert list(read_log(file)) == expected
    with pytest.raises(SettingError, match="'30min'"):
        read_log(file, session_gap="30min")


# ---- frames ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["pandas", "polars"])
def make_frame(request):
    return pytest.importorskip(request.param).DataFrame


@pytest.mark.parametrize(
    "times",
    [
        [2, 1, 3],
        [2.5, 1.5, 3.5],
        ["2026-05-31 10:20", "2026-05-31 10:10", "2026-05-31 10:30"],
        [datetime(2026, 5, 31, 10, minute) for minute in (20, 10, 30)],
        [datetime(2026, 5, 31, 10, minute, tzinfo=UTC) for minute in (20, 10, 30)],
        [date(2026, 5, day) for day in (2, 1, 3)],
    ],
)
def test_rows_of_a_frame_are_ordered_by_time(make_frame, times):
    frame = make_frame({"reader": ["ann", "ann", "bob"], "page": ["b", "a", "c"], "time": times})
    assert list_walks(Trajectories.from_frame(frame)) == [*ANN, ("bob", 1, ["c"])]


def test_columns_of_a_frame(make_frame):
    frame = make_frame({"who": [1, 1, 2], "what": [10, 20, 10], "when": [2, 1, 0], "group": ["x", "x", "y"]})
    walks = Trajectories.from_frame(frame, user="who", item="what", time="when", keep=["group"])
    assert list_walks(walks) == [(1, 1, [20, 10]), (2, 1, [10])]
    assert walks.user_columns == {"group": ["x", "y"]}
    with pytest.raises(FileFormatError, match="no column for the user and the item"):
        Trajectories.from_frame(frame)


def test_missing_values_of_a_frame_are_counted(make_frame):
    frame = make_frame({"user": ["ann", None, "ann", "ann"], "page": ["a", "b", " ", "e"], "time": [1.0, 2, 3, None]})
    with pytest.warns(UserWarning, match="row 1: no user"):
        walks = Trajectories.from_frame(frame)
    assert list(walks) == [["a"]]
    assert walks.skipped.reasons == {"no user": 1, "no item": 1, "bad time": 1}
    dates = make_frame({"user": ["a"] * 2, "page": ["x", "y"], "time": [datetime(2026, 5, 31), None]})
    with pytest.warns(UserWarning, match="row 1: bad time"):
        assert Trajectories.from_frame(dates).skipped.reasons == {"bad time": 1}


def test_a_misspelled_option_of_a_frame_is_refused():
    log = pd.DataFrame({"reader": ["ann", "ann"], "page": ["a", "b"], "visit": [1, 2]})
    assert len(Trajectories.from_frame(log, session="visit")) == 2
    with pytest.raises(TypeError, match="sesion"):
        Trajectories.from_frame(log, sesion="visit")
