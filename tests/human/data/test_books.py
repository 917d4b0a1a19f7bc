"""The reader of Amazon Books, on small files of the published layouts."""

from __future__ import annotations

import gzip
import json

import pytest

from curiograph.errors import FileFormatError
from curiograph.human.data.books import read_books
from curiograph.human.data.load import load_dataset
from support.people import list_labels

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
def test_all_layouts_give_the_same_walks(tmp_path, name, packed):
    text = BOOKS[name].encode()
    file = tmp_path / (f"{name}.gz" if packed else name)
    file.write_bytes(gzip.compress(text) if packed else text)
    for data in (read_books(tmp_path), load_dataset(file), load_dataset(tmp_path), load_dataset("books", tmp_path)):
        assert list_labels(data.walks) == [["0001", "0002"], ["0001"]]
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
        ('{"user_id": "a", "asin": "x", "timestamp": true}', "the time True is neither a number nor a date"),
        ('{"user_id": "a", "asin": "x"}', "has no time"),
        ('{"user_id": "a", "asin": "x", "timestamp": 1' + "0" * 400 + "}", "is neither a number nor a date"),
        ('{"user_id": "a", "asin": "x", "timestamp": NaN}', "the time nan is neither a number nor a date"),
    ],
)
def test_bad_reviews_are_reported_or_skipped(tmp_path, row, fault):
    file = tmp_path / "Books.jsonl"
    file.write_text(BOOKS["Books.jsonl"] + row + "\n")
    with pytest.raises(FileFormatError, match=f"line 4: .*{fault}"):
        read_books(file)
    data = read_books(file, lenient=True)
    assert (data.skipped.count, len(data.walks)) == (1, 2)


def test_folder_without_books(tmp_path):
    with pytest.raises(
        FileFormatError, match=r"contains no ratings_Books.csv, Books.csv, Books.jsonl, plain or with .gz"
    ):
        read_books(tmp_path)
