"""Finding datasets by name and by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from curiograph.errors import FileFormatError, SettingError, UnknownNameError
from curiograph.human.data.load import find_dataset, load_dataset

RATINGS = "userId,movieId,rating,timestamp\n7,2,3.0,20\n"


@pytest.fixture(autouse=True)
def no_datasets(monkeypatch, tmp_path):
    """Hide the datasets of this machine."""
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def films(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "ratings.csv").write_text(RATINGS)
    return folder


def books(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "ratings_Books.csv").write_text("ann,x,,1\n")
    return folder


def test_given_folder_precedes_environment_variable_and_cache(tmp_path, monkeypatch):
    cached = books(tmp_path / "cache" / "curiograph" / "data" / "amazon-books")
    assert load_dataset("books").source_path.parent == cached
    named = books(tmp_path / "data" / "amazon-books")
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path / "data"))
    assert load_dataset("amazon-books").source_path.parent == named
    given = books(tmp_path / "given")
    assert load_dataset("books", given).source_path.parent == given
    assert load_dataset("books", tmp_path / "data").source_path.parent == named
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path / "none"))
    assert load_dataset("books").source_path.parent == cached


def test_movielens_releases(tmp_path):
    small = films(tmp_path / "data" / "movielens" / "ml-latest-small")
    assert load_dataset("movielens", tmp_path / "data").source_path.parent == small
    assert find_dataset("movielens-25m", tmp_path / "data") is None
    large = films(tmp_path / "data" / "movielens" / "ml-25m")
    assert load_dataset("movielens-25m", tmp_path / "data").source_path.parent == large
    assert load_dataset("movielens-25m", small).source_path.parent == small
    with pytest.raises(FileFormatError, match=r"contains several movielens datasets \(ml-25m, ml-latest-small\)"):
        load_dataset("movielens", tmp_path / "data")


def test_load_by_path(tmp_path):
    folder = films(tmp_path / "mine" / "some")
    assert load_dataset(folder).name == load_dataset(tmp_path / "mine").name == "movielens"
    assert load_dataset(str(folder / "ratings.csv")).name == "movielens"
    walks = tmp_path / "walks.txt"
    walks.write_text("a,b\n")
    assert load_dataset(walks).name == "walks.txt"
    walks.write_text("a,b\n,\n")
    assert load_dataset(walks, lenient=True).skipped.count == 1
    with pytest.raises(SettingError, match="omit the folder, which is for names of datasets"):
        load_dataset(walks, tmp_path)
    books(tmp_path / "mine" / "read")
    with pytest.raises(FileFormatError, match=r"contains several datasets \(some, read\)"):
        load_dataset(tmp_path / "mine")


def test_missing_datasets(tmp_path):
    with pytest.raises(
        FileFormatError, match=r"contains no dataset; looked for .*paths_finished.tsv.*ratings_Books.csv"
    ):
        load_dataset(tmp_path)
    with pytest.raises(UnknownNameError, match=r"no dataset and no file 'movie-lens'; the datasets are wikispeedia, "):
        load_dataset("movie-lens")
    with pytest.raises(FileFormatError, match="there is no such folder"):
        load_dataset("books", tmp_path / "none")
    for name, get in {"wikispeedia": "wikispeedia", "movielens": "movielens-latest-small", "books": "books"}.items():
        with pytest.raises(FileFormatError) as raised:
            load_dataset(name)
        assert str(raised.value) == (
            f"the dataset {name} is not in {tmp_path / 'cache' / 'curiograph' / 'data'}; run `curiograph data get "
            f"{get}`, give its folder (folder=DIR, or --from DIR on the command line), or set CURIOGRAPH_DATA."
        )
