"""`curiograph data`."""

from __future__ import annotations

import csv
import json

import pytest


@pytest.fixture(autouse=True)
def isolate(monkeypatch, tmp_path):
    """No data except that of the test, and no network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    (tmp_path / "data").mkdir()


def test_list(run, tmp_path):
    listed = run("data", "list", "--out", "all.csv", "--json").document["datasets"]
    assert [row["name"] for row in listed][:2] == ["wikispeedia", "movielens-latest-small"]
    assert all(row["source"].startswith("https://") and row["licence"] and row["citation"] for row in listed)
    assert {row["found"] for row in listed} == {None}
    assert [row["name"] for row in csv.DictReader((tmp_path / "all.csv").read_text().splitlines())] == [
        row["name"] for row in listed
    ]
    shown = run("data", "list")
    assert (shown.code, shown.err) == (0, "")
    assert "not here" in shown.out


def test_get_then_list(run, tmp_path):
    folder = tmp_path / "cache" / "curiograph" / "data" / "amazon-books"
    folder.mkdir(parents=True)
    (folder / "ratings_Books.csv").write_text("ann,x,,1\n")
    done = run("data", "get", "books", "--out", "got.json", "--json")  # it is there already
    assert done.document["folder"] == str(folder)
    assert done.document["files"] == {"ratings_Books.csv": 9}
    assert json.loads((tmp_path / "got.json").read_text()) == done.document
    found = {row["name"]: row["found"] for row in run("data", "list", "--json").document["datasets"]}
    assert found["books"] == str(folder / "ratings_Books.csv")
    again = run("data", "get", "amazon-books", "--cache", folder.parent)
    assert f"books is in {folder}; McAuley lab" in again.err
    assert f"set CURIOGRAPH_DATA={folder.parent}" in again.err
    assert run("data", "get", "books", "--quiet").err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["get", "films"], "there is no dataset 'films' to get; the datasets are wikispeedia, "),
        (["get", "books", "--out", "x.png"], "cannot write .png"),
        (["get", "wikispeedia"], "wikispeedia_paths-and-graph.tar.gz: cannot be downloaded"),
        (["list", "--out", "none/x.json"], "does not exist"),
        (["get"], "Missing argument 'NAME'"),
        (["fetch"], "No such command 'fetch'"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(run, arguments, message):
    done = run("data", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.startswith("curiograph: ")
    assert len(done.err.strip().splitlines()) == 1
