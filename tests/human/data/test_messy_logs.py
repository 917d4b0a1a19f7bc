"""Logs as spreadsheets, servers and double exports write them: every row is accounted for."""

from __future__ import annotations

import io
import sys
import warnings
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.errors import FileFormatError, MissingExtraError, SettingError, WalkError
from curiograph.human.data.event_times import parse_local_dates, parse_numbers
from curiograph.human.data.log_reader import read_log
from curiograph.human.trajectories import Trajectories

PAGES = ["Käse", "Brot", "Café", "Öl", "Brot", "Käse"]


def write_file(folder, text, name="log.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def count_rows(walks):
    return len(walks.nodes) + walks.skipped.repeats + walks.skipped.count


def to_seconds(*moment):
    return datetime(*moment, tzinfo=UTC).timestamp()


# ---- the three messy logs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8-sig", "utf-16"])
def test_european_spreadsheet(tmp_path, encoding):
    rows = [f"ann;{page};31.05.2026 14:{minute};2,5" for minute, page in enumerate(PAGES, 10)]
    rows += ["bob;Öl;01.06.2026 9:05;3,25", "bob;;01.06.2026 9:06;3,25", "bob;Öl;1.6.2026 9:07:30;3,25"]
    text = "sep=;\r\nTeilnehmer;Page;Date;Score\r\n" + "".join(f"{row}\r\n" for row in rows)
    file = write_file(tmp_path, text, encoding=encoding)
    with pytest.warns(UserWarning, match="no item: 1") as caught:
        walks = read_log(file, user="Teilnehmer", keep=["Score"])
    assert any("cp1252" in str(warning.message) for warning in caught) == (encoding == "cp1252")
    assert list(walks) == [PAGES, ["Öl"]]
    assert walks.user_columns == {"Score": [2.5, 3.25]}
    assert walks.times[[0, 6]].tolist() == [to_seconds(2026, 5, 31, 14, 10), to_seconds(2026, 6, 1, 9, 5)]
    assert count_rows(walks) == len(rows)
    assert (walks.skipped.reasons, walks.skipped.repeats) == ({"no item": 1}, 1)
    assert walks.skipped.first == (f"{file}, line 10: no item",)


def test_mixed_zones(tmp_path):
    """One time that ends in Z does not make the others bad, and those without a zone are named."""
    rows = ["ann,c,2026-05-31T12:00:00Z", "ann,a,2026-05-31T12:30:00+02:00", "ann,b,2026-05-31 07:00:00 -0400"]
    rows += ["ann,d,2026-05-31 12:10:00 UTC", "ann,e,31.05.2026 12:20", 'ann,f,"2026-05-31 12:30:00,500"']
    rows += [f"bob,p{minute},2026-05-31T10:{minute}:00Z" for minute in range(10, 50)] + ["bob,q,yesterday"]
    with pytest.warns(UserWarning, match="2 of 46 times have no time zone and count as UTC"):
        walks = read_log(write_file(tmp_path, "user,page,time\n" + "\n".join(rows)))
    assert walks[0] == ["a", "b", "c", "d", "e", "f"]
    assert count_rows(walks) == len(rows)
    assert walks.skipped.reasons == {"bad time": 1}
    assert "'yesterday'" in walks.skipped.first[0]


def test_duplicated_rows(tmp_path):
    """An export that contains rows twice, also in between others of the same second, has no returns."""
    once = [f"ann,{page},2026-05-31 10:00:{second:02}" for second, page in enumerate("abcde" * 8)]
    once += ["bob,a,2026-05-31 10:00:00", "bob,b,2026-05-31 10:00:00"]
    rows = [*once, *once[-2:], *once[:10], "ann,e,2026-05-31 10:00:40", "ann,,2026-05-31 10:00:41"]
    with pytest.warns(UserWarning, match="duplicate: 12, no item: 1; .*rows with the same user, item and time"):
        walks = read_log(write_file(tmp_path, "user,page,time\n" + "\n".join(rows)))
    assert list(walks) == [[*"abcde" * 8], ["a", "b"]]
    assert count_rows(walks) == len(rows)
    assert walks.skipped.reasons == {"duplicate": 12, "no item": 1}
    assert walks.skipped.repeats == 1


def test_days_do_not_tell_visits_apart(tmp_path):
    text = "user,page,date\nann,a,2026-05-31\nann,b,2026-05-31\nann,a,2026-05-31\n"
    assert list(read_log(write_file(tmp_path, text))) == [["a", "b", "a"]]
    assert list(read_log(write_file(tmp_path, text.replace("date", "remark")))) == [["a", "b", "a"]]


# ---- encodings ------------------------------------------------------------------------------------------------------


def test_encoding_is_given_or_guessed(tmp_path, recwarn):
    text = "user,page\nann,Łódź\nann,Kraków\n"
    file = write_file(tmp_path, text, encoding="iso8859-2")
    assert read_log(file, encoding="latin2")[0] == ["Łódź", "Kraków"]
    assert not recwarn.list
    with pytest.warns(UserWarning, match="cp1252"):
        assert read_log(file)[0] != ["Łódź", "Kraków"]
    for wrong in ("klingon", 7):
        with pytest.raises(SettingError, match=repr(wrong)):
            read_log(file, encoding=wrong)


def test_broken_letters_of_a_utf8_file_do_not_change_its_encoding(tmp_path):
    rows = b"".join(f"ann,ä{number},{number}\n".encode() for number in range(60))
    file = write_file(tmp_path, b"user,page,time\n" + rows + b"ann,\xe4,60\n")
    walks = read_log(file)
    assert walks.skipped.reasons == {"bad encoding": 1}
    assert walks[0][7] == "ä7"


# ---- times ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [".", ","])
def test_serial_dates_of_a_spreadsheet(tmp_path, mark):
    serials = ["45123.5", "45123.51", "45124"]
    text = "user;page;time\n" + "".join(f"ann;{page};{serial}\n" for page, serial in zip("abc", serials, strict=True))
    with pytest.warns(UserWarning, match="2023-07-16 to 2023-07-17"):
        walks = read_log(write_file(tmp_path, text.replace(".", mark)), session_gap="30min")
    assert list(walks) == [["a", "b"], ["c"]]
    assert walks.times.tolist() == [
        to_seconds(2023, 7, 16, 12),
        to_seconds(2023, 7, 16, 12, 14, 24),
        to_seconds(2023, 7, 17),
    ]
    frame = pd.DataFrame({"user": "ann", "page": list("abc"), "time": [float(serial) for serial in serials]})
    with pytest.warns(UserWarning, match="spreadsheet"):
        assert list(Trajectories.from_frame(frame, session_gap="30min")) == [["a", "b"], ["c"]]


def test_days_without_fractions_are_refused_for_gaps(tmp_path):
    file = write_file(tmp_path, "user,page,date\nann,a,45123\nann,b,45124\n")
    assert list(read_log(file)) == [["a", "b"]]
    with pytest.raises(WalkError, match="not seconds"):
        read_log(file, session_gap="30min")


@pytest.mark.parametrize("numbers", [[34_200.5, 90_000.5], [100.5, 45_123.5]])
def test_other_numbers_are_no_serial_dates(tmp_path, numbers, recwarn):
    text = "user,page,time\n" + "".join(f"ann,p{number},{number}\n" for number in numbers)
    assert read_log(write_file(tmp_path, text)).times.tolist() == numbers
    assert not recwarn.list


FORMATS = [
    ("%d.%m.%Y %H:%M:%S", True),
    ("%d/%m/%Y %H:%M:%S", True),
    ("%d-%m-%Y %H:%M:%S", True),
    ("%m/%d/%Y %I:%M:%S %p", False),
    ("%m/%d/%Y, %H:%M:%S", False),
    ("%d.%m.%Y %H:%M:%S.%f", True),
    ("%d/%m/%Y %H:%M:%S%z", True),
]


@given(
    st.lists(st.datetimes(datetime(1970, 1, 1), datetime(2068, 1, 1)), min_size=1, max_size=20),
    st.sampled_from(FORMATS),
)
def test_local_dates_are_parsed_as_by_the_standard_library(moments, how):
    style, dayfirst = how
    texts = [moment.replace(tzinfo=UTC).strftime(style) for moment in moments]
    expected = []
    for text in texts:
        parsed = datetime.strptime(text, style)
        expected.append(parsed.replace(tzinfo=UTC).timestamp())
    np.testing.assert_allclose(parse_local_dates(pd.Series(texts), dayfirst), expected, rtol=0, atol=1e-5)
    if any(moment.day > 12 for moment in moments):
        np.testing.assert_allclose(parse_local_dates(pd.Series(texts), None), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "text", ["31.04.2026", "0.5.2026", "5.0.2026", "1.1.2026 24:00", "1.1.2026 10:60", "13:05", "1.1.26x"]
)
def test_impossible_dates_are_bad(text):
    assert np.isnan(parse_local_dates(pd.Series([text]), True)).all()


def test_order_of_day_and_month(tmp_path):
    """A day above 12 decides for the whole column; without one, and if rows differ, the caller decides."""
    head = "user,page,date\n"
    month_first = write_file(tmp_path, head + "ann,b,06/05/2026\nann,a,05/31/2026 10:00\n")
    assert list(read_log(month_first)) == [["a", "b"]]
    day_first = write_file(tmp_path, head + "ann,b,06/05/2026\nann,a,31/05/2026 10:00\n")
    assert list(read_log(day_first)) == [["b", "a"]]
    unknown = write_file(tmp_path, head + "ann,b,06/05/2026\nann,a,05/06/2026\n")
    with pytest.raises(FileFormatError, match=r"'06/05/2026' .*dayfirst="):
        read_log(unknown)
    assert list(read_log(unknown, dayfirst=True)) == [["b", "a"]]
    assert list(read_log(unknown, dayfirst=False)) == [["a", "b"]]
    mixed = write_file(tmp_path, head + "ann,a,31/05/2026\nann,b,05/31/2026\n")
    with pytest.raises(FileFormatError, match=r"'31/05/2026' and '05/31/2026'.*dayfirst="):
        read_log(mixed)
    with pytest.warns(UserWarning, match=r"bad time: 1.*dayfirst="):
        assert list(read_log(mixed, dayfirst=True)) == [["a"]]
    with pytest.raises(SettingError, match="'yes'"):
        read_log(mixed, dayfirst="yes")
    frame = pd.DataFrame({"user": "ann", "page": ["b", "a"], "date": ["06/05/2026", "05/06/2026"]})
    assert list(Trajectories.from_frame(frame, dayfirst=False)) == [["a", "b"]]


def test_years_of_two_digits():
    assert parse_local_dates(pd.Series(["31/05/26", "1.1.99"]), True).tolist() == [
        to_seconds(2026, 5, 31),
        to_seconds(1999, 1, 1),
    ]
    assert np.isnan(parse_local_dates(pd.Series(["26-05-31"]), None)).all()
    with pytest.raises(FileFormatError, match=r"'26/05/30'.*four digits"):
        parse_local_dates(pd.Series(["26/05/30", "26/05/31", "26/06/01"]), None)


def test_decimal_commas(tmp_path):
    file = write_file(tmp_path, "user;page;time;score\nann;b;12,5;1,25\nann;a;3;1,25\nbob;c;4,75;2\n")
    walks = read_log(file, keep=["score"])
    assert list(walks) == [["a", "b"], ["c"]]
    assert walks.times.tolist() == [3, 12.5, 4.75]
    assert walks.user_columns["score"] == [1.25, 2]
    thousands = write_file(tmp_path, "user;page;time\nann;b;1,500\nann;a;1,400\n")
    with pytest.raises(FileFormatError, match=r"bad time: 2.*decimal="):
        read_log(thousands)
    assert read_log(thousands, decimal=",").times.tolist() == [1.4, 1.5]
    assert parse_numbers(pd.Series(["1,5"]), ".").isna().all()
    with pytest.raises(SettingError, match="';'"):
        read_log(file, decimal=";")


# ---- layouts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["sep=|", '"sep=|"', "SEP=|\r"])
def test_separator_line(tmp_path, first):
    assert list(read_log(write_file(tmp_path, f"{first}\nuser|page|time\nann|b, c|2\nann|a|1\n"))) == [["a", "b, c"]]
    assert list(read_log(write_file(tmp_path, f"{first}\na|b\nc\n"))) == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    "text",
    [
        "ann,a,2026-05-31 10:00\nann,b,2026-05-31 10:01\n",
        "ann,a,17\nann,b,18\nbob,,19\n",
        "1,17,5,1780000000\n1,18,3,1780000060\n",
        "ann;31.05.2026\nbob;01.06.2026\n",
    ],
)
def test_table_without_header_is_refused(tmp_path, text):
    with pytest.raises(FileFormatError, match=r"line 1: .*without a header"):
        read_log(write_file(tmp_path, text))


@pytest.mark.parametrize("text", ["1,2,3\n4,5,6\n", "France,1789\nItaly,1861\n", "a,b,c\nd,e,f\n", "a,1,b\nc,2\n"])
def test_walks_of_equal_length_are_no_table(tmp_path, text):
    assert len(read_log(write_file(tmp_path, text))) == 2


def test_excel_file(tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    rows = [
        (7, "b", datetime(2026, 5, 31, 10, 20), 1.5),
        (None, None, None, None),
        (7, "a", datetime(2026, 5, 31, 10, 10), 1.5),
    ]
    rows += [(8, "c", datetime(2026, 5, 31, 10, 10), 2.0), (8, None, datetime(2026, 5, 31, 10, 12), 2.0)]
    file = tmp_path / "log.xlsx"
    pd.DataFrame(rows, columns=["user", "page", "time", "score"], dtype=object).to_excel(file, index=False)
    with pytest.warns(UserWarning, match="row 6: no item"):
        walks = read_log(file, keep=["score"])
    assert list(walks) == [["a", "b"], ["c"]]
    assert walks.user(0) == "7"
    assert walks.times[0] == to_seconds(2026, 5, 31, 10, 10)
    assert walks.user_columns == {"score": [1.5, 2.0]}
    assert count_rows(walks) == 4
    write_file(tmp_path, b"PK\x03\x04 nonsense", "broken.xlsx")
    with pytest.raises(FileFormatError, match=r"broken\.xlsx"):
        read_log(tmp_path / "broken.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"curiograph\[xlsx\]"):
        read_log(file)


def test_clean_log_has_no_warnings(tmp_path):
    text = io.StringIO()
    pd.DataFrame(
        {"user": "ann", "page": list("abc"), "time": pd.date_range("2026-05-31", periods=3, freq="min")}
    ).to_csv(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not read_log(write_file(tmp_path, text.getvalue())).skipped


def test_a_quotation_mark_that_is_not_closed_is_an_error(tmp_path):
    rows = [f"u{n % 7},page {n % 11},{n}" for n in range(200)]
    rows[50] = 'u1,"Weird title,50'
    rows[150] = 'u3,"Proper, title",150'
    path = tmp_path / "log.csv"
    path.write_text("user,page,time\n" + "\n".join(rows) + "\n")
    with pytest.raises(cg.errors.FileFormatError, match="Weird title"):
        cg.human.read_log(path)


def test_missing_values_of_r_are_no_users_groups_or_scores(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("user,page,time,group,age\nann,NA,1,a,30\nann,b,2,a,30\nNA,b,3,NA,NA\nbob,c,4,NA,NA\n")
    walks = cg.human.read_log(path, keep=["group", "age"])
    assert list(walks) == [["NA", "b"], ["c"]]  # a page may have this title
    assert walks.skipped.reasons == {"no user": 1}
    assert dict(walks.user_columns) == {"group": ["a", None], "age": [30, None]}


def test_times_in_another_unit_are_noticed(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("user,page,time\n" + "".join(f"u{n % 2},p{n},{5000 * n}\n" for n in range(40)))
    with pytest.warns(UserWarning, match="40 of 40 sessions"):
        cg.human.read_log(path, session_gap="30min")


def test_many_visits_outside_the_graph_are_a_warning():
    graph = cg.Graph.from_edges([("New York", "Italy"), ("Italy", "Rome")])
    walks = cg.human.Trajectories.from_walks([["Italy", "new_york", "Rome"]])
    with pytest.warns(UserWarning, match="1 of 3 visits"):
        cg.profile(graph, walks)
