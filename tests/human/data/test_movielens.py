"""The reader of MovieLens, on small files of the published layouts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError
from curiograph.human.data.movielens import make_unique_labels, read_movielens
from support.people import list_labels

U_ITEM = "|".join(["1", "Café (1995)", *[""] * 22]) + "\n" + "|".join(["2", "Heat (1995)", *["0"] * 22]) + "\n"
RELEASES = {
    "ml-100k": {"u.data": "7\t2\t3\t20\n8\t1\t3\t5\n7\t1\t4\t10\n", "u.item": U_ITEM},
    "ml-1m": {
        "ratings.dat": "7::2::3::20\n8::1::3::5\n7::1::4::10\n",
        "movies.dat": "1::Café (1995)::Drama\n2::Heat (1995)::Crime\n",
    },
    "ml-latest-small": {
        "ratings.csv": "userId,movieId,rating,timestamp\n7,2,3.0,20\n8,1,3.0,5\n7,1,4.0,10\n",
        "movies.csv": 'movieId,title,genres\n1,"Café (1995)",Drama\n2,Heat (1995),Crime\n',
    },
}


def release(folder: Path, name: str) -> Path:
    (folder / name).mkdir(parents=True)
    for file, text in RELEASES[name].items():
        (folder / name / file).write_bytes(text.encode("utf-8" if file.endswith("csv") else "latin-1"))
    return folder / name


@pytest.mark.parametrize("name", RELEASES)
def test_all_layouts_give_the_same_walks(tmp_path, name):
    folder = release(tmp_path, name)
    for path in (folder, folder / next(iter(RELEASES[name]))):
        data = read_movielens(path)
        assert list_labels(data.walks) == [["Café (1995)", "Heat (1995)"], ["Café (1995)"]]
        assert list(data.walks.user_names) == ["7", "8"]
        assert dict(data.titles) == {"1": "Café (1995)", "2": "Heat (1995)"}
    (folder / list(RELEASES[name])[1]).unlink()
    assert list_labels(read_movielens(folder).walks) == [["1", "2"], ["1"]]


def test_titles_in_utf8(tmp_path):
    folder = release(tmp_path, "ml-1m")
    (folder / "movies.dat").write_bytes("1::Café (1995)::Drama\n".encode())
    assert read_movielens(folder).walks.labels(1) == ["Café (1995)"]


def test_titles_are_made_unique(tmp_path):
    folder = release(tmp_path, "ml-latest-small")
    (folder / "movies.csv").write_text("movieId,title,genres\n1,Emma,Drama\n2,Emma,Drama\n3,Heat,Crime\n")
    assert list_labels(read_movielens(folder).walks) == [["Emma [1]", "Emma [2]"], ["Emma [1]"]]
    assert make_unique_labels({"1": "A", "2": "A", "3": "A [1]"}, []) == {"1": "1", "2": "2", "3": "3"}
    assert make_unique_labels({"1": "2"}, ["1", "2"]) == {"1": "2 [1]"}


@given(st.dictionaries(st.sampled_from("1234"), st.sampled_from(["1", "a", "a [1]", "a [2]"])))
def test_no_two_films_share_a_label(titles):
    labels = make_unique_labels(titles, "12345")
    assert len({labels.get(item, item) for item in "12345"}) == 5


@pytest.mark.parametrize(
    ("file", "row", "fault"),
    [
        ("ratings.csv", "7,2,3.0", "has 3 columns, not 4"),
        ("ratings.csv", "7,2,3.0,never", "the time 'never' is neither a number nor a date"),
        ("movies.csv", "1,Again,Drama", "the film 1 is listed twice"),
        ("movies.csv", "3,,Drama", "has no title"),
        ("movies.csv", ",Heat,Drama", "has no id"),
    ],
)
def test_bad_rows_are_reported_or_skipped(tmp_path, file, row, fault):
    folder = release(tmp_path, "ml-latest-small")
    whole = list_labels(read_movielens(folder).walks)
    with open(folder / file, "a") as stream:
        stream.write(row + "\n")
    with pytest.raises(FileFormatError, match=fault):
        read_movielens(folder)
    data = read_movielens(folder, lenient=True)
    assert (data.skipped.count, list_labels(data.walks)) == (1, whole)


def test_missing_ratings_or_header(tmp_path):
    with pytest.raises(FileFormatError, match=r"contains no ratings.csv or ratings.dat or u.data"):
        read_movielens(tmp_path)
    (tmp_path / "ratings.csv").write_text("7,2,3.0,20\n")
    with pytest.raises(FileFormatError, match="line 1: is not a header; it should read userId"):
        read_movielens(tmp_path)
