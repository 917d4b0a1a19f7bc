"""Reading walks from tables of events and lists of walks."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError
from curiograph.human.data import line_reader
from curiograph.human.data.trajectory_file import read_trajectories
from curiograph.human.trajectories import Trajectories


def write_file(folder: Path, text: str | bytes, name: str = "walks.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def labels(walks: Trajectories) -> dict[object, list[object]]:
    return {walks.user_names[int(user)]: walks.labels(number) for number, user in enumerate(walks.users)}


# ---- tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "user,item,time\nann,x,2\nbob,y,1\nann,y,1\n",
        "timestamp\tuser_id\tpage\n2\tann\tx\n1\tbob\ty\n1\tann\ty\n",
        "# visits\n\nstars;userId;movieId;timestamp\n5;ann;x;2.0\n;bob;y;1e0\n1;ann;y;-1\n",
        "User,Node\nann,y\nbob,y\nann,x\n",
        '\ufeffuser, item, time\r\nann,"x",2\r\n"bob", y ,1\r\n\r\nann,y,1',
    ],
)
def test_header_names_the_columns(tmp_path, text):
    data = read_trajectories(write_file(tmp_path, text))
    assert labels(data.walks) == {"ann": ["y", "x"], "bob": ["y"]}
    assert (data.name, data.graph, data.skipped.count) == ("walks.csv", None, 0)


def test_gzipped_table(tmp_path):
    text = b"user,item,time\nann,x,2\nann,y,1\n"
    plain = read_trajectories(write_file(tmp_path, text)).walks
    packed = read_trajectories(write_file(tmp_path, gzip.compress(text, mtime=0), "walks.csv.gz")).walks
    assert labels(plain) == labels(packed) == {"ann": ["y", "x"]}


def test_saved_trajectories(tmp_path):
    Trajectories.from_walks([["a", "b"]], ["ann"]).save(tmp_path / "walks.npz")
    assert labels(read_trajectories(tmp_path / "walks.npz").walks) == {"ann": ["a", "b"]}


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5)
EVENTS = st.lists(st.tuples(st.sampled_from("abc"), NAMES, st.integers(0, 3)), min_size=1)


@given(EVENTS)
def test_events_are_ordered_by_time_then_by_line(tmp_path_factory, events):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([("user", "item", "time"), *events])
    file = write_file(tmp_path_factory.mktemp("any"), text.getvalue())
    assert labels(read_trajectories(file).walks) == sort_slowly(events)


def sort_slowly(events: list[tuple[str, str, int]]) -> dict[object, list[object]]:
    """Reference: sort the events of each user stably, and drop immediate repeats."""
    walks: dict[object, list[object]] = {}
    for user, item, _ in sorted(events, key=lambda event: event[2]):
        walk = walks.setdefault(user, [])
        if walk[-1:] != [item]:
            walk.append(item)
    return walks


# ---- walks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["a,b\n# remark\n\nc\n", "a;b\nc;\n", "a\tb\nc\n", '"a", b\nc\n', "# only; a remark\n a , b \n c\n"]
)
def test_one_walk_per_line(tmp_path, text):
    walks = read_trajectories(write_file(tmp_path, text, "walks.txt")).walks
    assert [walks.labels(i) for i in range(len(walks))] == [["a", "b"], ["c"]]
    assert walks.num_users == 2


def test_separator_is_chosen_for_the_whole_file(tmp_path):
    walks = read_trajectories(write_file(tmp_path, "Rome, Italy\tPisa\nOslo, Norway\n", "walks.txt")).walks
    assert [walks.labels(i) for i in range(2)] == [["Rome, Italy", "Pisa"], ["Oslo, Norway"]]


@given(st.lists(st.lists(NAMES, min_size=1), min_size=1))
def test_written_walks_are_read_back(tmp_path_factory, walks):
    text = "".join("\t".join([*walk, ""]) + "\n" for walk in walks)
    file = write_file(tmp_path_factory.mktemp("any"), f"first\t\n{text}", "walks.tsv")
    got = read_trajectories(file).walks
    merged = [[b for a, b in zip([None, *walk], walk, strict=False) if a != b] for walk in walks if walk[0][0] != "#"]
    assert [got.labels(i) for i in range(1, len(got))] == merged


# ---- errors -- -------------------------------------------------------------------------------------------------------

HEAD = "user,item,time\n"
BAD_ROWS = [
    ("ann,x", "has 2 columns, not 3"),
    ("ann,x,1,2", "has 4 columns, not 3"),
    (",x,1", "has no user"),
    ("ann, ,1", "has no item"),
    ("ann,x,", "has no time"),
    ("ann,x,soon", "the time 'soon' is neither a number nor a date such as 2026-05-31 14:30"),
    ("ann,x,nan", "the time 'nan' is neither a number nor a date such as 2026-05-31 14:30"),
    ("ann,x,-inf", "the time '-inf' is neither a number nor a date such as 2026-05-31 14:30"),
    ("ann,x,1e999", "the time '1e999' is neither a number nor a date such as 2026-05-31 14:30"),
    ('ann,"x,1', "its quotes do not match"),
]


@pytest.mark.parametrize(("row", "fault"), BAD_ROWS)
def test_bad_row_is_reported_or_skipped(tmp_path, row, fault):
    file = write_file(tmp_path, f"{HEAD}ann,a,1\n{row}\nann,b,2\n")
    with pytest.raises(FileFormatError) as raised:
        read_trajectories(file)
    assert str(raised.value) == f"1 bad row: {file}, line 3: {fault}; fix it, or skip it with lenient=True (--lenient)."
    data = read_trajectories(file, lenient=True)
    assert labels(data.walks) == {"ann": ["a", "b"]}
    assert (data.skipped.count, data.skipped.first) == (1, (f"{file}, line 3: {fault}",))


def test_row_in_another_encoding_is_a_bad_row(tmp_path):
    file = write_file(tmp_path, b"user,item\nann,\xc3\xa9\nann,\xe9\nann,b\n")
    with pytest.raises(FileFormatError, match=r"line 3: is not UTF-8"):
        read_trajectories(file)
    assert labels(read_trajectories(file, lenient=True).walks) == {"ann": ["é", "b"]}


def test_many_bad_rows_are_counted(tmp_path):
    file = write_file(tmp_path, HEAD + "ann,a,1\n" + "ann\n" * 1200)
    with pytest.raises(
        FileFormatError, match=r"^1,200 bad rows: .*line 3.*line 4.*line 5.*; \.\.\.; fix them"
    ) as raised:
        read_trajectories(file)
    assert "line 6" not in str(raised.value)
    assert read_trajectories(file, lenient=True).skipped.count == 1200


FILES = [
    (HEAD, "contains no events"),
    (HEAD + "ann\n", "the only row was left out: wrong number of columns: 1; the first: .*line 2: has 1 column, not"),
    ("# nothing\n", "contains no walks"),
    ("\n", "contains no walks"),
    (",,\n", "contains no walks"),
    ("", "is empty"),
    ("user,book,time\nann,x,1\n", r"line 1: the header 'user,book,time' has no column for the item"),
    ("user,user_id,item\nann,x,1\n", "two columns for the user"),
    (b"\x89PNG\r\n", "a picture"),
    (b"user,item\nann,\0\n", "NUL byte"),
    (gzip.compress(b"", mtime=0), "unpacks to nothing"),
    (gzip.compress(b"user,item\nann,x\n" * 9, mtime=0)[:-10], "its gzip data is truncated"),
    (b"\x1f\x8bnonsense", "its gzip data is damaged"),
]


@pytest.mark.parametrize(("text", "message"), FILES)
def test_files_that_are_rejected_even_if_lenient(tmp_path, text, message):
    with pytest.raises(FileFormatError, match=message):
        read_trajectories(write_file(tmp_path, text), lenient=True)


def test_missing_file(tmp_path):
    with pytest.raises(FileFormatError, match="there is no such file"):
        read_trajectories(tmp_path / "none.csv")
    with pytest.raises(FileFormatError, match="is a folder"):
        read_trajectories(tmp_path)


def test_overlong_line_is_rejected(tmp_path):
    with pytest.raises(FileFormatError, match="longer than 1 MiB"):
        read_trajectories(write_file(tmp_path, gzip.compress(b"a" * 2**22, mtime=0)))


def test_lines_that_span_blocks(tmp_path, monkeypatch):
    text = HEAD + "".join(f"ann,é{i},{i}\r\n" for i in range(40))
    file = write_file(tmp_path, text)
    whole = read_trajectories(file).walks.labels(0)
    monkeypatch.setattr(line_reader, "_BLOCK", 16)
    assert read_trajectories(file).walks.labels(0) == whole == [f"é{i}" for i in range(40)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "^stdin: is empty"),
        (b"\n", "^stdin: contains no walks"),
        (b"user,item,time\nann,x\n", "1 bad row: stdin, line 2: has 2 columns, not 3"),
        (b"user,item\nann,\xff\n", "stdin, line 2: is not UTF-8"),
        (b"user,book,time\nann,x,1\n", "^stdin, line 1: the header"),
        (b"user,item\n", "^stdin: contains no events"),
        (b"%PDF-1.7\n", "^stdin: should be text, but is a PDF document"),
    ],
)
def test_messages_about_stdin(monkeypatch, text, message):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    with pytest.raises(FileFormatError, match=message):
        read_trajectories("-")
