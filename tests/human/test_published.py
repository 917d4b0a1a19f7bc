"""The readers of Wikispeedia, MovieLens and Amazon Books, on small files of the same layouts made here."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError
from curiograph.human.data.books import read_books
from curiograph.human.data.load import load_dataset
from curiograph.human.data.movielens import make_unique_labels, read_movielens
from curiograph.human.data.wikispeedia import read_wikispeedia, resolve_back_clicks
from curiograph.human.trajectories import Trajectories


def all_labels(walks: Trajectories) -> list[list[object]]:
    return [walks.labels(number) for number in range(len(walks))]


# ---- wikispeedia ----------------------------------------------------------------------------------------------------

ARTICLES = "# FORMAT: article\n\n%C3%89ire\nHeavy_metal\nOslo\nRome\n"
LINKS = "# FORMAT: source target\n\n%C3%89ire\tOslo\nOslo\tRome\nOslo\tHeavy_metal\nRome\tOslo\nRome\tRome\n"
FINISHED = "# FORMAT\n\nip1\t30\t9\t%C3%89ire;Oslo;Rome\t3\nNULL\tNULL\tNULL\tOslo;Rome\tNULL\n"
UNFINISHED = "# FORMAT\n\nip1\t10\t9\tOslo;Rome;<;Heavy_metal\tRome\ttimeout\nip2\t20\t9\tRome\tOslo\trestart\n"


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    for name, text in {
        "articles.tsv": ARTICLES,
        "links.tsv": LINKS,
        "paths_finished.tsv": FINISHED,
        "paths_unfinished.tsv": UNFINISHED,
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_wikispeedia_by_time_with_decoded_names(wiki):
    data = read_wikispeedia(wiki)
    assert all_labels(data.walks) == [["Oslo", "Heavy_metal"], ["Rome"], ["Éire", "Oslo", "Rome"], ["Oslo", "Rome"]]
    people = [data.walks.user_names[int(user)] for user in data.walks.users]
    assert people == ["ip1", "ip2", "ip1", "paths_finished, line 4"]
    assert data.graph is not None
    assert (data.graph.labels, data.graph.num_edges) == (["Éire", "Heavy_metal", "Oslo", "Rome"], 4)
    assert data.graph.directed
    assert data.graph.cleaning.self_loops == 1
    assert data.walks.names is data.graph.names


def test_either_file_of_games_may_be_missing_but_not_both(wiki):
    (wiki / "paths_finished.tsv").unlink()
    assert len(read_wikispeedia(wiki).walks) == 2
    assert len(load_dataset(wiki / "paths_unfinished.tsv").walks) == 2
    (wiki / "paths_unfinished.tsv").unlink()
    with pytest.raises(FileFormatError, match=r"has neither paths_finished.tsv nor paths_unfinished.tsv"):
        read_wikispeedia(wiki)


@pytest.mark.parametrize(
    ("file", "row", "fault"),
    [
        ("articles.tsv", "Rome", "the article 'Rome' is listed already"),
        ("articles.tsv", "a\tb", "has 2 columns, not 1"),
        ("links.tsv", "Rome\tParis", "the article 'Paris' is not in articles.tsv"),
        ("links.tsv", "Rome", "has 1 column, not 2"),
        ("paths_finished.tsv", "ip\t1\t2\tRome;Paris\t1", "the article 'Paris' is not in articles.tsv"),
        ("paths_finished.tsv", "ip\t1\t2\tRome;;Oslo\t1", "the article '' is not in articles.tsv"),
        ("paths_finished.tsv", "ip\tsoon\t2\tRome\t1", "the time 'soon' is neither a number nor NULL"),
        ("paths_finished.tsv", "\t1\t2\tRome\t1", "has no user"),
        ("paths_finished.tsv", "ip\t1\t2\tRome\t1\t", "has 6 columns, not 5"),
        ("paths_unfinished.tsv", "ip\t1\t2\t<;Rome\tOslo\ttimeout", "has a back click < with no page"),
        ("paths_unfinished.tsv", "ip\t1\t2\tRome;<\tOslo\ttimeout", "has a back click < with no page"),
    ],
)
def test_bad_rows_of_wikispeedia(wiki, file, row, fault):
    whole = all_labels(read_wikispeedia(wiki).walks)
    path = wiki / file
    lines = len(path.read_text().splitlines())
    path.write_text(path.read_text() + row + "\n")
    with pytest.raises(FileFormatError, match=r"^1 bad row: ") as raised:
        read_wikispeedia(wiki)
    assert f"{path}, line {lines + 1}: {fault}" in str(raised.value)
    data = read_wikispeedia(wiki, lenient=True)
    assert data.skipped.count == 1
    assert all_labels(data.walks) == whole


@pytest.mark.parametrize("file", ["articles.tsv", "links.tsv", "paths_finished.tsv"])
def test_wikispeedia_cut_short(wiki, file):
    (wiki / file).write_text("")
    with pytest.raises(FileFormatError, match="is empty"):
        read_wikispeedia(wiki)


def test_no_games_or_articles(wiki):
    (wiki / "paths_finished.tsv").unlink()
    (wiki / "paths_unfinished.tsv").write_text("# nobody played\n")
    with pytest.raises(FileFormatError, match="contains no games"):
        read_wikispeedia(wiki)
    (wiki / "articles.tsv").write_text("# nothing\n")
    with pytest.raises(FileFormatError, match="contains no articles"):
        read_wikispeedia(wiki)


@given(st.lists(st.sampled_from("abc<"), min_size=1))
def test_back_clicks_follow_the_definition(clicks):
    assert resolve_back_clicks(clicks) == slow_resolve(clicks)


def slow_resolve(clicks: list[str]) -> list[str] | None:
    """Strike out a page and the `<` right after it, again and again; the start cannot be struck out."""
    left = list(clicks)
    while "<" in left:
        place = left.index("<")
        if place < 2:
            return None
        del left[place - 1 : place + 1]
    return left


# ---- movielens ------------------------------------------------------------------------------------------------------

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
def test_all_layouts_of_movielens_say_the_same(tmp_path, name):
    folder = release(tmp_path, name)
    for path in (folder, folder / next(iter(RELEASES[name]))):
        data = read_movielens(path)
        assert all_labels(data.walks) == [["Café (1995)", "Heat (1995)"], ["Café (1995)"]]
        assert list(data.walks.user_names) == ["7", "8"]
        assert dict(data.titles) == {"1": "Café (1995)", "2": "Heat (1995)"}
    (folder / list(RELEASES[name])[1]).unlink()
    assert all_labels(read_movielens(folder).walks) == [["1", "2"], ["1"]]


def test_titles_of_release_10m_are_utf8(tmp_path):
    folder = release(tmp_path, "ml-1m")
    (folder / "movies.dat").write_bytes("1::Café (1995)::Drama\n".encode())
    assert read_movielens(folder).walks.labels(1) == ["Café (1995)"]


def test_titles_are_made_unique(tmp_path):
    folder = release(tmp_path, "ml-latest-small")
    (folder / "movies.csv").write_text("movieId,title,genres\n1,Emma,Drama\n2,Emma,Drama\n3,Heat,Crime\n")
    assert all_labels(read_movielens(folder).walks) == [["Emma [1]", "Emma [2]"], ["Emma [1]"]]
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
        ("ratings.csv", "7,2,3.0,never", "the time 'never' is not a number"),
        ("movies.csv", "1,Again,Drama", "the film 1 is listed already"),
        ("movies.csv", "3,,Drama", "has no title"),
        ("movies.csv", ",Heat,Drama", "has no id"),
    ],
)
def test_bad_rows_of_movielens(tmp_path, file, row, fault):
    folder = release(tmp_path, "ml-latest-small")
    whole = all_labels(read_movielens(folder).walks)
    with open(folder / file, "a") as stream:
        stream.write(row + "\n")
    with pytest.raises(FileFormatError, match=fault):
        read_movielens(folder)
    data = read_movielens(folder, lenient=True)
    assert (data.skipped.count, all_labels(data.walks)) == (1, whole)


def test_movielens_without_ratings_or_header(tmp_path):
    with pytest.raises(FileFormatError, match=r"has no ratings.csv or ratings.dat or u.data"):
        read_movielens(tmp_path)
    (tmp_path / "ratings.csv").write_text("7,2,3.0,20\n")
    with pytest.raises(FileFormatError, match="line 1: is not a header; it should read userId"):
        read_movielens(tmp_path)


# ---- books ----------------------------------------------------------------------------------------------------------

BOOKS = {
    "ratings_Books.csv": "ann,0002,,1\nbob,0001,5.0,0\nann,0001,4.0,0\n",
    "Books.csv": "user_id,parent_asin,rating,timestamp\nann,0002,5.0,1001\nbob,0001,5.0,7\nann,0001,4.0,1000\n",
    "Books.jsonl": "".join(
        json.dumps({"user_id": user, key: item, "timestamp": time, "text": "a\tb,c"}) + "\n"
        for user, key, item, time in [
            ("ann", "parent_asin", "0002", 1001),
            ("bob", "asin", "0001", 7),
            ("ann", "parent_asin", "0001", 1000),
        ]
    ),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", BOOKS)
def test_all_layouts_of_books_say_the_same(tmp_path, name, packed):
    text = BOOKS[name].encode()
    file = tmp_path / (f"{name}.gz" if packed else name)
    file.write_bytes(gzip.compress(text) if packed else text)
    for data in (read_books(tmp_path), load_dataset(file), load_dataset(tmp_path), load_dataset("books", tmp_path)):
        assert all_labels(data.walks) == [["0001", "0002"], ["0001"]]
        assert list(data.walks.user_names) == ["ann", "bob"]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("{", "is not a JSON object"),
        ("[1]", "is not a JSON object"),
        ("[" * 100_000, "is not a JSON object"),
        ('{"user_id": "a", "timestamp": 1}', "has no item"),
        ('{"user_id": 3, "asin": "x", "timestamp": 1}', "has no user"),
        ('{"user_id": "\\ud800", "asin": "x", "timestamp": 1}', "has no user"),
        ('{"user_id": "a", "asin": "x", "timestamp": true}', "the time True is not a number"),
        ('{"user_id": "a", "asin": "x"}', "the time None is not a number"),
        ('{"user_id": "a", "asin": "x", "timestamp": 1' + "0" * 400 + "}", "is not a number"),
        ('{"user_id": "a", "asin": "x", "timestamp": NaN}', "the time nan is not a number"),
    ],
)
def test_bad_reviews(tmp_path, row, fault):
    file = tmp_path / "Books.jsonl"
    file.write_text(BOOKS["Books.jsonl"] + row + "\n")
    with pytest.raises(FileFormatError, match=f"line 4: .*{fault}"):
        read_books(file)
    data = read_books(file, lenient=True)
    assert (data.skipped.count, len(data.walks)) == (1, 2)


def test_a_folder_without_books(tmp_path):
    with pytest.raises(FileFormatError, match=r"has no ratings_Books.csv, Books.csv, Books.jsonl, plain or with .gz"):
        read_books(tmp_path)


# ---- the real files -------------------------------------------------------------------------------------------------


@pytest.mark.skipif("CURIOGRAPH_DATA" not in os.environ, reason="CURIOGRAPH_DATA names no folder of datasets")
def test_the_published_counts():
    wiki = load_dataset("wikispeedia")
    assert wiki.graph is not None
    assert (wiki.graph.num_nodes, wiki.graph.num_edges + wiki.graph.cleaning.self_loops) == (4604, 119_882)
    assert len(wiki.walks) == 24_875 + 41_050
    steps = wiki.walks.windows(1)
    assert len(steps.along_links(wiki.graph)) > 0.999 * len(steps)  # back clicks resolved
    films = load_dataset("movielens")
    assert (len(films.walks), len(films.walks.nodes), len(films.titles)) == (610, 100_836, 9_742)
    books = load_dataset("books")
    assert (len(books.walks), len(books.walks.nodes)) == (45_868, 654_407)
    assert wiki.skipped.count == films.skipped.count == books.skipped.count == 0
